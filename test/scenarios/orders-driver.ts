import type { Causeway, Order } from '@causeway/sdk';
import {
  privateKeySigner,
  signBridge,
  signRefund,
  signRelease,
  signTransfer,
  type Trust,
  trustOfSandbox,
} from '@causeway/sdk/signing';
import { formatUnits } from 'viem';
import { expect } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { accountBalances } from '../../apps/gateway/src/engine/ledger.ts';
import { toWire } from '../../apps/gateway/src/local/sandbox-file.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import type { SdkAnswers } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';

type Hex = `0x${string}`;
const CHAIN = 'base-mainnet';

type Orders = SdkAnswers['orders'];

/** The calls of a partner about an order, by the names that `allowed_actions` has for them. */
const ACTIONS = {
  cancel: (orders, orderId, body) => orders.cancel(orderId, body),
  'confirm-payment-sent': (orders, orderId) => orders.confirmPaymentSent(orderId),
  'confirm-fiat-received': (orders, orderId) => orders.confirmFiatReceived(orderId),
  'submit-payer-details': (orders, orderId, body) => orders.submitPayerDetails(orderId, body as never),
  'authorize-crypto-transfer': (orders, orderId, body) => orders.authorizeTransfer(orderId, body as never),
  'authorize-refund': (orders, orderId, body) => orders.authorizeRefund(orderId, body as never),
  'authorize-release': (orders, orderId, body) => orders.authorizeRelease(orderId, body as never),
  'authorize-bridge': (orders, orderId, body) => orders.authorizeBridge(orderId, body as never),
} as const satisfies Record<string, (orders: Orders, orderId: string, body?: object) => Promise<Answer>>;
export type PartnerAction = keyof typeof ACTIONS;

const eventsOf = statement<[orderId: string], { event_type: string; body: string }>(
  'test.events_of_order',
  'SELECT event_type, body FROM events WHERE subject_id = $1 ORDER BY position',
);
const booksOff = statement<[], { asset: string; remainder: string }>(
  'test.books_off',
  'SELECT asset, sum(amount)::text AS remainder FROM ledger_postings GROUP BY asset HAVING sum(amount) <> 0',
);

export interface SendOutDestination {
  readonly destination_chain: string;
  readonly destination_address: string;
}

/** A partner's engineer: calls the API, signs with the partner's wallet, looks at the chain. */
export interface OrdersDriver {
  readonly wallet: Hex;
  readonly apiKey: string;
  readonly sdk: Causeway;
  user(lastName?: string): Promise<string>;
  ownDetails(userId: string): Promise<number>;
  offrampQuote(fields: Record<string, unknown>): Promise<Answer>;
  offrampOrder(fields?: Record<string, unknown>): Promise<string>;
  onrampOrder(fields?: Record<string, unknown>): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the wire has them
  read(orderId: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  reaches(orderId: string, status: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  funds(orderId: string): Promise<any>;
  event(orderId: string, event: string, more?: object): Promise<Answer>;
  act(orderId: string, action: PartnerAction, body?: object): Promise<Answer>;
  signedFunding(orderId: string): Promise<object>;
  fund(orderId: string): Promise<Answer>;
  signedRefund(orderId: string): Promise<{ readonly signature: string }>;
  refund(orderId: string): Promise<Answer>;
  signedRelease(orderId: string): Promise<{ readonly signature: string }>;
  signedSendOut(orderId: string, destination: SendOutDestination): Promise<object>;
  sendOut(orderId: string, destination: Hex): Promise<Answer>;
  balance(holder: Hex, chain?: string): Promise<bigint>;
  escrowBalance(orderId: string): Promise<bigint>;
  escrowBooks(orderId: string): Promise<bigint>;
  published(orderId: string): Promise<string[]>;
  booksBalance(): Promise<void>;
}

export function ordersDriver(gateway: TestGateway, partner = gateway.partners[0]): OrdersDriver {
  const { deps } = gateway;
  const sdk = gateway.sdk(partner.apiKey);
  const answers = gateway.as(partner.apiKey);
  const signing = oneAtATime();
  const { settings, client } = deps.chains.get(CHAIN);
  const usdc = settings.tokens.find(({ code }) => code === 'USDC')!.address;
  const signer = privateKeySigner(partner.walletPrivateKey);
  const trust: Trust = {
    ...trustOfSandbox(toWire(gateway.sandbox), { chain: CHAIN }),
    wallet: partner.walletAddress,
  };

  /** Signed requests lapse by the chain's clock, which scenarios move ahead. */
  async function chainNow(): Promise<number> {
    const { timestamp } = await client.getBlock();
    return Math.max(Number(timestamp), Date.now() / 1_000);
  }

  /** What is held against the parameters: the order, and who owns its escrow. */
  async function held(orderId: string) {
    const [order, funds] = await Promise.all([sdk.orders.get(orderId), sdk.orders.funds(orderId)]);
    const { escrow, deposits } = funds;
    if (escrow === null) throw new Error(`order ${orderId} has no escrow yet`);
    // A partner knows what it has agreed with the operator: that less was paid in counts as the whole deposit.
    const isAgreed = deposits.some(({ kind, status }) => kind === 'short' && status === 'accepted');
    const owed = atomic(order.amounts.crypto_amount) + atomic(order.fee_breakdown.partner_fee);
    const shortfall = isAgreed ? formatUnits(owed - atomic(escrow.booked_amount), 6) : '0';
    return { order, owners: escrow.owners, trust, shortfall };
  }

  const driver: OrdersDriver = {
    wallet: partner.walletAddress as Hex,
    apiKey: partner.apiKey,
    sdk,

    async user(lastName = 'Lovelace') {
      const email = `u${Math.random().toString(36).slice(2)}@example.com`;
      const { id } = await sdk.users.create({ email, first_name: 'Ada', last_name: lastName });
      await sdk.sandbox.kycStatus(id, { status: 'VERIFIED' });
      return id;
    },

    async ownDetails(userId) {
      const { id } = await sdk.paymentDetails.create(userId, {
        rail: 'iban-sepa',
        currency: 'EUR',
        country_code: 'DE',
        details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
      });
      return id;
    },

    offrampQuote: (fields) =>
      answers.offramp.quote({
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '100.00',
        partner_fee_pct: '1',
        provider_scope: 'p2p',
        ...fields,
      } as never),

    async offrampOrder(fields = {}) {
      const userId = (fields.user_uuid as string | undefined) ?? (await driver.user());
      const quote = await driver.offrampQuote({
        user_uuid: userId,
        payment_details_id: fields.payment_details_id ?? (await driver.ownDetails(userId)),
        ...fields,
      });
      expect(quote.body).toMatchObject({ success: true });
      const { quote_id } = quote.body.data;
      const order = await sdk.offramp.initiate({ quote_id, reference_id: 'payout-1' });
      expect(order).toMatchObject({ status: 'awaiting_crypto_transfer_authorization', timeline: [] });
      return order.order_id;
    },

    async onrampOrder(fields = {}) {
      const quote = await sdk.onramp.quote({
        user_uuid: fields.user_uuid ?? (await driver.user()),
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '100.00',
        partner_fee_pct: '1',
        ...fields,
      } as never);
      return (await sdk.onramp.initiate({ quote_id: quote.quote_id })).order_id;
    },

    read: (orderId) => sdk.orders.get(orderId),

    reaches: (orderId, status) =>
      until(`order in ${status}`, async () => {
        const order: Order = await driver.read(orderId);
        return order.status === status && order;
      }),

    funds: (orderId) => sdk.orders.funds(orderId),

    event: (orderId, event, more = {}) => answers.sandbox.orderEvent(orderId, { event, ...more } as never),

    act: (orderId, action, body) => ACTIONS[action](answers.orders, orderId, body),

    async signedFunding(orderId) {
      const parameters = await sdk.orders.transferParameters(orderId);
      return signTransfer({ ...(await held(orderId)), parameters, now: await chainNow() }, signer);
    },

    fund: (orderId) =>
      signing(async () =>
        driver.act(orderId, 'authorize-crypto-transfer', await driver.signedFunding(orderId)),
      ),

    async signedRefund(orderId) {
      const parameters = await sdk.orders.refundParameters(orderId);
      return signRefund({ ...(await held(orderId)), parameters }, signer);
    },

    refund: async (orderId) => driver.act(orderId, 'authorize-refund', await driver.signedRefund(orderId)),

    async signedRelease(orderId) {
      const parameters = await sdk.orders.releaseParameters(orderId);
      return signRelease({ ...(await held(orderId)), parameters }, signer);
    },

    async signedSendOut(orderId, destination) {
      const parameters = await sdk.orders.bridgeParameters(orderId, destination);
      const order = await sdk.orders.get(orderId);
      return signBridge({ order, parameters, destination, trust, now: await chainNow() }, signer);
    },

    sendOut: (orderId, destination) =>
      signing(async () => {
        const signed = await driver.signedSendOut(orderId, {
          destination_chain: 'arbitrum-one',
          destination_address: destination,
        });
        return driver.act(orderId, 'authorize-bridge', signed);
      }),

    async balance(holder, chain = CHAIN) {
      const there = deps.chains.get(chain);
      const token = there.settings.tokens.find(({ code }) => code === 'USDC')!.address;
      return tokenBalance(there.client, token, holder);
    },

    async escrowBalance(orderId) {
      const [row] = await deps.db.query(SYSTEM, escrowOf, [orderId]);
      return tokenBalance(client, usdc, row!.address as Hex);
    },

    async escrowBooks(orderId) {
      const [row] = await deps.db.query(SYSTEM, accountBalances, [`escrow:${orderId}`]);
      return BigInt(row?.balance ?? 0);
    },

    async published(orderId) {
      const rows = await deps.db.query(SYSTEM, eventsOf, [orderId]);
      return rows.map(({ event_type, body }) =>
        event_type === 'order.status.changed' ? JSON.parse(body).data.status : event_type,
      );
    },

    async booksBalance() {
      expect(await deps.db.query(SYSTEM, booksOff, [])).toEqual([]);
    },
  };
  return driver;
}

const fillBalances = statement<[]>('test.fill_offers', 'UPDATE offers SET available_balance = 1000000000');

/** For runs of thousands of orders: none shall end because the vendors have nothing left to trade. */
export async function fillOffers({ deps }: TestGateway): Promise<void> {
  await deps.db.query(SYSTEM, fillBalances, []);
}

/** A wallet signs one request after the other: each takes its next nonce when it is handed in. */
export function oneAtATime() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

const escrowOf = statement<[orderId: string], { address: string }>(
  'test.escrow_of_order',
  `SELECT escrow->>'address' AS address FROM orders WHERE order_id = $1`,
);

export function atomic(text: string): bigint {
  return BigInt(text.replace('.', ''));
}
