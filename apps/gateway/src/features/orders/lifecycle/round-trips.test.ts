import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../../test/harness/gateway.ts';
import { type OrdersDriver, ordersDriver } from '../../../../../../test/scenarios/orders-driver.ts';

const ROUNDS = 12;
const REQUEST_STARTS = 'http.server.request.start';

interface CountedRequest {
  readonly path: string;
  roundTrips: number;
}

describe('what orders cost the database', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let requests: CountedRequest[] = [];
  // Each request carries its own count through everything it awaits: what runs beside it is never counted with it.
  const current = new AsyncLocalStorage<CountedRequest>();

  function begin(message: unknown): void {
    const { url = '' } = (message as { request: IncomingMessage }).request;
    const request = { path: url, roundTrips: 0 };
    requests.push(request);
    current.enterWith(request);
  }

  beforeAll(async () => {
    // Far from any limit: where many requests come between two exchanges of their counts, the limiter asks the database.
    gateway = await startGateway({ worker: false, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
    driver = ordersDriver(gateway);
  });
  afterAll(() => gateway?.stop());

  beforeEach(() => {
    requests = [];
    const counter = gateway.deps.metrics.dbRoundTripsTotal;
    const count = counter.inc.bind(counter);
    vi.spyOn(counter, 'inc').mockImplementation(() => {
      const request = current.getStore();
      if (request !== undefined) request.roundTrips += 1;
      count();
    });
    subscribe(REQUEST_STARTS, begin);
  });
  afterEach(() => {
    unsubscribe(REQUEST_STARTS, begin);
    vi.restoreAllMocks();
  });

  const costOf = (part: string) =>
    requests.filter(({ path }) => path.includes(part)).map(({ roundTrips }) => roundTrips);

  it.each(['onramp', 'offramp'])(
    'initiating an %s order takes at most 4 round trips and reading it takes 1, every time',
    async (direction) => {
      const userId = await driver.user();
      const payee = direction === 'offramp' ? { payment_details_id: await driver.ownDetails(userId) } : {};
      for (let round = 0; round < ROUNDS; round++) {
        const quote = await gateway.call('POST', `/api/v1/partner/${direction}/quote`, {
          body: {
            user_uuid: userId,
            crypto_currency: 'USDC',
            fiat_currency: 'EUR',
            fiat_amount: '50.00',
            ...payee,
          },
        });
        expect(quote.body).toMatchObject({ success: true });
        const made = await gateway.call('POST', `/api/v1/partner/${direction}/initiate`, {
          body: { quote_id: quote.body.data.quote_id },
        });
        await driver.read(made.body.data.order_id);
      }
      const initiating = costOf('/initiate');
      expect(initiating).toHaveLength(ROUNDS);
      // A request that was not followed would seem to cost nothing.
      expect(Math.min(...initiating)).toBeGreaterThanOrEqual(2);
      expect(Math.max(...initiating)).toBeLessThanOrEqual(4);
      expect(costOf('/api/v1/partner/orders/')).toEqual(Array(ROUNDS).fill(1));
    },
  );
});
