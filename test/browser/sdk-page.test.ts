import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../harness/browser.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

const SDK = join(import.meta.dirname, '../../packages/sdk');
const PAGE = `<!doctype html><title>A shop</title><link rel="icon" href="data:,">
<script type="module">import * as sdk from '/sdk.js'; window.sdk = sdk;</script>`;

/** What the page's script has put there. */
type WithSdk = {
  readonly sdk: typeof import('../../packages/sdk/src/index.ts') &
    typeof import('../../packages/sdk/src/signing/index.ts') &
    typeof import('../../packages/sdk/src/webhooks/index.ts');
};

const found = findBrowser(thisMachine());

/** The whole SDK as it is published, in one script, as a bundler makes it for a page. */
async function bundledSdk(folder: string): Promise<string> {
  await promisify(execFile)(process.execPath, [join(SDK, 'build.ts'), folder]);
  const entry = join(folder, 'page.js');
  const code = ['index', 'signing/index', 'webhooks/index'].map(
    (part) => `export * from './dist/${part}.js';`,
  );
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { modules: [join(SDK, 'node_modules')] },
    plugins: [
      {
        name: 'page',
        load: (id) => (id === entry ? code.join('\n') : null),
        resolveId: (id) => (id === entry ? id : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output[0].code;
}

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(found === undefined)('the SDK in a page of another origin', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let page: Page;
  let pages: Server;
  let folder: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    if (found === undefined) throw new Error(NO_BROWSER);
    folder = await mkdtemp(join(tmpdir(), 'causeway-page-'));
    const [started, sdk] = await Promise.all([startGateway(), bundledSdk(folder)]);
    gateway = started;
    pages = createServer((request, response) => {
      const isScript = request.url === '/sdk.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? sdk : PAGE);
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    browser = await launchBrowser(found);
    page = await browser.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
    await page.waitForFunction(() => 'sdk' in globalThis);
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await gateway?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('reads what is open to every page, checks a webhook and makes a signer', async () => {
    const told = await page.evaluate(async (baseUrl) => {
      const { sdk } = globalThis as unknown as WithSdk;
      const causeway = new sdk.Causeway({ baseUrl });
      const rails = await causeway.supported.paymentRails({ direction: 'offramp', country: 'GH' });
      const banks: string[] = [];
      for await (const { id } of causeway.supported.institutions({ rail: 'ghana-transfer', limit: 5 })) {
        banks.push(id);
        if (banks.length === 7) break;
      }
      const converted = await causeway.rates.convert({ from: 'USDC', to: 'EUR', amount: '2' });
      const refused = await causeway.supported
        .paymentRails({ direction: 'offramp' })
        .catch((error: unknown) =>
          sdk.isCausewayError(error) ? [error.code, (error.requestId ?? '').length > 10] : [],
        );
      const made = await sdk.createTestEvent('order.status.changed', { status: 'failed' }, { secret: 's' });
      const event = await sdk.constructEvent(made.body, made.headers, 's');
      const signer = sdk.privateKeySigner(`0x${'01'.repeat(32)}`);
      return {
        rails: rails.rails.map(({ slug }: { slug: string }) => slug),
        banks: new Set(banks).size,
        converted: Number(converted.converted_amount) > 1,
        refused,
        event: [event.event_type, 'status' in event.data && event.data.status],
        address: signer.address,
      };
    }, gateway.baseUrl);
    expect(told).toEqual({
      rails: ['ghana-transfer'],
      banks: 7,
      converted: true,
      refused: ['missing_country_or_currency', true],
      event: ['order.status.changed', 'failed'],
      address: '0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1',
    });
    // A browser says of each refused call that it was refused, and has nothing else to say.
    expect(complaints.filter((text) => !text.includes('400 (Bad Request)'))).toEqual([]);
  });

  it('takes no secret key there', async () => {
    const refused = await page.evaluate(
      async ([baseUrl, apiKey]) => {
        const { sdk } = globalThis as unknown as WithSdk;
        try {
          return `made ${typeof new sdk.Causeway({ baseUrl, apiKey })}`;
        } catch (error) {
          return (error as Error).message;
        }
      },
      [gateway.baseUrl, gateway.partners[0].apiKey] as const,
    );
    expect(refused).toMatch(/^A secret key does not belong in a browser/);
  });
});
