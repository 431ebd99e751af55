import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadReferenceFiles } from '@causeway/currencies';
import { afterEach, expect, test } from 'vitest';
import { createLogger } from '../../lib/logger.ts';
import type { Currencies } from '../../ports/currencies.ts';
import { createHttpCurrencies } from './currencies-http.ts';

const reference = loadReferenceFiles();
const legs = [{ base: 'USDC', quote: 'USD', rate: '1', as_of: 1, sources: ['x'], status: 'fresh' }];
const GOOD = JSON.stringify({ reference_version: '1', reference, legs });

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

const good: Behaviour = (_request, response) => response.writeHead(200, { etag: '"1"' }).end(GOOD);
const answering =
  (text: string): Behaviour =>
  (_request, response) =>
    response.writeHead(200).end(text);

/** A backend whose behaviour can be changed while it runs. */
async function startBackend(behaviour: Behaviour) {
  const backend = {
    behaviour,
    requests: [] as IncomingMessage[],
    url: '',
    server: undefined as Server | undefined,
  };
  const server = createServer((request, response) => {
    backend.requests.push(request);
    backend.behaviour(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  backend.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  backend.server = server;
  return backend;
}

function connect(baseUrl: string, wall = () => 1_000_000): Currencies {
  const currencies = createHttpCurrencies({
    baseUrl,
    wall,
    logger: createLogger({ level: 'silent', format: 'json' }),
    pollMs: 10,
    timeoutMs: 300,
    maxBytes: 2_000_000,
  });
  closing.push(() => currencies.stop());
  return currencies;
}

const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

/** A busy machine may miss the first look; looking goes on. */
async function started(currencies: Currencies): Promise<void> {
  await currencies.start();
  await until(() => {
    try {
      return currencies.current() !== undefined;
    } catch {
      return false;
    }
  });
}

async function until(what: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!what()) {
    if (performance.now() > deadline) throw new Error('it did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const WRONG: [string, Behaviour][] = [
  ['hangs', () => {}],
  ['begins and never ends', (_request, response) => response.writeHead(200).write('{"reference')],
  ['hangs up', (request) => request.socket.destroy()],
  ['answers 500', (_request, response) => response.writeHead(500).end('SECRET upstream text')],
  ['answers 304 to nothing', (_request, response) => response.writeHead(304).end()],
  ['answers HTML', answering('<html>SECRET</html>')],
  ['answers half of it', answering(GOOD.slice(0, GOOD.length / 2))],
  ['answers an empty object', answering('{}')],
  ['answers null', answering('null')],
  [
    'answers wrong reference data',
    answering(JSON.stringify({ reference_version: '2', reference: { rails: 1 }, legs })),
  ],
  [
    'leaves the reference data out',
    answering(JSON.stringify({ reference_version: '2', reference: null, legs })),
  ],
  [
    'answers inconsistent reference data',
    answering(JSON.stringify({ reference_version: '2', reference: { ...reference, countries: [] }, legs })),
  ],
  [
    'answers wrong rates',
    answering(JSON.stringify({ reference_version: '2', reference, legs: [{ base: 'USD' }] })),
  ],
  [
    'answers too much',
    answering(JSON.stringify({ reference_version: '2', reference, legs, more: 'x'.repeat(2_000_000) })),
  ],
];

test.each(WRONG)(
  'before the first good snapshot, a backend that %s is unavailable and never a hang',
  async (_name, behaviour) => {
    const backend = await startBackend(behaviour);
    const currencies = connect(backend.url);
    await currencies.start();
    expect(() => currencies.current()).toThrow(unavailable);
    try {
      currencies.current();
    } catch (error) {
      expect(JSON.stringify(error)).not.toContain('SECRET');
    }
  },
);

test.each(WRONG)(
  'after it, a backend that %s leaves the last good snapshot in use',
  async (name, behaviour) => {
    const backend = await startBackend(good);
    const currencies = connect(backend.url);
    await started(currencies);
    const before = currencies.current();
    backend.behaviour = behaviour;
    const seen = backend.requests.length;
    await until(() => backend.requests.length >= seen + 2);
    expect(currencies.current().reference).toBe(before.reference);
    if (!name.includes('304')) expect(currencies.current().rates.legs).toEqual(before.rates.legs);
  },
);

test('a server that does not listen is unavailable at first, and found when it comes', async () => {
  const backend = await startBackend(good);
  const address = backend.url;
  backend.server?.close();
  await once(backend.server as Server, 'close');
  const currencies = connect(address);
  await currencies.start();
  expect(() => currencies.current()).toThrow(unavailable);
  const again = createServer((request, response) => good(request, response));
  again.listen(Number(new URL(address).port), '127.0.0.1');
  await once(again, 'listening');
  closing.push(async () => {
    again.closeAllConnections();
    again.close();
  });
  await until(() => {
    try {
      return currencies.current().rates.legs.length === 1;
    } catch {
      return false;
    }
  });
});

test('the age of a snapshot is told, and its rates are no longer priced on after a minute', async () => {
  let now = 1_000_000;
  const backend = await startBackend(good);
  const currencies = connect(backend.url, () => now);
  await started(currencies);
  expect(currencies.current()).toMatchObject({ ageSeconds: 0 });
  backend.behaviour = (_request, response) => response.writeHead(503).end();
  const seen = backend.requests.length;
  await until(() => backend.requests.length >= seen + 2);
  now += 30_000;
  expect(currencies.current().ageSeconds).toBe(30);
  expect(currencies.current().rates.requireRate('USDC', 'USD').ok).toBe(true);
  now += 31_000;
  expect(currencies.current().ageSeconds).toBe(61);
  expect(currencies.current().rates.requireRate('USDC', 'USD')).toMatchObject({
    ok: false,
    refusal: { code: 'RATE_STALE' },
  });
  backend.behaviour = good;
  await until(() => currencies.current().ageSeconds === 0);
  expect(currencies.current().rates.requireRate('USDC', 'USD').ok).toBe(true);
});

test('what is known is not sent again: the tag and the version go along', async () => {
  const backend = await startBackend(good);
  const currencies = connect(backend.url);
  await started(currencies);
  const seen = backend.requests.length;
  await until(() => backend.requests.length > seen);
  expect(backend.requests.at(-1)?.url).toBe('/snapshot?known_reference=1');
  expect(backend.requests.at(-1)?.headers['if-none-match']).toBe('"1"');
});

test('listeners hear of a change once', async () => {
  const backend = await startBackend(good);
  const currencies = connect(backend.url);
  let changes = 0;
  currencies.onChange(() => {
    changes += 1;
  });
  await started(currencies);
  await until(() => backend.requests.length >= 3);
  expect(changes).toBe(1);
  const moved = [{ ...legs[0], rate: '1.01' }];
  backend.behaviour = answering(JSON.stringify({ reference_version: '1', reference: null, legs: moved }));
  await until(() => currencies.current().rates.rate('USDC', 'USD').rate === '1.01');
  expect(changes).toBe(2);
});
