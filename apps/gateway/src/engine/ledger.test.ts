import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { partnerScope, SYSTEM, violatedConstraint } from '../db/database.ts';
import { createClock } from '../lib/clock.ts';
import { createIdGenerator } from '../lib/ids.ts';
import {
  accountBalances,
  type EntryDraft,
  moveFunds,
  type Posting,
  postEntries,
  postEntry,
} from './ledger.ts';
import { unitOfWork } from './unit-of-work.ts';

const PARTNER = '00000000-0000-7000-8000-000000000001';
const ids = createIdGenerator();
const clock = createClock();

describe('the books', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, PARTNER);
  });
  afterAll(() => database?.close());

  const post = (postings: readonly Posting[], dedupeKey: string = ids.uuid()) =>
    unitOfWork({ db: database.db, clock, ids }, partnerScope(PARTNER), async (unit) => {
      const draft: EntryDraft = { kind: 'test', dedupeKey, partnerId: PARTNER, orderId: null, postings };
      postEntry(unit, draft);
    });
  const entries = async () =>
    (await database.owner.query<{ count: string }>('SELECT count(*) FROM ledger_entries')).rows[0]?.count;
  const balance = async (account: string) => database.db.query(SYSTEM, accountBalances, [account]);

  it('the database itself refuses an entry that does not sum to zero in every asset', async () => {
    const entryId = ids.uuid();
    await database.owner.query('BEGIN');
    await database.owner.query(
      `INSERT INTO ledger_entries VALUES ($1::uuid, $2, NULL, 'raw', $1::text, clock_timestamp())`,
      [entryId, PARTNER],
    );
    const raw = database.owner.query(
      `INSERT INTO ledger_postings VALUES ($1, 1, $2, 'a', 'USDC', 5), ($1, 2, $2, 'b', 'USDT', -5)`,
      [entryId, PARTNER],
    );
    await expect(raw).rejects.toMatchObject({ code: '23514', constraint: 'ledger_entry_balances' });
    await database.owner.query('ROLLBACK');
  });

  it('an unbalanced entry takes the whole unit of work with it', async () => {
    const before = await entries();
    const refused = await post([{ account: 'a', asset: 'USDC', amount: 1n }]).catch(violatedConstraint);
    expect(refused).toBe('ledger_entry_balances');
    expect(await entries()).toBe(before);
  });

  it.each(['ledger_entries', 'ledger_postings', 'events'])(
    '%s is append-only, for its owner too',
    async (table) => {
      for (const change of [
        `UPDATE ${table} SET partner_id = partner_id`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table} CASCADE`,
      ]) {
        await expect(database.owner.query(change)).rejects.toMatchObject({ code: '23001' });
      }
    },
  );

  it('books a movement once, however often and from wherever its confirmation is seen', async () => {
    const movement = moveFunds('chain:base', 'escrow:once', 'USDC@base', 700n);
    await Promise.all(Array.from({ length: 8 }, () => post(movement, 'funded:once')));
    await post(moveFunds('chain:base', 'escrow:once', 'USDC@base', 900n), 'funded:once');
    expect(await balance('escrow:once')).toEqual([{ asset: 'USDC@base', balance: '700' }]);
  });

  it('books many at once: each once, and none where one of them does not balance', async () => {
    const draft = (dedupeKey: string, postings: readonly Posting[]): EntryDraft => ({
      ...{ kind: 'test', dedupeKey, partnerId: PARTNER, orderId: null, postings },
    });
    const postAll = (drafts: readonly EntryDraft[]) =>
      unitOfWork({ db: database.db, clock, ids }, partnerScope(PARTNER), async (unit) =>
        postEntries(unit, drafts),
      );
    const keys = Array.from({ length: 300 }, () => ids.uuid());
    const many = keys.map((key, n) => draft(key, moveFunds('many:a', 'many:b', 'USDC', BigInt(n))));
    await postAll([...many, ...many.slice(0, 10)]);
    await postAll(many);
    expect(await balance('many:b')).toEqual([{ asset: 'USDC', balance: `${(299 * 300) / 2}` }]);
    const odd = draft(ids.uuid(), [{ account: 'many:b', asset: 'USDC', amount: 1n }]);
    const more = draft(ids.uuid(), moveFunds('many:a', 'many:b', 'USDC', 1n));
    expect(await postAll([more, odd]).catch(violatedConstraint)).toBe('ledger_entry_balances');
    expect(await balance('many:b')).toEqual([{ asset: 'USDC', balance: `${(299 * 300) / 2}` }]);
  });

  it('a movement of nothing leaves no entry, and a negative one is refused', async () => {
    const before = await entries();
    await post(moveFunds('a', 'b', 'USDC', 0n));
    expect(await entries()).toBe(before);
    expect(() => moveFunds('a', 'b', 'USDC', -1n)).toThrow(RangeError);
  });

  it('after any movements every asset sums to zero and every balance is exact', async () => {
    const account = fc.constantFrom('escrow:p1', 'escrow:p2', 'treasury_p', 'vendor:p');
    const asset = fc.constantFrom('USDC@p1', 'USDC@p2', 'EUR@p');
    const amount = fc.bigInt({ min: 0n, max: 10n ** 60n });
    const expected = new Map<string, bigint>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(account, account, asset, amount), { maxLength: 5 }),
        async (moves) => {
          await post(moves.flatMap(([from, to, what, much]) => [...moveFunds(from, to, what, much)]));
          for (const [from, to, what, much] of moves) {
            expected.set(`${from} ${what}`, (expected.get(`${from} ${what}`) ?? 0n) - much);
            expected.set(`${to} ${what}`, (expected.get(`${to} ${what}`) ?? 0n) + much);
          }
        },
      ),
      // Counted once for each run, so a failure is reported as it was found and not run again.
      { numRuns: 100, endOnFailure: true },
    );
    const { rows } = await database.owner.query<{ key: string; balance: string }>(
      `SELECT account || ' ' || asset AS key, sum(amount)::text AS balance FROM ledger_postings WHERE asset LIKE '%@p%' GROUP BY 1`,
    );
    const found = new Map(rows.map(({ key, balance: sum }) => [key, BigInt(sum)]));
    for (const [key, sum] of expected) expect(found.get(key) ?? 0n, key).toBe(sum);
    const sums = await database.owner.query(
      'SELECT asset FROM ledger_postings GROUP BY asset HAVING sum(amount) <> 0',
    );
    expect(sums.rows).toEqual([]);
  });
});
