import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import type { WidgetDriver } from '../harness/widget-driver.ts';
import { foundBrowser, newEmail, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

const ESTIMATE = '[data-testid=estimate][aria-busy=false]';
const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

describe.skipIf(foundBrowser === undefined)('choosing, identifying and reviewing at the widget', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture();
  });
  afterAll(() => fixture?.close());

  const checkout = (key = fixture.gateway.partners[0].widgetKey) =>
    `${fixture.gateway.baseUrl}/widget/checkout?key=${key}`;
  const open = (locale = 'en-GH') => fixture.openHosted(checkout(), { browser: { locale } });
  const estimated = (page: Page) => page.waitForSelector(ESTIMATE);
  const entered = (widget: WidgetDriver, testId: string) => widget.by(testId).inputValue();

  it('begins in the country of the browser, and either amount leads the other', async () => {
    const { page, widget, context } = await open();
    await until('the country of the browser', async () => (await entered(widget, 'country')) === 'GH');
    expect(await entered(widget, 'fiat-currency')).toBe('GHS');
    await widget.by('amount-fiat').fill('1,500.50');
    await estimated(page);
    const bought = await entered(widget, 'amount-crypto');
    expect(bought).toMatch(/^\d+\.\d{2,6}$/);
    await widget.by('amount-crypto').fill('100');
    await until('what 100 cost', async () => /^\d+\.\d{2}$/.test(await entered(widget, 'amount-fiat')));
    await estimated(page);
    expect(await widget.by('fees').textContent()).toContain('100.00 USDC');
    // Another language writes the same amount.
    await widget.by('amount-fiat').fill('1,500');
    await estimated(page);
    await widget.by('language').selectOption('es');
    await page.locator('html[lang=es]').waitFor({ state: 'attached' });
    await estimated(page);
    expect(await entered(widget, 'amount-fiat')).toBe('1500');
    await widget.by('language').selectOption('en');
    await until('the words of before', async () => (await entered(widget, 'amount-fiat')) === '1,500');
    await context.close();
  });

  it('finds an institution by keyboard, and keeps it over a reload', async () => {
    const { page, widget, context } = await open();
    const institution = widget.by('institution');
    await institution.fill('mtn', { timeout: 30_000 });
    const only = page.locator('[role=option]');
    await only.filter({ hasText: 'MTN MoMo Ghana' }).waitFor();
    expect(await only.count()).toBe(1);
    await institution.press('ArrowDown');
    expect(await institution.getAttribute('aria-activedescendant')).toBe(await only.getAttribute('id'));
    await institution.press('Enter');
    expect(await institution.getAttribute('data-value')).toBe('mtn-momo-ghana');
    expect(await institution.getAttribute('aria-expanded')).toBe('false');
    await widget.by('amount-fiat').fill('500');
    await estimated(page);
    await page.reload();
    await until('its name', async () => (await entered(widget, 'institution')).includes('MTN'));
    expect(await entered(widget, 'amount-fiat')).toBe('500');
    await context.close();
  });

  it('says in words what the limits are, and offers the nearest amount', async () => {
    const { page, widget, context } = await open('en-KE');
    await widget.by('amount-fiat').fill('1');
    expect(await widget.by('problem').textContent({ timeout: 30_000 })).toMatch(
      /too little\. The least is KES\s[\d,.]+ at present/,
    );
    expect(await widget.by('continue').isDisabled()).toBe(true);
    await widget.by('use-amount').click();
    await estimated(page);
    await widget.by('amount-fiat').fill('10.123');
    await page.getByText('KES has at most 2 decimals.').waitFor();
    await context.close();
  });

  it('renews a session that has expired, and asks who it is before it shows the orders again', async () => {
    const { page, widget, context } = await open();
    await widget.by('find-orders').click({ timeout: 30_000 });
    await widget.identify(newEmail());
    await widget.by('no-orders').waitFor();
    // Another tab has signed this session off, or its hours are over.
    let refused = 0;
    await page.route('**/api/v1/widget/session', (route) => {
      refused += 1;
      const body = { success: false, error: { code: 'UNAUTHORIZED', message: 'expired', details: {} } };
      return refused === 1 ? route.fulfill({ status: 401, json: body }) : route.continue();
    });
    await widget.by('new-order').click();
    await widget.by('my-orders').click();
    await widget.step('identify');
    expect(refused).toBe(1);
    await context.close();
  });

  it('says that it is offline, and goes on by itself', async () => {
    const { page, widget, context } = await open();
    await widget.by('rail').waitFor({ timeout: 30_000 });
    await context.setOffline(true);
    await widget.by('offline').waitFor();
    await widget.by('amount-fiat').fill('500');
    await widget.by('problem').waitFor();
    await context.setOffline(false);
    await estimated(page);
    expect(await widget.by('offline').count()).toBe(0);
    await context.close();
  });

  it('is never a blank page where a part of it cannot be fetched', async () => {
    const { page, widget, context } = await open();
    await page.route('**/widget/assets/orders-*', (route) => route.abort());
    await widget.by('find-orders').click({ timeout: 30_000 });
    await widget.identify(newEmail());
    await widget.by('try-again').waitFor();
    await page.unroute('**/widget/assets/orders-*');
    await widget.by('try-again').click();
    await widget.by('no-orders').waitFor();
    await context.close();
  });

  it('counts the tries of a code, and takes another address', async () => {
    const { widget, context } = await open();
    await widget.by('find-orders').click({ timeout: 30_000 });
    await widget.by('email').fill('nobody');
    await widget.by('send-code').click();
    expect(await widget.by('email').getAttribute('aria-invalid')).toBe('true');
    await widget.by('email').fill(newEmail());
    await widget.by('send-code').click();
    const sent = await widget.by('sandbox-code').textContent();
    await widget.by('code').fill(sent === '000000' ? '111111' : '000000');
    await widget.by('confirm-code').click();
    expect(await widget.by('problem').textContent()).toContain('4 tries left');
    await widget.by('change-email').click();
    await widget.by('email').fill(newEmail());
    await widget.by('send-code').click();
    expect(await widget.by('problem').textContent()).toMatch(/try again in \d+ seconds/);
    await fixture.gateway.sdk().sandbox.advanceClock({ seconds: 31 });
    await widget.by('send-code').click();
    await widget.enterCode();
    await widget.step('orders');
    await context.close();
  });

  it('lets a price run out, and takes a new one only by a click', async () => {
    const { page, widget, context } = await open('en-DE');
    await widget.amount({ fiat: '100' });
    await widget.identify(await fixture.verifiedEmail());
    await widget.pasteWallet(WALLET);
    const countdown = widget.by('quote-countdown');
    expect(Number(await countdown.getAttribute('data-seconds', { timeout: 30_000 }))).toBeGreaterThan(50);
    let quotes = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/session/quotes')) quotes += 1;
    });
    await fixture.gateway.sdk().sandbox.advanceClock({ seconds: 61 });
    await widget.by('confirm-order').click();
    expect(await widget.by('problem').textContent()).toContain('expired');
    expect(await widget.by('confirm-order').count()).toBe(0);
    expect(quotes).toBe(0);
    await widget.by('refresh-quote').click();
    await widget.by('price-change').waitFor();
    expect(quotes).toBe(1);
    expect(Number(await countdown.getAttribute('data-seconds'))).toBeGreaterThan(50);
    // What a wallet has to be told of the customer, the partner keeps.
    const identityRequired = {
      code: 'SENDER_IDENTITY_REQUIRED',
      message: '',
      details: { missing_fields: ['phone_number'], kyc_fields: ['phone_number'] },
    };
    await page.route(
      '**/session/orders',
      (route) => route.fulfill({ status: 422, json: { success: false, error: identityRequired } }),
      { times: 1 },
    );
    await widget.by('confirm-order').click();
    expect(await widget.by('sender-fields').textContent()).toMatch(
      /^Please ask .+ to complete:Phone number$/,
    );
    expect(await widget.by('way-on').count()).toBe(0);
    // Twice in a row is one order.
    await widget.by('confirm-order').dblclick();
    await widget.step('order');
    await widget.by('my-orders').click();
    await widget.step('orders');
    await widget.by('order-line').first().waitFor();
    expect(await widget.by('order-line').count()).toBe(1);
    await context.close();
  });

  it('keeps what the partner’s server has set, and opens its link once', async () => {
    const { url } = await fixture.gateway.sdk().widgetSessions.create({
      side: 'onramp',
      fiat_currency: 'EUR',
      fiat_amount: '150',
      country_code: 'DE',
    });
    const { page, widget, context } = await fixture.openHosted(url);
    await estimated(page);
    expect(page.url()).not.toContain('#');
    for (const fixed of ['side-offramp', 'fiat-currency', 'country']) {
      expect(await widget.by(fixed).isDisabled()).toBe(true);
    }
    expect(await widget.by('amount-fiat').getAttribute('readonly')).not.toBeNull();
    expect(await widget.by('rail').isDisabled()).toBe(false);
    const again = await fixture.openHosted(url);
    expect(await again.widget.by('problem').textContent({ timeout: 30_000 })).toContain('opened already');
    await again.context.close();
    await context.close();
  });
});
