import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';
import { SYSTEM } from '../../db/database.ts';
import { createIntentWorker } from '../../engine/intent-worker.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { KycVerdict } from '../../ports/kyc-provider.ts';
import { createSimulatedKyc, TROUBLED } from './provider/simulated-kyc.ts';
import { SUBMISSION } from './testing/kyc-samples.ts';
import { takeCallback, takeVerdict, verifyUserHandler } from './verification.effect.ts';

describe('verification when the provider misbehaves', () => {
  let gateway: TestGateway;
  let admin: pg.Client;
  let made = 0;
  beforeAll(async () => {
    gateway = await startGateway();
    admin = new pg.Client({ connectionString: gateway.databaseUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await gateway?.stop();
  });

  async function submitted(last_name = 'Hopper') {
    const created = await gateway.call('POST', '/api/v1/partner/users', {
      body: { email: `fault-${made++}@example.com` },
    });
    const userId = created.body.data.id as string;
    const answer = await gateway.call('POST', `/api/v1/partner/users/${userId}/kyc`, {
      body: { ...SUBMISSION, last_name, method: 'hosted_link' },
    });
    return { userId, submissionId: answer.body.data.submission_id as string };
  }
  const statusOf = async (userId: string) =>
    (await gateway.call('GET', `/api/v1/partner/users/${userId}`)).body.data.kyc.status;
  const eventsOf = async (userId: string) => {
    const { rows } = await admin.query('SELECT body FROM events WHERE subject_id = $1 ORDER BY position', [
      userId,
    ]);
    return rows.map(({ body }) => JSON.parse(body).data.kyc_status);
  };
  const take = (verdict: KycVerdict) =>
    unitOfWork(gateway.deps, SYSTEM, (unit) => takeVerdict(unit, verdict));
  const verdictOn = (submissionId: string, changes: Partial<KycVerdict> = {}): KycVerdict => ({
    eventId: randomUUID(),
    submissionId,
    reference: 'x',
    outcome: 'verification_passed',
    rejectionReasons: [],
    decidedAtMs: 1_000,
    ...changes,
  });

  it('ends with the right status and one event for everybody, through outages, repeats and late messages', async () => {
    const { deps } = gateway;
    const provider = createSimulatedKyc({
      now: () => deps.clock.now(),
      secret: 'a secret',
      seed: 'bad day',
      hostedUrl: () => '',
      behaviour: { ...TROUBLED, decisionDelayMs: 20, retryDelaysMs: [5, 5, 5] },
      deliver: async (callback) => ((await takeCallback(deps, provider, callback)) === 'taken' ? 200 : 400),
    });
    const handler = verifyUserHandler({ ...deps, kycProvider: provider });
    const retryingAtOnce = { ...handler, schedule: schedule([0], { maxAttempts: 100 }) };
    const worker = createIntentWorker(deps, { 'kyc.verify': retryingAtOnce }, { concurrency: 8, pollMs: 20 });
    const people = [];
    for (let n = 0; n < 24; n++) people.push(await submitted(n % 4 === 0 ? 'Rejected' : 'Hopper'));
    worker.start();
    try {
      await until('everybody to be decided', async () => {
        await provider.deliverDue();
        const { rows } = await admin.query(`SELECT FROM users WHERE kyc_status = 'IN_PROGRESS'`);
        return rows.length === 0;
      });
      await until('no more messages', async () => {
        await provider.deliverDue();
        return provider.nextDueAtMs() === null;
      });
    } finally {
      await worker.stop();
    }
    for (const [n, { userId }] of people.entries()) {
      const expected = n % 4 === 0 ? 'REJECTED' : 'VERIFIED';
      expect([await statusOf(userId), await eventsOf(userId)]).toEqual([expected, [expected]]);
    }
  });

  it('takes a decision once, however often and however concurrently it is delivered', async () => {
    const { userId, submissionId } = await submitted();
    const verdict = verdictOn(submissionId);
    await Promise.all(Array.from({ length: 10 }, () => take(verdict)));
    expect([await statusOf(userId), await eventsOf(userId)]).toEqual(['VERIFIED', ['VERIFIED']]);
  });

  it('does not let an older decision undo a newer one', async () => {
    const { userId, submissionId } = await submitted();
    await take(verdictOn(submissionId, { decidedAtMs: 2_000 }));
    await take(verdictOn(submissionId, { outcome: 'verification_refused', decidedAtMs: 1_999 }));
    expect(await statusOf(userId)).toBe('VERIFIED');
    await take(verdictOn(submissionId, { outcome: 'verification_refused', decidedAtMs: 2_001 }));
    expect(await eventsOf(userId)).toEqual(['VERIFIED', 'REJECTED']);
  });

  it('ignores decisions on an earlier submission, on an unknown customer, and on what is no submission at all', async () => {
    const first = await submitted();
    await take(verdictOn(first.submissionId, { outcome: 'resubmission_requested' }));
    expect(await statusOf(first.userId)).toBe('VERIFICATION_REJECTED');
    await gateway.call('POST', `/api/v1/partner/users/${first.userId}/kyc`, {
      body: { ...SUBMISSION, method: 'hosted_link' },
    });
    await take(verdictOn(first.submissionId, { decidedAtMs: 9_000 }));
    expect(await statusOf(first.userId)).toBe('IN_PROGRESS');
    await take(verdictOn(randomUUID()));
    await take(verdictOn("' OR 1=1"));
  });

  it('leaves an operator’s word as it is', async () => {
    const { userId, submissionId } = await submitted();
    await take(verdictOn(submissionId, { outcome: 'review_requested' }));
    await gateway.call('POST', `/api/v1/operator/users/${userId}/kyc-decision`, {
      key: gateway.sandbox.operatorKey,
      body: { decision: 'reject', rejection_reasons: ['BY_HAND'], reason: 'seen' },
    });
    await take(verdictOn(submissionId, { decidedAtMs: 5_000 }));
    expect(await statusOf(userId)).toBe('REJECTED');
  });
});
