import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  connect,
  insertPartner,
  openTestDatabase,
  type TestDatabase,
} from '../../../../test/harness/database.ts';
import { until } from '../../../../test/harness/until.ts';
import { partnerScope } from '../db/database.ts';
import { createListener, type Listener } from '../db/listener.ts';
import { type UnitTools, unitOfWork } from '../engine/unit-of-work.ts';
import { createClock } from '../lib/clock.ts';
import { createIdGenerator, newId } from '../lib/ids.ts';
import { createLogger } from '../lib/logger.ts';
import type { OfferBalances, Offers } from './offers.port.ts';
import { createInProcessOffers } from './offers-in-process.ts';

const logger = createLogger({ level: 'silent', format: 'json' });

describe('offers in the database', () => {
  let database: TestDatabase;
  let listener: Listener;
  let offers: Offers;
  let tools: UnitTools;
  let other: pg.Client;
  const partnerId = newId();
  const vendorId = newId();
  let offerId: string;

  beforeAll(async () => {
    database = await openTestDatabase(10);
    other = await connect(database.url);
    listener = createListener(database.url, () => {});
    offers = createInProcessOffers({ db: database.db, listener, logger });
    tools = { db: database.db, clock: createClock(), ids: createIdGenerator() };
    await insertPartner(database.owner, partnerId);
    await database.owner.query(
      `INSERT INTO vendors (vendor_id, name, wallet_address, created_at)
       VALUES ($1, 'Desk', '0x' || repeat('1', 40), clock_timestamp())`,
      [vendorId],
    );
    await listener.start();
    await offers.start();
  });
  afterAll(async () => {
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

  const balances = () => offers.balances as OfferBalances;
  const take = (crypto: string) =>
    unitOfWork(tools, partnerScope(partnerId), (unit) => balances().take(unit, offerId, crypto));

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

  test('orders that race for a balance never take more than there is', async () => {
    const taken = await Promise.all(Array.from({ length: 20 }, () => take('9.5')));
    expect(taken.filter(Boolean)).toHaveLength(10);
    await until('what is left', () => offers.book().offer(offerId)?.availableBalance === '5');
  });

  test('a balance is taken to the last unit and not beyond', async () => {
    expect(await take('100.000001')).toBe(false);
    expect(await take('100')).toBe(true);
    expect(await take('0.000001')).toBe(false);
  });

  test('what a refused order took is there again', async () => {
    await expect(
      unitOfWork(tools, partnerScope(partnerId), async (unit) => {
        await balances().take(unit, offerId, '60');
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(await take('100')).toBe(true);
  });

  test('nothing is taken of an offer that is withdrawn or not authorized', async () => {
    await database.owner.query('UPDATE offers SET authorized = false WHERE offer_id = $1', [offerId]);
    expect(await take('1')).toBe(false);
    await database.owner.query('UPDATE offers SET authorized = true, withdrawn = true WHERE offer_id = $1', [
      offerId,
    ]);
    expect(await take('1')).toBe(false);
  });

  test('a partner can take a balance and can do nothing else with offers', async () => {
    await other.query('SET ROLE causeway_partner');
    try {
      await expect(other.query('SELECT * FROM offers')).rejects.toThrow('permission denied');
      await expect(other.query('UPDATE offers SET available_balance = 1')).rejects.toThrow(
        'permission denied',
      );
    } finally {
      await other.query('RESET ROLE');
    }
  });
});
