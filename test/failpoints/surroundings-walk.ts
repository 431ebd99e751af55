import { expect } from 'vitest';
import { documentOf, SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import { connect } from '../harness/database.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink } from '../harness/webhook-sink.ts';
import { fiatDriver } from '../scenarios/fiat-driver.ts';
import { EVENT_RETENTION_DAYS, type Round } from './round.ts';

/** What the gateway has to do with others besides orders: KYC pages, documents, the bank, names, mails. */
export async function walkSurroundings({ gateway }: Round): Promise<void> {
  await Promise.all([
    hostedPages(gateway),
    erasedDocuments(gateway),
    closedBank(gateway),
    paymentsAtTheBank(gateway),
    namedEndpoint(gateway),
    slowReceiver(gateway),
    mailedInvitation(gateway),
    playground(gateway),
  ]);
  await screenedLater(gateway);
}

const newUser = async ({ partner }: TestGateway, email: string): Promise<string> =>
  (await partner.users.create({ email })).body.data.id;

/** Opened before there is a verdict, which takes half a second: one of these customers is in time. */
async function hostedPages(gateway: TestGateway): Promise<void> {
  for (const name of ['first', 'second', 'third']) {
    const userId = await newUser(gateway, `${name}@hosted.example`);
    const submitted = await gateway.partner.kyc.submit(userId, { ...SUBMISSION, method: 'hosted_link' });
    const { pathname } = new URL(submitted.body.data.verification_url ?? '');
    expect((await gateway.call('GET', pathname, { key: null })).status).toBe(200);
  }
}

async function erasedDocuments(gateway: TestGateway): Promise<void> {
  const userId = await newUser(gateway, 'documents@gone.example');
  await gateway.partner.kyc.submit(userId, { ...SUBMISSION });
  await gateway.partner.kyc.uploadDocument(userId, documentOf('ID_FRONT') as never);
  const erased = await gateway.operator.users.erase(userId, { reason: 'ticket 9' });
  expect(erased.status, erased.text).toBe(200);
}

/** It does not open the account, and is asked again and again. */
async function closedBank(gateway: TestGateway): Promise<void> {
  const fiat = fiatDriver(gateway);
  const userId = await fiat.customer('Unavailable');
  const { id } = (await fiat.issue(userId)).body.data;
  await until('a bank that is closed', async () => {
    const { body } = await gateway.partner.fiatAccounts.get(userId, id);
    return body.data.status !== 'active' && body.data;
  });
}

/** One payment is known from the bank's own list alone; another fits no account, until the bank takes it back. */
async function paymentsAtTheBank(gateway: TestGateway): Promise<void> {
  const fiat = fiatDriver(gateway);
  const userId = await fiat.customer();
  const accountId = await fiat.account(userId);
  const owner = await connect(gateway.databaseUrl);
  try {
    const reported = `INSERT INTO sandbox_bank_payments (transaction_id, account_reference, currency, amount, received_at)
      SELECT $1, coalesce($2, bank_reference), 'EUR', 700, now() FROM fiat_accounts WHERE user_id = $3`;
    await owner.query(reported, ['walk:known', null, userId]);
    await owner.query(reported, ['walk:stray', 'no account of ours', userId]);
    await until('the payment', async () => (await fiat.payments(userId, accountId)).length > 0);
    const isMissing = async () => {
      const { differences } = (await gateway.operator.reconciliation.get({})).body.data;
      return differences.some(({ kind }) => kind === 'bank_payment_missing');
    };
    await until('the difference', isMissing);
    await owner.query(`DELETE FROM sandbox_bank_payments WHERE transaction_id = 'walk:stray'`);
    await until('the end of the difference', async () => !(await isMissing()));
  } finally {
    await owner.end();
  }
}

/** A name that nobody has may be published later. */
async function namedEndpoint({ partner }: TestGateway): Promise<void> {
  const made = await partner.webhookEndpoints.create({ url: 'https://hooks.invalid/causeway' });
  expect(made.status, made.text).toBe(200);
  await partner.webhookEndpoints.delete(made.body.data.id);
}

/** It takes longer to answer than a lease of its delivery lasts. */
async function slowReceiver(gateway: TestGateway): Promise<void> {
  const { webhookEndpoints } = gateway.partner;
  const sink = await startWebhookSink({ tls: false, faults: { kind: 'slow', bytes: 5, intervalMs: 1_000 } });
  try {
    const made = await webhookEndpoints.create({ url: sink.url });
    expect(made.status, made.text).toBe(200);
    const { id } = made.body.data;
    await gateway.partner.kyc.submit(await newUser(gateway, 'told@slowly.example'), { ...SUBMISSION });
    await until('its answer', async () => {
      const { deliveries } = (await webhookEndpoints.listDeliveries(id, {})).body.data;
      return deliveries.some(({ status }) => status === 'delivered');
    });
    await webhookEndpoints.delete(id);
  } finally {
    await sink.close();
  }
}

/** A sandbox keeps the mails of partners. */
async function mailedInvitation({ operator, partners: [{ name }] }: TestGateway): Promise<void> {
  const { partners } = (await operator.partners.list({ limit: 100 })).body.data;
  const { partner_id } = partners.find((one) => one.name === name)!;
  const invited = await operator.invitations.create({
    desk: 'partner',
    owner_id: partner_id,
    email: 'colleague@walk.example',
    role: 'viewer',
  });
  expect(invited.status, invited.text).toBe(200);
}

/** Cases that wait for a screening which could not answer at once; that of a sandbox can, so they are written. */
async function screenedLater(gateway: TestGateway): Promise<void> {
  const owner = await connect(gateway.databaseUrl);
  try {
    for (const kind of ['wallet', 'payment_details']) {
      const { rows } = await owner.query(
        `WITH waiting AS (
           UPDATE screening_cases SET screening_status = 'pending', screening_round = screening_round + 1
            WHERE case_id = (SELECT case_id FROM screening_cases
                              WHERE subject_kind = $1 AND screening_status = 'clear' AND NOT decided_by_person LIMIT 1)
           RETURNING case_id, partner_id, screening_round)
         INSERT INTO intents (intent_id, partner_id, kind, dedupe_key, payload, run_at, created_at)
         SELECT gen_random_uuid(), partner_id, 'screening.screen', case_id || ':' || screening_round,
                jsonb_build_object('case_id', case_id, 'round', screening_round), now(), now() FROM waiting
         RETURNING payload ->> 'case_id' AS case_id`,
        [kind],
      );
      await until('the screening', async () => {
        const { body } = await gateway.operator.screeningCases.list({ status: 'pending', limit: 100 });
        return !body.data.cases.some(({ case_id }) => case_id === rows[0].case_id);
      });
    }
  } finally {
    await owner.end();
  }
}

async function playground(gateway: TestGateway): Promise<void> {
  const answer = await gateway.call('POST', '/widget/playground/rpc/base-mainnet', {
    key: null,
    body: { method: 'eth_chainId', params: [] },
  });
  expect(answer.status, answer.text).toBe(200);
}

/** What old age ends or renews, once a worker has gone round. Events go with it, so all else is judged before. */
export async function letTimePass({ gateway, supervisor }: Round): Promise<void> {
  await gateway.partner.sandbox.advanceClock({ seconds: (EVENT_RETENTION_DAYS + 1) * 24 * 60 * 60 });
  for (const sweep of [
    'features/webhooks/event-stream.ts purgeBatch: transaction',
    'features/screening/screen-wallet.ts screenKnownWallets: unit of work',
    'features/widget/sessions.ts purgeOldSessions: purgeSessions',
  ]) {
    await until(sweep, () => supervisor.reached().includes(`after ${sweep}`));
  }
  await gateway.partner.sandbox.resetClock();
}
