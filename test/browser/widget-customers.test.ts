import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embedded, hosted, type WidgetDriver } from '../harness/widget-driver.ts';
import { foundBrowser, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('one customer after another in the same tab', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture();
  });
  afterAll(() => fixture?.close());

  const IN_EUROS = { side: 'onramp', 'fiat-currency': 'EUR', country: 'DE' };

  const checkout = (settings: Readonly<Record<string, string>>, personal: Readonly<Record<string, string>>) =>
    `${fixture.gateway.baseUrl}/widget/checkout?${new URLSearchParams({
      ...{ key: fixture.gateway.partners[0].widgetKey, side: 'onramp', fiatCurrency: 'EUR', country: 'DE' },
      ...settings,
    })}#${new URLSearchParams(personal)}`;

  const amountOf = (widget: WidgetDriver) => widget.by('amount-fiat').inputValue();

  async function toDestination(widget: WidgetDriver, email: string): Promise<void> {
    await widget.amount({ rail: 'iban-sepa' });
    await widget.identify(email);
    await widget.step('destination');
  }

  it('an order of the second is the second’s, and nothing on the page is the first’s', async () => {
    const [walletA, walletB] = [newAddress(), newAddress()];
    const attributes = { ...IN_EUROS, amount: '60', 'user-reference': 'A', wallet: walletA };
    const { page, widget } = await fixture.open({ embed: { by: 'element', attributes } });
    await toDestination(widget, await fixture.verifiedEmail());
    await page.reload();
    await widget.step('destination');

    const next = { ...IN_EUROS, amount: '99', 'user-reference': 'B', wallet: walletB };
    await page.goto(fixture.shop.page({ by: 'element', attributes: next }));
    const second = embedded(page);
    await second.step('amount');
    expect(await amountOf(second)).toBe('99');
    expect(await second.by('my-orders').count()).toBe(0);
    const email = await fixture.verifiedEmail();
    await toDestination(second, email);
    expect(await second.by('wallet-address').inputValue()).toBe(walletB);
    await second.by('continue').click();
    const orderId = await second.confirm();
    const { orders } = fixture.gateway.sdk();
    const { reference_id, amounts } = await orders.get(orderId);
    expect([reference_id, amounts.fiat_amount]).toEqual(['B', '99.00']);
    const { id } = await fixture.userOf(email);
    const ofSecond: string[] = [];
    for await (const { order_id } of orders.list({ user_uuid: id })) ofSecond.push(order_id);
    expect(ofSecond).toEqual([orderId]);

    // The page that stays says by itself that the customer is another one.
    await page.evaluate(`document.querySelector('causeway-ramp').setAttribute('user-reference', 'C')`);
    await second.step('amount');
    expect(await second.by('my-orders').count()).toBe(0);
  });

  it('a link for another customer begins anew, and a reload goes on', async () => {
    const personal = { wallet: newAddress(), userReference: 'customer-7' };
    const { page, widget } = await fixture.openHosted(checkout({ amount: '60' }, personal));
    await toDestination(widget, await fixture.verifiedEmail());
    await page.reload();
    await widget.step('destination');
    await page.goto(checkout({ amount: '60' }, personal));
    await widget.step('destination');

    // Nothing but the fragment differs.
    await page.goto(checkout({ amount: '60' }, { ...personal, userReference: 'customer-8' }));
    await widget.step('amount');
    expect(await widget.by('my-orders').count()).toBe(0);
    await toDestination(widget, await fixture.verifiedEmail());
    const other = { wallet: newAddress(), userReference: 'customer-9' };
    await page.goto(checkout({ amount: '99' }, other));
    await widget.step('amount');
    expect(await amountOf(widget)).toBe('99');
    expect(await widget.by('my-orders').count()).toBe(0);
    const kept = await page.evaluate<string>('JSON.stringify([sessionStorage, history.state])');
    expect(kept).not.toMatch(/customer-\d/);
    expect(kept).not.toContain(personal.wallet);
  });

  it('the same customer stays signed in, begins with what the next page asks for and finds the order', async () => {
    const personal = { wallet: newAddress(), userReference: 'customer-7' };
    const { page, widget } = await fixture.openHosted(checkout({ amount: '60' }, personal));
    await page.goto(checkout({ side: 'offramp', amount: '88' }, personal));
    await page.locator('[data-testid="side-offramp"][aria-pressed="true"]').waitFor();
    expect(await amountOf(hosted(page))).toBe('88');

    await page.goto(checkout({ amount: '60' }, personal));
    await toDestination(widget, await fixture.verifiedEmail());
    await page.goto(checkout({ amount: '70' }, personal));
    await widget.step('amount');
    expect(await amountOf(widget)).toBe('70');
    await widget.amount({ rail: 'iban-sepa' });
    await widget.step('destination');
    await widget.by('continue').click();
    const orderId = await widget.confirm();
    await widget.phase('pay');

    await page.goto(checkout({ amount: '99' }, personal));
    await widget.step('orders');
    await page.locator(`[data-order-id="${orderId}"]`).click();
    await widget.phase('pay');
    await widget.press('i-have-paid');
    await widget.phase('completed');
    // As it is now, not as it was when the session was last asked.
    await widget.by('my-orders').click();
    expect(await page.locator(`[data-order-id="${orderId}"]`).textContent()).toContain('Completed');
    await widget.by('new-order').click();
    await widget.step('amount');
  });
});
