import { type Offer, OfferBook, type Vendor } from '@causeway/offers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOffersServer } from '../../../../../backends/offers/src/server.ts';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { until } from '../../../../../test/harness/until.ts';
import { createListener } from '../../db/listener.ts';
import { machineNow } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import type { Offers } from '../../ports/offers.ts';
import { createHttpOffers } from './offers-http.ts';
import { createInProcessOffers } from './offers-in-process.ts';
import { createRemoteReservations } from './remote-reservations.ts';

const logger = createLogger({ level: 'silent', format: 'json' });
/** A second on a machine that is not busy; it is told of changes, and would look by itself much later. */
const SOON_MS = 10_000;

const VENDORS: readonly Vendor[] = [
  {
    vendorId: '00000000-0000-7000-8000-00000000000a',
    name: 'A desk',
    kind: 'p2p',
    active: true,
    online: true,
    reputation: { completedOrders: 3, failedOrders: 1, disputedOrders: 0 },
  },
  {
    vendorId: '00000000-0000-7000-8000-00000000000b',
    name: 'A provider',
    kind: 'direct',
    active: true,
    online: true,
    reputation: { completedOrders: 0, failedOrders: 0, disputedOrders: 0 },
  },
];

const OFFERS: readonly Offer[] = [
  {
    offerId: '00000000-0000-7000-8000-000000000001',
    vendorId: '00000000-0000-7000-8000-00000000000a',
    kind: 'p2p',
    side: 'SELL',
    cryptoCurrency: 'USDC',
    fiatCurrency: 'EUR',
    pricing: { type: 'margin', percent: '0.75' },
    minAmount: '10',
    maxAmount: '2000.5',
    paymentOptions: [{ networkSlug: 'iban-sepa', methodSlugs: ['n26', 'revolut'] }],
    countries: ['DE', 'FR'],
    availableBalance: '5000.000001',
    authorized: true,
    version: 1,
    createdAt: 1_735_689_600_000,
  },
  {
    offerId: '00000000-0000-7000-8000-000000000002',
    vendorId: '00000000-0000-7000-8000-00000000000b',
    kind: 'direct',
    side: 'BUY',
    cryptoCurrency: 'USDT',
    fiatCurrency: 'USD',
    pricing: { type: 'fixed', price: '0.9975' },
    minAmount: '0',
    maxAmount: '100000',
    paymentOptions: [{ networkSlug: 'ach-us', methodSlugs: 'all' }],
    countries: ['US'],
    availableBalance: '0',
    authorized: false,
    version: 1,
    createdAt: 1_735_689_600_001,
  },
];

interface Running {
  readonly offers: Offers;
  setOnline(vendorId: string, online: boolean): Promise<void>;
  setMargin(offerId: string, percent: string): Promise<void>;
  withdraw(offerId: string): Promise<void>;
  stop(): Promise<void>;
}

async function insertRows({ owner }: TestDatabase): Promise<void> {
  for (const { vendorId, name, kind, reputation } of VENDORS) {
    await owner.query(
      `INSERT INTO vendors (vendor_id, name, wallet_address, kind, completed_orders, failed_orders, disputed_orders, created_at)
       VALUES ($1, $2, '0x' || repeat('1', 40), $3, $4, $5, $6, clock_timestamp())`,
      [vendorId, name, kind, reputation.completedOrders, reputation.failedOrders, reputation.disputedOrders],
    );
  }
  for (const offer of OFFERS) {
    await owner.query(
      `INSERT INTO offers (offer_id, vendor_id, side, crypto_currency, fiat_currency, fixed_price, margin_pct, min_amount,
         max_amount, payment_options, countries, available_balance, authorized, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
      [
        offer.offerId,
        offer.vendorId,
        offer.side,
        offer.cryptoCurrency,
        offer.fiatCurrency,
        offer.pricing.type === 'fixed' ? offer.pricing.price : null,
        offer.pricing.type === 'margin' ? offer.pricing.percent : null,
        offer.minAmount,
        offer.maxAmount,
        JSON.stringify(
          offer.paymentOptions.map(({ networkSlug, methodSlugs }) => ({
            network_slug: networkSlug,
            method_slugs: methodSlugs,
          })),
        ),
        offer.countries,
        offer.availableBalance,
        offer.authorized,
        new Date(offer.createdAt),
      ],
    );
  }
}

async function startInProcess(database: TestDatabase): Promise<Running> {
  const { db, owner, url } = database;
  await insertRows(database);
  const listener = createListener(url, () => {});
  const offers = createInProcessOffers({ db, listener, logger });
  await listener.start();
  await offers.start();
  return {
    offers,
    async setOnline(vendorId, online) {
      await owner.query('UPDATE vendors SET online = $2 WHERE vendor_id = $1', [vendorId, online]);
    },
    async setMargin(offerId, percent) {
      await owner.query('UPDATE offers SET margin_pct = $2 WHERE offer_id = $1', [offerId, percent]);
    },
    async withdraw(offerId) {
      await owner.query('UPDATE offers SET withdrawn = true WHERE offer_id = $1', [offerId]);
    },
    async stop() {
      await offers.stop();
      await listener.close();
    },
  };
}

async function startHttp({ db }: TestDatabase): Promise<Running> {
  let book = OfferBook.of({ vendors: VENDORS, offers: OFFERS });
  const server = await startOffersServer({ host: '127.0.0.1', port: 0, book: () => book });
  const books = createHttpOffers({ baseUrl: server.url, logger, wall: machineNow, pollMs: 50 });
  const reservations = createRemoteReservations({ db, baseUrl: server.url, logger });
  const offers: Offers = { ...books, reservations, ownsOffers: false };
  await offers.start();
  return {
    offers,
    async setOnline(vendorId, online) {
      const vendor = book.vendor(vendorId);
      if (vendor !== undefined) book = book.withChanged({ vendors: [{ ...vendor, online }] });
    },
    async setMargin(offerId, percent) {
      const offer = book.offer(offerId);
      if (offer === undefined) return;
      book = book.withChanged({
        offers: [{ ...offer, pricing: { type: 'margin', percent }, version: offer.version + 1 }],
      });
    },
    async withdraw(offerId) {
      book = book.withChanged({ removedOfferIds: [offerId] });
    },
    async stop() {
      await offers.stop();
      await reservations.close();
      await server.close();
    },
  };
}

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  return () => database.close();
});

const ADAPTERS: Record<string, () => Promise<Running>> = {
  'in-process': () => startInProcess(database),
  http: () => startHttp(database),
};

// Proves C1 rule 6.
describe.each(Object.keys(ADAPTERS))('the %s adapter', (name) => {
  let running: Running;
  beforeAll(async () => {
    running = await (ADAPTERS[name] as () => Promise<Running>)();
  });
  afterAll(() => running.stop());

  const [first] = OFFERS as readonly [Offer];
  const pair = () => running.offers.book().pair('SELL', 'USDC', 'EUR')?.eligible.margin ?? [];

  test('holds every vendor and offer exactly as stored', () => {
    expect(running.offers.book().rows()).toEqual({ vendors: VENDORS, offers: OFFERS });
    expect(running.offers.book().problems()).toEqual([]);
  });

  test('hands out the same book until something changes', () => {
    expect(running.offers.book()).toBe(running.offers.book());
  });

  test('follows a change of price within a second, and says so', async () => {
    let heard = 0;
    running.offers.onChange(() => {
      heard += 1;
    });
    await running.setMargin(first.offerId, '0.5');
    const changedAt = performance.now();
    await until('the new margin', () => {
      const { pricing, version } = running.offers.book().offer(first.offerId) as Offer;
      return pricing.type === 'margin' && pricing.percent === '0.5' && version === 2;
    });
    expect(performance.now() - changedAt).toBeLessThan(SOON_MS);
    expect(heard).toBe(1);
  });

  test('follows a vendor that goes offline and comes back', async () => {
    expect(pair()).toHaveLength(1);
    await running.setOnline(first.vendorId, false);
    await until('no offer', () => pair().length === 0, SOON_MS);
    await running.setOnline(first.vendorId, true);
    await until('its offer again', () => pair().length === 1, SOON_MS);
  });

  describe('reservations', () => {
    const WHOLE = first.availableBalance;
    const reserve = (crypto: string, quoteId = newId()) =>
      running.offers.reservations.reserve(quoteId, first.offerId, crypto);
    const left = () => running.offers.book().offer(first.offerId)?.availableBalance;
    const leaves = (balance: string) => until(`a balance of ${balance}`, () => left() === balance);
    const endFinished = (abandonedAfterMs: number) =>
      running.offers.reservations.endFinished({
        settled: ['completed'],
        stopped: ['cancelled'],
        abandonedAfterMs,
        limit: 100,
      });

    test('take from the balance to the last unit and not beyond, and show in the book', async () => {
      const quoteId = newId();
      expect(await reserve('5000.000002')).toBe(false);
      expect(await reserve(WHOLE, quoteId)).toBe(true);
      expect(await reserve('0.000001')).toBe(false);
      await leaves('0');
      await running.offers.reservations.release(quoteId, first.offerId);
      await leaves(WHOLE);
    });

    test('the same again take nothing more, and those that race never take more than there is', async () => {
      const quoteId = newId();
      expect(await Promise.all([reserve('1000', quoteId), reserve('1000', quoteId)])).toEqual([true, true]);
      await leaves('4000.000001');
      const quotes = Array.from({ length: 12 }, () => newId());
      const reserved = await Promise.all(quotes.map((one) => reserve('500', one)));
      expect(reserved.filter(Boolean)).toHaveLength(8);
      for (const one of [quoteId, ...quotes]) await running.offers.reservations.release(one, first.offerId);
      await leaves(WHOLE);
    });

    test('end once: what is released is there again, what is consumed is not, and nothing comes after that', async () => {
      const { reservations } = running.offers;
      const [released, consumed] = [newId(), newId()];
      await reserve('1', released);
      await reserve('2', consumed);
      await leaves('4997.000001');
      for (let times = 0; times < 2; times++) await reservations.release(released, first.offerId);
      for (let times = 0; times < 2; times++) await reservations.consume(consumed, first.offerId);
      await reservations.release(consumed, first.offerId);
      await reservations.release(newId(), first.offerId);
      await reservations.consume(newId(), first.offerId);
      await leaves('4998.000001');
      // A quote may reserve again what was released: its order was refused and is asked for anew.
      expect(await reserve('3', released)).toBe(true);
      await leaves('4995.000001');
      await reservations.release(released, first.offerId);
      await leaves('4998.000001');
    });

    test('that no order came of are given back after a while, and not before', async () => {
      await reserve('60');
      await leaves('4938.000001');
      expect(await endFinished(60_000)).toBe(0);
      expect(await endFinished(0)).toBe(1);
      expect(await endFinished(0)).toBe(0);
      await leaves('4998.000001');
    });

    test('of an offer that is not there, or not authorized, there are none', async () => {
      expect(await running.offers.reservations.reserve(newId(), newId(), '1')).toBe(false);
      expect(await running.offers.reservations.reserve(newId(), OFFERS[1]?.offerId ?? '', '1')).toBe(false);
    });
  });

  test('drops an offer that is withdrawn', async () => {
    await running.withdraw(first.offerId);
    await until('nothing left', () => running.offers.book().offer(first.offerId) === undefined, SOON_MS);
  });
});
