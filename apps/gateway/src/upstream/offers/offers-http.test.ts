import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../../test/harness/until.ts';
import { createLogger } from '../../lib/logger.ts';
import type { OfferBooks } from '../../ports/offers.ts';
import { createHttpOffers } from './offers-http.ts';

const VENDOR = {
  vendor_id: 'v1',
  name: 'Desk',
  kind: 'p2p',
  active: true,
  online: true,
  reputation: { completed_orders: 0, failed_orders: 0, disputed_orders: 0 },
};
const OFFER = {
  offer_id: 'o1',
  vendor_id: 'v1',
  kind: 'p2p',
  side: 'SELL',
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  pricing: { type: 'fixed', price: '0.9' },
  min_amount: '1',
  max_amount: '10',
  payment_options: [{ network_slug: 'iban-sepa', method_slugs: 'all' }],
  countries: ['DE'],
  available_balance: '5',
  authorized: true,
  version: 1,
  created_at: 1,
};
const GOOD = JSON.stringify({ vendors: [VENDOR], offers: [OFFER] });

describe('an offers backend of its own', () => {
  let server: Server;
  let baseUrl: string;
  let answer: (response: ServerResponse) => void;
  let calls = 0;
  let now = 0;
  let offers: OfferBooks;
  let logged = '';

  beforeEach(async () => {
    calls = 0;
    now = 1_000_000;
    logged = '';
    answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(GOOD);
    server = createServer((_request, response) => {
      calls += 1;
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await offers.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function connect(extra: { knownVendorIds?: () => Promise<ReadonlySet<string>> } = {}): OfferBooks {
    offers = createHttpOffers({
      baseUrl,
      logger: createLogger({
        level: 'debug',
        format: 'json',
        destination: {
          write: (line) => {
            logged += line;
          },
        },
      }),
      wall: () => now,
      pollMs: 10,
      timeoutMs: 200,
      ...extra,
    });
    return offers;
  }

  async function polledAgain(): Promise<void> {
    const before = calls;
    await until('two more polls', () => calls >= before + 2);
  }

  test.each([
    ['an error', (response: ServerResponse) => response.writeHead(500).end('secret upstream text')],
    ['nonsense', (response: ServerResponse) => response.end('{"vendors":1}')],
    ['no JSON', (response: ServerResponse) => response.end('<html>')],
    ['a broken connection', (response: ServerResponse) => response.destroy()],
    ['nothing', () => {}],
  ])('answering %s leaves the last book in use', async (_what, bad) => {
    await connect().start();
    const book = offers.book();
    expect(book.offerCount).toBe(1);
    answer = bad;
    await polledAgain();
    expect(offers.book().offerCount).toBe(1);
    await until('a line in the log', () => logged.includes('the offers backend failed'));
    expect(logged.match(/the offers backend failed/g)).toHaveLength(1);
  });

  test('a book that is not confirmed for a minute is no longer quoted from', async () => {
    await connect().start();
    answer = (response) => response.writeHead(503).end();
    await polledAgain();
    now += 60_000;
    expect(offers.book().offerCount).toBe(1);
    now += 1;
    expect(() => offers.book()).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
  });

  test('without a first answer there is no book, and looking goes on', async () => {
    const good = answer;
    answer = (response) => response.writeHead(502).end();
    await connect().start();
    expect(() => offers.book()).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
    answer = good;
    await until('a book', () => {
      try {
        return offers.book().offerCount === 1;
      } catch {
        return false;
      }
    });
  });

  test('vendors that cannot be settled with are left out, with their offers', async () => {
    await connect({ knownVendorIds: async () => new Set(['another']) }).start();
    expect(offers.book().rows()).toEqual({ vendors: [], offers: [] });
    expect(logged).toContain('does not know');
  });

  test('offers whose id the database could not hold are left out, the others stay', async () => {
    const usable = { ...OFFER, offer_id: '0198a6f0-1f5e-7c3a-9d52-6a1b2c3d4e5f' };
    answer = (response) => response.end(JSON.stringify({ vendors: [VENDOR], offers: [OFFER, usable] }));
    await connect({ knownVendorIds: async () => new Set(['v1']) }).start();
    expect(
      offers
        .book()
        .rows()
        .offers.map(({ offerId }) => offerId),
    ).toEqual([usable.offer_id]);
    expect(logged).toContain('not a UUID');
  });
});
