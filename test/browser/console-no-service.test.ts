import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';

const REQUEST_ID = '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';
/** As a proxy answers for a service that is away. */
const PROXY_PAGE = {
  status: 502,
  contentType: 'text/html',
  headers: { 'x-request-id': REQUEST_ID },
  body: '<html><title>502 Bad Gateway</title></html>',
};

describe.skipIf(consoleBrowser === undefined)('the console without its service', () => {
  let ground: ConsoleGround;
  let vendor: ConsoleTab;

  beforeAll(async () => {
    ground = await startConsole();
    vendor = await ground.enter('vendor');
  }, 120_000);
  afterAll(() => ground?.stop());

  const problem = (page: Page, code: string) =>
    page.locator(`[data-testid="problem"][data-code="${code}"]`).first();

  it('a decision that is made offline fails at once, and is not carried out when there is a network again', async () => {
    const { page, context } = vendor;
    await vendor.goto('/vendor/orders');
    await page.locator('[data-testid="live"][data-state="live"]').waitFor();
    await page.locator('[data-testid="online"][data-online="true"]').waitFor({ state: 'attached' });
    await context.setOffline(true);
    await page.locator('label', { hasText: 'Online' }).first().click();
    await page.getByText('The service cannot be reached.').first().waitFor();

    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(request.url());
    });
    await context.setOffline(false);
    await page.waitForFunction('navigator.onLine');
    // What waited for the network would be sent before this page is read.
    const read = page.waitForResponse((answer) => answer.url().includes('/vendor/offers') && answer.ok());
    await page.getByRole('link', { name: 'Offers' }).click();
    await read;
    const profile = await page.request.get(`${ground.gateway.baseUrl}/api/v1/vendor/profile`);
    expect([sent, (await profile.json()).data.online]).toEqual([[], true]);
  });

  it('a page that is opened offline says so and can be asked again, instead of waiting for ever', async () => {
    const tab = await ground.enter('partner');
    await tab.goto('/partner/customers');
    await tab.page.getByText('No customers found').waitFor();
    await tab.context.setOffline(true);
    await tab.page.getByTestId('filter-reference_id').fill('nobody');
    await problem(tab.page, 'CONNECTION_FAILED').waitFor();
    await tab.page.getByText('The service cannot be reached.').waitFor();
    await tab.context.setOffline(false);
    await tab.page.getByText('No customers found').waitFor();
    await tab.context.close();
  });

  it('what cannot be read again says since when, and no longer once it can', async () => {
    const tab = await ground.enter('operator');
    const { page, context } = tab;
    await page.getByText('Nothing waits').waitFor();
    const line = page.getByTestId('not-refreshed');
    expect(await line.count()).toBe(0);
    await context.setOffline(true);
    await line.waitFor();
    expect(await line.textContent()).toMatch(
      /^Not refreshed since .*\d:\d\d.*\. The service cannot be reached\.$/,
    );
    expect(await page.getByRole('status').filter({ hasText: 'Not refreshed since' }).count()).toBe(1);
    // What it had is still there.
    await page.getByText('Nothing waits').waitFor();
    expect(await tab.seriousFindings()).toEqual([]);
    await context.setOffline(false);
    await line.waitFor({ state: 'detached' });
    await context.close();
  });

  it.each([
    ['a route of the console', '/vendor/account', '**/api/v1/console/account'],
    ['the API', '/vendor/offers', '**/api/v1/vendor/offers?*'],
  ])(
    'an answer that is not the service’s is told in words, with the request: of %s',
    async (_, at, route) => {
      const { page } = vendor;
      await page.route(route, (asked) => asked.fulfill(PROXY_PAGE));
      await vendor.goto(at);
      const told = problem(page, 'INVALID_ANSWER');
      await told.waitFor();
      const text = (await told.textContent()) ?? '';
      expect(text).toContain('Something else answered in place of the service.');
      expect(text).toContain(`request ${REQUEST_ID}`);
      expect(text).not.toMatch(/Unexpected token|<html>/);
      await page.unroute(route);
      await told.getByRole('button', { name: 'Try again' }).click();
      await told.waitFor({ state: 'detached' });
    },
  );

  it('a call of the console that is not answered ends with its time', async () => {
    const { page } = vendor;
    // A hundred times as fast.
    await page.addInitScript({
      content:
        'const whole = AbortSignal.timeout; AbortSignal.timeout = (ms) => whole.call(AbortSignal, ms / 100);',
    });
    await page.route('**/api/v1/console/account', () => {});
    await vendor.goto('/vendor/account');
    await problem(page, 'TIMED_OUT').waitFor();
    await page.getByText('The service did not answer in time.').waitFor();
    expect(ground.complaints).toEqual([]);
  });

  it('a hidden tab of the vendor gives its connection back, and goes on when it is looked at', async () => {
    const tab = await ground.enter('vendor');
    const { page } = tab;
    await tab.goto('/vendor/orders');
    const live = page.locator('[data-testid="live"][data-state="live"]');
    await live.waitFor();
    const isStream = (request: { url(): string }) => request.url().includes('/vendor/events');
    const show = (state: string) =>
      page.evaluate((visibility) => {
        const { document, Event } = globalThis as unknown as {
          document: { dispatchEvent(event: unknown): void };
          Event: new (type: string) => unknown;
        };
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => visibility });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    const closed = page.waitForEvent('requestfailed', isStream);
    await show('hidden');
    await closed;
    await live.waitFor({ state: 'detached' });
    const [opened] = await Promise.all([page.waitForEvent('request', isStream), show('visible')]);
    expect(opened.url()).toContain('after=');
    await live.waitFor();
    await tab.context.close();
  });
});
