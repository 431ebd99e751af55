import { CausewayError } from '@causeway/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { orderChanged } from '../../../../../test/harness/events.ts';
import { SYSTEM } from '../../db/database.ts';
import { emitEvent } from '../../engine/outbox.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createClock, type MovableClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { latestCursor, purgeOldEvents, readEvents } from './event-stream.ts';

const KEPT_DAYS = 90;
const DAY = 24 * 60 * 60 * 1_000;

describe('events after the time they are kept', () => {
  let database: TestDatabase;
  let clock: MovableClock;
  let partner: string;
  const ids = createIdGenerator();

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database?.close());
  beforeEach(async () => {
    clock = createClock();
    partner = ids.uuid();
    await insertPartner(database.owner, partner, { webhookEnabled: true });
  });

  const emit = (steps: readonly number[]) =>
    unitOfWork({ db: database.db, clock, ids }, SYSTEM, async (unit) => {
      const about = { partnerId: partner, subjectId: ids.uuid() };
      for (const step of steps) {
        emitEvent(unit, { ...about, eventType: 'order.status.changed', data: orderChanged({ step }) });
      }
    });
  const askForRefund = (step: number, subjectId: string) =>
    unitOfWork({ db: database.db, clock, ids }, SYSTEM, async (unit) => {
      const action_required = {
        method: 'POST',
        endpoint: '/refund',
        parameters_endpoint: '/parameters',
      } as const;
      const data = orderChanged({ step, status: 'cancelled', action_required } as const);
      emitEvent(unit, { eventType: 'order.refund.required', partnerId: partner, subjectId, data });
    });
  const settleAll = () =>
    database.owner.query(`UPDATE webhook_deliveries SET status = 'delivered' WHERE status = 'pending'`);
  const pass = (days: number) => clock.moveTo(clock.offsetMs + days * DAY);
  const purge = () => purgeOldEvents({ db: database.db, clock }, KEPT_DAYS);
  const read = async (after: string) =>
    (await readEvents(database.db, partner, after, 100)).map(({ cursor, body }) => [
      cursor,
      JSON.parse(body).data.step,
    ]);
  const kept = async (table: 'events' | 'event_stream' | 'webhook_deliveries') => {
    const { rows } = await database.owner.query(
      `SELECT count(*)::int AS n FROM ${table} WHERE partner_id = $1`,
      [partner],
    );
    return rows[0].n;
  };
  const refusal = async (after: string) => {
    const error = await readEvents(database.db, partner, after, 100).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CausewayError);
    const { code, status, details } = error as CausewayError;
    return { code, status, details };
  };

  it('go with their deliveries, by the business clock, and younger ones stay', async () => {
    await emit([1, 2]);
    await settleAll();
    pass(1);
    await emit([3]);
    await settleAll();
    pass(KEPT_DAYS - 1);
    // The first two are exactly as old as they may be, and a moment older.
    await purge();
    expect([await kept('events'), await kept('event_stream'), await kept('webhook_deliveries')]).toEqual([
      1, 1, 1,
    ]);
    expect(await read('0')).toEqual([['3', 3]]);
    expect(await purge()).toBe(0);
  });

  it('stay while a delivery of them is waiting or was made lately', async () => {
    await emit([1]);
    pass(KEPT_DAYS + 1);
    await purge();
    expect(await kept('events')).toBe(1);
    await settleAll();
    await database.owner.query(
      `INSERT INTO webhook_deliveries (partner_id, delivery_id, event_id, position, in_order, status, run_at, created_at)
       SELECT partner_id, gen_random_uuid(), event_id, position, false, 'delivered', $2, $2
         FROM events WHERE partner_id = $1`,
      [partner, clock.date()],
    );
    await purge();
    expect([await kept('events'), await kept('webhook_deliveries')]).toEqual([1, 2]);
    pass(KEPT_DAYS + 1);
    await purge();
    expect([await kept('events'), await kept('webhook_deliveries')]).toEqual([0, 0]);
  });

  // Proves C7 CURSOR_EXPIRED.
  it('a cursor behind which something was purged is refused and told where to go on; the beginning never is', async () => {
    await emit([1, 2, 3]);
    await settleAll();
    expect((await read('0')).map(([cursor]) => cursor)).toEqual(['1', '2', '3']);
    pass(KEPT_DAYS + 1);
    await emit([4]);
    await purge();
    expect(await refusal('2')).toEqual({
      code: 'CURSOR_EXPIRED',
      status: 410,
      details: { oldest_cursor: '3' },
    });
    // A reader of all that is gone has missed nothing.
    expect(await read('3')).toEqual([['4', 4]]);
    expect(await read('0')).toEqual([['4', 4]]);
  });

  it('numbers in the stream go on where they were, also when every event is gone', async () => {
    await emit([1, 2]);
    await settleAll();
    await read('0');
    pass(KEPT_DAYS + 1);
    await purge();
    expect(await kept('event_stream')).toBe(0);
    expect(await latestCursor(database.db, partner)).toBe('2');
    await emit([3]);
    expect(await read('2')).toEqual([['3', 3]]);
  });

  it('events that were purged before they were read are missing for a cursor from before them', async () => {
    await emit([1]);
    await settleAll();
    expect(await read('0')).toEqual([['1', 1]]);
    await emit([2, 3]);
    await settleAll();
    pass(KEPT_DAYS + 1);
    await emit([4]);
    await purge();
    expect(await refusal('1')).toMatchObject({ details: { oldest_cursor: '3' } });
    expect(await read('3')).toEqual([['4', 4]]);
  });

  it('an order that asked for its refund does not ask again after that was purged', async () => {
    const order = ids.uuid();
    await askForRefund(1, order);
    await settleAll();
    pass(KEPT_DAYS + 1);
    await purge();
    expect([await kept('webhook_deliveries'), await read('0')]).toEqual([0, []]);
    await expect(askForRefund(2, order)).rejects.toThrow('events_refund_required_once');
    expect(await purge()).toBe(0);
  });

  it('the database itself refuses to lose an event that is younger than declared, or any without declaring it', async () => {
    await emit([1]);
    const gone = `DELETE FROM events WHERE partner_id = '${partner}'`;
    await database.owner.query(`UPDATE webhook_deliveries SET status = 'delivered'`);
    await database.owner.query('DELETE FROM event_stream WHERE partner_id = $1', [partner]);
    await database.owner.query('DELETE FROM webhook_deliveries WHERE partner_id = $1', [partner]);
    await expect(database.owner.query(gone)).rejects.toThrow('append-only');
    for (const [before, refused] of [
      [new Date(clock.now() - DAY), true],
      [new Date(clock.now() + DAY), false],
    ] as const) {
      await database.owner.query('BEGIN');
      await database.owner.query(`SELECT set_config('causeway.purge_events_before', $1, true)`, [
        before.toISOString(),
      ]);
      const outcome = await database.owner.query(gone).then(
        () => 'gone',
        () => 'refused',
      );
      await database.owner.query('ROLLBACK');
      expect(outcome).toBe(refused ? 'refused' : 'gone');
    }
    // The declaration ended with its transaction.
    await expect(database.owner.query(gone)).rejects.toThrow('append-only');
  });

  it('more than a batch goes in one turn', async () => {
    await emit(Array.from({ length: 600 }, (_, n) => n));
    await settleAll();
    pass(KEPT_DAYS + 1);
    expect(await purge()).toBeGreaterThanOrEqual(600);
    expect(await kept('events')).toBe(0);
  });
});
