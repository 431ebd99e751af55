import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../harness/browser.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

const WIDGET = join(import.meta.dirname, '../../packages/widget');
const found = findBrowser(thisMachine());

/** Puts down what the widget tells the page, and how much the page has moved. */
const WATCH = `window.told = []; window.moved = 0;
for (const name of ['ready', 'step', 'error', 'close'])
  document.addEventListener('causeway:' + name, ({ target }) => told.push(name + ' ' + target.id));
new PerformanceObserver((list) => list.getEntries().forEach((entry) => (moved += entry.hadRecentInput ? 0 : entry.value)))
  .observe({ type: 'layout-shift', buffered: true });`;

const REACT = `import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CausewayRamp } from './src/react.ts';
window.calls = [];
const root = createRoot(document.getElementById('place'));
window.show = (props) => root.render(createElement(StrictMode, null, props === null ? null : createElement(CausewayRamp, {
  ...props, id: 'ramp', className: 'ramp', onReady: () => calls.push('ready ' + props.locale),
})));`;

type Watched = { readonly told: string[]; readonly moved: number; readonly calls: string[] };
type Placed = { readonly style: { readonly position: string } };
type Shows = { show(props: Record<string, unknown> | null): void };

/** The React component as a bundler makes it for a page. */
async function reactPage(): Promise<string> {
  const entry = join(WIDGET, 'page.tsx');
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? REACT : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return output[0].code;
}

describe.skipIf(found === undefined)('the widget in a page of another origin', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let shop: Server;
  let address: string;
  const complaints: string[] = [];
  const bodies = new Map<string, string>();

  beforeAll(async () => {
    if (found === undefined) throw new Error(NO_BROWSER);
    const [started, launched, react] = await Promise.all([startGateway(), launchBrowser(found), reactPage()]);
    gateway = started;
    browser = launched;
    const scripts: Record<string, string> = { '/watch.js': WATCH, '/react.js': react };
    shop = createServer((request, response) => {
      const script = scripts[request.url ?? ''];
      response.setHeader(
        'content-type',
        script === undefined ? 'text/html; charset=utf-8' : 'text/javascript',
      );
      // As strict as a page can be that embeds it; the image is its own icon.
      response.setHeader(
        'content-security-policy',
        `default-src 'none'; img-src data:; script-src 'self' ${gateway.baseUrl}; frame-src ${gateway.baseUrl}`,
      );
      response.end(script ?? bodies.get(request.url ?? ''));
    }).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    address = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    shop?.close();
    await gateway?.stop();
  });

  const loader = () => `<script src="${gateway.baseUrl}/widget/v1.js"></script>`;
  const element = (id: string, attributes = '') =>
    `<causeway-ramp id="${id}" widget-key="${gateway.partners[0].widgetKey}" ${attributes}></causeway-ramp>`;

  async function open(path: string, body: string, width = 1_000): Promise<Page> {
    const head = '<!doctype html><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">';
    bodies.set(path, `${head}<script src="/watch.js"></script>${loader()}${body}`);
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    complaints.length = 0;
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await page.goto(address + path);
    return page;
  }

  const ready = (page: Page, ...ids: string[]) =>
    page.waitForFunction(
      (wanted) => wanted.every((id) => (globalThis as unknown as Watched).told.includes(`ready ${id}`)),
      ids,
    );
  const languageIs = (page: Page, id: string, language: string) =>
    page.frameLocator(`#${id} iframe`).locator(`html[lang=${language}]`).waitFor({ state: 'attached' });

  it('is an element: its attributes change it live, nothing of the page moves or is forbidden', async () => {
    const page = await open(
      '/element',
      `<h1>A shop</h1>${loader()}${element('one', 'theme="dark"')}<p>below</p>`,
    );
    await ready(page, 'one');
    const frame = page.locator('#one iframe');
    expect(await frame.count()).toBe(1);
    const attributes = await frame.evaluate((iframe) =>
      Object.fromEntries([...iframe.attributes].map(({ name, value }) => [name, value])),
    );
    expect(attributes).toMatchObject({
      allow: 'camera; clipboard-write',
      referrerpolicy: 'no-referrer',
      sandbox:
        'allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox',
      title: expect.stringMatching(/./),
    });
    await page.frameLocator('#one iframe').locator('html[data-theme=dark]').waitFor({ state: 'attached' });
    const before = await frame.elementHandle();
    await page.locator('#one').evaluate((one) => {
      one.setAttribute('locale', 'fr');
      one.setAttribute('theme', '{"mode":"light","variables":{"accent":"rgb(1, 2, 3)"}}');
    });
    await languageIs(page, 'one', 'fr');
    await page.frameLocator('#one iframe').locator('html[data-theme=light]').waitFor({ state: 'attached' });
    expect(await frame.evaluate((now, then) => now === then, before), 'the same frame').toBe(true);
    expect(await page.evaluate(() => (globalThis as unknown as Watched).moved)).toBeLessThanOrEqual(0.02);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('follows what the page changes, and leaves what the customer has chosen', async () => {
    const page = await open(
      '/follow',
      element('one', 'side="onramp" fiat-currency="EUR" country="DE" amount="100"'),
    );
    await ready(page, 'one');
    const widget = page.frameLocator('#one iframe');
    const amount = widget.getByTestId('amount-fiat');
    const set = (name: string, value: string) =>
      page
        .locator('#one')
        .evaluate((one, [key = '', text = '']) => one.setAttribute(key, text), [name, value]);
    const shows = (value: string) => vi.waitFor(async () => expect(await amount.inputValue()).toBe(value));
    await widget.getByTestId('side-offramp').click();
    await amount.fill('70');
    await widget.getByTestId('language').selectOption('fr');
    await languageIs(page, 'one', 'fr');
    await set('theme', 'dark');
    await widget.locator('html[data-theme=dark]').waitFor({ state: 'attached' });
    await languageIs(page, 'one', 'fr');
    await shows('70');
    await set('amount', '80.5');
    await shows('80,5');
    expect(await widget.getByTestId('side-offramp').getAttribute('aria-pressed')).toBe('true');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('is there twice on one page: each has its own frame, settings and end', async () => {
    const page = await open('/two', element('one', 'locale="es"') + element('two', 'locale="fr"'));
    await ready(page, 'one', 'two');
    await languageIs(page, 'one', 'es');
    await languageIs(page, 'two', 'fr');
    await page.frameLocator('#one iframe').getByTestId('close').click();
    await page.waitForFunction(() => (globalThis as unknown as Watched).told.includes('close one'));
    expect(await page.locator('iframe').count()).toBe(1);
    await languageIs(page, 'two', 'fr');
    await page.locator('#two').evaluate((two) => two.remove());
    expect(await page.locator('iframe').count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('fills a narrow window, and gives it back when it is closed', async () => {
    const page = await open('/narrow', element('one'), 400);
    await ready(page, 'one');
    expect(await page.locator('#one iframe').boundingBox()).toEqual({ x: 0, y: 0, width: 400, height: 900 });
    await page.frameLocator('#one iframe').getByTestId('close').click();
    await page.locator('iframe').waitFor({ state: 'detached' });
    await page.close();
  });

  it('never covers the page of a telephone with a frame that says nothing, from the start or later', async () => {
    const silent = (page: Page) =>
      page.route('**/widget/frame*', (route) => route.fulfill({ contentType: 'text/html', body: 'away' }));
    const isCovered = (page: Page) =>
      page
        .locator('#one iframe')
        .evaluate((frame) => (frame as unknown as Placed).style.position === 'fixed');
    const told = (page: Page, what: string) =>
      page.waitForFunction((text) => (globalThis as unknown as Watched).told.includes(text), what);
    const blank = await browser.newPage({ viewport: { width: 400, height: 900 } });
    await blank.clock.install();
    await silent(blank);
    bodies.set('/silent', `<!doctype html><script src="/watch.js"></script>${loader()}${element('one')}`);
    await blank.goto(`${address}/silent`);
    await blank.frameLocator('#one iframe').getByText('away').waitFor();
    expect(await isCovered(blank)).toBe(false);
    await blank.clock.fastForward(10_000);
    await told(blank, 'error one');
    expect(await isCovered(blank)).toBe(false);
    await blank.close();

    const page = await browser.newPage({ viewport: { width: 400, height: 900 } });
    await page.clock.install();
    await page.goto(`${address}/silent`);
    await ready(page, 'one');
    expect(await isCovered(page)).toBe(true);
    // Loaded again while the service answers it stays, and gives the page back once it is away.
    for (const isAway of [false, true]) {
      if (isAway) await silent(page);
      const loaded = page.locator('#one iframe').evaluate(
        (frame) =>
          new Promise((resolve) => {
            frame.addEventListener('load', resolve, { once: true });
            frame.setAttribute('src', frame.getAttribute('src') ?? '');
          }),
      );
      await loaded;
      if (!isAway) {
        await page.waitForFunction(
          () => (globalThis as unknown as Watched).told.filter((what) => what === 'ready one').length === 2,
        );
      }
      await page.clock.fastForward(10_000);
      expect(await isCovered(page)).toBe(!isAway);
    }
    await told(page, 'error one');
    await page.close();
  });

  it('is a React component: StrictMode leaves one frame, props change it, unmounting takes it away', async () => {
    const page = await open(
      '/react',
      '<div id="place"></div><script type="module" src="/react.js"></script>',
    );
    const show = (props: Record<string, unknown> | null) =>
      page.evaluate((given) => (globalThis as unknown as Shows).show(given), props);
    await page.waitForFunction(() => 'show' in globalThis);
    const options = { widgetKey: gateway.partners[0].widgetKey, baseUrl: gateway.baseUrl };
    await show({ ...options, locale: 'es' });
    await page.waitForFunction(() => (globalThis as unknown as Watched).calls.length > 0);
    expect(await page.locator('iframe').count()).toBe(1);
    const before = await page.locator('iframe').elementHandle();
    await show({ ...options, locale: 'fr' });
    await languageIs(page, 'ramp', 'fr');
    expect(await page.locator('iframe').evaluate((now, then) => now === then, before)).toBe(true);
    await show(null);
    await page.locator('iframe').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('is tried in the playground: an option changes widget and code, and callbacks are listed', async () => {
    const page = await browser.newPage();
    const said: string[] = [];
    page.on('pageerror', (error) => said.push(error.message));
    page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
    await page.goto(`${gateway.baseUrl}/widget/playground`);
    await page.locator('[data-testid=playground-log] [data-name=onReady]').waitFor();
    await page.getByTestId('option-language').selectOption('fr');
    const frame = page.frameLocator('[data-testid=playground-widget] iframe');
    await frame.locator('html[lang=fr]').waitFor({ state: 'attached' });
    expect(await page.getByTestId('playground-code').textContent()).toContain('locale="fr"');
    await page.getByTestId('playground-way').selectOption('react');
    expect(await page.getByTestId('playground-code').textContent()).toContain(
      "from '@causeway/widget/react'",
    );
    await page.getByTestId('option-userReference').fill('customer-7');
    await page.getByTestId('playground-way').selectOption('link');
    expect(await page.getByTestId('playground-code').textContent()).toMatch(
      /\?key=[^#]*#userReference=customer-7$/,
    );
    await page.getByTestId('open-session').click();
    await page.locator('[data-testid=playground-log] [data-name^=POST]').waitFor();
    await page.locator('[data-name=onReady]').nth(1).waitFor();
    expect(said).toEqual([]);
    await page.close();
  });
});
