import { CONFIRMATION_OVERDUE_SECONDS, QUEUE_KINDS, type QueueKind } from '@causeway/protocol/console';
import type { QueueCase } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listQueue } from '../../apps/gateway/src/features/operators/queue/queue.store.ts';
import { publishQueue } from '../../apps/gateway/src/features/operators/queue/queue-metrics.ts';
import { connect } from '../harness/database.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type QueueCases, queueCases } from './queue-cases.ts';

const REASON = { reason: 'ticket 4711' };
/** Over the rows that wait, and no others. */
const INDEXES = [
  'payment_proofs_to_review',
  'orders_held',
  'orders_disputed',
  'orders_to_confirm',
  'recipients_to_review',
  'screening_cases_by_age',
  'deposit_observations_',
  'fiat_payments_to_review',
  'fiat_payments_unmatched',
  'offers_to_authorize',
  'intents_stuck',
  'intents_due',
  'reconciliation_differences_by_age',
];

describe('the operator’s queue', () => {
  let gateway: TestGateway;
  let cases: QueueCases;
  /** What waits, by kind, made before all tests: most of the time is spent waiting for the chain. */
  const ids = {} as Record<QueueKind | 'unmatched', string>;
  let other: TestGateway['operator'];

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      env: {
        RECONCILIATION_SECONDS: '1',
        QUEUE_TARGETS: 'offer=10,kyc=100000',
        RATE_LIMIT_PARTNER_PER_MINUTE: '100000',
      },
    });
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
    cases = queueCases(gateway);
    const made = await gateway.operator.keys.create({ label: 'second operator' });
    other = gateway.as(made.body.data.key).operator;
    await Promise.all(
      QUEUE_KINDS.map(async (kind) => {
        ids[kind] = await cases[kind]();
      }),
    );
    ids.unmatched = await cases.unmatchedPayment();
  });
  afterAll(() => gateway?.stop());

  const listed = async (query: object = {}): Promise<QueueCase[]> =>
    (await gateway.operator.queue.list({ limit: 100, ...query } as never)).body.data.cases;
  const waits = async (kind: QueueKind, id: string) =>
    (await listed({ kind: [kind] })).some(({ subject_id }) => subject_id === id);
  const orderOf = async (kind: QueueKind, id: string) =>
    (await gateway.operator.queue.get(kind, id)).body.data.order_id ?? '';

  /** As a worker publishes them every some seconds. */
  async function published() {
    const { metrics, config } = gateway.deps;
    await publishQueue({ ...gateway.deps, queueTargets: config.queueTargets });
    const read = async (gauge: typeof metrics.queueCases) =>
      new Map((await gauge.get()).values.map(({ labels, value }) => [labels.kind, value]));
    return {
      queueCases: await read(metrics.queueCases),
      queueCasesOverdue: await read(metrics.queueCasesOverdue),
      queueCaseOldestSeconds: await read(metrics.queueCaseOldestSeconds),
    };
  }

  it('every kind is in it, with a sentence, a target time and the ids it is about', async () => {
    const all = await listed();
    for (const kind of QUEUE_KINDS) {
      const found = all.find((one) => one.kind === kind && one.subject_id === ids[kind]);
      expect(found, kind).toMatchObject({ assignee: null, snoozed: null });
      expect(found?.says.length, kind).toBeGreaterThan(20);
      expect(Date.parse(found?.due_at ?? '')).toBeGreaterThan(Date.parse(found?.created_at ?? ''));
      const detail = await gateway.operator.queue.get(kind, ids[kind]);
      expect(detail.status, `${kind}: ${detail.text}`).toBe(200);
    }
    expect(all.some(({ subject_id }) => subject_id === ids.unmatched)).toBe(true);
    // One case an order: the orders that a payment holds wait for the payment.
    const { candidate_order_ids: held } = (await gateway.operator.queue.get('fiat_payment', ids.fiat_payment))
      .body.data.fiat_payment!;
    expect(held).toHaveLength(2);
    expect(all.filter(({ kind, subject_id }) => kind === 'hold' && held.includes(subject_id))).toEqual([]);
    const offer = all.find(({ subject_id }) => subject_id === ids.offer)!;
    expect(Date.parse(offer.due_at) - Date.parse(offer.created_at)).toBe(600_000);
    expect(all.find(({ subject_id }) => subject_id === ids.deposit)?.currency).toBe('USDC');
  });

  it('is sorted by what is due first, over all pages, and counts what it lists', async () => {
    const all = await listed();
    const due = all.map(({ due_at }) => Date.parse(due_at));
    expect(due).toEqual([...due].sort((left, right) => left - right));
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await gateway.operator.queue.list({ limit: 2, ...(cursor === '' ? {} : { cursor }) });
      paged.push(...body.data.cases.map(({ subject_id }: QueueCase) => subject_id));
      cursor = body.data.pagination.next_cursor;
    }
    expect(paged).toEqual(all.map(({ subject_id }) => subject_id));
    const counts = (await gateway.operator.queue.counts()).body.data;
    expect(counts.waiting).toBe(all.length);
    expect(counts.unassigned).toBe(all.length);
    for (const { kind, waiting } of counts.kinds) {
      expect(waiting, kind).toBe(all.filter((one) => one.kind === kind).length);
    }
    const [{ partner_id }] = all.filter(({ kind }) => kind === 'kyc') as [QueueCase];
    expect((await listed({ partner_id })).every((one) => one.partner_id === partner_id)).toBe(true);
    expect(await listed({ partner_id: '0199aa9f-1111-7c41-9d0e-6b1f5a3c2d10' })).toEqual([]);
  });

  it('the metrics are what the queue counts, by kind, and the age of what waits longest', async () => {
    const { values } = await until('the worker to have counted', async () => {
      const counted = await gateway.deps.metrics.queueCases.get();
      return counted.values.length > 0 && counted;
    });
    expect(values.map(({ labels }) => labels.kind)).toEqual([...QUEUE_KINDS]);
    await gateway.operator.queue.snooze('proof', ids.proof, { minutes: 5, ...REASON });
    const { queueCases, queueCasesOverdue, queueCaseOldestSeconds } = await published();
    const counts = (await gateway.operator.queue.counts()).body.data;
    expect(counts.snoozed).toBe(1);
    for (const { kind, waiting, overdue } of counts.kinds) {
      expect([kind, queueCases.get(kind), queueCasesOverdue.get(kind)]).toEqual([kind, waiting, overdue]);
    }
    for (const kind of ['effect', 'hold', 'deposit', 'fiat_payment', 'dispute'] as const) {
      expect(queueCases.get(kind), kind).toBeGreaterThan(0);
      const [oldest] = await listed({ kind: [kind] });
      const ageSeconds = (gateway.deps.clock.now() - Date.parse(oldest?.created_at ?? '')) / 1_000;
      expect(Math.abs((queueCaseOldestSeconds.get(kind) ?? 0) - ageSeconds), kind).toBeLessThan(30);
    }
    await gateway.operator.queue.snooze('proof', ids.proof, { minutes: 0, ...REASON });
  });

  // Proves C7 QUEUE_CASE_CLAIMED.
  it('of two who claim at once one gets the case; it is released, or ends by itself', async () => {
    const claims = await Promise.all([
      gateway.operator.queue.claim('hold', ids.hold),
      other.queue.claim('hold', ids.hold),
    ]);
    expect(claims.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [winner, loser] = claims[0]?.status === 200 ? [gateway.operator, other] : [other, gateway.operator];
    expect(claims.find(({ status }) => status === 409)?.body.error.code).toBe('QUEUE_CASE_CLAIMED');
    const mine = async (who: TestGateway['operator']) =>
      (await who.queue.list({ assignee: 'me' })).body.data.cases.map(({ subject_id }) => subject_id);
    expect(await mine(winner)).toEqual([ids.hold]);
    expect(await mine(loser)).toEqual([]);
    expect((await loser.queue.release('hold', ids.hold)).body.error.code).toBe('QUEUE_CASE_CLAIMED');
    expect((await listed({ assignee: 'none' })).some(({ subject_id }) => subject_id === ids.hold)).toBe(
      false,
    );
    expect((await winner.queue.release('hold', ids.hold)).body.data.assignee).toBeNull();
    expect((await loser.queue.claim('hold', ids.hold)).status).toBe(200);
    await gateway.sdk().sandbox.advanceClock({ seconds: 31 * 60 });
    expect((await winner.queue.claim('hold', ids.hold)).status).toBe(200);
    await winner.queue.release('hold', ids.hold);
  });

  it('what is put off is left out until then, and the reason is audited', async () => {
    await gateway.operator.queue.snooze('offer', ids.offer, { minutes: 60, ...REASON });
    expect(await waits('offer', ids.offer)).toBe(false);
    expect(await listed({ snoozed: true })).toMatchObject([{ subject_id: ids.offer, snoozed: REASON }]);
    expect((await gateway.operator.queue.counts()).body.data.snoozed).toBe(1);
    const { entries } = (await gateway.operator.audit.list({ subject: `queue/offer/${ids.offer}` })).body
      .data;
    expect(entries).toMatchObject([{ action: 'queue.snooze', ...REASON }]);
    await gateway.operator.queue.snooze('offer', ids.offer, { minutes: 0, ...REASON });
    expect(await waits('offer', ids.offer)).toBe(true);
    // Half an hour has passed, and its target time is ten minutes.
    const overdue = await listed({ overdue: true });
    expect(overdue.map(({ subject_id }) => subject_id)).toContain(ids.offer);
    expect(overdue.every((one) => one.overdue)).toBe(true);
    expect((await gateway.operator.queue.counts()).body.data.overdue).toBe(overdue.length);
  });

  it('the kinds are found along the indexes of what waits, however many rows do not', async () => {
    const owner = await connect(gateway.databaseUrl);
    const plan = async () => {
      const at = new Date().toISOString();
      const { rows } = await owner.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN EXECUTE queue_list ('${at}', '{${QUEUE_KINDS.map(() => 60).join(',')}}', '${at}', '${at}', NULL, NULL, NULL,
           '${ids.hold}', false, false, NULL, NULL, 50)`,
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    try {
      await owner.query('BEGIN');
      await owner.query(`PREPARE queue_list AS ${listQueue.text}`);
      await owner.query(`INSERT INTO users SELECT (jsonb_populate_record(u, jsonb_build_object('user_id', gen_random_uuid(),
          'email_index', 'many:' || n, 'reference_id', NULL, 'kyc_status', 'VERIFIED'))).*
        FROM users u, generate_series(1, 20000) n WHERE u.user_id = (SELECT user_id FROM users LIMIT 1)`);
      await owner.query('ANALYZE');
      expect(await plan()).toContain('Index Scan using users_under_review');
      // The other tables are small here: what would be used if they were not.
      await owner.query('SET LOCAL enable_seqscan = off');
      const large = await plan();
      for (const index of INDEXES) expect(large).toContain(index);
    } finally {
      await owner.query('ROLLBACK');
      await owner.end();
    }
  });

  // Proves C7 QUEUE_CASE_NOT_FOUND.
  it('each leaves with its decision, and a decided case is not found', async () => {
    const { operator } = gateway;
    const decisions: Record<QueueKind, () => Promise<{ readonly status: number; readonly text: string }>> = {
      kyc: () => operator.users.decideKyc(ids.kyc, { decision: 'approve', ...REASON }),
      proof: async () => {
        const orderId = await orderOf('proof', ids.proof);
        await operator.orders.reviewProof(orderId, { decision: 'start', ...REASON });
        expect(await waits('proof', ids.proof)).toBe(true);
        return operator.orders.reviewProof(orderId, { decision: 'accepted', ...REASON });
      },
      hold: () => operator.orders.decideHold(ids.hold, { decision: 'release', ...REASON }),
      dispute: () => operator.orders.decideDispute(ids.dispute, { decision: 'for_buyer', ...REASON }),
      overdue_confirmation: () =>
        operator.orders.decideDispute(ids.overdue_confirmation, { decision: 'for_seller', ...REASON }),
      recipient_screening: () =>
        operator.recipients.decideScreening(ids.recipient_screening, { decision: 'clear', ...REASON }),
      screening_case: () =>
        operator.screeningCases.decide(ids.screening_case, { decision: 'block', ...REASON }),
      deposit: () => operator.deposits.decide(ids.deposit, { decision: 'return', ...REASON }),
      fiat_payment: async () => {
        const { fiat_payment: payment } = (await operator.queue.get('fiat_payment', ids.fiat_payment)).body
          .data;
        const order_id = payment?.candidate_order_ids[0] ?? '';
        return operator.fiatPayments.decide(ids.fiat_payment, { decision: 'match', order_id, ...REASON });
      },
      offer: () => operator.offers.decideAuthorization(ids.offer, { authorized: true, ...REASON }),
      effect: () => operator.effects.giveUp(ids.effect, REASON),
      reconciliation: async () => {
        const still = await operator.reconciliation.checkDifference(ids.reconciliation);
        expect(still.body.data.verdict).toBe('different');
        await cases.settleDifference();
        return operator.reconciliation.checkDifference(ids.reconciliation);
      },
    };
    for (const kind of QUEUE_KINDS) {
      const before = (await published()).queueCases.get(kind) ?? 0;
      const decided = await decisions[kind]();
      expect(decided.status, `${kind}: ${decided.text}`).toBe(200);
      expect(await waits(kind, ids[kind]), kind).toBe(false);
      expect((await published()).queueCases.get(kind), kind).toBeLessThan(before);
      const gone = await operator.queue.claim(kind, ids[kind]);
      expect([gone.status, gone.body.error.code]).toEqual([404, 'QUEUE_CASE_NOT_FOUND']);
    }
    const { fiat_payment: early } = (await operator.queue.get('fiat_payment', ids.unmatched)).body.data;
    const [order_id = ''] = early?.candidate_order_ids ?? [];
    const matched = await operator.fiatPayments.decide(ids.unmatched, {
      decision: 'match',
      order_id,
      ...REASON,
    });
    expect(matched.status, matched.text).toBe(200);
    expect(await waits('fiat_payment', ids.unmatched)).toBe(false);
  });

  it('a confirmation that does not come in a day is a case: of the vendor, of the partner, and a signature after a dispute', async () => {
    const { operator } = gateway;
    const [onramp, disputed, offramp] = await Promise.all([
      cases.paidOnramp(),
      cases.awardedDispute(),
      cases.provenOfframp(),
    ]);
    // What the worker had just been about to do is late once the clock has been moved.
    const kinds = async (orderId: string) =>
      (await listed())
        .filter(({ order_id, kind }) => order_id === orderId && kind !== 'effect')
        .map(({ kind }) => kind);
    for (const orderId of [onramp, disputed, offramp]) expect(await kinds(orderId)).toEqual([]);
    await gateway.sdk().sandbox.advanceClock({ seconds: CONFIRMATION_OVERDUE_SECONDS });
    for (const [orderId, says] of [
      [onramp, 'the vendor does not confirm'],
      [disputed, 'the signature that pays it does not come'],
      [offramp, 'nobody confirms'],
    ] as const) {
      expect(await kinds(orderId)).toEqual(['overdue_confirmation']);
      const { body } = await operator.queue.get('overdue_confirmation', orderId);
      expect(body.data.says).toContain(says);
      const age = gateway.deps.clock.now() - Date.parse(body.data.created_at);
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThan(300_000);
    }
    // A hold of a dispute that is decided is a part of that case; of the others it is a case of its own.
    for (const orderId of [onramp, disputed]) {
      expect((await operator.orders.decideHold(orderId, { decision: 'place', ...REASON })).status).toBe(200);
    }
    expect(await kinds(onramp)).toEqual(['hold']);
    const confirmed = await gateway.partner.orders.confirmFiatReceived(offramp);
    expect(confirmed.status, confirmed.text).toBe(200);
    expect(await kinds(offramp)).toEqual([]);
  });
});
