import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OfferBook } from '@causeway/offers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type OffersServer, startOffersServer } from '../../../../../backends/offers/src/server.ts';
import { anOffer, aVendor } from '../../../../../backends/offers/src/testing/offer-fixtures.ts';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { until } from '../../../../../test/harness/until.ts';
import { newId } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { createRemoteReservations } from './remote-reservations.ts';

const OFFER = '00000000-0000-7000-8000-000000000001';
const RULE = { settled: ['completed'], stopped: ['cancelled'], abandonedAfterMs: 60_000, limit: 100 };

type Conduct = 'answers' | 'loses the answer' | 'delays the request' | 'is down' | 'refuses the first end';

/** The backend behind a line that loses things. */
describe('reservations at a backend of its own, over a line that loses answers', () => {
  let database: TestDatabase;
  let backend: OffersServer;
  let line: Server;
  let conduct: Conduct;
  let delayed: (() => Promise<unknown>)[];
  let refused: string | undefined;
  let reservations: ReturnType<typeof createRemoteReservations>;

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database?.close());
  beforeEach(async () => {
    conduct = 'answers';
    delayed = [];
    refused = undefined;
    const book = OfferBook.of({
      vendors: [aVendor()],
      offers: [anOffer({ offerId: OFFER, availableBalance: '100' })],
    });
    backend = await startOffersServer({ host: '127.0.0.1', port: 0, book: () => book });
    line = createServer((request, response) => {
      // The backend may be gone when what was given up is still on its way.
      carry(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
    const { port } = line.address() as AddressInfo;
    reservations = createRemoteReservations({
      db: database.db,
      baseUrl: `http://127.0.0.1:${port}`,
      logger: createLogger({ level: 'silent', format: 'json' }),
      timeoutMs: 300,
    });
  });
  afterEach(async () => {
    await reservations.close();
    line.closeAllConnections();
    await new Promise((resolve) => line.close(resolve));
    await backend.close();
  });

  async function carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const send = () =>
      fetch(`${backend.url}${request.url}`, { method: 'POST', body: Buffer.concat(chunks).toString() });
    switch (conduct) {
      case 'is down':
        response.destroy();
        return;
      case 'delays the request':
        delayed.push(send);
        return;
      case 'loses the answer':
        await send();
        return;
      case 'refuses the first end':
        refused ??= request.url;
        if (request.url === refused) {
          response.writeHead(500).end();
          return;
        }
        await answer();
        return;
      default:
        await answer();
    }

    async function answer(): Promise<void> {
      const sent = await send();
      response.writeHead(sent.status).end(await sent.text());
    }
  }

  const left = async () => {
    const response = await fetch(`${backend.url}/snapshot`);
    return ((await response.json()) as { offers: { available_balance: string }[] }).offers[0]
      ?.available_balance;
  };
  const open = async () =>
    Number((await database.owner.query('SELECT count(*) FROM remote_offer_reservations')).rows[0].count);

  /** In as many turns as it takes: a busy machine may miss the time that an answer has. */
  async function endedUntil(wanted: number): Promise<number> {
    let ended = 0;
    await until(`${wanted} ends to be confirmed`, async () => {
      ended += await reservations.endFinished(RULE);
      return ended >= wanted;
    });
    return ended;
  }

  test('an answer that is lost does not count, and what the backend took is given back', async () => {
    conduct = 'loses the answer';
    expect(await reservations.reserve(newId(), OFFER, '60')).toBe(false);
    expect(await left()).toBe('40');
    conduct = 'answers';
    expect(await reservations.endFinished(RULE)).toBe(1);
    expect([await left(), await open()]).toEqual(['100', 0]);
  });

  test('a request that arrives after its reservation was given up reserves nothing', async () => {
    conduct = 'delays the request';
    expect(await reservations.reserve(newId(), OFFER, '60')).toBe(false);
    conduct = 'answers';
    expect(await reservations.endFinished(RULE)).toBe(1);
    await Promise.all(delayed.map((send) => send()));
    expect([await left(), await open()]).toEqual(['100', 0]);
  });

  test('an end that is lost is told again until the backend has confirmed it, and ends nothing twice', async () => {
    const [released, consumed] = [newId(), newId()];
    expect(await reservations.reserve(released, OFFER, '10')).toBe(true);
    expect(await reservations.reserve(consumed, OFFER, '20')).toBe(true);
    for (const lost of ['loses the answer', 'is down'] as const) {
      conduct = lost;
      await reservations.release(released, OFFER);
      await reservations.consume(consumed, OFFER);
      expect(await reservations.endFinished(RULE)).toBe(0);
      expect(await open()).toBe(2);
    }
    conduct = 'answers';
    expect([await endedUntil(2), await left(), await open()]).toEqual([2, '80', 0]);
  });

  test('one that the backend refuses to end keeps no other from being ended', async () => {
    const quotes = [newId(), newId(), newId()];
    for (const quoteId of quotes) expect(await reservations.reserve(quoteId, OFFER, '10')).toBe(true);
    conduct = 'is down';
    for (const quoteId of quotes) await reservations.release(quoteId, OFFER);
    conduct = 'refuses the first end';
    expect([await endedUntil(2), await left(), await open()]).toEqual([2, '90', 1]);
    conduct = 'answers';
    expect([await endedUntil(1), await left(), await open()]).toEqual([1, '100', 0]);
  });

  test('a backend that is away reserves nothing, and the same quote reserves once it is back', async () => {
    const quoteId = newId();
    conduct = 'is down';
    expect(await reservations.reserve(quoteId, OFFER, '60')).toBe(false);
    conduct = 'answers';
    expect(await reservations.reserve(quoteId, OFFER, '60')).toBe(true);
    expect(await left()).toBe('40');
    await reservations.endFinished(RULE);
    expect([await left(), await open()]).toEqual(['40', 1]);
    await reservations.release(quoteId, OFFER);
  });
});
