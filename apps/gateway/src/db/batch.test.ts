import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, emptyDatabase } from '../../../../test/harness/database.ts';
import { batchItem, runBatch } from './batch.ts';
import { statement } from './statement.ts';

const insert = statement<[id: number, word: string | null]>(
  'test.batch_insert',
  'INSERT INTO words (id, word) VALUES ($1, $2)',
);
const select = statement<[], { id: number; word: string | null }>(
  'test.batch_select',
  'SELECT id, word FROM words ORDER BY id',
);
const fail = statement<[]>('test.batch_fail', 'SELECT 1 / 0');
const nothing = statement<[]>('test.batch_nothing', 'SELECT FROM words WHERE false');
const selectAll = statement<[], Record<string, unknown>>('test.batch_star', 'SELECT * FROM words');

const echo = statement<
  [
    text: string | null,
    texts: readonly (string | null)[],
    bytes: Buffer,
    manyBytes: readonly Buffer[],
    whole: bigint,
    flag: boolean,
    flags: readonly boolean[],
    at: Date,
    json: string,
  ],
  Record<string, unknown>
>(
  'test.batch_echo',
  `SELECT $1::text AS text, $2::text[] AS texts, $3::bytea AS bytes, $4::bytea[] AS many_bytes,
          $5::numeric::text AS whole, $6::boolean AS flag, $7::boolean[] AS flags, $8::timestamptz AS at, $9::jsonb AS json`,
);

describe('a batch of statements', () => {
  let url: string;
  let client: pg.Client;

  beforeAll(async () => {
    url = await emptyDatabase();
    client = await connect(url);
    await client.query('CREATE TABLE words (id int PRIMARY KEY, word text)');
  });
  afterAll(() => client?.end());

  const clear = () => client.query('TRUNCATE words');

  it('answers each statement with its own rows, first when prepared and later from memory', async () => {
    await clear();
    const items = () => [
      batchItem(select, []),
      batchItem(nothing, []),
      batchItem(select, []),
      batchItem(insert, [1, 'a']),
      batchItem(select, []),
    ];
    expect(await runBatch(client, items())).toEqual([[], [], [], [], [{ id: 1, word: 'a' }]]);
    await clear();
    expect(await runBatch(client, items())).toEqual([[], [], [], [], [{ id: 1, word: 'a' }]]);
  });

  it('is one transaction: an error in the middle undoes what came before and skips what comes after', async () => {
    await clear();
    const broken = runBatch(client, [
      batchItem(insert, [1, 'a']),
      batchItem(fail, []),
      batchItem(insert, [2, 'b']),
    ]);
    await expect(broken).rejects.toMatchObject({ code: '22012' });
    expect(await runBatch(client, [batchItem(select, [])])).toEqual([[]]);
  });

  it('keeps a setting that is local to the transaction in force for the rest of the batch only', async () => {
    const enter = statement<[string]>('test.batch_enter', `SELECT set_config('test.tenant', $1, true)`);
    const read = statement<[], { tenant: string }>(
      'test.batch_tenant',
      `SELECT coalesce(current_setting('test.tenant', true), '') AS tenant`,
    );
    expect((await runBatch(client, [batchItem(enter, ['p1']), batchItem(read, [])]))[1]).toEqual([
      { tenant: 'p1' },
    ]);
    expect(await runBatch(client, [batchItem(read, [])])).toEqual([[{ tenant: '' }]]);
  });

  it('works again after any order of failures, on the same connection', async () => {
    const step = fc.constantFrom('insert', 'select', 'fail', 'duplicate', 'syntax');
    const wrong = statement<[]>('test.batch_wrong', 'SELECT missing FROM words');
    const itemOf = {
      insert: (index: number) => batchItem(insert, [index, 'x']),
      select: () => batchItem(select, []),
      fail: () => batchItem(fail, []),
      duplicate: () => batchItem(insert, [0, 'x']),
      syntax: () => batchItem(wrong, []),
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { maxLength: 8 }),
        async (batches) => {
          const fresh = await clear().then(() => client);
          let stored = 0;
          for (const steps of batches) {
            const items = steps.map((name, index) => itemOf[name](stored * 10 + index + 1));
            const duplicates = steps.filter((name) => name === 'duplicate').length;
            const shouldFail = steps.includes('fail') || steps.includes('syntax') || duplicates > 1;
            const outcome = await runBatch(fresh, [batchItem(nothing, []), ...items]).then(
              () => 'done',
              () => 'failed',
            );
            if (shouldFail) expect(outcome).toBe('failed');
            else stored++;
            if (duplicates === 1 && outcome === 'done') await client.query('DELETE FROM words WHERE id = 0');
          }
          const [rows] = await runBatch(fresh, [batchItem(select, [])]);
          expect(rows?.every((row) => row.word === 'x')).toBe(true);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('prepares a statement anew when the schema changed under it', async () => {
    await clear();
    await runBatch(client, [batchItem(insert, [1, 'a']), batchItem(selectAll, [])]);
    await client.query('ALTER TABLE words ADD COLUMN added text');
    await expect(runBatch(client, [batchItem(selectAll, [])])).rejects.toMatchObject({ code: '0A000' });
    expect(await runBatch(client, [batchItem(selectAll, [])])).toEqual([[{ id: 1, word: 'a', added: null }]]);
  });

  it('prepares a statement anew when the server has dropped it', async () => {
    await runBatch(client, [batchItem(select, [])]);
    await client.query('DEALLOCATE ALL');
    await expect(runBatch(client, [batchItem(select, [])])).rejects.toMatchObject({ code: '26000' });
    await expect(runBatch(client, [batchItem(select, [])])).resolves.toHaveLength(1);
  });

  it('brings every storable value back as it was', async () => {
    // U+0000 and lone surrogates have no place in a PostgreSQL text.
    const text = fc
      .string({ unit: 'binary' })
      .filter((value) => !value.includes('\0') && value.isWellFormed());
    const awkward = fc.constantFrom(
      'NULL',
      'null',
      '',
      '{}',
      '"',
      '\\',
      '\\"',
      ',',
      "'; --",
      ' a ',
      '\n',
      '🏦',
      '\\x00',
    );
    const anyText = fc.oneof(text, awkward);
    const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
    await fc.assert(
      fc.asyncProperty(
        fc.option(anyText),
        fc.array(fc.option(anyText), { maxLength: 6 }),
        bytes,
        fc.array(bytes, { maxLength: 4 }),
        fc.bigInt({ min: -(2n ** 250n), max: 2n ** 250n }),
        fc.boolean(),
        fc.array(fc.boolean(), { maxLength: 3 }),
        fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }),
        fc.record({ word: anyText, count: fc.integer() }),
        async (one, many, raw, rawMany, whole, flag, flags, at, json) => {
          const [rows] = await runBatch(client, [
            batchItem(echo, [one, many, raw, rawMany, whole, flag, flags, at, JSON.stringify(json)]),
          ]);
          expect(rows).toEqual([
            {
              text: one,
              texts: many,
              bytes: raw,
              many_bytes: rawMany,
              whole: whole.toString(),
              flag,
              flags,
              at,
              json,
            },
          ]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it.each([
    ['an object', {}],
    ['a fraction', 0.1],
    ['not a number', Number.NaN],
    ['an unsafe integer', 2 ** 53],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['an object within an array', [{}]],
    ['an array within an array', [['a'], ['b']]],
    ['a date that is none', new Date(Number.NaN)],
  ])('refuses %s as a parameter before anything is sent', async (_what, value) => {
    await clear();
    const echoAnything = { name: 'test.batch_any', text: 'SELECT $1::text' };
    expect(() => [batchItem(insert, [1, 'a']), batchItem(echoAnything, [value])]).toThrow();
    expect(await runBatch(client, [batchItem(select, [])])).toEqual([[]]);
  });

  it('reports a lost connection to every batch that waits on it', async () => {
    const lost = await connect(url);
    lost.on('error', () => {});
    const { rows } = await lost.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const sleep = statement<[]>('test.batch_sleep', 'SELECT pg_sleep(20)');
    const waiting = [runBatch(lost, [batchItem(sleep, [])]), runBatch(lost, [batchItem(select, [])])];
    const settled = Promise.allSettled(waiting);
    await client.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
