import type { SandboxKycStatusInput } from '@causeway/sdk';
import { privateKeyToAccount } from 'viem/accounts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import type { SdkAnswers } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';
import {
  type Purpose,
  readVendorOrder,
  type VendorAction,
  type VendorRead,
  vendorAct,
} from './vendor-calls.ts';

type Hex = `0x${string}`;

const partyRow = statement<
  [orderId: string],
  { vendor_id: string | null; held: boolean; open_reservations: string; user_id: string }
>(
  'test.order_parties',
  `SELECT vendor_id, user_id, (facts->>'held')::boolean AS held,
          (SELECT count(*)::text FROM offer_reservations r WHERE r.quote_id = o.quote_id) AS open_reservations
     FROM orders o WHERE order_id = $1`,
);

type OperatorOrders = SdkAnswers['operator']['orders'];

/** An operator's decisions about an order, by the last word of their addresses. */
const DECISIONS = {
  hold: (orders, orderId, body) => orders.decideHold(orderId, body as never),
  dispute: (orders, orderId, body) => orders.decideDispute(orderId, body as never),
  'proof-review': (orders, orderId, body) => orders.reviewProof(orderId, body as never),
  'escrow-signature': (orders, orderId, body) => orders.submitSignature(orderId, body as never),
  'send-out': (orders, orderId, body) => orders.decideSendOut(orderId, body as never),
} as const satisfies Record<
  string,
  (orders: OperatorOrders, orderId: string, body: object) => Promise<Answer>
>;
export type OperatorAction = keyof typeof DECISIONS;

/** The parties besides the partner: the vendor that has an order, and the operator. */
export interface OrderParties {
  vendorId(orderId: string): Promise<string | null>;
  isHeld(orderId: string): Promise<boolean>;
  /** How many offers still set crypto aside for the order. */
  openReservations(orderId: string): Promise<number>;
  vendorOf(orderId: string): Promise<VendorAccount>;
  operate(orderId: string, what: OperatorAction, body: object): Promise<Answer>;
  setKyc(orderId: string, status: SandboxKycStatusInput['status']): Promise<void>;
}

export interface VendorAccount {
  readonly key: string;
  readonly wallet: Hex;
  get(what: VendorRead): Promise<Answer>;
  post(what: VendorAction, body?: object): Promise<Answer>;
  sign(purpose: Purpose): Promise<Hex>;
}

export function orderParties(gateway: TestGateway): OrderParties {
  const { db, sealer } = gateway.deps;

  async function row(orderId: string) {
    const [found] = await db.query(SYSTEM, partyRow, [orderId]);
    if (found === undefined) throw new Error(`there is no order ${orderId}`);
    return found;
  }

  return {
    vendorId: async (orderId) => (await row(orderId)).vendor_id,
    isHeld: async (orderId) => (await row(orderId)).held,
    openReservations: async (orderId) => Number((await row(orderId)).open_reservations),

    async vendorOf(orderId) {
      const { vendor_id: vendorId } = await row(orderId);
      const vendors = await listSimulatedVendors(db, sealer);
      const vendor = vendors.find((one) => one.row.vendor_id === vendorId)!;
      const { apiKey: key } = gateway.sandbox.vendors.find(({ name }) => name === vendor.row.name)!;
      const { orders } = gateway.as(key).vendor;
      return {
        key,
        wallet: vendor.row.wallet_address,
        get: (what) => readVendorOrder(orders, orderId, what),
        post: (what, body) => vendorAct(orders, orderId, what, body),
        async sign(purpose) {
          const parameters = await orders.signingParameters(orderId, { purpose });
          return signSafeTransaction(vendor.privateKey, parameters.body.data.typed_data);
        },
      };
    },

    operate: (orderId, what, body) =>
      DECISIONS[what](gateway.operator.orders, orderId, { reason: 'ticket 7', ...body }),

    async setKyc(orderId, status) {
      const { user_id: userId } = await row(orderId);
      await until(`KYC ${status}`, async () => {
        const answer = await gateway.partner.sandbox.kycStatus(userId, { status });
        return answer.status === 200;
      });
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: typed data as the wire has it
export function signSafeTransaction(key: Hex, typed: any): Promise<Hex> {
  const { message } = typed;
  return privateKeyToAccount(key).signTypedData({
    ...typed,
    message: { ...message, value: BigInt(message.value), nonce: BigInt(message.nonce) },
  });
}
