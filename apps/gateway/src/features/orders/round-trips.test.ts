import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { type OrdersDesk, ordersDesk } from '../../../../../test/scenarios/orders-desk.ts';

const TRIES = 12;
const BOOK_READS = ['offers.changed', 'offers.vendors'];

describe('what orders cost the database', () => {
  let gateway: TestGateway;
  let desk: OrdersDesk;

  beforeAll(async () => {
    gateway = await startGateway({ worker: false });
    desk = ordersDesk(gateway);
  });
  afterAll(() => gateway?.stop());

  /** A hold tells every process to read the changed offers again; that is not the request's doing. */
  async function roundTripsOf(work: () => Promise<unknown>): Promise<number> {
    const { db } = gateway.deps;
    const counting = vi.spyOn(db, 'query');
    const before = db.stats.roundTrips;
    await work();
    const spent = db.stats.roundTrips - before;
    const refreshing = counting.mock.calls.filter(([, { name }]) => BOOK_READS.includes(name)).length;
    counting.mockRestore();
    return spent - refreshing;
  }

  // Whatever else runs beside a request only ever adds to it.
  it.each(['onramp', 'offramp'])(
    'initiating an %s order takes at most 3 round trips, reading it 1',
    async (direction) => {
      const userId = await desk.user();
      const payee = direction === 'offramp' ? { payment_details_id: await desk.ownDetails(userId) } : {};
      const initiating: number[] = [];
      const reading: number[] = [];
      for (let round = 0; round < TRIES; round++) {
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
        const body = { quote_id: quote.body.data.quote_id };
        let orderId = '';
        initiating.push(
          await roundTripsOf(async () => {
            const made = await gateway.call('POST', `/api/v1/partner/${direction}/initiate`, { body });
            orderId = made.body.data.order_id;
          }),
        );
        reading.push(await roundTripsOf(() => desk.read(orderId)));
      }
      expect(Math.min(...initiating)).toBeLessThanOrEqual(3);
      expect(Math.min(...reading)).toBe(1);
    },
  );
});
