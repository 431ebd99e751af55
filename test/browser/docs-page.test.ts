import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../harness/browser.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

const found = findBrowser(thisMachine());

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(found === undefined)('the documentation in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let page: Page;
  const elsewhere: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    if (found === undefined) throw new Error(NO_BROWSER);
    gateway = await startGateway();
    browser = await launchBrowser(found);
    page = await openDocs('/docs/reference');
  });

  async function openDocs(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const opened = await browser.newPage(options);
    opened.on('request', (request) => {
      const url = request.url();
      if (url.startsWith('http') && !url.startsWith(gateway.baseUrl)) elsewhere.push(url);
    });
    opened.on('pageerror', (error) => complaints.push(error.message));
    // What the page's policy forbids is told on the console.
    opened.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await opened.goto(gateway.baseUrl + path);
    return opened;
  }

  /** A page that is closed while it loads complains of what it did not get. */
  async function leave(opened: Page): Promise<void> {
    opened.removeAllListeners('pageerror');
    opened.removeAllListeners('console');
    await opened.close();
  }
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  it('shows the API, and asks nothing of any other machine', async () => {
    await page.getByRole('heading', { name: 'Causeway', exact: true }).waitFor();
    await page.getByText('Users and KYC').first().waitFor();
    expect(await page.title()).toBe('API reference · Causeway documentation');
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });

  /** Presses Test Request and Send of one operation, and answers what came back and the key that went out. */
  async function tryOut(opened: Page, method: string, path: string) {
    await opened.getByRole('button', { name: `Test Request (${method.toLowerCase()} ${path})` }).click();
    const answering = opened.waitForResponse(
      (response) => new URL(response.url()).pathname === path && response.request().method() === method,
    );
    await opened.getByRole('button', { name: /^Send/ }).first().click();
    const answer = await answering;
    // Left before it is shown, the request would count as cancelled.
    await opened
      .getByText(`${answer.status()} ${answer.statusText()}`)
      .filter({ visible: true })
      .first()
      .waitFor();
    return { status: answer.status(), key: (await answer.request().allHeaders())['x-api-key'] };
  }

  it('lets a reader try a call against the gateway that serves it', async () => {
    // The address that the reference had before there were guides.
    const tryPage = await openDocs('/docs/#tag/gateway/GET/health');
    expect(await tryOut(tryPage, 'GET', '/health')).toEqual({ status: 200, key: undefined });
    expect(tryPage.url()).toBe(`${gateway.baseUrl}/docs/reference#tag/gateway/GET/health`);
    await leave(tryPage);
  });

  it('sends the key of the class that an operation takes', async () => {
    const calls = [
      ['tag/orders', '/api/v1/partner/orders', gateway.partners[0].apiKey],
      ['tag/vendor', '/api/v1/vendor/orders', gateway.sandbox.vendors[0]?.apiKey],
    ] as const;
    for (const [tag, path, key] of calls) {
      await page.evaluate(`location.hash = '${tag}/GET${path}'`);
      expect(await tryOut(page, 'GET', path), path).toEqual({ status: 200, key });
      await page.keyboard.press('Escape');
    }
    expect(elsewhere).toEqual([]);
  });

  it('has a title and an icon of its own, and one search for guides and operations', async () => {
    const guide = await openDocs('/docs/guides/orders');
    expect(await guide.title()).toMatch(/^Orders.* · Causeway documentation$/);
    const icon = await guide.locator('link[rel=icon]').getAttribute('href');
    expect((await guide.request.get(`${gateway.baseUrl}${icon}`)).status()).toBe(200);
    await guide.keyboard.press('/');
    const field = guide.getByRole('combobox', { name: 'Search guides and operations' });
    await field.fill('webhooks');
    await guide
      .getByRole('option', { name: /^Webhooks/ })
      .first()
      .waitFor();
    await field.fill('nothing is called zzzqqq');
    await guide.getByText('Nothing found').waitFor();
    await field.fill('onramp quote');
    await guide.getByRole('option', { name: /POST.*Quote a conversion from fiat to crypto/ }).click();
    await guide.waitForURL('**/docs/reference#tag/on-ramp/POST/api/v1/partner/onramp/quote', {
      waitUntil: 'commit',
    });
    await leave(guide);
  });

  it('is usable at 390 pixels: nothing scrolls sideways but tables and code, and the pages are behind a button', async () => {
    const narrow = await openDocs('/docs', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await narrow.getByRole('button', { name: 'Pages' }).click();
    await narrow.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Webhooks' }).click();
    await narrow.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    for (const path of [
      '/docs',
      '/docs/getting-started',
      '/docs/reference/errors',
      '/docs/reference/states',
    ]) {
      await narrow.goto(gateway.baseUrl + path);
      expect(await narrow.evaluate('document.documentElement.scrollWidth'), path).toBe(390);
    }
    // The reference is there already, at the vendor's operation.
    await page.setViewportSize({ width: 390, height: 844 });
    // Scalar lays it out anew in its own time.
    await page.waitForFunction('document.documentElement.scrollWidth === 390');
    const ground = await narrow.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe('rgb(13, 17, 23)');
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
    await leave(narrow);
  });
});
