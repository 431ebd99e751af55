import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { until } from '../../../../test/harness/until.ts';
import { createAnnouncer } from './announcer.ts';
import { SYSTEM } from './database.ts';
import { statement } from './statement.ts';

const tell = statement<[about: string], { heard: string }>(
  'test.tell',
  'SELECT $1::text AS heard',
  ([about], rows) => [{ channel: 'test_news', payload: `${about} ${rows.map(({ heard }) => heard)}` }],
);
const remember = statement<[name: string]>(
  'test.remember',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, 'true', 'epoch')`,
  ([name]) => [{ channel: 'test_news', payload: name }],
);

describe('what a statement announces', () => {
  let database: TestDatabase;
  let ear: pg.Client;
  let heard: string[] = [];

  beforeAll(async () => {
    database = await openTestDatabase(2);
    ear = await connect(database.url);
    ear.on('notification', ({ payload }) => heard.push(payload ?? ''));
    await ear.query('LISTEN test_news');
  });
  afterAll(async () => {
    await ear?.end();
    await database?.close();
  });
  beforeEach(() => {
    heard = [];
  });

  /** Everything announced before this is heard, or never will be. */
  async function afterwards(): Promise<void> {
    await database.db.query(SYSTEM, tell, ['end']);
    await until('the last is heard', () => heard.includes('end end'));
  }

  it('is told with its parameters and rows', async () => {
    await database.db.query(SYSTEM, tell, ['a']);
    await afterwards();
    expect(heard).toEqual(['a a', 'end end']);
  });

  it('is told once the transaction is committed and what it wrote can be read', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const writing = database.db.transaction(SYSTEM, async (tx) => {
      await tx.query(remember, ['committed']);
      await gate;
    });
    await afterwards();
    expect(heard).not.toContain('committed');
    open();
    await writing;
    await until('it is heard', () => heard.includes('committed'));
    const { rowCount } = await ear.query(`SELECT FROM deployment_facts WHERE name = 'committed'`);
    expect(rowCount).toBe(1);
  });

  it('is not told when the transaction is rolled back or the statement fails', async () => {
    await expect(
      database.db.transaction(SYSTEM, async (tx) => {
        await tx.query(remember, ['undone']);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await database.db.query(SYSTEM, remember, ['twice']);
    await expect(database.db.query(SYSTEM, remember, ['twice'])).rejects.toThrow();
    await afterwards();
    expect(heard).toEqual(['twice', 'end end']);
  });

  it('costs the caller no round trip', async () => {
    const before = database.db.stats.roundTrips;
    await database.db.query(SYSTEM, tell, ['b']);
    expect(database.db.stats.roundTrips - before).toBe(1);
    await afterwards();
  });

  it('is sent before the database is closed', async () => {
    const other = await openTestDatabase(1);
    const otherEar = await connect(other.url);
    const late: string[] = [];
    otherEar.on('notification', ({ payload }) => late.push(payload ?? ''));
    await otherEar.query('LISTEN test_news');
    await other.db.query(SYSTEM, tell, ['closing']);
    await other.close();
    await until('it is heard', () => late.includes('closing closing'));
    await otherEar.end();
  });
});

describe('the announcer', () => {
  const news = (payload: string) => [{ channel: 'c', payload }];

  it('sends together what came while it was sending, each only once', async () => {
    const sent: string[][] = [];
    let arrived = () => {};
    const announcer = createAnnouncer(async (_channels, payloads) => {
      sent.push([...payloads]);
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    });
    announcer.announce(news('a'));
    for (const payload of ['b', 'c', 'b', 'b']) announcer.announce(news(payload));
    const settled = announcer.settled();
    arrived();
    await until('the rest is sent', () => sent.length === 2);
    arrived();
    await settled;
    expect(sent).toEqual([['a'], ['b', 'c']]);
  });

  it('sends the first at once, and what comes in the moment after it together', async () => {
    const sent: string[][] = [];
    const send = async (_channels: unknown, payloads: readonly string[]) => void sent.push([...payloads]);
    // Far longer than the three take, whatever else the machine does.
    const announcer = createAnnouncer(send, 500);
    announcer.announce(news('a'));
    expect(sent).toEqual([['a']]);
    for (const payload of ['b', 'c']) {
      await new Promise(setImmediate);
      announcer.announce(news(payload));
    }
    await announcer.settled();
    expect(sent).toEqual([['a'], ['b', 'c']]);
  });

  it('keeps what can wait for longer, and sends it with what cannot', async () => {
    const sent: string[][] = [];
    const send = async (_channels: unknown, payloads: readonly string[]) => void sent.push([...payloads]);
    // A moment that never ends in this test: what can wait goes out with what cannot, or not at all.
    const announcer = createAnnouncer(send, 0, 60_000);
    const canWait = (payload: string) => [{ channel: 'c', payload, canWait: true as const }];
    announcer.announce(canWait('a'));
    announcer.announce(canWait('b'));
    await new Promise(setImmediate);
    expect(sent, 'the first at once').toEqual([['a']]);
    announcer.announce([...canWait('c'), ...news('urgent')]);
    expect(sent).toEqual([['a'], ['b', 'c', 'urgent']]);
  });

  it('goes on after a failure', async () => {
    const sent: string[][] = [];
    const announcer = createAnnouncer(async (_channels, payloads) => {
      sent.push([...payloads]);
      if (sent.length === 1) throw new Error('gone');
    });
    announcer.announce(news('a'));
    await announcer.settled();
    announcer.announce(news('b'));
    await announcer.settled();
    expect(sent).toEqual([['a'], ['b']]);
  });
});
