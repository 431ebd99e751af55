import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { orderChanged } from '../../../../test/harness/events.ts';
import { partnerScope, SYSTEM, violatedConstraint } from '../db/database.ts';
import { createClock } from '../lib/clock.ts';
import { createIdGenerator } from '../lib/ids.ts';
import { emitEvent } from './outbox.ts';
import { type UnitOfWork, unitOfWork } from './unit-of-work.ts';

const LISTENING = '00000000-0000-7000-8000-000000000001';
const SILENT = '00000000-0000-7000-8000-000000000002';
const ids = createIdGenerator();
const AT = Date.UTC(2026, 4, 6, 7, 8, 9, 10);

describe('the outbox', () => {
  let database: TestDatabase;
  let subjectId: string;

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, LISTENING, { webhookEnabled: true });
    await insertPartner(database.owner, SILENT);
  });
  afterAll(() => database?.close());
  beforeEach(() => {
    subjectId = ids.uuid();
  });

  const unit = <T>(work: (unit: UnitOfWork) => Promise<T>, partnerId = LISTENING) =>
    unitOfWork({ db: database.db, clock: createClock(() => AT), ids }, partnerScope(partnerId), work);
  const draft = (partnerId = LISTENING) => ({
    eventType: 'order.status.changed' as const,
    partnerId,
    subjectId,
    data: orderChanged({ order_id: subjectId }),
  });
  const refundRequired = () => ({
    ...draft(),
    eventType: 'order.refund.required' as const,
    data: orderChanged({
      status: 'cancelled' as const,
      action_required: { method: 'POST' as const, endpoint: '/refund', parameters_endpoint: '/parameters' },
    }),
  });
  const events = async () =>
    (await database.owner.query('SELECT * FROM events WHERE subject_id = $1 ORDER BY position', [subjectId]))
      .rows;
  const deliveries = async () =>
    (
      await database.owner.query('SELECT * FROM webhook_deliveries WHERE subject_id = $1 ORDER BY position', [
        subjectId,
      ])
    ).rows;

  // Proves trap 31.
  it('writes the event and its delivery with the transaction that decided it', async () => {
    await unit(async (work) => emitEvent(work, draft()));
    const [event] = await events();
    expect(JSON.parse(event.body)).toEqual({
      event_id: event.event_id,
      event_type: 'order.status.changed',
      created_at: '2026-05-06T07:08:09.010Z',
      data: orderChanged({ order_id: subjectId }),
    });
    const [delivery, ...more] = await deliveries();
    expect(more).toEqual([]);
    expect(delivery).toMatchObject({
      partner_id: LISTENING,
      event_id: event.event_id,
      position: event.position,
      in_order: true,
      status: 'pending',
      attempts: 0,
    });
    expect(delivery.run_at.getTime()).toBe(AT);
  });

  // Proves trap 31.
  it('writes neither when the transaction is rolled back', async () => {
    const undone = unit(async (work) => {
      emitEvent(work, draft());
      await work.tx.query({ name: 'test.outbox_now', text: 'SELECT 1' }, []);
      throw new Error('rolled back');
    });
    await expect(undone).rejects.toThrow('rolled back');
    expect([await events(), await deliveries()]).toEqual([[], []]);
  });

  it('keeps the event of a partner without a webhook and delivers nothing', async () => {
    await unit(async (work) => emitEvent(work, draft(SILENT)), SILENT);
    expect([(await events()).length, (await deliveries()).length]).toEqual([1, 0]);
  });

  it('keeps the order of events about one subject', async () => {
    await unit(async (work) => {
      for (const provider of ['a', 'b', 'c']) {
        emitEvent(work, { ...draft(), data: orderChanged({ provider }) });
      }
    });
    const written = (await events()).map(({ event_id }) => event_id);
    expect((await deliveries()).map(({ event_id }) => event_id)).toEqual(written);
  });

  // Proves trap 32.
  it('order.refund.required exists at most once an order, and the second attempt undoes its transaction', async () => {
    const attempts = await Promise.all(
      [1, 2, 3].map((n) =>
        unit(async (work) => {
          emitEvent(work, refundRequired());
          emitEvent(work, { ...draft(), data: orderChanged({ n }) });
        }).catch(violatedConstraint),
      ),
    );
    expect(attempts.filter((outcome) => outcome === 'events_refund_required_once')).toHaveLength(2);
    expect((await events()).map(({ event_type }) => event_type)).toEqual([
      'order.refund.required',
      'order.status.changed',
    ]);
    expect(await deliveries()).toHaveLength(2);
  });

  it('a partner’s transaction cannot write an event for another partner', async () => {
    const forged = unit(async (work) => emitEvent(work, draft(SILENT)), LISTENING);
    await expect(forged).rejects.toMatchObject({ code: '42501' });
    expect(await database.db.query(SYSTEM, { name: 'test.outbox_one', text: 'SELECT 1 AS one' }, [])).toEqual(
      [{ one: 1 }],
    );
  });
});
