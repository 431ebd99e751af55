import type { Difference } from '@causeway/sdk';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  reconcileAll,
  scheduledReconciliation,
} from '../../apps/gateway/src/features/reconciliation/reconcile.ts';
import { machineNow } from '../../apps/gateway/src/lib/clock.ts';
import { createWorker, type Worker } from '../../apps/gateway/src/worker.ts';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure } from '../../bench/frame/measurement.ts';
import { createRandom } from '../fuzz/random.ts';
import { connect } from '../harness/database.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from '../scenarios/chain-driver.ts';
import { fiatDriver } from '../scenarios/fiat-driver.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';
import { CORRUPTIONS, type Corruptible, type ExpectedDifference, type Planted } from './corruptions.ts';

/** `npm run reconciliation` draws other orders and amounts, among more of them. */
const SEED = Number(process.env.RECONCILIATION_SEED ?? 20_261_117);
const ORDERS = Number(process.env.RECONCILIATION_ORDERS ?? 5);
const IS_LONG = process.env.RECONCILIATION_SEED !== undefined;

describe('the reconciliation', () => {
  let gateway: TestGateway;
  let worker: Worker;
  let ground: Corruptible;
  const registry = new Registry();

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      worker: false,
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' },
    });
    worker = createWorker(gateway.deps);
    worker.start();
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
    await gateway.call('POST', '/api/v1/partner/webhooks', { body: { url: 'https://127.0.0.1:9/hook' } });
    ground = await prepare();
  }, 600_000);
  afterAll(async () => {
    await worker?.stop();
    await gateway?.stop();
  });

  /** Orders and payments of every kind that is corrupted; from then on nothing works on them. */
  async function prepare(): Promise<Corruptible> {
    const driver = ordersDriver(gateway);
    const fiat = fiatDriver(gateway);
    const accepted = async () => {
      const orderId = await driver.onrampOrder();
      expect((await driver.event(orderId, 'vendor_accepts')).status).toBe(200);
      return orderId;
    };
    const funded = async () => {
      const orderId = await accepted();
      expect((await driver.event(orderId, 'escrow_funded')).status).toBe(200);
      return orderId;
    };
    const completed = async () => {
      const orderId = await funded();
      expect((await driver.act(orderId, 'confirm-payment-sent')).status).toBe(200);
      expect((await driver.event(orderId, 'vendor_confirms_fiat')).status).toBe(200);
      await driver.reaches(orderId, 'completed');
      return orderId;
    };
    const several = (make: () => Promise<string>) => Promise.all(Array.from({ length: ORDERS }, make));
    const payments = async () => {
      const userId = await fiat.customer();
      const accountId = await fiat.account(userId);
      await fiat.account(await fiat.customer());
      const made = await Promise.all(
        ['11.00', '12.00', '13.00', '14.00', '15.00'].map((amount) =>
          fiat.deposit(userId, accountId, { amount }),
        ),
      );
      return made.map(({ body }) => body.data.id as string);
    };
    const [paid, lockedUp, paidIn] = await Promise.all([several(completed), several(funded), payments()]);
    // Numbers in the stream are given by its first reader.
    await gateway.call('GET', '/api/v1/partner/events?limit=100');
    await until('all that the bank reports', async () => {
      const { rows } =
        await query(`SELECT value->>'cursor' AS cursor, (SELECT max(position)::text FROM sandbox_bank_payments) AS last
          FROM deployment_facts WHERE name = 'bank_payments'`);
      return rows[0]?.cursor === rows[0]?.last && rows[0]?.last !== undefined;
    });
    const waiting = [await accepted()];
    await worker.stop();
    return { completed: paid, funded: lockedUp, waiting, payments: paidIn };
  }

  async function query(text: string) {
    const owner = await connect(gateway.databaseUrl);
    try {
      return await owner.query<Record<string, string>>(text);
    } finally {
      await owner.end();
    }
  }

  const answered = async (): Promise<Difference[]> =>
    (await gateway.operator.reconciliation.get({ limit: 500 })).body.data.differences;

  const escrowOf = async (orderId: string) => (await ordersDriver(gateway).funds(orderId)).escrow.address;

  async function plantAll(): Promise<Planted[]> {
    const random = createRandom(SEED);
    const owner = await connect(gateway.databaseUrl);
    const payer = gateway.sandbox.vendors[0]?.walletPrivateKey ?? '';
    const payInto = async (orderId: string, amount: bigint) =>
      chainDriver(gateway).transfer(payer, await escrowOf(orderId), amount);
    // What the database itself refuses: append-only tables, and books that do not balance.
    await owner.query('SET session_replication_role = replica');
    try {
      const planted: Planted[] = [];
      for (const plant of CORRUPTIONS) planted.push(await plant(owner, ground, random, payInto));
      return planted;
    } finally {
      await owner.end();
    }
  }

  const fits = (one: Difference, { kind, orderId, about, says }: ExpectedDifference) =>
    one.kind === kind &&
    one.order_id === orderId &&
    (about === null || about.test(one.about ?? '')) &&
    says.test(`${one.expected} ${one.found}`);

  it('finds nothing where nothing was changed', async () => {
    const checked = await reconcileAll(gateway.deps);
    expect(await answered()).toEqual([]);
    expect(checked).toBeGreaterThan(ORDERS * 2);
  });

  it('misses the first number of a stream, unless what was before the others is purged', async () => {
    const gaps = async () => {
      await reconcileAll(gateway.deps);
      const found = (await answered()).filter(({ about }) => about?.startsWith('the stream of partner '));
      return found.map((gap) => `${gap.kind} ${gap.about}: ${gap.expected}, ${gap.found}`);
    };
    const { rows } = await query('DELETE FROM event_stream WHERE sequence = 1 RETURNING *');
    const [{ event_id, partner_id, position }] = rows as [Record<string, string>];
    expect(await gaps()).toEqual([`stream_gap the stream of partner ${partner_id}: 1 after 0, 2`]);
    await query(`INSERT INTO event_stream_floors (partner_id, floor) VALUES ('${partner_id}', 1)`);
    expect(await gaps()).toEqual([]);
    await query(
      `DELETE FROM event_stream_floors;
       INSERT INTO event_stream (event_id, partner_id, position, sequence)
       VALUES ('${event_id}', '${partner_id}', ${position}, 1)`,
    );
  });

  it(`finds and names every corruption, and nothing else: seed ${SEED}`, async () => {
    const planted = await plantAll();
    await scheduledReconciliation({ ...gateway.deps, wall: machineNow, registry }, 0)();
    const differences = await answered();
    const expected = planted.flatMap((one) => one.expected);
    const missed = planted.filter(
      (one) => !one.expected.every((wanted) => differences.some((found) => fits(found, wanted))),
    );
    const falseAlarms = differences.filter((found) => !expected.some((wanted) => fits(found, wanted)));
    if (IS_LONG) tell(planted.length, missed.length, falseAlarms.length);
    expect({ missed: missed.map(({ name }) => name), falseAlarms }).toEqual({ missed: [], falseAlarms: [] });
    const { cases } = (await gateway.operator.queue.list({ kind: ['reconciliation'], limit: 100 })).body.data;
    expect(cases.map(({ subject_id }) => subject_id).sort()).toEqual(
      differences.map(({ difference_id }) => difference_id).sort(),
    );
    const metric = await registry.getSingleMetricAsString('reconciliation_differences');
    for (const { kind } of expected) expect(metric).toMatch(new RegExp(`\\{kind="${kind}"\\} [1-9]`));
  });

  it('a difference is gone once the two records agree again, and looking again keeps the others', async () => {
    const before = await answered();
    const changed = before.find(({ kind }) => kind === 'bank_payment_amount');
    await query(
      'UPDATE fiat_payments f SET amount = s.amount FROM sandbox_bank_payments s WHERE s.transaction_id = f.bank_transaction_id',
    );
    const check = await gateway.operator.reconciliation.checkDifference(changed?.difference_id ?? '');
    expect(check.body.data.verdict).toBe('equal');
    await reconcileAll(gateway.deps);
    const left = before.filter(({ difference_id }) => difference_id !== changed?.difference_id);
    expect((await answered()).map(({ difference_id }) => difference_id)).toEqual(
      left.map(({ difference_id }) => difference_id),
    );
  });

  function tell(planted: number, missed: number, falseAlarms: number): void {
    reportEvidence(
      {
        run: 'reconciliation',
        command: `npm run reconciliation -- ${SEED} ${ORDERS}`,
        seed: SEED,
        figures: [
          figure({
            name: 'corruptions planted',
            value: planted,
            unit: 'corruptions',
            better: 'higher',
            target: CORRUPTIONS.length,
          }),
          figure({
            name: 'corruptions not found or not named',
            value: missed,
            unit: 'corruptions',
            better: 'lower',
            target: 0,
          }),
          figure({
            name: 'false alarms',
            value: falseAlarms,
            unit: 'differences',
            better: 'lower',
            target: 0,
          }),
          figure({ name: 'orders compared', value: ORDERS * 2 + 1, unit: 'orders', better: 'higher' }),
        ],
      },
      { record: true },
    );
  }
});
