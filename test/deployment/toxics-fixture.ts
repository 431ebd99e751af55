import { OfferBook } from '@causeway/offers';
import type pg from 'pg';
import { machineNow } from '../../apps/gateway/src/lib/clock.ts';
import { rateSourcesOf } from '../../apps/gateway/src/upstream/rates/rate-sources.ts';
import { startCurrenciesServer } from '../../backends/currencies/src/server.ts';
import { startOffersServer } from '../../backends/offers/src/server.ts';
import { anOffer, aVendor } from '../../backends/offers/src/testing/offer-fixtures.ts';
import { connect } from '../harness/database.ts';
import { NO_ORDER_LIMITS, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink } from '../harness/webhook-sink.ts';
import { startToxicProxy, type Toxic, type ToxicProxy } from './toxic-proxy.ts';

/** What a gateway is connected to. */
export const LINKS = ['database', 'chain', 'backends', 'webhooks'] as const;
export type LinkName = (typeof LINKS)[number];

/** A gateway with its worker, of which every link leads through a proxy. */
export interface ToxicsFixture {
  readonly gateway: TestGateway;
  /** The owner's own way to the database, past the proxy. */
  readonly owner: pg.Client;
  readonly userId: string;
  /** Where the user is paid. */
  readonly detailsId: number;
  poison(link: LinkName, toxic: Toxic | undefined): Promise<void>;
  stop(): Promise<void>;
}

const CHAIN = 'base-mainnet';
const OFFERS = {
  SELL: '00000000-0000-7000-8000-00000000abcd',
  BUY: '00000000-0000-7000-8000-00000000abce',
} as const;
const BALANCE = '1000000000';

export async function openToxicsFixture(): Promise<ToxicsFixture> {
  const proxies: Record<LinkName, ToxicProxy[]> = { database: [], chain: [], backends: [], webhooks: [] };
  const through = async (link: LinkName, url: string): Promise<string> => {
    const proxy = await startToxicProxy(url);
    proxies[link].push(proxy);
    return proxy.url;
  };
  let book = OfferBook.empty;
  const currencies = await startCurrenciesServer({
    host: '127.0.0.1',
    port: 0,
    clock: { now: machineNow },
    sources: rateSourcesOf(['simulated'], { now: machineNow }),
  });
  const offers = await startOffersServer({ host: '127.0.0.1', port: 0, book: () => book });
  const sink = await startWebhookSink({ tls: false });
  const database = { url: '' };
  const gateway = await startGateway({
    chains: true,
    databaseAddress: async (url) => {
      database.url = url;
      return through('database', url);
    },
    nodeAddress: async (slug, url) => (slug === CHAIN ? through('chain', url) : url),
    env: {
      ...NO_ORDER_LIMITS,
      CURRENCIES_URL: await through('backends', currencies.url),
      OFFERS_URL: await through('backends', offers.url),
      RATE_LIMIT_PARTNER_PER_MINUTE: '10000000',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '10000000',
    },
  });
  const owner = await connect(database.url);
  const { rows } = await owner.query(`SELECT vendor_id, name FROM vendors WHERE kind = 'p2p' LIMIT 1`);
  book = bookOf(rows[0]);
  await until('the offers', () => gateway.deps.offers.book().offer(OFFERS.BUY) !== undefined);
  await gateway.sdk().webhooks.set({ url: await through('webhooks', sink.url) });
  const { id: userId } = await gateway.sdk().users.create({ email: 'toxics@example.com' });
  await gateway.sdk().sandbox.kycStatus(userId, { status: 'VERIFIED' });
  const { id: detailsId } = await gateway.sdk().paymentDetails.create(userId, {
    rail: 'iban-sepa',
    currency: 'EUR',
    country_code: 'DE',
    details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
  });
  return {
    gateway,
    owner,
    userId,
    detailsId,
    async poison(link, toxic) {
      await Promise.all(proxies[link].map((proxy) => proxy.poison(toxic)));
    },
    async stop() {
      await owner.end();
      await gateway.stop();
      await Promise.all([currencies.close(), offers.close(), sink.close()]);
      await Promise.all(Object.values(proxies).flatMap((some) => some.map((proxy) => proxy.close())));
    },
  };
}

/** A vendor of the sandbox, with as much crypto as any number of orders takes. */
function bookOf({ vendor_id: vendorId, name }: { vendor_id: string; name: string }): OfferBook {
  const vendor = aVendor({ vendorId, name });
  const offers = (['SELL', 'BUY'] as const).map((side) =>
    anOffer({
      offerId: OFFERS[side],
      vendorId,
      side,
      pricing: { type: 'fixed', price: '1' },
      minAmount: '1',
      maxAmount: '1000',
      paymentOptions: [{ networkSlug: 'iban-sepa', methodSlugs: 'all' }],
      countries: ['DE'],
      availableBalance: BALANCE,
    }),
  );
  return OfferBook.of({ vendors: [vendor], offers });
}
