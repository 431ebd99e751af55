import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Order } from './api.ts';

const QUOTE = 'a quote';

/** The service: the orders of its one customer, and what becomes of the answer to a confirmation. */
let orders: { order_id: string; is_open: boolean }[];
let confirmed: number;
let isAnswerLost: boolean;
let told: string[];

const answer = (data: unknown) => new Response(JSON.stringify({ success: true, data }));
const orderOf = (orderId: string) => ({ order_id: orderId, side: 'onramp', phase: 'match' }) as Order;

beforeEach(() => {
  vi.useFakeTimers();
  orders = [{ order_id: 'earlier', is_open: true }];
  confirmed = 0;
  isAnswerLost = true;
  told = [];
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => stored.set(name, text),
    removeItem: (name: string) => stored.delete(name),
  });
  vi.stubGlobal('fetch', async (path: string) => {
    const session = { start: {}, chain: { tokens: [] }, customer: { is_verified: true }, orders };
    if (path.endsWith('/widget/sessions')) return answer({ token: 'token', session });
    if (path.endsWith('/session')) return answer(session);
    if (!path.endsWith('/session/orders')) return answer(orderOf(path.slice(path.lastIndexOf('/') + 1)));
    // One quote is one order, however often the request is repeated.
    if (!orders.some((one) => one.order_id === `order-${confirmed}`)) {
      confirmed += 1;
      orders = [{ order_id: `order-${confirmed}`, is_open: true }, ...orders];
    }
    if (isAnswerLost) throw new TypeError('connection lost');
    return answer(orderOf(`order-${confirmed}`));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page of the tab at the review. */
async function load() {
  vi.resetModules();
  const store = await import('./store.ts');
  const { setHost } = await import('../host/host.ts');
  const send = ({ type, orderId }: { type: string; orderId?: string }) =>
    void told.push(`${type} ${orderId}`);
  setHost({ send } as unknown as Parameters<typeof setHost>[0]);
  await store.open({ by: 'key', widgetKey: 'cw_widget_one' }, {}, { who: 'A', what: '' });
  store.change({ isAmountDone: true, isDestinationDone: true });
  return store;
}

async function confirmInVain(store: Awaited<ReturnType<typeof load>>): Promise<void> {
  const lost = expect(store.confirmOrder(QUOTE)).rejects.toMatchObject({ code: 'NETWORK' });
  await vi.runAllTimersAsync();
  await lost;
}

describe('an order whose answer was lost', () => {
  it('is shown before there is another price, and the page is told of it once', async () => {
    const store = await load();
    expect(await store.showLostOrder()).toBe(false);
    await confirmInVain(store);
    expect(store.step.value).toBe('review');
    expect(await store.showLostOrder()).toBe(true);
    expect([store.step.value, store.draft.value.orderId]).toEqual(['order', 'order-1']);
    expect(told).toEqual(['trade_started order-1']);
    expect(await store.showLostOrder()).toBe(false);
  });

  it('is shown in the place of a second one, over a reload too', async () => {
    await confirmInVain(await load());
    const store = await load();
    expect(store.step.value).toBe('review');
    isAnswerLost = false;
    await store.confirmOrder('another quote');
    expect(store.draft.value.orderId).toBe('order-1');
    expect(orders.map((one) => one.order_id)).toEqual(['order-1', 'earlier']);
  });

  it('is not taken for one that was there before, nor for one that the customer has seen', async () => {
    isAnswerLost = false;
    const store = await load();
    await store.confirmOrder(QUOTE);
    expect(store.draft.value.orderId).toBe('order-1');
    store.startOver();
    store.change({ isAmountDone: true, isDestinationDone: true });
    expect(await store.showLostOrder()).toBe(false);
    expect(store.step.value).toBe('review');
  });
});
