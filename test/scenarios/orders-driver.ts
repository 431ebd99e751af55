import { privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { accountBalances } from '../../apps/gateway/src/engine/ledger.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';

type Hex = `0x${string}`;
const CHAIN = 'base-mainnet';

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
  act(orderId: string, action: string, body?: object): Promise<Answer>;
  signedFunding(orderId: string): Promise<object>;
  fund(orderId: string): Promise<Answer>;
  refund(orderId: string, key?: Hex): Promise<Answer>;
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
  const call: TestGateway['call'] = (method, path, options) =>
    gateway.call(method, path, { key: partner.apiKey, ...options });
  const signing = oneAtATime();
  const { settings, client } = deps.chains.get(CHAIN);
  const usdc = settings.tokens.find(({ code }) => code === 'USDC')!.address;
  const key = partner.walletPrivateKey as Hex;
  const path = (orderId: string) => `/api/v1/partner/orders/${orderId}`;

  const driver: OrdersDriver = {
    wallet: partner.walletAddress as Hex,
    apiKey: partner.apiKey,

    async user(lastName = 'Lovelace') {
      const email = `u${Math.random().toString(36).slice(2)}@example.com`;
      const made = await call('POST', '/api/v1/partner/users', {
        body: { email, first_name: 'Ada', last_name: lastName },
      });
      const id = made.body.data.id as string;
      await call('POST', `/api/v1/sandbox/users/${id}/kyc-status`, { body: { status: 'VERIFIED' } });
      return id;
    },

    async ownDetails(userId) {
      const made = await call('POST', `/api/v1/partner/users/${userId}/payment-details`, {
        body: {
          rail: 'iban-sepa',
          currency: 'EUR',
          country_code: 'DE',
          details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
        },
      });
      expect(made.body).toMatchObject({ success: true });
      return made.body.data.id as number;
    },

    async offrampQuote(fields) {
      return call('POST', '/api/v1/partner/offramp/quote', {
        body: {
          crypto_currency: 'USDC',
          fiat_currency: 'EUR',
          fiat_amount: '100.00',
          partner_fee_pct: '1',
          provider_scope: 'p2p',
          ...fields,
        },
      });
    },

    async offrampOrder(fields = {}) {
      const userId = (fields.user_uuid as string | undefined) ?? (await driver.user());
      const quote = await driver.offrampQuote({
        user_uuid: userId,
        payment_details_id: fields.payment_details_id ?? (await driver.ownDetails(userId)),
        ...fields,
      });
      expect(quote.body).toMatchObject({ success: true });
      const initiated = await call('POST', '/api/v1/partner/offramp/initiate', {
        body: { quote_id: quote.body.data.quote_id, reference_id: 'payout-1' },
      });
      expect(initiated.body).toMatchObject({
        success: true,
        data: { status: 'awaiting_crypto_transfer_authorization', timeline: [] },
      });
      return initiated.body.data.order_id as string;
    },

    async onrampOrder(fields = {}) {
      const quote = await call('POST', '/api/v1/partner/onramp/quote', {
        body: {
          user_uuid: fields.user_uuid ?? (await driver.user()),
          crypto_currency: 'USDC',
          fiat_currency: 'EUR',
          fiat_amount: '100.00',
          partner_fee_pct: '1',
          ...fields,
        },
      });
      expect(quote.body).toMatchObject({ success: true });
      const initiated = await call('POST', '/api/v1/partner/onramp/initiate', {
        body: { quote_id: quote.body.data.quote_id },
      });
      expect(initiated.body).toMatchObject({ success: true });
      return initiated.body.data.order_id as string;
    },

    read: async (orderId) => (await call('GET', path(orderId))).body.data,

    reaches: (orderId, status) =>
      until(`order in ${status}`, async () => {
        const order = await driver.read(orderId);
        return order.status === status && order;
      }),

    funds: async (orderId) => (await call('GET', `${path(orderId)}/funds`)).body.data,

    event: (orderId, event, more = {}) =>
      call('POST', `/api/v1/sandbox/orders/${orderId}/events`, { body: { event, ...more } }),

    act: (orderId, action, body) => call('POST', `${path(orderId)}/${action}`, body ? { body } : {}),

    async signedFunding(orderId) {
      const parameters = await call('GET', `${path(orderId)}/transfer-authorization-parameters`);
      expect(parameters.body).toMatchObject({ success: true });
      return signedForward(key, parameters.body.data);
    },

    fund: (orderId) =>
      signing(async () =>
        driver.act(orderId, 'authorize-crypto-transfer', await driver.signedFunding(orderId)),
      ),

    async refund(orderId, signer = key) {
      const parameters = await call('GET', `${path(orderId)}/refund-authorization-parameters`);
      expect(parameters.body).toMatchObject({ success: true });
      const { typed_data: typed } = parameters.body.data;
      const signature = await privateKeyToAccount(signer).signTypedData({
        ...typed,
        message: { ...typed.message, value: BigInt(typed.message.value), nonce: BigInt(typed.message.nonce) },
      });
      return driver.act(orderId, 'authorize-refund', { signature });
    },

    async signedSendOut(orderId, destination) {
      const query = new URLSearchParams({ ...destination });
      const parameters = await call('GET', `${path(orderId)}/bridge-authorization-parameters?${query}`);
      expect(parameters.body).toMatchObject({ success: true });
      return { ...destination, ...(await signedForward(key, parameters.body.data)) };
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

// biome-ignore lint/suspicious/noExplicitAny: parameters are read as the wire has them
async function signedForward(key: Hex, parameters: any) {
  const { forward_request: request, eip712_domain: domain, types, primary_type: primaryType } = parameters;
  const signature = await privateKeyToAccount(key).signTypedData({
    domain,
    types,
    primaryType,
    message: { ...request, deadline: Number(request.deadline) },
  });
  return { forward_request: request, signature };
}

export function atomic(text: string): bigint {
  return BigInt(text.replace('.', ''));
}
