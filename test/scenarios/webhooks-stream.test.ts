import type { ListedEvent } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { emitEvent } from '../../apps/gateway/src/engine/outbox.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { connect } from '../harness/database.ts';
import { type EventStream, openEventStream } from '../harness/event-stream.ts';
import { orderChanged } from '../harness/events.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';

const PATH = '/api/v1/partner/events';

describe('the event stream', () => {
  let gateway: TestGateway;
  const partnerIds: string[] = [];
  const readers: Reader[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    const owner = await connect(gateway.databaseUrl);
    for (const { name } of gateway.partners) {
      const { rows } = await owner.query('SELECT partner_id FROM partners WHERE name = $1', [name]);
      partnerIds.push(rows[0].partner_id);
    }
    await owner.end();
  });
  afterAll(async () => {
    for (const reader of readers) reader.stop();
    await gateway?.stop();
  });

  const emit = (step: number, which = 0, held: Promise<void> = Promise.resolve()) =>
    unitOfWork(gateway.deps, SYSTEM, async (unit) => {
      const subjectId = unit.ids.uuid();
      const partnerId = partnerIds[which] as string;
      const data = orderChanged({ step });
      emitEvent(unit, { eventType: 'order.status.changed', partnerId, subjectId, data });
      await unit.tx.query({ name: 'test.flush', text: 'SELECT 1' }, []);
      await held;
    });

  async function page(after: string, limit = 100) {
    const { body } = await gateway.partner.events.list({ after, limit });
    return body.data;
  }
  const steps = (events: readonly ListedEvent[]) =>
    events.map(({ data }) => (data as object as { step: number }).step);

  it('lists a partner’s own events by cursor, whole and in order', async () => {
    for (let step = 1; step <= 5; step++) await emit(step);
    await emit(99, 1);
    const first = await page('0', 2);
    expect([steps(first.events), first.has_more]).toEqual([[1, 2], true]);
    const rest = await page(first.next_cursor);
    expect([steps(rest.events), rest.has_more]).toEqual([[3, 4, 5], false]);
    expect(await page(rest.next_cursor)).toEqual({
      events: [],
      next_cursor: rest.next_cursor,
      has_more: false,
    });
    expect(rest.events[0]).toMatchObject({
      event_id: expect.stringMatching(/^evt_/),
      event_type: 'order.status.changed',
      created_at: expect.any(String),
    });
    expect((await gateway.partner.events.list({ after: 'x' })).status).toBe(400);
    expect((await gateway.as(null).events.list()).status).toBe(401);
  });

  it('an event that was written first and committed last is not passed by a cursor', async () => {
    const start = (await page('0', 500)).next_cursor;
    let commit = () => {};
    const slow = emit(
      101,
      0,
      new Promise((resolve) => {
        commit = resolve;
      }),
    );
    await until('it has been written', async () => {
      const { rows } = await inDatabase(`SELECT FROM pg_stat_activity WHERE state = 'idle in transaction'`);
      return rows.length > 0;
    });
    await emit(102);
    const seen = await page(start);
    expect(steps(seen.events)).toEqual([102]);
    commit();
    await slow;
    expect(steps((await page(seen.next_cursor)).events)).toEqual([101]);
  });

  it('readers at the same time agree on one numbering without gaps or doubles', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, n) => emit(200 + n)));
    const pages = await Promise.all(Array.from({ length: 8 }, () => page('0', 500)));
    const complete = await page('0', 500);
    expect(complete.events.map(({ cursor }: { cursor: string }) => Number(cursor))).toEqual(
      complete.events.map((_: unknown, index: number) => index + 1),
    );
    for (const { events } of pages) expect(events).toEqual(complete.events.slice(0, events.length));
  });

  it('follows events as they happen, and goes on after Last-Event-ID without a gap', async () => {
    const live = await follow({});
    await until('open', () => live.text().includes(': open'));
    await emit(301);
    await until('the event', () => live.steps().includes(301));
    expect(live.steps()).toEqual([301]);
    live.stop();
    await emit(302);
    await emit(303);
    const resumed = await follow({ 'last-event-id': live.lastId() });
    await until('what was missed', () => resumed.steps().length === 2);
    await emit(304);
    await until('what is new', () => resumed.steps().length === 3);
    expect(resumed.steps()).toEqual([302, 303, 304]);
    expect(resumed.contentType).toContain('text/event-stream');
  });

  it('ends when the key is revoked, before the next event', async () => {
    const key = gateway.partners[1].apiKey;
    const live = await follow({ 'x-api-key': '', authorization: `Bearer ${key}` });
    await until('open', () => live.text().includes(': open'));
    await inDatabase(
      `UPDATE api_keys SET revoked_at = '2026-01-01' WHERE kind = 'partner' AND owner_id = '${partnerIds[1]}'`,
    );
    await until('the key is refused', async () => (await gateway.as(key).events.list()).status === 401);
    await emit(401, 1);
    await until('the end', () => live.ended());
    expect(live.steps()).toEqual([]);
  });

  it('a server that stops does not wait for open streams', async () => {
    const other = await startGateway();
    const response = await fetch(other.baseUrl + PATH, {
      headers: { accept: 'text/event-stream', 'x-api-key': other.partners[0].apiKey },
    });
    const began = performance.now();
    await other.stop();
    await response.text();
    // A stream is open for as long as its client likes.
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  async function inDatabase(sql: string) {
    const owner = await connect(gateway.databaseUrl);
    try {
      return await owner.query(sql);
    } finally {
      await owner.end();
    }
  }

  interface Reader extends EventStream {
    steps(): number[];
  }

  async function follow(headers: Record<string, string>, key = gateway.partners[0].apiKey): Promise<Reader> {
    const stream = await openEventStream(gateway.baseUrl + PATH, { 'x-api-key': key, ...headers });
    const reader = { ...stream, steps: () => stream.events().map(({ data }) => data.step) };
    readers.push(reader);
    return reader;
  }
});
