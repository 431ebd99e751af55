import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Order, Session } from './api.ts';
import { askedByPage, askedOf, changedSettings } from './asked.ts';
import type { Draft } from './steps.ts';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const OTHER_WALLET = '0x2aadCA9b3aDd30A1A0a2fF5eA7b2Ce0c6F1B0D11';
const PAGE = {
  side: 'onramp',
  fiatCurrency: 'EUR',
  amount: '60',
  wallet: WALLET,
  userReference: 'A',
} as const;
type Page = Partial<Record<keyof typeof PAGE, string>>;

const CHAIN = { tokens: [{ code: 'USDC' }, { code: 'USDT' }] };

/** The service: sessions that were begun, by token. */
let sessions: Map<string, Session>;
let stored: Map<string, string>;

function answer(data: unknown, status = 200) {
  return new Response(JSON.stringify({ success: status === 200, data }), { status });
}

beforeEach(() => {
  sessions = new Map();
  stored = new Map();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => stored.set(name, text),
    removeItem: (name: string) => stored.delete(name),
  });
  vi.stubGlobal('fetch', async (path: string, { headers, body }: { headers: Headers; body?: string }) => {
    if (path.endsWith('/widget/sessions')) {
      const token = `token-${sessions.size + 1}`;
      const session = { start: JSON.parse(body ?? '{}'), chain: CHAIN, customer: null, orders: [] };
      sessions.set(token, session as unknown as Session);
      return answer({ token, session });
    }
    const { authorization } = headers as unknown as { authorization: string };
    const found = sessions.get(authorization.replace('Bearer ', ''));
    return found === undefined ? answer(null, 401) : answer(found);
  });
});
afterEach(() => vi.unstubAllGlobals());

/** A page of the tab loads: nothing is left of the one before but what the tab stores. */
async function load(settings: Page, widgetKey = 'cw_widget_one') {
  vi.resetModules();
  const store = await import('./store.ts');
  const { side, fiatCurrency, amount, wallet, userReference } = settings;
  const input = {
    ...(side === undefined ? {} : { side: side as 'onramp' }),
    ...(fiatCurrency === undefined ? {} : { fiat_currency: fiatCurrency }),
    ...(amount === undefined ? {} : { fiat_amount: amount }),
    ...(wallet === undefined ? {} : { wallet_address: wallet }),
    ...(userReference === undefined ? {} : { reference_id: userReference }),
  };
  await store.open({ by: 'key', widgetKey }, input, await askedOf(settings as typeof PAGE));
  return store;
}

/** Customer A at the destination, with the e-mail confirmed. */
async function atDestination(orders: readonly object[] = []) {
  const store = await load(PAGE);
  const known = {
    ...store.session.value,
    customer: { email: 'a•••@example.com', is_verified: true },
    orders,
  };
  sessions.set('token-1', known as unknown as Session);
  await store.refreshSession();
  store.change({ isAmountDone: true, paymentDetailsId: 7, rail: 'iban-sepa' });
  expect(store.step.value).toBe('destination');
  return store;
}

describe('a page of the same tab', () => {
  it('goes on where the customer was if it asks for the same', async () => {
    const before = (await atDestination()).draft.value;
    const again = await load({ ...PAGE, wallet: WALLET.toLowerCase() });
    expect(again.step.value).toBe('destination');
    expect(again.draft.value).toEqual(before);
    expect(sessions.size).toBe(1);
  });

  it.each<[string, Page]>([
    ['reference', { ...PAGE, userReference: 'B' }],
    ['wallet', { ...PAGE, wallet: OTHER_WALLET }],
    ['customer who has no reference', { side: 'onramp', fiatCurrency: 'EUR', amount: '60', wallet: WALLET }],
  ])('has nothing of the customer before if it is for another %s', async (_, page) => {
    await atDestination();
    const { session, draft, step } = await load(page);
    expect(sessions.size).toBe(2);
    expect(session.value?.customer).toBeNull();
    expect(session.value?.start.reference_id).toBe(page.userReference);
    expect(step.value).toBe('amount');
    expect(draft.value).toMatchObject({ walletAddress: page.wallet, paymentDetailsId: null, rail: '' });
    expect([...stored.values()].join()).not.toContain('token-1');
  });

  it('forgets the customer before even where no session can be begun', async () => {
    await atDestination();
    vi.stubGlobal('fetch', async () => answer(null, 403));
    await expect(load({ ...PAGE, userReference: 'B' })).rejects.toThrow();
    expect([...stored.values()]).toEqual([]);
  });

  it.each<[Page, Partial<Draft>]>([
    [{ side: 'offramp' }, { side: 'offramp', amount: '60' }],
    [{ amount: '99' }, { side: 'onramp', amount: '99' }],
    [{ fiatCurrency: 'gbp' }, { fiatCurrency: 'GBP', amount: '60' }],
    [{ amount: '12.345,6' }, { amount: '' }],
    [{ side: 'sideways' }, { side: 'onramp' }],
  ])('keeps the session of the same person and begins with what it asks for: %o', async (change, begun) => {
    await atDestination();
    const { session, draft, step } = await load({ ...PAGE, ...change });
    expect(sessions.size).toBe(1);
    expect(session.value?.customer).not.toBeNull();
    expect(step.value).toBe('amount');
    const anew = { walletAddress: WALLET, cryptoCurrency: 'USDC', paymentDetailsId: null, rail: '' };
    expect(draft.value).toMatchObject({ ...anew, ...begun });
    // From here on this is what is gone on with.
    draft.value = { ...draft.value, isAmountDone: true };
    expect((await load({ ...PAGE, ...change })).step.value).toBe('destination');
  });

  it('shows the same person an order that is under way before another one is begun', async () => {
    const store = await atDestination([{ order_id: 'one', is_open: true }]);
    store.change({ orderId: 'one' });
    const next = await load({ ...PAGE, amount: '99' });
    expect(next.step.value).toBe('orders');
    expect(next.session.value?.orders).toMatchObject([{ order_id: 'one' }]);
    next.startOver();
    expect(next.step.value).toBe('amount');
    expect(next.draft.value.amount).toBe('99');
  });

  it('begins a session with what it asks for where the old one is over', async () => {
    await atDestination();
    sessions.delete('token-1');
    sessions.set('another', {} as Session);
    const { draft, session } = await load({ ...PAGE, amount: '99' });
    expect(session.value?.customer).toBeNull();
    expect(draft.value).toMatchObject({ amount: '99', isAmountDone: false });
  });

  it('goes on where the customer was, once it has said again who it is, where the old session is over', async () => {
    (await atDestination()).change({ orderId: 'one' });
    sessions.delete('token-1');
    sessions.set('another', {} as Session);
    // Also where another one could not be begun at first.
    const service = fetch;
    vi.stubGlobal('fetch', (path: string, init: RequestInit) =>
      path.endsWith('/widget/sessions') ? Promise.resolve(answer(null, 403)) : service(path, init),
    );
    await expect(load(PAGE)).rejects.toThrow();
    vi.stubGlobal('fetch', service);
    const { draft, session, step } = await load(PAGE);
    expect(session.value?.customer).toBeNull();
    expect(step.value).toBe('identify');
    expect(draft.value).toMatchObject({ orderId: 'one', rail: 'iban-sepa' });
  });

  it('renews a session with the reference and the wallet that its address no longer tells', async () => {
    await load(PAGE);
    vi.resetModules();
    const store = await import('./store.ts');
    const { ApiError } = await import('./api.ts');
    await store.open({ by: 'key', widgetKey: 'cw_widget_one' }, { fiat_amount: '60' }, await askedOf(PAGE));
    expect(sessions.size).toBe(1);
    expect(await store.recover(new ApiError('UNAUTHORIZED', '', 401, undefined, null))).toBe(true);
    expect(store.session.value?.start).toMatchObject({ reference_id: 'A', wallet_address: WALLET });
  });

  it('goes on with what it has asked for since it was opened', async () => {
    const { change, follow } = await load(PAGE);
    const page = { ...PAGE, amount: '70', wallet: OTHER_WALLET };
    change({ amount: '70', walletAddress: OTHER_WALLET });
    follow(await askedOf(page));
    change({ isAmountDone: true });
    expect((await load(page)).step.value).toBe('identify');
    expect((await load({ ...page, amount: '99' })).draft.value.walletAddress).toBe(OTHER_WALLET);
  });

  it('is told from one that the browser brings back after another customer’s', async () => {
    const first = await atDestination();
    expect(first.isStillStored()).toBe(true);
    await load({ ...PAGE, userReference: 'B' });
    expect(first.isStillStored()).toBe(false);
  });
});

describe('that a trade is completed', () => {
  const pays = { order_id: 'one', side: 'onramp', phase: 'pay' } as Order;
  const completed: Order = { ...pays, phase: 'completed' };
  let told: string[];

  async function begin() {
    const store = await load(PAGE);
    const { setHost } = await import('../host/host.ts');
    const send = (message: { type: string; orderId?: string }) =>
      void told.push(`${message.type} ${message.orderId}`);
    setHost({ send } as unknown as Parameters<typeof setHost>[0]);
    return store;
  }
  beforeEach(() => {
    told = [];
  });

  it('is told once of an order that was under way here, over reloads too', async () => {
    (await begin()).showOrder(pays);
    const { showOrder } = await begin();
    showOrder(completed);
    showOrder(completed);
    (await begin()).showOrder(completed);
    expect(told).toEqual(['trade_completed one']);
  });

  it('is not told of an order that was over when it was opened', async () => {
    (await begin()).showOrder(completed);
    (await begin()).showOrder(completed);
    expect(told).toEqual([]);
  });

  it('is told of an order that was over as soon as it was placed', async () => {
    const { showNewOrder, showOrder } = await begin();
    showNewOrder(completed);
    showOrder(completed);
    expect(told).toEqual(['trade_started one', 'trade_completed one']);
    showNewOrder({ ...pays, order_id: 'two' });
    (await begin()).showOrder({ ...completed, order_id: 'two' });
    expect(told.slice(2)).toEqual(['trade_started two', 'trade_completed two']);
  });

  it('is told where the browser stores nothing, and little is kept where it does', async () => {
    const { showOrder } = await begin();
    for (let count = 0; count < 100; count++) showOrder({ ...pays, order_id: `order-${count}` });
    const kept = JSON.parse([...stored.values()].join()) as { underWay: string[] };
    expect(kept.underWay).toHaveLength(20);
    vi.stubGlobal('sessionStorage', undefined);
    showOrder(pays);
    showOrder(completed);
    expect(told).toEqual(['trade_completed one']);
  });
});

it('what the page has changed is told from what it only says again', () => {
  const theme = () => ({ mode: 'dark', variables: { accent: 'red' } }) as const;
  const before = { ...PAGE, theme: theme() };
  expect(changedSettings(before, { ...before, theme: theme() })).toEqual({});
  expect(changedSettings(before, { ...before, locale: 'fr', amount: '70' })).toEqual({
    ...{ locale: 'fr', amount: '70' },
  });
  const { wallet: _, ...without } = before;
  expect(Object.keys(changedSettings(before, without))).toEqual(['wallet']);
});

it('what is stored to compare with names neither the reference nor the wallet', async () => {
  const asked = await askedOf({ ...PAGE, userReference: 'customer-7' });
  expect(JSON.stringify(asked)).not.toMatch(/customer-7|0x5aAe/i);
});

it('the hosted page knows after a reload for whom it was opened, and a new link from an old one', async () => {
  const entry = {
    state: null as unknown,
    replaceState(state: unknown) {
      entry.state = state;
    },
  };
  const { wallet: _, userReference: __, ...query } = PAGE;
  const opened = await askedByPage(PAGE, entry);
  expect(await askedByPage(query, entry)).toEqual(opened);
  entry.state = null;
  expect((await askedByPage(query, entry)).who).not.toBe(opened.who);
  expect(await askedByPage({ ...query, userReference: 'B' }, entry)).not.toEqual(opened);
  expect(await askedByPage(PAGE, entry)).toEqual(opened);
});
