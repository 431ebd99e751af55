import { orderStatusesWithOutcome } from '@causeway/protocol';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { partnerScope, SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { countOrderOutcomes } from '../../apps/gateway/src/features/offers/reputation.ts';
import {
  eraseParties,
  pageOfOrders,
} from '../../apps/gateway/src/features/orders/lifecycle/list-orders.store.ts';
import { wholeDays } from '../../apps/gateway/src/features/orders/lifecycle/list-orders.ts';
import { orderFigures } from '../../apps/gateway/src/features/statistics/statistics.store.ts';
import { newId } from '../../apps/gateway/src/lib/ids.ts';
import { connect, insertPartner, openTestDatabase, type TestDatabase } from '../harness/database.ts';

/** `npm run races [-- rounds [seed]]` is the long run. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 12);
const SEED = Number(process.env.RACE_SEED ?? 20_261_117);
const CHANGES_A_ROUND = 40;

const PARTNER = '00000000-0000-7000-8000-00000000c001';
const OTHER = '00000000-0000-7000-8000-00000000c002';
const USER = '00000000-0000-7000-8000-00000000c003';
const OPEN = ['awaiting_liquidity_provider', 'awaiting_fiat_transfer'] as const;
const ENDED = orderStatusesWithOutcome('settled', 'stopped', 'disputed');
const STATUSES = [...OPEN, ...ENDED];
const TYPES = ['onramp', 'offramp', 'payment_request'] as const;
const FIRST_DAY = Date.UTC(2026, 2, 1);
const DAYS = 4;
const DAY_MS = 86_400_000;
type Filter = readonly [
  statuses: readonly (typeof STATUSES)[number][] | null,
  orderType: string | null,
  from: Date | '-infinity',
  to: Date | 'infinity',
];

/** The same by looking at every order. */
const allMatching = statement<[...Filter], { order_id: string }>(
  'test.orders_matching',
  `SELECT order_id FROM orders WHERE ($1::text[] IS NULL OR status = ANY($1)) AND ($2::text IS NULL OR order_type = $2)
      AND created_at >= $3::timestamptz AND created_at < $4::timestamptz ORDER BY created_at DESC, order_id DESC`,
);
const allByStatus = statement<[from: Date, to: Date], { status: string; orders: string; crypto: string }>(
  'test.orders_by_status',
  `SELECT status, count(*)::text AS orders, sum(crypto_amount)::text AS crypto FROM orders
    WHERE created_at >= $1 AND created_at < $2 GROUP BY status`,
);

/** Repeats itself from the same seed (mulberry32). */
function createRandom(seed: number) {
  let state = seed;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, oneOf: <T>(of: readonly T[]): T => of[below(of.length)] as T };
}

describe(`counts of orders, ${ROUNDS} rounds, seed ${SEED}`, () => {
  let database: TestDatabase;
  /** Writes orders without the rows that they refer to. */
  let writer: pg.Client;
  let changer: pg.Client;
  const random = createRandom(SEED);
  const scope = partnerScope(PARTNER);

  beforeAll(async () => {
    database = await openTestDatabase(8);
    for (const partner of [PARTNER, OTHER]) await insertPartner(database.owner, partner);
    await database.owner.query(
      `INSERT INTO users (user_id, partner_id, email_index, kyc_status, kyc_updated_at, created_at)
       VALUES ($1, $2, 'counted', 'VERIFIED', now(), now())`,
      [USER, PARTNER],
    );
    writer = await connect(database.url);
    await writer.query('SET session_replication_role = replica');
    changer = await connect(database.url);
  });
  afterAll(async () => {
    await writer?.end();
    await changer?.end();
    await database?.close();
  });

  const someTime = () => new Date(FIRST_DAY + random.below(DAYS * 24 * 4) * (DAY_MS / 96));

  async function write(orderId = newId(), partner = random.below(5) === 0 ? OTHER : PARTNER): Promise<void> {
    const at = someTime();
    await writer.query(
      `INSERT INTO orders (order_id, partner_id, user_id, quote_id, direction, order_type, status, facts, timeline, chain,
         crypto_currency, crypto_decimals, fiat_currency, fiat_decimals, rate, crypto_amount, fiat_amount, platform_fee,
         platform_fee_pct, partner_fee, partner_fee_pct, payment_method_slug, payment_network_slug, created_at, updated_at)
       VALUES ($1, $2, $3, $4, 'onramp', $5, $6, '{"held": false}', '[]', 'base-mainnet', 'USDC', 6, 'EUR', 2, '1', $7, 100,
         0, '0', 0, '0', 'bank', 'sepa', $8, $8)`,
      [orderId, partner, USER, newId(), random.oneOf(TYPES), OPEN[0], 1 + random.below(1_000), at],
    );
  }

  /** One step of an order's life, of any partner; most go on, few are deleted. */
  function change(): Promise<unknown> {
    const anyOrder =
      '(SELECT order_id FROM orders ORDER BY md5(order_id::text || $1::text) LIMIT 1 FOR UPDATE SKIP LOCKED)';
    if (random.below(12) === 0)
      return changer.query(`DELETE FROM orders WHERE order_id = ${anyOrder}`, [random.below(1e9)]);
    return changer.query(
      `UPDATE orders SET status = $2, timeline = timeline || jsonb_build_array(jsonb_build_object('status', $2::text, 'at', $3::text))
        WHERE order_id = ${anyOrder}`,
      [random.below(1e9), random.oneOf(STATUSES), someTime().toISOString()],
    );
  }

  const count = () => countOrderOutcomes({ db: database.db });

  function someFilter(): Filter {
    const statuses = STATUSES.filter(() => random.below(3) === 0);
    return [
      random.below(2) === 0 ? null : statuses,
      random.below(2) === 0 ? null : random.oneOf(TYPES),
      random.below(2) === 0 ? '-infinity' : someTime(),
      random.below(2) === 0 ? 'infinity' : someTime(),
    ];
  }

  /** Both ways in one snapshot, while everything changes. */
  async function compareList(): Promise<void> {
    const filter = someFilter();
    const [limit, page] = [1 + random.below(8), random.below(5)];
    const [listed, matching] = await database.db.snapshot(scope, async (snapshot) => [
      await snapshot.query(pageOfOrders, [
        ...filter,
        ...wholeDays(filter[2], filter[3]),
        limit,
        page * limit,
      ]),
      await snapshot.query(allMatching, [...filter]),
    ]);
    const ids = listed.flatMap(({ order_id: id }) => (id === null ? [] : [id]));
    const expected = matching.map(({ order_id: id }) => id);
    expect({ filter, total: listed[0]?.total, ids }).toEqual({
      filter,
      total: String(expected.length),
      ids: expected.slice(page * limit, (page + 1) * limit),
    });
  }

  async function compareFigures(): Promise<void> {
    const [from, to] = [someTime(), someTime()];
    const [figures, expected] = await database.db.snapshot(scope, async (snapshot) => [
      await snapshot.query(orderFigures, [PARTNER, from, to, [from]]),
      await snapshot.query(allByStatus, [from, to]),
    ]);
    const settled: readonly string[] = orderStatusesWithOutcome('settled');
    const byStatus = figures.filter(({ status }) => status !== null);
    const lines = byStatus.map(
      ({ status, orders, crypto_amount: crypto }) => `${status} ${orders} ${crypto}`,
    );
    expect(lines.sort()).toEqual(
      expected
        .map(({ status, orders, crypto }) => `${status} ${orders} ${settled.includes(status) ? crypto : '0'}`)
        .sort(),
    );
  }

  it('an order that moves on while two workers count is counted once', async () => {
    await database.owner.query('DELETE FROM orders');
    const [first, second] = [newId(), newId()];
    for (const orderId of [first, second]) await write(orderId, PARTNER);
    await changer.query('UPDATE orders SET status = $1', [ENDED[0]]);
    // The first worker has its snapshot and waits at the first order; it has not locked the second yet.
    await database.owner.query(
      `CREATE FUNCTION wait_at_first() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
       CREATE TRIGGER wait_at_first BEFORE UPDATE ON orders FOR EACH ROW WHEN (NEW.order_id = '${first}')
         EXECUTE FUNCTION wait_at_first()`,
    );
    // Other tests wait for locks of the same server.
    const waitsForLock = `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
      WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`;
    await changer.query('SELECT pg_advisory_lock(1)');
    const slow = count();
    await vi.waitUntil(async () => (await changer.query(waitsForLock)).rowCount, { timeout: 20_000 });
    expect(await count()).toBe(1);
    await changer.query('UPDATE orders SET status = $1 WHERE order_id = $2', [ENDED[1], second]);
    await changer.query('SELECT pg_advisory_unlock(1)');
    expect(await slow).toBe(2);

    await database.owner.query('DROP TRIGGER wait_at_first ON orders');
    const { rows } = await database.owner.query(
      'SELECT status, orders::int FROM order_counts WHERE orders <> 0',
    );
    expect(rows).toHaveLength(2);
    expect(rows).toEqual(expect.arrayContaining(ENDED.slice(0, 2).map((status) => ({ status, orders: 1 }))));
  });

  it('a list’s total, its page and statistics are those of the orders themselves, in every snapshot', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all([
        (async () => {
          for (let step = 0; step < CHANGES_A_ROUND; step += 1) await write();
        })(),
        (async () => {
          for (let step = 0; step < CHANGES_A_ROUND; step += 1) await change();
        })(),
        (async () => {
          for (let step = 0; step < 4; step += 1) await Promise.all([count(), count()]);
        })(),
        (async () => {
          await database.db.query(SYSTEM, eraseParties, [USER]);
          for (let step = 0; step < 10; step += 1) await compareList();
        })(),
        (async () => {
          for (let step = 0; step < 5; step += 1) await compareFigures();
        })(),
      ]);
    }
    // The comparison was one of counts, and not of orders that were all still to be counted.
    const { rows } = await database.owner.query(
      `SELECT sum(orders)::int AS counted, (SELECT count(*)::int FROM orders WHERE counted_status IS NOT NULL) AS marked FROM order_counts`,
    );
    expect(rows[0].counted).toBe(rows[0].marked);
    expect(rows[0].counted).toBeGreaterThan(ROUNDS);
  });
});
