import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxSecrets, SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { enableFiatAccounts } from '../harness/bank.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { ExampleRun } from './example-run.ts';

/** Customers, their KYC, where they and others are paid: up to what an order needs. */
export interface CustomerIds {
  readonly user_uuid: string;
  readonly payment_details_id: number;
}

export async function customerSteps(gateway: TestGateway, { send }: ExampleRun): Promise<CustomerIds> {
  const { id: user_uuid } = await send('createUser');
  const params = { user_uuid };
  await send('submitKyc', { params });
  const { document_id } = await send('uploadKycDocument', { params });
  await send('uploadKycDocumentShort', { params });
  await send('patchKyc', { params });
  await send('getIdentity', { params });
  await send('listKycSubmissions', { params });
  await send('sandboxKycStatus', { params });
  await send('getVerificationStatus', { params });
  await send('revealDocument', { params: { ...params, document_id } });
  const { id: payment_details_id } = await send('createPaymentDetails', { params });
  await send('listPaymentDetails', { params });
  await send('getUser', { params });
  await send('listUsers');
  await send('revealUser', { params });
  await otherCustomers(gateway, { send } as ExampleRun);
  return { user_uuid, payment_details_id };
}

/** One is verified on the provider's pages, one by an operator, and one is erased. */
async function otherCustomers(gateway: TestGateway, { send }: ExampleRun): Promise<void> {
  const make = async (email: string): Promise<string> =>
    (await gateway.partner.users.create({ email })).body.data.id;
  const hosted = { user_uuid: await make('hosted@example.com') };
  const { submission_id } = await send('submitKycShort', { params: hosted });
  await send('kycProviderCallback', {
    body: { submissionId: submission_id, reference: `simkyc_${submission_id}` },
    headers: await providerSignature(gateway),
  });

  const reviewed = { user_uuid: await make('review@example.com') };
  await gateway.partner.sandbox.kycStatus(reviewed.user_uuid, { status: 'UNDER_REVIEW' });
  await send('listKycReviews');
  await send('decideKyc', { params: reviewed });
  await send('eraseUser', { params: { user_uuid: await make('gone@example.com') } });
}

/** The simulated provider and the endpoint share a secret that no caller has. */
async function providerSignature({ env }: TestGateway) {
  const home = env.CAUSEWAY_HOME ?? '';
  const { dataEncryptionKey } = JSON.parse(
    await readFile(join(home, SECRETS_FILE), 'utf8'),
  ) as SandboxSecrets;
  const secret = createHmac('sha256', Buffer.from(dataEncryptionKey, 'hex'))
    .update('simulated KYC')
    .digest('hex');
  return (body: string) => ({
    'x-simulated-kyc-signature': createHmac('sha256', secret).update(body).digest('hex'),
  });
}

/** Third parties: registered, screened, reviewed and erased. */
export async function recipientSteps(gateway: TestGateway, { send }: ExampleRun): Promise<void> {
  const { recipient_id } = await send('createRecipient');
  const params = { recipient_id };
  await send('updateRecipient', { params });
  await send('sandboxScreeningStatus', { params });
  await send('createDestination', { params });
  await send('listDestinations', { params });
  await send('getRecipient', { params });
  await send('listRecipients');
  await send('revealRecipient', { params });

  const make = async (recipient_name: string): Promise<string> =>
    (await gateway.partner.recipients.create({ recipient_name, recipient_country: 'DE' })).body.data
      .recipient_id;
  const doubtful = await make('Review Person');
  await until('what the screening found', async () => {
    const { body } = await gateway.operator.recipients.listScreeningReviews();
    return body.data.reviews.some((one) => one.recipient_id === doubtful && one.list_version !== null);
  });
  await send('listScreeningReviews');
  await send('decideScreening', { params: { recipient_id: doubtful } });
  await send('archiveRecipient', { params: { recipient_id: await make('Archived Person') } });
  await send('eraseRecipient', { params: { recipient_id: await make('Erased Person') } });
}

/** An account holder that resembles a listed name waits for an operator. */
export async function screeningCaseSteps(
  gateway: TestGateway,
  { send }: ExampleRun,
  user_uuid: string,
): Promise<void> {
  const details = { full_name: 'Review Person', iban: 'DE02120300000000202051' };
  await gateway.partner.paymentDetails.create(user_uuid, {
    rail: 'iban-sepa',
    currency: 'EUR',
    country_code: 'DE',
    details,
  });
  const found = await until('the case', async () => {
    const { body } = await gateway.operator.screeningCases.list({ status: 'review' });
    return body.data.cases[0];
  });
  await send('listScreeningCases');
  const waiting = { kind: 'screening_case', subject_id: found.case_id };
  await send('listQueue', { query: { kind: 'screening_case' } });
  await send('getQueueCounts');
  await send('getQueueCase', { params: waiting });
  await send('claimQueueCase', { params: waiting });
  await send('releaseQueueCase', { params: waiting });
  await send('snoozeQueueCase', { params: waiting });
  await send('decideScreeningCase', { params: { case_id: found.case_id } });
}

/** An account of the customer's own, paid into; two orders of one amount leave the payment to an operator. */
export async function fiatAccountSteps(
  gateway: TestGateway,
  { send }: ExampleRun,
  user_uuid: string,
  openOrder: (user_uuid: string) => Promise<string>,
): Promise<void> {
  const params = { user_uuid };
  await send('getFiatAccountsConfig');
  await send('submitIdentification', { params });
  await until('the bank’s approval', async () => {
    const { body } = await gateway.partner.fiatAccounts.getIdentification(user_uuid);
    return body.data.status === 'approved';
  });
  await send('getIdentification', { params });
  const { id } = await send('issueFiatAccount', { params });
  await until('an open account', async () => {
    const { body } = await gateway.partner.fiatAccounts.get(user_uuid, id);
    return body.data.status === 'active';
  });
  const account = { ...params, id };
  const [order_id] = await Promise.all([openOrder(user_uuid), openOrder(user_uuid)]);
  const payment = await send('sandboxDeposit', { params: account });
  await send('listHeldFiatPayments');
  await send('revealFiatPayment', { params: { payment_id: payment.id } });
  await send('decideFiatPayment', { params: { payment_id: payment.id }, body: { order_id } });
  for (const read of ['getFiatAccount', 'getFiatAccountLedger', 'listFiatPayments']) {
    await send(read, { params: account });
  }
  await send('listFiatAccounts', { params });
  await send('exportFiatAccount', { params: { id } });

  // What pays no order is collected for the partner, who is told.
  await enableFiatAccounts(gateway, 0, { collection_enabled: true });
  await gateway.partner.sandbox.deposit(user_uuid, id, { amount: '12.34' });
  await until('the collection', async () => {
    const { events } = (await gateway.partner.events.list({ limit: 500 })).body.data;
    return events.some((one: { event_type: string }) => one.event_type === 'retail.settlement.completed');
  });
}
