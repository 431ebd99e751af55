import { randomInt, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { EURO, IDENTIFICATION } from '../scenarios/fiat-driver.ts';

/**
 * Another owner's id and an id that never existed are answered with the same bytes. Routes come from the OpenAPI
 * description; only what an id is, and how to get a real one, is said here.
 */
export interface IdFactory {
  /** A real id that belongs to the partner with this key, and to what stands before it in the path. */
  make(as: Caller, before: Readonly<Record<string, string>>, gateway: TestGateway): Promise<string>;
  /** Well-formed, but of no customer. */
  unknown(): string;
  /** Answered 400. Empty where the contract accepts any text. */
  readonly malformed: readonly string[];
  /** Set where the contract does not look at the id at all. */
  readonly ignored?: true;
}
export type Caller = (method: string, path: string, body?: unknown) => Promise<Answer>;

const uuidId = { unknown: () => randomUUID(), malformed: ['not-an-id', "'--", '0', 'x'.repeat(400)] };

/** By `segment/{name}` where a name alone is ambiguous, else by name. */
export const FACTORIES: Readonly<Record<string, IdFactory>> = {
  user_uuid: { ...uuidId, make: makeUser },
  order_id: { ...uuidId, make: makeOrder },
  recipient_id: { ...uuidId, make: makeRecipient },
  deposit_id: { ...uuidId, make: makeDeposit },
  'deliveries/{id}': { ...uuidId, make: makeDelivery },
  endpoint_id: { ...uuidId, make: makeWebhookEndpoint },
  'deliveries/{delivery_id}': { ...uuidId, make: makeEndpointDelivery },
  // Opaque, so any text is an id; an unknown one is not found.
  'fiat-accounts/{id}': {
    make: makeFiatAccount,
    unknown: () => `retail_${randomInt(1_000_000, 9_000_000)}`,
    malformed: [],
  },
  'webhooks/{id}': { make: async () => 'any', unknown: () => 'other', malformed: [], ignored: true },
};

/** Bodies for routes whose schema alone does not say what makes sense, by operationId. */
const KYC = {
  method: 'direct_data',
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1990-12-10',
  nationality: 'DE',
  id_type: 'PASSPORT',
  id_number: 'C01X00T47',
  id_issue_country: 'DE',
  address: 'Unter den Linden 1',
  city: 'Berlin',
  postal_code: '10117',
  country_code: 'DE',
};
const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
};
export const BODIES: Readonly<Record<string, unknown>> = {
  submitKyc: KYC,
  submitKycShort: KYC,
  createPaymentDetails: SEPA,
  createDestination: SEPA,
  submitIdentification: IDENTIFICATION,
  issueFiatAccount: EURO,
  changeWebhookEndpoint: { enabled: true },
  // The first event of the list would ask a chain, and there is none here.
  sandboxOrderEvent: { event: 'order_expires' },
  uploadKycDocument: { document_type: 'ID_FRONT', content_type: 'image/png', content: 'iVBORw0KGgo=' },
  uploadKycDocumentShort: { document_type: 'ID_FRONT', content_type: 'image/png', content: 'iVBORw0KGgo=' },
};

async function makeUser(as: Caller): Promise<string> {
  const made = await as('POST', '/api/v1/partner/users', { email: `${randomUUID()}@example.com` });
  return made.body.data.id;
}

/** Where the bank works, it approves every client. */
export async function makeFiatAccount(as: Caller, before: Readonly<Record<string, string>>): Promise<string> {
  // The path of an export names no customer.
  const userId = before.user_uuid ?? (await makeUser(as));
  const user = `/api/v1/partner/users/${userId}`;
  await as('POST', `/api/v1/sandbox/users/${userId}/kyc-status`, { status: 'VERIFIED' });
  await as('POST', `${user}/identification`, IDENTIFICATION);
  return until('an open account', async () => {
    const { status, body } = await as('POST', `${user}/fiat-accounts`, EURO);
    return status === 200 && body.data.status === 'active' && (body.data.id as string);
  });
}

async function makeRecipient(as: Caller): Promise<string> {
  const made = await as('POST', '/api/v1/partner/recipients', {
    recipient_name: 'Grace Hopper',
    recipient_country: 'DE',
  });
  return made.body.data.recipient_id;
}

async function makeDelivery(as: Caller): Promise<string> {
  await as('POST', '/api/v1/partner/webhooks', { url: 'https://127.0.0.1:9/hook' });
  const user = await makeUser(as);
  await as('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { status: 'VERIFIED' });
  const listed = await as('GET', '/api/v1/partner/webhooks/deliveries');
  return listed.body.data.deliveries[0].id;
}

/** A partner may have few; those that were made before are no longer needed. */
async function makeWebhookEndpoint(as: Caller): Promise<string> {
  const path = '/api/v1/partner/webhook-endpoints';
  const { endpoints } = (await as('GET', path)).body.data;
  for (const { id, is_default } of endpoints) if (!is_default) await as('DELETE', `${path}/${id}`);
  return (await as('POST', path, { url: await receiverUrl() })).body.data.id;
}

let receiver: Promise<string> | undefined;
/** Accepts whatever it is sent, until the process ends. */
function receiverUrl(): Promise<string> {
  receiver ??= new Promise((resolve) => {
    const server = createServer((request, response) => request.resume().on('end', () => response.end()));
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    );
    server.unref();
  });
  return receiver;
}

async function makeEndpointDelivery(as: Caller, before: Readonly<Record<string, string>>): Promise<string> {
  const user = await makeUser(as);
  await as('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { status: 'VERIFIED' });
  const listed = await as('GET', `/api/v1/partner/webhook-endpoints/${before.endpoint_id}/deliveries`);
  return listed.body.data.deliveries[0].id;
}

async function makeOrder(as: Caller): Promise<string> {
  const user = await makeUser(as);
  await as('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { status: 'VERIFIED' });
  const quote = await as('POST', '/api/v1/partner/onramp/quote', {
    user_uuid: user,
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fiat_amount: '100.00',
  });
  const order = await as('POST', '/api/v1/partner/onramp/initiate', { quote_id: quote.body.data.quote_id });
  return order.body.data.order_id;
}

/** There is no chain here on which somebody could pay: it is written as the watcher would. */
const insertDeposit = statement<[depositId: string, orderId: string, address: string, txHash: string]>(
  'test.insert_deposit',
  `WITH watch AS (
     INSERT INTO escrow_watches (chain_id, address, order_id, partner_id, token, expected_amount, expected_sender,
       registered_at)
     SELECT 8453, $3, order_id, partner_id, $3, 2, $3, created_at FROM orders WHERE order_id = $2
     RETURNING chain_id, address, order_id, partner_id, token, expected_sender, registered_at)
   INSERT INTO deposit_observations (deposit_id, chain_id, tx_hash, log_index, block_number, block_hash, address, order_id,
     partner_id, token, sender, amount, kind, disposition, observed_at)
   SELECT $1, chain_id, $4, 0, 1, $4, address, order_id, partner_id, token, expected_sender, 1, 'short',
          'held_for_review', registered_at FROM watch`,
);

async function makeDeposit(as: Caller, _before: object, { deps }: TestGateway): Promise<string> {
  const [depositId, orderId] = [randomUUID(), await makeOrder(as)];
  const random = `${randomUUID()}${randomUUID()}`.replaceAll('-', '');
  await deps.db.query(SYSTEM, insertDeposit, [depositId, orderId, `0x${random.slice(0, 40)}`, `0x${random}`]);
  return depositId;
}
