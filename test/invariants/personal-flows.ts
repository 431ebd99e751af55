import { privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { documentOf, fileOf } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { Answer, CallOptions, TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';
import {
  BYSTANDER,
  KYC,
  OWN_ACCOUNT,
  PAYER,
  PERSON,
  PICTURE,
  RECIPIENT,
  SENDER,
  slipOf,
  THEIR_ACCOUNT,
  VENDOR_ACCOUNT,
} from './sample-persons.ts';

/** Who was made, for what is done with them later. */
export interface Persons {
  readonly userId: string;
  readonly paymentDetailsId: number;
  readonly recipientId: string;
  readonly destinationId: string;
  /** Of the account that the bank opened. */
  readonly iban: string;
}

const vendorOf = statement<[orderId: string], { vendor_id: string }>(
  'test.vendor_of_personal_order',
  'SELECT vendor_id FROM orders WHERE order_id = $1',
);

const spoilIdentity = statement<[userId: string]>(
  'test.spoil_identity',
  `UPDATE kyc_profiles SET fields_sealed = '00000000.' || repeat('A', 100) WHERE user_id = $1`,
);

const waitingDocuments = statement<[], { waiting: string }>(
  'test.waiting_documents',
  'SELECT count(*)::text AS waiting FROM kyc_documents WHERE waiting IS NOT NULL',
);

type Call = (method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Answer>;

const callerOf =
  (gateway: TestGateway): Call =>
  (method, path, body, options = {}) =>
    gateway.call(method, `/api/v1${path}`, { body, ...options });

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

/** One of everything that customers' routes can do, right and wrong. */
export async function runCustomerFlows(gateway: TestGateway): Promise<Persons> {
  const call = callerOf(gateway);
  const created = await call('POST', '/partner/users', PERSON, keyed('create-once'));
  await call('POST', '/partner/users', PERSON, keyed('create-once'));
  await call('POST', '/partner/users', PERSON);
  const userId = created.body.data.id as string;
  const user = `/partner/users/${userId}`;
  await call('GET', `/partner/users?email=${encodeURIComponent(PERSON.email)}`);
  await call('POST', `${user}/kyc`, { ...KYC, nationality: 'XX', last_name: PERSON.last_name });
  await call('POST', `${user}/kyc`, KYC, keyed('submit-once'));
  const picture = { ...documentOf('ID_FRONT'), content: fileOf('image/jpeg', PICTURE).toString('base64') };
  await call('POST', `${user}/documents`, { ...picture, content_type: 'image/png' });
  await call('POST', `${user}/documents`, picture);
  await call('POST', `${user}/documents`, { ...picture, document_type: 'SELFIE' });
  await until('VERIFIED', async () => (await call('GET', user)).body.data.kyc.status === 'VERIFIED');
  await call('PATCH', `${user}/kyc`, { city: KYC.city, address: [KYC.address] });
  await call('PATCH', `${user}/kyc`, { city: KYC.city, address: KYC.address }, keyed('patch-once'));
  await call('POST', `${user}/payment-details`, {
    ...OWN_ACCOUNT,
    details: { full_name: PERSON.last_name, iban: `${OWN_ACCOUNT.details.iban}9` },
  });
  const details = await call('POST', `${user}/payment-details`, OWN_ACCOUNT, keyed('details-once'));
  const iban = await bankWith(call, userId);
  const recipient = await addRecipient(call);
  await lookAsOperator(gateway, call, userId, recipient.recipientId);
  return { userId, paymentDetailsId: details.body.data.id, iban, ...recipient };
}

/** In pounds, so that orders in euros are paid as ever. */
async function bankWith(call: Call, userId: string): Promise<string> {
  const user = `/partner/users/${userId}`;
  await call('POST', `${user}/identification`, { city: [KYC.city], last_name: PERSON.last_name });
  await call('POST', `${user}/identification`, { city: KYC.city }, keyed('identify'));
  const account = await until('an account', async () => {
    const { body } = await call('POST', `${user}/fiat-accounts`, { currency: 'GBP', jurisdiction: 'GB' });
    return body.data?.status === 'active' && body.data;
  });
  await call('POST', `${user}/fiat-accounts`, { currency: 'GBP', jurisdiction: 'GB' }, keyed('issue'));
  const deposits = `/sandbox/users/${userId}/fiat-accounts/${account.id}/deposits`;
  await call('POST', deposits, { amount: SENDER.sender_name, ...SENDER });
  const paid = await call('POST', deposits, { amount: '25.00', ...SENDER }, keyed('deposit'));
  expect(paid.body.data).toMatchObject(SENDER);
  return account.iban;
}

async function addRecipient(call: Call): Promise<Pick<Persons, 'recipientId' | 'destinationId'>> {
  const registered = await call('POST', '/partner/recipients', RECIPIENT, keyed('register'));
  const recipientId = registered.body.data.recipient_id as string;
  const recipient = `/partner/recipients/${recipientId}`;
  await call('PATCH', recipient, { recipient_name: `${RECIPIENT.recipient_name} Review` });
  await call('PATCH', recipient, { recipient_name: RECIPIENT.recipient_name, recipient_country: 'ZZ' });
  const added = await call('POST', `${recipient}/destinations`, THEIR_ACCOUNT, keyed('destination'));
  await call('GET', `/partner/recipients?search=${encodeURIComponent(RECIPIENT.recipient_name)}`);
  await call('GET', `/partner/recipients?search=${THEIR_ACCOUNT.details.iban}&limit=0`);
  await until('review', async () => (await call('GET', recipient)).body.data.screening_status === 'review');
  await call('POST', `/sandbox/recipients/${recipientId}/screening-status`, { screening_status: 'clear' });
  return { recipientId, destinationId: added.body.data.recipient_destination_id };
}

async function lookAsOperator(
  gateway: TestGateway,
  call: Call,
  userId: string,
  recipientId: string,
): Promise<void> {
  const operator = { key: gateway.sandbox.operatorKey };
  const reason = { reason: 'leak check' };
  await call('POST', `/operator/users/${userId}/reveal`, reason, operator);
  // With a key, an answer in clear would be kept.
  await call('POST', `/operator/users/${userId}/reveal`, reason, { ...operator, ...keyed('reveal') });
  await call('POST', `/operator/recipients/${recipientId}/reveal`, reason, { ...operator, ...keyed('r') });
}

/** Whole orders with these persons in them, each through to its end, with vendors and operators who read and write. */
export async function runOrderFlows(gateway: TestGateway, persons: Persons): Promise<readonly string[]> {
  const call = callerOf(gateway);
  const driver = ordersDriver(gateway);
  await call('PUT', '/sandbox/settings', { auto_advance: false });
  const { userId, paymentDetailsId, recipientId, destinationId } = persons;
  const own = { user_uuid: userId, payment_details_id: paymentDetailsId };
  const theirs = {
    user_uuid: undefined,
    payment_details_id: undefined,
    sender_id: userId,
    recipient_id: recipientId,
    recipient_destination_id: destinationId,
    sender_recipient_relationship: 'friend',
  };
  await quoteBadly(call, persons);
  const orders = await Promise.all([
    sellToCustomer(gateway, driver, userId),
    askPayer(gateway, driver, userId),
    // One after the other: the partner's wallet signs for both.
    payOut(gateway, driver, own, PERSON.last_name).then(async (first) => [
      first,
      await dispute(gateway, driver, theirs, RECIPIENT.recipient_name),
    ]),
  ]);
  return orders.flat();
}

type OrdersDriver = ReturnType<typeof ordersDriver>;

/** On-ramp: a vendor says where to pay. The customer changes its mind about a second one. */
async function sellToCustomer(gateway: TestGateway, driver: OrdersDriver, userId: string): Promise<string> {
  const orderId = await driver.onrampOrder({ user_uuid: userId });
  const vendor = await vendorClient(gateway, orderId);
  await vendor.accept(VENDOR_ACCOUNT);
  await driver.event(orderId, 'escrow_funded');
  expect((await driver.read(orderId)).vendor_payment_details).toEqual(VENDOR_ACCOUNT);
  await driver.act(orderId, 'confirm-payment-sent');
  await vendor.post('fiat-confirmed', { release_signature: await vendor.sign('release') });
  await driver.reaches(orderId, 'completed');
  const second = await driver.onrampOrder({ user_uuid: userId });
  const cancelled = await driver.act(second, 'cancel', {
    reason: `${PERSON.last_name} has had second thoughts`,
  });
  expect(cancelled.status).toBe(200);
  return orderId;
}

/** On-ramp where the vendor asks for the money: it reads whom to ask. */
async function askPayer(gateway: TestGateway, driver: OrdersDriver, userId: string): Promise<string> {
  const canadian = { fiat_currency: 'CAD', payment_network_slug: 'interac-canada', country_code: 'CA' };
  const orderId = await driver.onrampOrder({ user_uuid: userId, ...canadian });
  const vendor = await vendorClient(gateway, orderId);
  await vendor.accept();
  await driver.event(orderId, 'escrow_funded');
  const path = `/api/v1/partner/orders/${orderId}/submit-payer-details`;
  await driver.act(orderId, 'submit-payer-details', { payment_details: { email: [PAYER.email] } });
  const submitted = await gateway.call('POST', path, {
    body: { payment_details: PAYER },
    ...keyed(`payer-${orderId}`),
  });
  expect(submitted.status, submitted.text).toBe(200);
  expect((await vendor.get('payment-instructions')).body.data.details).toEqual(PAYER);
  await driver.act(orderId, 'confirm-payment-sent');
  await vendor.post('fiat-confirmed', { release_signature: await vendor.sign('release') });
  await driver.reaches(orderId, 'completed');
  return orderId;
}

/** Off-ramp to the end: the vendor reads where to pay and shows a slip, the operator looks at it. */
async function payOut(
  gateway: TestGateway,
  driver: OrdersDriver,
  payee: object,
  name: string,
): Promise<string> {
  const orderId = await provenOrder(gateway, driver, payee, name);
  const operator = { key: gateway.sandbox.operatorKey };
  const listed = await gateway.call('GET', '/api/v1/operator/proof-reviews?limit=100', operator);
  const [review] = listed.body.data.reviews.filter((one: { order_id: string }) => one.order_id === orderId);
  const revealed = await gateway.call('POST', `/api/v1/operator/proofs/${review.proof_id}/reveal`, {
    ...operator,
    body: { reason: 'leak check' },
  });
  expect(revealed.text).toContain(name);
  for (const decision of ['start', 'accepted']) {
    await gateway.call('POST', `/api/v1/operator/orders/${orderId}/proof-review`, {
      ...operator,
      body: { decision, reason: 'leak check' },
    });
  }
  await driver.act(orderId, 'confirm-fiat-received');
  await driver.reaches(orderId, 'completed');
  return orderId;
}

async function dispute(
  gateway: TestGateway,
  driver: OrdersDriver,
  payee: object,
  name: string,
): Promise<string> {
  const orderId = await provenOrder(gateway, driver, payee, name);
  expect((await driver.read(orderId)).recipient_context).not.toBeNull();
  const vendor = await vendorClient(gateway, orderId);
  expect((await vendor.post('dispute')).status).toBe(200);
  const stated = await vendor.post('dispute-statements', { text: `${name} says it never arrived` });
  expect(stated.status, stated.text).toBe(200);
  const decided = await gateway.call('POST', `/api/v1/operator/orders/${orderId}/dispute`, {
    key: gateway.sandbox.operatorKey,
    body: { decision: 'for_buyer', reason: 'leak check' },
  });
  expect(decided.status, decided.text).toBe(200);
  await driver.reaches(orderId, 'completed');
  return orderId;
}

async function provenOrder(
  gateway: TestGateway,
  driver: OrdersDriver,
  payee: object,
  name: string,
): Promise<string> {
  const quote = await driver.offrampQuote({ ...payee });
  expect(quote.status, quote.text).toBe(200);
  const initiated = await gateway.call('POST', '/api/v1/partner/offramp/initiate', {
    body: { quote_id: quote.body.data.quote_id },
    ...keyed(`initiate-${quote.body.data.quote_id}`),
  });
  const orderId = initiated.body.data.order_id as string;
  await driver.fund(orderId);
  await driver.reaches(orderId, 'crypto_received');
  const vendor = await vendorClient(gateway, orderId);
  const told = await until('the instructions', async () => {
    const answer = await vendor.get('payment-instructions');
    return answer.status === 200 && answer;
  });
  expect(told.text).toContain(name);
  // A slip that is none, and then one.
  const proof = { ...slipOf(name), release_signature: await vendor.sign('release') };
  const none = await vendor.post('payment-proof', {
    ...proof,
    content: Buffer.from(name).toString('base64'),
  });
  expect(none.status).toBe(400);
  const proved = await vendor.post('payment-proof', proof, keyed(`proof-${orderId}`));
  expect(proved.status, proved.text).toBe(200);
  return orderId;
}

/** Personal values where none belong: the worst place for one to turn up is the report of a failure. */
async function quoteBadly(call: Call, { userId, recipientId, destinationId }: Persons): Promise<void> {
  const wrong = [
    { user_uuid: PERSON.email, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: KYC.id_number },
    { user_uuid: userId, payment_details_id: OWN_ACCOUNT.details.iban, crypto_currency: PERSON.last_name },
    {
      sender_id: userId,
      recipient_id: recipientId,
      recipient_destination_id: destinationId,
      sender_recipient_relationship: RECIPIENT.recipient_name,
    },
  ];
  for (const body of wrong) {
    for (const path of ['/partner/offramp/quote', '/partner/onramp/quote', '/partner/offramp/estimate']) {
      const { status } = await call('POST', path, body);
      expect([path, status >= 400 && status < 500]).toEqual([path, true]);
    }
  }
  await call('POST', '/partner/onramp/initiate', { quote_id: PERSON.email }, keyed('bad-initiate'));
  await call('GET', `/partner/orders?user_uuid=${PERSON.last_name}&reference_id=${PERSON.phone_number}`);
  await call('GET', `/partner/orders/${KYC.id_number}`);
}

/** What breaks on purpose: text that is no JSON, an id that is an address, a worker's work, a careless line in a log. */
export async function stumble(gateway: TestGateway, log: readonly string[]): Promise<void> {
  await breakVerification(gateway);
  await until('the worker to say so', () => log.some((line) => line.includes('intent handler threw')));
  await gateway.call('POST', '/api/v1/partner/users', { rawBody: `{"email":"${PERSON.email}",` });
  await gateway.call('GET', `/api/v1/partner/users/${encodeURIComponent(PERSON.email)}`);
  gateway.deps.logger.error(
    { err: new Error('row'), body: { ...PERSON, ...KYC, ...OWN_ACCOUNT } },
    'a careless line',
  );
  await until('documents stored', async () => {
    const [row] = await gateway.deps.db.query(SYSTEM, waitingDocuments, []);
    return row?.waiting === '0';
  });
}

/** The worker fails while it holds personal data: what is sealed does not open. */
async function breakVerification(gateway: TestGateway): Promise<void> {
  const call = callerOf(gateway);
  const created = await createBystander(gateway);
  const user = `/partner/users/${created.body.data.id}`;
  await call('POST', `${user}/kyc`, BYSTANDER);
  await call('POST', `${user}/documents`, documentOf('ID_FRONT'));
  await gateway.deps.db.query(SYSTEM, spoilIdentity, [created.body.data.id]);
  await call('POST', `${user}/documents`, documentOf('SELFIE'));
}

/** The same request with the same key, however often it is sent. */
export function createBystander(gateway: TestGateway): Promise<Answer> {
  const { first_name, last_name } = BYSTANDER;
  const body = { email: 'bystander@leak-check.example', first_name, last_name };
  return callerOf(gateway)('POST', '/partner/users', body, keyed('bystander'));
}

/** The driver of the vendor that has the order. */
export async function vendorClient(gateway: TestGateway, orderId: string) {
  const { db, sealer } = gateway.deps;
  const [order] = await db.query(SYSTEM, vendorOf, [orderId]);
  const vendors = await listSimulatedVendors(db, sealer);
  const vendor = vendors.find(({ row }) => row.vendor_id === order?.vendor_id);
  const account = gateway.sandbox.vendors.find(({ name }) => name === vendor?.row.name);
  if (vendor === undefined || account === undefined) throw new Error('the order has no vendor');
  const path = `/api/v1/vendor/orders/${orderId}`;
  const key = account.apiKey;
  const driver = {
    get: (what: string) => gateway.call('GET', `${path}/${what}`, { key }),
    post: (what: string, body?: object, options: CallOptions = {}) =>
      gateway.call('POST', `${path}/${what}`, { key, ...(body ? { body } : {}), ...options }),
    async sign(purpose: 'refund' | 'release') {
      const { body } = await driver.get(`signing-parameters?purpose=${purpose}`);
      const { typed_data: typed } = body.data;
      return privateKeyToAccount(vendor.privateKey).signTypedData({
        ...typed,
        message: { ...typed.message, nonce: BigInt(typed.message.nonce) },
      });
    },
    async accept(payment_details?: object) {
      const refund_signature = await driver.sign('refund');
      const accepted = await driver.post('accept', { refund_signature, payment_details });
      expect(accepted.status, accepted.text).toBe(200);
    },
  };
  return driver;
}
