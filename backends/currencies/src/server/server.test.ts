import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildCatalogue, parseReferenceData } from '../catalogue/index.ts';
import type { RateSource } from '../rates/index.ts';
import { type CurrenciesServer, startCurrenciesServer } from '../server.ts';
import { readCommandLine } from './command-line.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const clock = { now: () => NOW };
let rate = '1.5';
let failing = false;
const source: RateSource = {
  name: 'test',
  kind: 'ticker',
  async fetch() {
    if (failing) throw new Error('SECRET');
    return [{ base: 'GBP', quote: 'USD', rate, observedAt: NOW }];
  },
};

let server: CurrenciesServer;
beforeAll(async () => {
  server = await startCurrenciesServer({
    host: '127.0.0.1',
    port: 0,
    clock,
    sources: [{ source, intervalMs: 20, retryMs: 20 }],
  });
});
afterAll(() => server.close());

interface Body {
  reference_version: string;
  reference: unknown;
  legs: { base: string; quote: string; rate: string; status: string }[];
}

async function snapshot(query = '', headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/snapshot${query}`, { headers });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get('etag') ?? '',
    body: (text === '' ? null : JSON.parse(text)) as Body,
  };
}

test('a snapshot holds everything a catalogue is built from, and the rates', async () => {
  const { status, body } = await snapshot();
  expect(status).toBe(200);
  const catalogue = buildCatalogue(parseReferenceData(body.reference));
  expect(catalogue.rail('pix')).toBeDefined();
  expect(body.legs).toMatchObject([{ base: 'USD', quote: 'GBP', status: 'fresh' }]);
});

test('reference data that the caller has is left out', async () => {
  const { body } = await snapshot();
  const again = await snapshot(`?known_reference=${encodeURIComponent(body.reference_version)}`);
  expect(again.body).toMatchObject({ reference: null, reference_version: body.reference_version });
  expect((await snapshot('?known_reference=other')).body.reference).not.toBeNull();
});

test('the tag stays while nothing changes and moves with a rate', async () => {
  const { etag } = await snapshot();
  expect((await snapshot('', { 'if-none-match': etag })).status).toBe(304);
  rate = '1.51';
  await expect.poll(async () => (await snapshot('', { 'if-none-match': etag })).status).toBe(200);
});

test('health tells which source fails, and not why in the source’s words', async () => {
  expect(await (await fetch(`${server.url}/health`)).json()).toMatchObject({ status: 'ok' });
  failing = true;
  const health = async () => (await fetch(`${server.url}/health`)).text();
  await expect.poll(health).toContain('degraded');
  expect(await health()).not.toContain('SECRET');
  failing = false;
});

test.each([
  ['/', 'GET', 404],
  ['/snapshot/more', 'GET', 404],
  ['/snapshot', 'POST', 405],
])('%s with %s answers %i', async (path, method, status) => {
  expect((await fetch(server.url + path, { method })).status).toBe(status);
});

test('the command line names its sources and port', () => {
  const read = readCommandLine(['--port', '0', '--sources', 'simulated,ecb,kraken'], clock);
  expect(read).toMatchObject({ host: '127.0.0.1', port: 0 });
  expect(read?.sources.map(({ source: { name } }) => name)).toEqual(['simulated', 'ecb', 'kraken']);
  expect(readCommandLine(['--help'], clock)).toBeUndefined();
});

test.each([[['--port', '70000']], [['--port', 'x']], [['--sources', 'guess']], [['--what']]])(
  'the command line %j is refused',
  (args) => {
    expect(() => readCommandLine(args, clock)).toThrow();
  },
);
