import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connect, openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { until } from '../../../../../test/harness/until.ts';
import { SYSTEM } from '../../db/database.ts';
import { createListener, type Listener } from '../../db/listener.ts';
import { newId } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import type { Offers } from '../../ports/offers.ts';
import { endReservations } from './offers.store.ts';
import { createInProcessOffers } from './offers-in-process.ts';

const logger = createLogger({ level: 'silent', format: 'json' });

describe('offers in the database', () => {
  let database: TestDatabase;
  let listener: Listener;
  let offers: Offers;
  let other: pg.Client;
  const vendorId = newId();
  let offerId: string;

  beforeAll(async () => {
    database = await openTestDatabase(10);
    other = await connect(database.url);
    listener = createListener(database.url, () => {});
    offers = createInProcessOffers({ db: database.db, listener, logger, lookMs: 1_000 });
    await database.owner.query(
      `INSERT INTO vendors (vendor_id, name, wallet_address, created_at)
       VALUES ($1, 'Desk', '0x' || repeat('1', 40), clock_timestamp())`,
      [vendorId],
    );
    await listener.start();
    await offers.start();
  });
  afterAll(async () => {
    await offers.stop();
    await listener.close();
    await other.end();
    await database.close();
  });
  beforeEach(async () => {
    offerId = await insertOffer('100');
  });

  async function insertOffer(balance: string): Promise<string> {
    const id = newId();
    await database.owner.query(
      `INSERT INTO offers (offer_id, vendor_id, side, crypto_currency, fiat_currency, margin_pct, min_amount, max_amount,
         payment_options, countries, available_balance, authorized, created_at)
       VALUES ($1, $2, 'SELL', 'USDC', 'EUR', 1, 1, 1000, '[{"network_slug":"iban-sepa","method_slugs":"all"}]', '{DE}',
         $3, true, clock_timestamp())`,
      [id, vendorId, balance],
    );
    await until('the offer', () => offers.book().offer(id) !== undefined);
    return id;
  }

  const reserve = (crypto: string, quoteId = newId()) =>
    offers.reservations.reserve(quoteId, offerId, crypto);
  const sweep = (abandonedAfterMs: number) =>
    database.db.query(SYSTEM, endReservations, [['completed'], ['cancelled'], abandonedAfterMs, 100]);
  const balance = async () =>
    (
      await database.owner.query('SELECT available_balance::text AS b FROM offers WHERE offer_id = $1', [
        offerId,
      ])
    ).rows[0].b as string;

  test('a change that commits after a later one is still seen', async () => {
    const later = await insertOffer('100');
    await other.query('BEGIN');
    await other.query('UPDATE offers SET min_amount = 2 WHERE offer_id = $1', [offerId]);
    await database.owner.query('UPDATE offers SET min_amount = 3 WHERE offer_id = $1', [later]);
    await until('the later change', () => offers.book().offer(later)?.minAmount === '3');
    expect(offers.book().offer(offerId)?.minAmount).toBe('1');
    await other.query('COMMIT');
    await until('the earlier change', () => offers.book().offer(offerId)?.minAmount === '2');
  });

  /** The offers that a listener is told of while something is done, and after it as many as are to be expected. */
  async function toldDuring(work: () => Promise<unknown>, later = 0): Promise<(string | undefined)[]> {
    const ear = await connect(database.url);
    try {
      const heard: (string | undefined)[] = [];
      ear.on('notification', ({ payload }) => heard.push(payload));
      await ear.query('LISTEN offers_changed');
      await work();
      await until('what is told later', () => heard.length >= later);
      await other.query(`NOTIFY offers_changed, 'end'`);
      await until('the end', () => heard.includes('end'));
      return heard.slice(0, heard.indexOf('end'));
    } finally {
      await ear.end();
    }
  }

  test('a transaction that reserves or gives back notifies nobody itself: the program does, once it is committed', async () => {
    const quoteId = newId();
    const reserving = () => other.query('SELECT reserve_balance($1, $2, 40) AS reserved', [quoteId, offerId]);
    expect(await toldDuring(reserving)).toEqual([]);
    const ending = () => other.query(endReservations.text, [['completed'], ['cancelled'], 0, 100]);
    expect(await toldDuring(ending)).toEqual([]);
    expect(await balance()).toBe('100');
    expect(await toldDuring(() => reserve('1'), 1)).toEqual([offerId]);
    expect(await toldDuring(() => sweep(0), 1)).toEqual([offerId]);
  });

  test('any other change of an offer is told in its transaction', async () => {
    const change = (set: string) => () =>
      other.query(`UPDATE offers SET ${set} WHERE offer_id = $1`, [offerId]);
    for (const set of ['available_balance = 7', 'min_amount = 2', 'withdrawn = true']) {
      expect(await toldDuring(change(set)), set).toEqual([offerId]);
    }
  });

  test('a change that nobody was told of is seen with the next look at all offers', async () => {
    await other.query('SELECT reserve_balance($1, $2, 40)', [newId(), offerId]);
    await until('what is left', () => offers.book().offer(offerId)?.availableBalance === '60');
  });

  test('a reservation that is refused leaves nothing behind', async () => {
    const quoteId = newId();
    expect(await reserve('100.000001', quoteId)).toBe(false);
    expect(await reserve('60', quoteId)).toBe(true);
    expect(await balance()).toBe('40');
  });

  test('what reserving changes is in no index, so that it rewrites none', async () => {
    const { rows } = await database.owner.query(
      `SELECT i.indexrelid::regclass::text AS index, a.attname AS column FROM pg_index i
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND (a.attnum = ANY (i.indkey)
           OR pg_get_expr(i.indpred, i.indrelid) ~ ('\\m' || a.attname || '\\M'))
        WHERE i.indrelid = 'offers'::regclass`,
    );
    expect(rows.map(({ column }) => column)).toContain('offer_id');
    const indexed = rows.filter(({ column }) =>
      ['available_balance', 'version', 'changed_in'].includes(column),
    );
    expect(indexed).toEqual([]);
  });

  test('orders that race for a balance never reserve more than there is', async () => {
    const reserved = await Promise.all(Array.from({ length: 20 }, () => reserve('9.5')));
    expect(reserved.filter(Boolean)).toHaveLength(10);
    await until('what is left', () => offers.book().offer(offerId)?.availableBalance === '5');
  });

  test('a balance is reserved to the last unit and not beyond', async () => {
    expect(await reserve('100.000001')).toBe(false);
    expect(await reserve('100')).toBe(true);
    expect(await reserve('0.000001')).toBe(false);
  });

  test('reserving for the same quote again takes nothing more', async () => {
    const quoteId = newId();
    expect(await reserve('60', quoteId)).toBe(true);
    expect(await reserve('60', quoteId)).toBe(true);
    expect(await balance()).toBe('40');
  });

  test('nothing is reserved of an offer that is withdrawn or not authorized', async () => {
    await database.owner.query('UPDATE offers SET authorized = false WHERE offer_id = $1', [offerId]);
    expect(await reserve('1')).toBe(false);
    await database.owner.query('UPDATE offers SET authorized = true, withdrawn = true WHERE offer_id = $1', [
      offerId,
    ]);
    expect(await reserve('1')).toBe(false);
  });

  test('what no order came of goes back after a while, and not before', async () => {
    await reserve('60');
    await sweep(60_000);
    expect(await balance()).toBe('40');
    await sweep(0);
    expect(await balance()).toBe('100');
    await sweep(0);
    expect(await balance()).toBe('100');
  });

  test('the partner role can do nothing with offers or reservations', async () => {
    await other.query('SET ROLE causeway_partner');
    try {
      for (const table of ['offers', 'offer_reservations']) {
        await expect(other.query(`SELECT * FROM ${table}`)).rejects.toThrow('permission denied');
        await expect(other.query(`DELETE FROM ${table}`)).rejects.toThrow('permission denied');
      }
    } finally {
      await other.query('RESET ROLE');
    }
  });
});
