import { OfferBook } from '@causeway/offers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endFinishedReservations } from '../../apps/gateway/src/features/quotes/claim-quote.ts';
import { type OffersServer, startOffersServer } from '../../backends/offers/src/server.ts';
import { anOffer, aVendor } from '../../backends/offers/src/testing/offer-fixtures.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';

const OFFER = '00000000-0000-7000-8000-00000000abcd';

/** A gateway whose offers are kept by a backend of their own, with as much crypto as one order takes. */
describe('orders served by an offers backend of its own', () => {
  let backend: OffersServer;
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let book = OfferBook.empty;

  beforeAll(async () => {
    backend = await startOffersServer({ host: '127.0.0.1', port: 0, book: () => book });
    gateway = await startGateway({ env: { OFFERS_URL: backend.url } });
    driver = ordersDriver(gateway);
    const owner = new pg.Client({ connectionString: gateway.databaseUrl });
    await owner.connect();
    const { rows } = await owner.query(`SELECT vendor_id, name FROM vendors WHERE kind = 'p2p' LIMIT 1`);
    await owner.end();
    const vendor = aVendor({ vendorId: rows[0].vendor_id, name: rows[0].name });
    const offer = anOffer({
      offerId: OFFER,
      vendorId: vendor.vendorId,
      side: 'SELL',
      pricing: { type: 'fixed', price: '1' },
      minAmount: '1',
      maxAmount: '1000',
      paymentOptions: [{ networkSlug: 'iban-sepa', methodSlugs: 'all' }],
      countries: ['DE'],
      availableBalance: '150',
    });
    book = OfferBook.of({ vendors: [vendor], offers: [offer] });
    await until('the offer', () => gateway.deps.offers.book().offer(OFFER) !== undefined);
  });
  afterAll(async () => {
    await gateway?.stop();
    await backend?.close();
  });

  const left = async () => {
    const response = await fetch(`${backend.url}/snapshot`);
    const { offers } = (await response.json()) as { offers: { available_balance: string }[] };
    return offers[0]?.available_balance;
  };

  it('reserve what they take, so that two cannot have the same crypto, and give it back when they stop', async () => {
    const userId = await driver.user();
    const quote = async () => {
      const { body } = await gateway.partner.onramp.quote({
        user_uuid: userId,
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '100.00',
      });
      return body.data.quote_id as string;
    };
    const initiate = (quote_id: string) => gateway.partner.onramp.initiate({ quote_id });
    const unserved = await gateway.partner.onramp.estimate({
      crypto_currency: 'USDC',
      fiat_currency: 'EUR',
      fiat_amount: '100.00',
      provider_scope: 'direct',
    });
    expect(unserved.body.error.details).toEqual({
      excluded_by: [{ condition: 'provider_scope', available: ['p2p'] }],
    });
    // Both are quoted before either takes anything.
    const [first, second] = [await quote(), await quote()];
    const order = await initiate(first);
    expect(order.status, order.text).toBe(200);
    expect(await left()).toBe('50');
    const refused = await initiate(second);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'NO_OFFERS_AVAILABLE']);

    expect(await endFinishedReservations(gateway.deps)).toBe(0);
    expect((await driver.act(order.body.data.order_id, 'cancel')).status).toBe(200);
    expect(await endFinishedReservations(gateway.deps)).toBe(1);
    expect(await left()).toBe('150');
    await until(
      'the balance in the book',
      () => gateway.deps.offers.book().offer(OFFER)?.availableBalance === '150',
    );
    expect((await initiate(second)).status).toBe(200);
  });
});
