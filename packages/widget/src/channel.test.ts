import { envelope, type FrameMessage, WIDGET_PROTOCOL } from '@causeway/protocol/widget';
import { afterEach, expect, test, vi } from 'vitest';
import { connectFrame, type FrameView } from '../../../apps/widget/src/host/frame-host.ts';
import type { Host } from '../../../apps/widget/src/host/host.ts';
import { isAllowedOrigin } from '../../../apps/widget/src/host/origins.ts';
import { openChannel } from './channel.ts';

const SERVICE = 'https://ramp.example';
const SHOP = 'https://shop.example';

/** A window that gets messages as a browser delivers them: with the window and the origin that sent them. */
class FakeWindow extends EventTarget {
  readonly location: { readonly origin: string };
  readonly got: { data: unknown; origin: string }[] = [];
  readonly opened: string[] = [];
  parent = this as FakeWindow;
  ethereum: unknown;

  constructor(origin: string) {
    super();
    this.location = { origin };
  }

  from(source: unknown, origin: string, data: unknown, ports: readonly MessagePort[] = []): void {
    this.dispatchEvent(
      Object.assign(new Event('message'), { source, origin, data: structuredClone(data), ports }),
    );
  }

  open(url: string): void {
    this.opened.push(url);
  }
}

/** The page and the frame as a browser joins them; `between` sees what is posted from one to the other. */
function pageAndFrame(settings = {}, pageOrigin = SHOP) {
  const page = new FakeWindow(pageOrigin);
  const frame = new FakeWindow(SERVICE);
  const seen: { to: string; target: string; data: unknown }[] = [];
  const pageAsFrameSeesIt = Object.assign(page, {
    postMessage(data: unknown, target: string) {
      seen.push({ to: 'page', target, data });
      page.from(frameAsPageSeesIt, SERVICE, data);
    },
  });
  const frameAsPageSeesIt = Object.assign(frame, {
    parent: pageAsFrameSeesIt,
    postMessage(data: unknown, target: string, ports: MessagePort[]) {
      seen.push({ to: 'frame', target, data });
      if (target === SERVICE) frame.from(pageAsFrameSeesIt, pageOrigin, data, ports);
    },
  });
  const heard: FrameMessage[] = [];
  const channel = openChannel({
    view: page,
    frame: () => frameAsPageSeesIt,
    origin: SERVICE,
    settings: () => settings,
    heard: (message) => void heard.push(message),
  });
  open.push(channel);
  return { page, frame, seen, heard, channel };
}

const open: { close(): void }[] = [];
afterEach(() => {
  for (const channel of open.splice(0)) channel.close();
});

const connect = (frame: FakeWindow, origins: readonly string[] = [SHOP]) =>
  connectFrame(origins, frame as unknown as FrameView);

/** Whether a promise has settled once all that was posted has arrived. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const turns = new Promise((resolve) => setTimeout(resolve, 20)).then(() => pending);
  return (await Promise.race([promise, turns])) === pending;
}

function wallet(answer: (method: string) => unknown) {
  const listeners = new Map<string, (data: unknown) => void>();
  const asked: string[] = [];
  return {
    asked,
    emit: (event: string, data: unknown) => listeners.get(event)?.(data),
    listening: () => [...listeners.keys()],
    request: async ({ method }: { method: string }) => {
      asked.push(method);
      return answer(method);
    },
    on: (event: string, listener: (data: unknown) => void) => void listeners.set(event, listener),
    removeListener: (event: string) => void listeners.delete(event),
  };
}

function announce(
  page: FakeWindow,
  provider: unknown,
  uuid = 'wallet-1',
  icon = 'data:image/png;base64,AA==',
) {
  const info = { uuid, name: 'Test wallet', icon, rdns: 'example.wallet' };
  const tell = () =>
    page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }));
  page.addEventListener('eip6963:requestProvider', tell);
  tell();
}

test('hello, init and a port of their own: what each says reaches the other', async () => {
  const { frame, heard, channel, seen } = pageAndFrame({ side: 'onramp', wallet: '0xabc' });
  const host = await connect(frame);
  const settings: unknown[] = [];
  host.onSettings((changed) => settings.push(changed));
  host.send({ type: 'trade_started', orderId: 'o-1', side: 'onramp' });
  channel.send({ type: 'update', settings: { side: 'offramp' } });
  await vi.waitFor(() => {
    expect(heard).toEqual([{ type: 'trade_started', orderId: 'o-1', side: 'onramp' }]);
    expect(settings).toEqual([{ side: 'onramp', wallet: '0xabc' }, { side: 'offramp' }]);
  });
  // Only the hello is for any origin, and it says nothing but the number of the channel.
  const toAnyone = seen.filter(({ target }) => target === '*');
  expect(toAnyone).toEqual([
    { to: 'page', target: '*', data: envelope({ type: 'hello', channel: expect.any(String) }) },
  ]);
  expect(seen.find(({ to }) => to === 'frame')?.target).toBe(SERVICE);
});

test('the page answers a hello only of its own frame, from the service, in this vocabulary and version', () => {
  const { page, frame, seen } = pageAndFrame();
  const hello = envelope({ type: 'hello', channel: 'c' });
  page.from(new FakeWindow(SERVICE), SERVICE, hello);
  page.from(frame, 'https://ramp.example.evil.test', hello);
  page.from(frame, SERVICE, { ...hello, version: 2 });
  page.from(frame, SERVICE, { ...hello, protocol: 'another' });
  page.from(frame, SERVICE, { protocol: WIDGET_PROTOCOL, version: 1, message: { type: 'hello' } });
  page.from(frame, SERVICE, { protocol: WIDGET_PROTOCOL, version: 1, message: { type: 'ready' } });
  page.from(null, SERVICE, hello);
  expect(seen).toEqual([]);
  page.from(frame, SERVICE, hello);
  expect(seen).toHaveLength(1);
});

test('the frame takes init only from its parent, an allowed origin, this version and its own channel', async () => {
  const frame = new FakeWindow(SERVICE);
  let channel = '';
  const parent = {
    postMessage: (data: { message: { channel: string } }) => {
      channel = data.message.channel;
    },
  };
  Object.assign(frame, { parent });
  const connecting = connect(frame);
  const init = (changed: object = {}) => ({ type: 'init', channel, settings: {}, wallets: [], ...changed });
  const { port1, port2 } = new MessageChannel();
  const good = { protocol: WIDGET_PROTOCOL, version: 1, message: init() };
  frame.from({ postMessage() {} }, SHOP, good, [port2]);
  frame.from(parent, 'https://other.example', good, [port2]);
  frame.from(parent, 'http://shop.example', good, [port2]);
  frame.from(parent, SHOP, { ...good, version: 0 }, [port2]);
  frame.from(parent, SHOP, { ...good, message: init({ channel: 'guessed' }) }, [port2]);
  frame.from(parent, SHOP, { ...good, message: init({ wallets: 'none' }) }, [port2]);
  frame.from(parent, SHOP, good, []);
  expect(await isPending(connecting)).toBe(true);
  frame.from(parent, SHOP, good, [port2]);
  const host = await connecting;
  // A second init takes nothing over.
  const settings: unknown[] = [];
  host.onSettings((changed) => settings.push(changed));
  frame.from(parent, SHOP, { ...good, message: init({ settings: { side: 'offramp' } }) }, [port1]);
  expect(settings).toEqual([{}]);
  port1.close();
});

test('origins are those of frame-ancestors', () => {
  const allowed = ['https://shop.example', 'https://*.shops.example', 'http://localhost:*', "'self'"];
  const may = (origin: string) => isAllowedOrigin(origin, allowed, SERVICE);
  expect(
    ['https://shop.example', 'https://a.b.shops.example', 'http://localhost:5173', SERVICE].map(may),
  ).toEqual([true, true, true, true]);
  const refused = [
    'http://shop.example',
    'https://shop.example:8443',
    'https://shop.example.evil.test',
    'https://shops.example',
    'https://evilshops.example',
    'https://localhost:5173',
    'http://localhost.evil.test:80',
    'null',
    '',
  ];
  expect(refused.filter(may)).toEqual([]);
});

test('a wallet of the page is listed, asked and listened to', async () => {
  const { page, frame } = pageAndFrame();
  const own = wallet((method) => (method === 'eth_requestAccounts' ? ['0x1'] : '0x7a69'));
  announce(page, own);
  const host = await connect(frame);
  expect(host.wallets()).toEqual([
    { uuid: 'wallet-1', name: 'Test wallet', icon: 'data:image/png;base64,AA==', rdns: 'example.wallet' },
  ]);
  expect(own.listening()).toEqual([]);
  const events: unknown[] = [];
  host.onWalletEvent((...event) => events.push(event));
  expect(await host.request('wallet-1', 'eth_requestAccounts', [])).toEqual(['0x1']);
  own.emit('accountsChanged', ['0x2']);
  own.emit('chainChanged', '0x1');
  await vi.waitFor(() =>
    expect(events).toEqual([
      ['accountsChanged', 'wallet-1', ['0x2']],
      ['chainChanged', 'wallet-1', '0x1'],
    ]),
  );
  const changed: unknown[] = [];
  host.onWallets((list) => changed.push(list.length));
  announce(
    page,
    wallet(() => null),
    'wallet-2',
    'https://tracker.example/icon.png',
  );
  await vi.waitFor(() => expect(changed).toEqual([2]));
  expect(host.wallets()[1]?.icon).toMatch(/^data:image\//);
});

test.each([
  'eth_sign',
  'eth_signTypedData',
  'eth_getEncryptionPublicKey',
  'wallet_requestPermissions',
  'eth_sendRawTransaction',
  'constructor',
])('%s is refused on the page and never reaches the wallet', async (method) => {
  const { page, frame } = pageAndFrame();
  const own = wallet(() => '0x');
  announce(page, own);
  const host: Host = await connect(frame);
  await expect(host.request('wallet-1', method as 'eth_accounts', [])).rejects.toMatchObject({ code: 4200 });
  expect(own.asked).toEqual([]);
});

test('a wallet’s refusal keeps its code; an unknown wallet is refused', async () => {
  const { page, frame } = pageAndFrame();
  announce(page, {
    request: () => Promise.reject(Object.assign(new Error('User rejected'), { code: 4001 })),
  });
  const host = await connect(frame);
  await expect(host.request('wallet-1', 'personal_sign', [])).rejects.toMatchObject({
    code: 4001,
    message: 'User rejected',
  });
  await expect(host.request('wallet-9', 'eth_accounts', [])).rejects.toMatchObject({ code: -32602 });
});

test('window.ethereum is the fallback, and gives way to wallets that announce themselves', async () => {
  const { page, frame } = pageAndFrame();
  page.ethereum = wallet(() => ['0x5']);
  const host = await connect(frame);
  expect(host.wallets().map(({ rdns }) => rdns)).toEqual(['injected']);
  expect(await host.request('injected', 'eth_accounts', [])).toEqual(['0x5']);
  announce(
    page,
    wallet(() => []),
  );
  await vi.waitFor(() => expect(host.wallets().map(({ rdns }) => rdns)).toEqual(['example.wallet']));
});

test('a wallet request by window message is not heard; only the port carries them', async () => {
  const { page, frame } = pageAndFrame();
  const own = wallet(() => '0x');
  announce(page, own);
  await connect(frame);
  const forged = envelope({
    type: 'wallet_request',
    id: '1',
    wallet: 'wallet-1',
    method: 'eth_sendTransaction',
    params: [],
  });
  page.from(frame, SERVICE, forged);
  page.from(new FakeWindow('https://evil.example'), 'https://evil.example', forged);
  expect(await isPending(new Promise(() => undefined))).toBe(true);
  expect(own.asked).toEqual([]);
});

test('two widgets of a page have ports of their own: an answer reaches the one that asked', async () => {
  const first = pageAndFrame();
  const second = pageAndFrame();
  let answer: (value: unknown) => void = () => undefined;
  const slow = wallet(() => new Promise((resolve) => (answer = resolve)));
  announce(first.page, slow);
  announce(
    second.page,
    wallet(() => ['0xsecond']),
  );
  const [one, two] = [await connect(first.frame), await connect(second.frame)];
  const asking = one.request('wallet-1', 'eth_accounts', []);
  expect(await two.request('wallet-1', 'eth_accounts', [])).toEqual(['0xsecond']);
  expect(await isPending(asking)).toBe(true);
  answer(['0xfirst']);
  expect(await asking).toEqual(['0xfirst']);
});

test('a frame that loads again gets another port, and the old one is silent', async () => {
  const { frame, heard } = pageAndFrame();
  const before = await connect(frame);
  const after = await connect(frame);
  before.send({ type: 'close_request' });
  after.send({ type: 'ready' });
  await vi.waitFor(() => expect(heard).toEqual([{ type: 'ready' }]));
});

test('a closed channel hears and relays nothing any more', async () => {
  const { page, frame, heard, channel } = pageAndFrame();
  const own = wallet(() => ['0x1']);
  announce(page, own);
  const host = await connect(frame);
  await host.request('wallet-1', 'eth_accounts', []);
  channel.close();
  expect(own.listening()).toEqual([]);
  host.send({ type: 'ready' });
  const asking = host.request('wallet-1', 'eth_accounts', []);
  expect(await isPending(asking)).toBe(true);
  expect(heard).toEqual([]);
  expect(own.asked).toHaveLength(1);
});

test('a customer is sent on to https only, never to a script', async () => {
  const { frame } = pageAndFrame();
  const host = await connect(frame);
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'http://shop.example',
    'shop',
    'https://shop.example/thanks',
  ])
    host.leave(url);
  expect(frame.opened).toEqual(['https://shop.example/thanks']);
});
