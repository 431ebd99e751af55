import type { FailureCode, OrderStatus } from '@causeway/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../../../../../test/harness/fixed-market.ts';
import { until } from '../../../../../test/harness/until.ts';
import { createWorker } from '../../worker.ts';
import { countOrderOutcomes } from './reputation.ts';

const BEGIN = Date.parse('2026-03-01T10:00:00.000Z');
/** A status and how many seconds after the order began it was reached. */
type Stage = readonly [status: string, atSecond: number];

describe('reputation', () => {
  let market: FixedMarket;
  let orderId: string;
  beforeAll(async () => {
    // No worker: the test alone decides when outcomes are counted.
    market = await startFixedMarket();
    await market.setRates({ EUR: '0.5' });
  });
  afterAll(() => market?.stop());

  beforeEach(async () => {
    const { call } = market.gateway;
    const quote = await call('POST', '/api/v1/partner/onramp/quote', {
      body: {
        user_uuid: await market.newCustomer(),
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '100.00',
      },
    });
    const order = await call('POST', '/api/v1/partner/onramp/initiate', {
      body: { quote_id: quote.body.data.quote_id },
    });
    orderId = order.body.data.order_id;
    await market.owner.query(
      'UPDATE orders o SET vendor_id = q.vendor_id FROM quotes q WHERE q.quote_id = o.quote_id AND o.order_id = $1',
      [orderId],
    );
  });

  /** Puts the order where a chain would have taken it. */
  async function reach(stages: readonly Stage[], failure: FailureCode | null = null): Promise<void> {
    const timeline = stages.map(([status, second]) => ({
      status,
      at: new Date(BEGIN + second * 1_000).toISOString(),
    }));
    await market.owner.query(
      'UPDATE orders SET status = $2, timeline = $3::jsonb, failure_code = $4 WHERE order_id = $1',
      [orderId, timeline.at(-1)?.status, JSON.stringify(timeline), failure],
    );
  }

  async function counters(): Promise<readonly [completed: number, failed: number, disputed: number]> {
    const { rows } = await market.owner.query(
      `SELECT v.completed_orders, v.failed_orders, v.disputed_orders
         FROM vendors v JOIN orders o USING (vendor_id) WHERE o.order_id = $1`,
      [orderId],
    );
    return [rows[0].completed_orders, rows[0].failed_orders, rows[0].disputed_orders];
  }

  const count = () => countOrderOutcomes(market.gateway.deps);

  async function gainedBy(stages: readonly Stage[], failure: FailureCode | null = null) {
    const before = await counters();
    await reach(stages, failure);
    await count();
    const after = await counters();
    return after.map((value, index) => value - (before[index] ?? 0));
  }

  it('a completed order counts once, however often and however many at a time look, and through its send-out', async () => {
    const before = await counters();
    await reach([
      ['fiat_transfer_pending', 0],
      ['completed', 60],
    ]);
    await Promise.all([count(), count(), count()]);
    expect(await count()).toBe(0);
    await reach([
      ['completed', 60],
      ['send_out_pending', 70],
    ]);
    expect(await count()).toBe(1);
    expect(await counters()).toEqual([before[0] + 1, before[1], before[2]]);
  });

  it('a dispute counts, also when it was decided before anybody looked', async () => {
    const opened: Stage[] = [
      ['fiat_transfer_pending', 0],
      ['dispute_started', 10],
    ];
    expect(await gainedBy(opened)).toEqual([0, 0, 1]);
    expect(await gainedBy([...opened, ['completed', 20]])).toEqual([1, 0, 0]);
  });

  it('a dispute seen only after its end counts beside the completion', async () => {
    expect(
      await gainedBy([
        ['dispute_started', 10],
        ['crypto_release_pending', 20],
        ['completed', 30],
      ]),
    ).toEqual([1, 0, 1]);
  });

  describe.each([5, 999_999])('a cancelled order, however long it took (%i s)', (seconds) => {
    it.each<[string, number, OrderStatus, FailureCode]>([
      ['did not fund in time', 1, 'awaiting_vendor_escrow_funding', 'VENDOR_DID_NOT_FUND'],
      ['did not pay in a day', 1, 'crypto_received', 'VENDOR_DID_NOT_PAY'],
      ['did not renew its proof', 1, 'fiat_payment_started', 'PAYMENT_PROOF_NOT_RENEWED'],
      ['had its last proof refused', 1, 'fiat_payment_review_started', 'PAYMENT_PROOFS_REFUSED'],
      [
        'owed its crypto when somebody cancelled',
        0,
        'awaiting_vendor_escrow_funding',
        'CANCELLED_ON_REQUEST',
      ],
      ['owed its payment when somebody cancelled', 0, 'crypto_received', 'CANCELLED_ON_REQUEST'],
      ['was not paid by the customer', 0, 'awaiting_fiat_transfer', 'FIAT_NOT_SENT'],
      ['was never reached', 0, 'awaiting_liquidity_provider', 'NO_VENDOR_ACCEPTED'],
    ])('whose vendor %s counts %i as failed', async (_case, failed, stage, failure) => {
      const stages = [
        [stage, 0],
        ['cancelled', seconds],
      ] as const;
      expect(await gainedBy(stages, failure)).toEqual([0, failed, 0]);
    });
  });

  it('the worker counts by itself, and the book of every process shows it', async () => {
    const { deps } = market.gateway;
    const [completed] = await counters();
    const { rows } = await market.owner.query('SELECT vendor_id FROM orders WHERE order_id = $1', [orderId]);
    await reach([['completed', 1]]);
    const worker = createWorker(deps);
    worker.start();
    try {
      await until('the book to show the order', () => {
        const vendor = deps.offers.book().vendor(rows[0].vendor_id);
        return vendor?.reputation.completedOrders === completed + 1;
      });
    } finally {
      await worker.stop();
    }
  });
});
