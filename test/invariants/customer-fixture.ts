import { randomInt, randomUUID } from 'node:crypto';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { documentOf, SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { type Caller, makeFiatAccount } from './id-factories.ts';

/** One customer of a partner with one of everything that has an id. */
export interface CustomerFixture {
  readonly key: string;
  readonly ids: Readonly<Record<IdKind, string>>;
}

export type IdKind =
  | 'partner'
  | 'delivery'
  | 'webhook_endpoint'
  | 'user'
  | 'payment_details'
  | 'payer_details'
  | 'document'
  | 'recipient'
  | 'destination'
  | 'quote'
  | 'offramp_quote'
  | 'order'
  | 'fiat_account'
  | 'fiat_payment'
  | 'event';

interface KindRules {
  /** Well-formed, but of no customer. */
  unknown(): string;
  /** Whose it is, where a request names that too: one of somebody else's is as good as none. */
  readonly within?: IdKind;
}

const unknownUuid = { unknown: () => randomUUID() };

export const KINDS: Readonly<Record<IdKind, KindRules>> = {
  partner: unknownUuid,
  delivery: { ...unknownUuid, within: 'partner' },
  webhook_endpoint: unknownUuid,
  user: unknownUuid,
  // Numbers are guessed: this one is as near as the next that will be given out.
  payment_details: { unknown: () => `${randomInt(1_000_000, 9_000_000)}`, within: 'user' },
  payer_details: { unknown: () => `${randomInt(1_000_000, 9_000_000)}`, within: 'user' },
  document: { ...unknownUuid, within: 'user' },
  recipient: unknownUuid,
  destination: { ...unknownUuid, within: 'recipient' },
  quote: unknownUuid,
  offramp_quote: unknownUuid,
  order: unknownUuid,
  fiat_account: { unknown: () => `retail_${randomInt(1_000_000, 9_000_000)}`, within: 'user' },
  fiat_payment: unknownUuid,
  event: { unknown: () => `evt_${randomUUID()}` },
};

/** What an id is an id of, by the name it has in paths, queries and bodies, or by `segment/{name}` in a path. */
export const KIND_BY_NAME: Readonly<Record<string, IdKind>> = {
  partner_id: 'partner',
  delivery_id: 'delivery',
  endpoint_id: 'webhook_endpoint',
  user_uuid: 'user',
  user_id: 'user',
  sender_id: 'user',
  payment_details_id: 'payment_details',
  document_id: 'document',
  recipient_id: 'recipient',
  recipient_destination_id: 'destination',
  quote_id: 'quote',
  order_id: 'order',
  'fiat-accounts/{id}': 'fiat_account',
  payment_id: 'fiat_payment',
  event_id: 'event',
};

/** Names that end like an id and are none of a customer's: the partner's own words, and slugs that everybody reads. */
export const NO_CUSTOMERS_IDS: ReadonlySet<string> = new Set([
  // Of a case in the operator’s queue.
  '{kind}/{subject_id}',
  'reference_id',
  'institution_id',
  // A bank's, of its own transfers.
  'transaction_id',
  // `X-Request-Id`, which any caller may choose.
  'request_id',
  '{kind}/{id}',
]);

const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
};
/** On the rail of the order that asks for its payer. */
const INTERAC = {
  rail: 'interac-canada',
  currency: 'CAD',
  country_code: 'CA',
  details: { full_name: 'Ada Lovelace', email: 'ada@example.ca' },
};
export const PRICE = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' };

/** As it is once a vendor asks for the payment: there is no chain here on which one could lock anything. */
const awaitPayer = statement<[orderId: string]>(
  'test.await_payer',
  `UPDATE orders SET status = 'awaiting_fiat_transfer' WHERE order_id = $1`,
);

export async function makeCustomer(gateway: TestGateway, key: string): Promise<CustomerFixture> {
  const post = async (path: string, body: object) => dataOf(await gateway.call('POST', path, { key, body }));
  const partner = '/api/v1/partner';
  const { partnerId } = (await gateway.deps.principals.find(key)) as { partnerId: string };
  await post(`${partner}/webhooks`, { url: 'https://127.0.0.1:9/hook' });
  const user = (await post(`${partner}/users`, { email: `${randomUUID()}@example.com` })).id;
  const document = await makeDocument(post, `${partner}/users/${user}`);
  await post(`/api/v1/sandbox/users/${user}/kyc-status`, { status: 'VERIFIED' });
  const { id: details } = await post(`${partner}/users/${user}/payment-details`, SEPA);
  const { id: payer } = await post(`${partner}/users/${user}/payment-details`, INTERAC);
  const { recipient_id: recipient } = await post(`${partner}/recipients`, {
    recipient_name: 'Grace Hopper',
    recipient_country: 'DE',
  });
  await post(`/api/v1/sandbox/recipients/${recipient}/screening-status`, { screening_status: 'clear' });
  const destination = await post(`${partner}/recipients/${recipient}/destinations`, SEPA);
  const quoted = { ...PRICE, user_uuid: user };
  const quote = await post(`${partner}/onramp/quote`, quoted);
  const offrampQuote = await post(`${partner}/offramp/quote`, { ...quoted, payment_details_id: details });
  const order = await makePaymentRequest(gateway, post, user);
  const as: Caller = (method, path, body) => gateway.call(method, path, { key, body });
  const account = await makeFiatAccount(as, { user_uuid: user });
  const payment = await post(`/api/v1/sandbox/users/${user}/fiat-accounts/${account}/deposits`, {
    amount: '1.00',
  });
  const events = await gateway.call('GET', `${partner}/events`, { key });
  const deliveries = await gateway.call('GET', `${partner}/webhooks/deliveries`, { key });
  return {
    key,
    ids: {
      partner: partnerId,
      delivery: dataOf(deliveries).deliveries[0].id,
      // Of the default one, which the delivery went to.
      webhook_endpoint: dataOf(deliveries).deliveries[0].endpoint_id,
      user,
      document,
      payment_details: `${details}`,
      payer_details: `${payer}`,
      recipient,
      destination: destination.recipient_destination_id,
      quote: quote.quote_id,
      offramp_quote: offrampQuote.quote_id,
      order,
      fiat_account: account,
      fiat_payment: payment.id,
      event: dataOf(events).events.at(-1).event_id,
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read as the wire has them
type Post = (path: string, body: object) => Promise<any>;

async function makeDocument(post: Post, user: string): Promise<string> {
  await post(`${user}/kyc`, SUBMISSION);
  return (await post(`${user}/documents`, documentOf('ID_FRONT'))).document_id;
}

async function makePaymentRequest(gateway: TestGateway, post: Post, user: string): Promise<string> {
  const quote = await post('/api/v1/partner/onramp/quote', {
    ...PRICE,
    user_uuid: user,
    fiat_currency: 'CAD',
    payment_network_slug: 'interac-canada',
    country_code: 'CA',
  });
  const order = await post('/api/v1/partner/onramp/initiate', { quote_id: quote.quote_id });
  await gateway.deps.db.query(SYSTEM, awaitPayer, [order.order_id]);
  return order.order_id;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read as the wire has them
function dataOf({ status, body, text }: Answer): any {
  if (status !== 200) throw new Error(`a customer could not be made: ${status} ${text}`);
  return body.data;
}
