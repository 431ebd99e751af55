import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setHost } from '../host/host.ts';
import type { Order } from '../session/api.ts';
import { change, open, order } from '../session/store.ts';
import { act, ask } from './order-actions.ts';

const at = (status: string, minute = 0) =>
  ({ order_id: 'one', status, phase: 'pay', server_time: `2026-11-19T12:${10 + minute}:00.000Z` }) as Order;

/** What the service says of the order when it is read. */
let read: Order;

beforeEach(async () => {
  const session = { start: {}, chain: { tokens: [] }, customer: {}, orders: [], server_time: '' };
  vi.stubGlobal('fetch', async (path: string) => {
    const data = path.endsWith('/sessions') ? { token: 'token', session } : read;
    return new Response(JSON.stringify({ success: true, data }));
  });
  setHost({ send: () => undefined } as unknown as Parameters<typeof setHost>[0]);
  await open({ by: 'key', widgetKey: 'cw_widget_one' }, {}, { who: '', what: '' });
  change({ orderId: 'one' });
});
afterEach(() => vi.unstubAllGlobals());

const statusShown = () => order.value?.status;

it('an order moves on although the clock of the service is set back', async () => {
  await ask(async () => at('awaiting_fiat_transfer', 40));
  await ask(async () => at('completed', 0));
  expect(statusShown()).toBe('completed');
});

it('an answer never takes the place of that to a later request, whatever time it carries', async () => {
  const slow = Promise.withResolvers<Order>();
  const earlier = ask(() => slow.promise);
  await ask(async () => at('fiat_transfer_pending', 0));
  slow.resolve(at('awaiting_fiat_transfer', 40));
  expect((await earlier).isNewest).toBe(false);
  expect(statusShown()).toBe('fiat_transfer_pending');
});

it('an action that was overtaken by a look at the order is followed by another look', async () => {
  const slow = Promise.withResolvers<Order>();
  const acting = act('one', () => slow.promise);
  await ask(async () => at('awaiting_fiat_transfer'));
  read = at('completed');
  slow.resolve(at('fiat_transfer_pending'));
  await acting;
  expect(statusShown()).toBe('completed');
});

it('an order that is not on screen any more is not shown', async () => {
  const slow = Promise.withResolvers<Order>();
  const earlier = ask(() => slow.promise);
  change({ orderId: 'two' });
  order.value = null;
  slow.resolve(at('completed'));
  await earlier;
  expect(statusShown()).toBeUndefined();
});
