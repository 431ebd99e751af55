import type { Page, Route } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { callsOf, embedded } from '../harness/widget-driver.ts';
import { foundBrowser, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;

/** The service does what it is asked, and its answer is lost on its way. */
async function lose(route: Route): Promise<void> {
  await route.fetch();
  await route.abort('connectionreset');
}

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('the widget where answers are lost', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture();
  });
  afterAll(() => fixture?.close());

  const IN_EUROS = { side: 'onramp', fiatCurrency: 'EUR', country: 'DE', amount: '100.00' };
  const IN_DOLLARS = { side: 'onramp', fiatCurrency: 'CAD', country: 'CA', amount: '100.00' };
  const CONFIRM = '**/widget/session/orders';

  /** A customer who is known and verified, at the review of a purchase. */
  async function atReview(options = IN_EUROS, rail = 'iban-sepa') {
    const opened = await fixture.open({
      embed: { by: 'script', options: { ...options, wallet: newAddress() } },
    });
    const email = await fixture.verifiedEmail();
    await opened.widget.amount({ rail });
    await opened.widget.identify(email);
    await opened.widget.step('destination');
    await opened.widget.by('continue').click();
    await opened.widget.by('confirm-order').waitFor({ timeout: 30_000 });
    return { ...opened, email };
  }

  async function ordersOf(email: string): Promise<string[]> {
    const { id } = await fixture.userOf(email);
    const ids: string[] = [];
    for await (const { order_id } of fixture.gateway.sdk().orders.list({ user_uuid: id })) ids.push(order_id);
    return ids;
  }
  const tradesTold = async (page: Page) =>
    (await callsOf(page)).flatMap(({ name, payload }) =>
      name === 'onTradeStarted' ? [payload?.orderId] : [],
    );

  it('shows the order that a confirmation has opened, and no second one, once the price is over', async () => {
    const { page, widget, email } = await atReview();
    await page.route(CONFIRM, lose);
    await widget.by('confirm-order').click();
    await widget.by('problem').waitFor({ timeout: 30_000 });
    await page.unroute(CONFIRM);
    await fixture.gateway.sdk().sandbox.advanceClock({ seconds: 61 });
    // The screen hears of the time with the next answer; until then there is nothing but to press again.
    await widget.by('confirm-order').or(widget.by('refresh-quote')).first().click();
    const orderId = await widget.orderId();
    expect(await ordersOf(email)).toEqual([orderId]);
    expect(await tradesTold(page)).toEqual([orderId]);
  });

  it('shows it after a reload that came before the answer', async () => {
    const { page, widget, email } = await atReview();
    let answered = false;
    await page.route(CONFIRM, async (route) => {
      await route.fetch();
      answered = true;
    });
    await widget.by('confirm-order').click();
    await until('the order', () => answered);
    await page.unroute(CONFIRM);
    await page.reload();
    const orderId = await embedded(page).orderId();
    expect(await ordersOf(email)).toEqual([orderId]);
    expect(await tradesTold(page)).toEqual([orderId]);
  });

  it('shows the order again after a reload when the session has ended, to who has the e-mail', async () => {
    const { page, widget, email } = await atReview();
    const orderId = await widget.confirm();
    await widget.phase('pay');
    await fixture.gateway.sdk().sandbox.advanceClock({ seconds: 4 * 60 * 60 + 1 });
    await page.reload();
    await widget.identify(email);
    expect(await widget.orderId()).toBe(orderId);
  });

  const makeSession = async () => {
    const user = await fixture.userOf(await fixture.verifiedEmail());
    return fixture.gateway.sdk().widgetSessions.create({
      user_uuid: user.id,
      side: 'onramp',
      fiat_currency: 'EUR',
      fiat_amount: '60.00',
      country_code: 'DE',
      wallet_address: newAddress(),
      redirect_url: `${fixture.shop.origin}/thanks`,
    });
  };

  it('opens a session of the partner’s server although the answer is lost, or the page loaded again before it', async () => {
    const opening = '**/widget/sessions/*/token';
    const context = await fixture.newContext();
    await context.route(opening, lose, { times: 1 });
    const { page, widget } = await fixture.openHosted((await makeSession()).url, { context });
    await widget.step('amount');
    expect(page.url()).not.toContain('#');

    const other = await fixture.newContext();
    let isSent = false;
    await other.route(
      opening,
      async (route) => {
        await route.fetch();
        isSent = true;
      },
      { times: 1 },
    );
    const again = await fixture.openHosted((await makeSession()).url, { context: other });
    await until('the exchange', () => isSent);
    await again.page.reload();
    await again.widget.step('amount');
    await until('the code is gone from the address', () => !again.page.url().includes('#'));
  });

  it('leads from a frame back to the shop, in a tab of its own', async () => {
    const { url } = await makeSession();
    const { context, page, widget } = await fixture.open({
      embed: { by: 'script', options: { session: url } },
    });
    await widget.amount({ rail: 'iban-sepa' });
    await widget.step('destination');
    await widget.by('continue').click();
    await widget.confirm();
    await widget.phase('pay');
    await widget.press('cancel-order');
    await widget.phase('stopped');
    const shop = page.url();
    const [opened] = await Promise.all([context.waitForEvent('page'), widget.by('back-to-shop').click()]);
    await opened.waitForURL(`${fixture.shop.origin}/thanks`);
    expect(page.url()).toBe(shop);
  });

  it('reads the fields of who pays again: by a button, and when the connection is back', async () => {
    const { context, page, widget } = await atReview(IN_DOLLARS, 'interac-canada');
    const rails = '**/supported/payment-rails?*direction=onramp';
    await page.route(rails, (route) => route.abort());
    await widget.confirm();
    await widget.by('payer-retry').click({ timeout: 30_000 });
    await widget.by('payer-retry').waitFor({ state: 'detached' });
    await widget.by('payer-retry').waitFor({ timeout: 30_000 });
    await page.unroute(rails);
    await widget.by('payer-retry').click();
    await widget.by('payer-form').waitFor();

    await page.route(rails, (route) => route.abort());
    await page.reload();
    await widget.by('payer-retry').waitFor({ timeout: 30_000 });
    await page.unroute(rails);
    await context.setOffline(true);
    await context.setOffline(false);
    await widget.by('payer-form').waitFor();
  });
});
