import { describe, expect, it } from 'vitest';
import { Causeway, type Order } from './index.ts';

const ORDER_ID = '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';
const QUICKLY = { pollInterval: 1, timeout: 10_000 };

type Seen = Readonly<Record<string, unknown>>;

/** An order that is read as one after the other, then as the last for ever; there is no event stream. */
function waiting(...orders: readonly Seen[]) {
  let reads = 0;
  const fetch = async (url: unknown) => {
    if (String(url).includes('/events')) return new Response('', { status: 401 });
    const order = orders[Math.min(reads++, orders.length - 1)];
    const common = { order_id: ORDER_ID, order_type: 'offramp', timeline: [], hold: null };
    return Response.json({ success: true, data: { ...common, ...order } });
  };
  const causeway = new Causeway({ baseUrl: 'http://x', apiKey: 'cw_test_1', fetch });
  return { orders: causeway.orders, reads: () => reads };
}

describe('waitFor with a function', () => {
  const isRefundable = (order: Order) => order.allowed_actions.includes('authorize-refund');

  it.each(['cancelled', 'failed'])(
    'goes on while an order is %s: its deposit may arrive late',
    async (status) => {
      const [before, after] = [
        { status, allowed_actions: [] },
        { status, allowed_actions: ['authorize-refund'] },
      ];
      const { orders, reads } = waiting({ ...before, status: 'crypto_received' }, before, before, after);
      const order = await orders.waitFor(ORDER_ID, isRefundable, QUICKLY);
      expect([order.status, order.allowed_actions, reads()]).toEqual([status, ['authorize-refund'], 4]);
    },
  );

  it('goes on until a refund is confirmed, or a hold is released', async () => {
    const refunded = waiting({ status: 'cancelled', tx_hash: null }, { status: 'cancelled', tx_hash: '0x1' });
    const { tx_hash } = await refunded.orders.waitFor(ORDER_ID, (order) => order.tx_hash !== null, QUICKLY);
    expect(tx_hash).toBe('0x1');
    const hold = { reason: 'COMPLIANCE_REVIEW' };
    const held = waiting(
      { status: 'completed', hold },
      { status: 'completed', hold },
      { status: 'completed' },
    );
    expect((await held.orders.waitFor(ORDER_ID, (order) => order.hold === null, QUICKLY)).hold).toBeNull();
  });

  it('of a stopped order ends with TIMED_OUT where what it wants does not come', async () => {
    const { orders } = waiting({ status: 'cancelled', allowed_actions: [] });
    const wait = orders.waitFor(ORDER_ID, isRefundable, { pollInterval: 1, timeout: 50 });
    await expect(wait).rejects.toMatchObject({ code: 'TIMED_OUT', details: { status: 'cancelled' } });
  });

  it.each(['timeout', 'pollInterval'])('refuses a %s that is no number, and reads nothing', async (name) => {
    const { orders, reads } = waiting({ status: 'completed', allowed_actions: [] });
    for (const value of [Number.NaN, -1]) {
      const wait = orders.waitFor(ORDER_ID, isRefundable, { [name]: value });
      await expect(wait).rejects.toThrow(`${name} is a number`);
    }
    expect(reads()).toBe(0);
  });

  it('ends where nothing of the order changes any more', async () => {
    const { orders, reads } = waiting({ status: 'completed', allowed_actions: [] });
    const wait = orders.waitFor(ORDER_ID, isRefundable, QUICKLY);
    await expect(wait).rejects.toMatchObject({ code: 'ORDER_ENDED', details: { status: 'completed' } });
    expect(reads()).toBe(1);
  });
});

it.each(['cancelled', 'failed'])('waitFor a status ends where the order is %s', async (status) => {
  const { orders, reads } = waiting({ status });
  const wait = orders.waitFor(ORDER_ID, ['completed', 'crypto_received'], QUICKLY);
  await expect(wait).rejects.toMatchObject({ code: 'ORDER_ENDED', details: { status } });
  expect(reads()).toBe(1);
});

it('waitFor a status goes on while a cancelled order is held: a review may give it to the buyer', async () => {
  const hold = { reason: 'CANCELLATION_REVIEW', since: '2026-11-19T10:00:00.000Z' };
  const { orders } = waiting({ status: 'cancelled', hold }, { status: 'dispute_started' });
  const reached = await orders.waitFor(ORDER_ID, 'dispute_started', QUICKLY);
  expect(reached.status).toBe('dispute_started');
});
