import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../harness/browser.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

const found = findBrowser(thisMachine());

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(found === undefined)('the reference page in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let page: Page;
  const elsewhere: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    if (found === undefined) throw new Error(NO_BROWSER);
    gateway = await startGateway();
    browser = await launchBrowser(found);
    page = await openDocs('/docs/');
  });

  async function openDocs(path: string): Promise<Page> {
    const opened = await browser.newPage();
    opened.on('request', (request) => {
      const url = request.url();
      if (url.startsWith('http') && !url.startsWith(gateway.baseUrl)) elsewhere.push(url);
    });
    opened.on('pageerror', (error) => complaints.push(error.message));
    await opened.goto(gateway.baseUrl + path);
    return opened;
  }
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  it('shows the API, and asks nothing of any other machine', async () => {
    await page.getByRole('heading', { name: 'Causeway', exact: true }).waitFor();
    await page.getByText('Users and KYC').first().waitFor();
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('lets a reader try a call against the gateway that serves it', async () => {
    const tryPage = await openDocs('/docs/#tag/gateway/GET/health');
    await tryPage
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    const answered = tryPage.waitForResponse((response) => response.url() === `${gateway.baseUrl}/health`);
    await tryPage.getByRole('button', { name: /^Send/ }).first().click();
    expect((await answered).status()).toBe(200);
    expect(elsewhere).toEqual([]);
  });
});
