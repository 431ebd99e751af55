import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../test/harness/browser.ts';
import { embedded } from '../test/harness/widget-driver.ts';
import { serveHostPages } from '../test/harness/widget-pages.ts';
import { startSandbox } from './demo/running-sandbox.ts';

/**
 * npm run widget:speed
 *
 * How soon a customer can type an amount, in a page of another origin, on a slow line and a slow machine: from the moment the
 * page mounts the widget, with nothing cached. Records into bench/reports/widget-speed.json. A measurement, not a test: it
 * depends on what else the machine does.
 */
const REPORT = join(import.meta.dirname, '../bench/reports/widget-speed.json');
const RUNS = 5;
const CPU_SLOWDOWN = 4;
/** Slow 4G as Lighthouse has it: 150 ms to the server and back, 1.6 Mbit/s down, 750 kbit/s up. */
const SLOW_4G = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
};
const endings: (() => Promise<void>)[] = [];

async function measure(browser: Browser, address: string) {
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  const scripts: Promise<number>[] = [];
  let isMeasured = true;
  page.on('response', (response) => {
    if (!isMeasured || response.request().resourceType() !== 'script') return;
    if (response.url().includes('/page-')) return;
    scripts.push(response.body().then((body) => gzipSync(body).length));
  });
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', SLOW_4G);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  await page.addInitScript(`new MutationObserver((_, observer) => {
    if (document.querySelector('iframe') === null) return;
    window.mounted = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });`);
  await page.goto(address, { waitUntil: 'commit' });
  const amount = embedded(page).by('amount-fiat');
  await amount.waitFor();
  await amount.fill('120');
  const [now, mounted] = await page.evaluate<[number, number]>('[performance.now(), window.mounted]');
  isMeasured = false;
  const bytes = await Promise.all(scripts);
  await context.close();
  return {
    interactiveMs: Math.round(now - mounted),
    pageToInteractiveMs: Math.round(now),
    scriptGzipBytes: bytes.reduce((sum, size) => sum + size, 0),
  };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function main(): Promise<void> {
  const found = findBrowser(thisMachine());
  if (found === undefined) throw new Error(NO_BROWSER);
  const { sandbox } = await startSandbox(endings);
  const browser = await launchBrowser(found);
  endings.push(() => browser.close());
  const baseUrl = sandbox.base_url.replace('//localhost', '//127.0.0.1');
  const shop = await serveHostPages(baseUrl, sandbox.partners[0]?.widget_key ?? '');
  endings.push(() => shop.close());
  const options = { side: 'onramp', fiatCurrency: 'EUR', country: 'DE' };
  const address = shop.page({ by: 'script', options });
  // The first visit builds the widget.
  await measure(browser, address);
  const runs = [];
  for (let run = 0; run < RUNS; run++) runs.push(await measure(browser, address));
  const report = {
    profile: { network: 'slow 4G: 150 ms, 1.6 Mbit/s down, 750 kbit/s up', cpuSlowdown: CPU_SLOWDOWN },
    machine: { cpu: cpus()[0]?.model ?? '', cores: cpus().length, arch: process.arch },
    medianInteractiveMs: median(runs.map(({ interactiveMs }) => interactiveMs)),
    medianPageToInteractiveMs: median(runs.map(({ pageToInteractiveMs }) => pageToInteractiveMs)),
    firstLoadScriptGzipBytes: median(runs.map(({ scriptGzipBytes }) => scriptGzipBytes)),
    runs,
  };
  await writeFile(REPORT, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
}

try {
  await main();
} finally {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
}
