import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Scenarios call through the SDK, so that it is proven by use. Raw HTTP is for what it does not send or show. */
const RAW: Readonly<Record<string, { readonly uses: number; readonly why: string }>> = {
  'cli.test.ts': { uses: 2, why: 'a proxy in between, and a page that is not of the API' },
  'conformance.test.ts': { uses: 15, why: 'drivers of partners who write their own calls, badly' },
  'console-sign-in.test.ts': {
    uses: 14,
    why: 'the console’s own routes and its cookie are no part of the SDK',
  },
  'examples.test.ts': { uses: 1, why: 'a proxy in between' },
  'guides.test.ts': { uses: 1, why: 'metrics are not of the API' },
  'orders-kyc-lost.test.ts': {
    uses: 1,
    why: 'a write without an Idempotency-Key, which the SDK always sends',
  },
  'orders-treasury.test.ts': { uses: 1, why: 'the console’s own routes are no part of the SDK' },
  'orders.test.ts': { uses: 2, why: 'bodies that are no JSON or of another type' },
  'remote-offers.test.ts': { uses: 1, why: 'an offers backend is another server' },
  'sdk.test.ts': { uses: 2, why: 'the description that the SDK is compared with, and the fetch under it' },
  'vendor-api.test.ts': {
    uses: 4,
    why: 'every described route in turn, writes without an Idempotency-Key, and a stream that ends',
  },
  'webhooks-stream.test.ts': { uses: 2, why: 'the bytes of a stream' },
  'webhooks.test.ts': { uses: 1, why: 'the description of the events' },
  'widget-customer.ts': { uses: 1, why: 'what the widget’s application calls is no part of the SDK' },
  'widget-pages.test.ts': { uses: 7, why: 'pages and files for browsers, and their headers' },
  'widget-sessions.test.ts': {
    uses: 12,
    why: 'what the widget’s application calls is no part of the SDK, nor are wrong keys and proxies',
  },
};

const FOLDER = fileURLToPath(new URL('../scenarios/', import.meta.url));
const REQUEST =
  /\b(?:fetch|openEventStream)\(|\bcall\(|\.inject\(|https?\.request\(|\bcurl\b|from '(?:undici|autocannon)'/g;

function rawRequests(source: string): number {
  return [...source.matchAll(REQUEST)].length;
}

describe('raw HTTP in scenarios', () => {
  it('is where the list says, and nowhere else', () => {
    const found = globSync('*.ts', { cwd: FOLDER })
      .map((file) => [file, rawRequests(readFileSync(FOLDER + file, 'utf8'))] as const)
      .filter(([, uses]) => uses > 0);
    const listed = Object.entries(RAW).map(([file, { uses }]) => [file, uses]);
    expect(found.sort(), 'call through gateway.sdk, gateway.partner, gateway.operator or gateway.as').toEqual(
      listed,
    );
  });

  it.each([
    ["await gateway.call('GET', path)", 1],
    ['const answer = await call(method, path);', 1],
    ['await fetch(baseUrl + path)', 1],
    ["await api.inject({ method: 'GET' })", 1],
    ['await gateway.partner.orders.cancel(id)', 0],
    ['await gateway.sdk().orders.get(id)', 0],
  ])('is found in %s', (source, uses) => {
    expect(rawRequests(source)).toBe(uses);
  });
});
