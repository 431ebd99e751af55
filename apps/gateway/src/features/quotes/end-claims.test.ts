import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { endReservationsOfQuotes } from '../../upstream/offers/offers.store.ts';
import { endQuoteClaimsOf } from './quote.store.ts';

const ORDERS = 5_000;
const EVERYONE = '00000000-0000-0000-0000-000000000000';
const ids = createIdGenerator(() => Date.parse('2026-01-01'));
const [quote, offer, vendor, partner, user] = Array.from({ length: 5 }, () => ids.uuid());

/** An order that ends must cost the same in a market of thousands: there is one such statement for every order. */
describe('ending what an order held', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
    const { owner } = database;
    await owner.query(
      `INSERT INTO vendors (vendor_id, name, wallet_address, created_at) VALUES ($1, 'Vendor', $2, now())`,
      [vendor, `0x${'1'.repeat(40)}`],
    );
    await owner.query(
      `INSERT INTO offers (offer_id, vendor_id, side, crypto_currency, fiat_currency, margin_pct, min_amount, max_amount,
         payment_options, countries, available_balance, authorized, created_at)
       VALUES ($1, $2, 'SELL', 'USDC', 'EUR', 1, 1, 100, '[{"network_slug":"sepa","method_slugs":["bank"]}]', '{}', 7, true, now())`,
      [offer, vendor],
    );
    // Nobody's orders: an hour old, so that no order is expected any more.
    await owner.query(
      `WITH claimed AS (
         INSERT INTO quote_claims (quote_id, partner_id, user_id, crypto, claimed_at)
         SELECT CASE WHEN n = 1 THEN $1::uuid ELSE gen_random_uuid() END, $2,
                CASE WHEN n = 1 THEN $3::uuid ELSE gen_random_uuid() END, 5, now() - interval '1 hour'
           FROM generate_series(1, $5::int) AS n RETURNING *),
       reserved AS (
         INSERT INTO offer_reservations (quote_id, offer_id, crypto, reserved_at)
         SELECT quote_id, $4, crypto, claimed_at FROM claimed)
       INSERT INTO open_order_totals (partner_id, user_id, open_orders, crypto)
       SELECT partner_id, user_id, 1, crypto FROM claimed
       UNION ALL SELECT $2, $6, $5, $5 * 5`,
      [quote, partner, user, offer, ORDERS, EVERYONE],
    );
  });
  afterAll(() => database?.close());

  const READ_THROUGH = `SELECT relname, seq_tup_read::int FROM pg_stat_xact_user_tables
    WHERE relname IN ('quote_claims', 'offer_reservations', 'open_order_totals', 'orders', 'quotes') AND seq_tup_read > 0`;

  it('reads nothing of other orders, with a plan that is kept', async () => {
    const { owner } = database;
    await owner.query('ANALYZE quote_claims, offer_reservations, open_order_totals');
    // What was read until now does not count.
    await owner.query('SELECT pg_stat_force_next_flush()');
    await owner.query('BEGIN');
    await owner.query(`SET LOCAL ROLE causeway_system`);
    await owner.query(`SET LOCAL plan_cache_mode = force_generic_plan`);
    const reserved = await owner.query(endReservationsOfQuotes.text, [[], [], 300_000, [quote]]);
    await owner.query(endQuoteClaimsOf.text, [[], 300_000, [quote]]);
    const { rows: readThrough } = await owner.query(READ_THROUGH);
    const { rows: totals } = await owner.query(
      `SELECT open_orders, crypto::int FROM open_order_totals WHERE user_id IN ($1, $2) ORDER BY user_id <> $1`,
      [user, EVERYONE],
    );
    const { rows: offers } = await owner.query('SELECT available_balance::int AS left FROM offers');
    await owner.query('ROLLBACK');
    expect(reserved.rows[0].ended).toBe('1');
    expect(totals).toEqual([
      { open_orders: 0, crypto: 0 },
      { open_orders: ORDERS - 1, crypto: (ORDERS - 1) * 5 },
    ]);
    expect(offers).toEqual([{ left: 12 }]);
    expect(readThrough).toEqual([]);
  });
});
