import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { until } from '../harness/until.ts';
import { callsOf, embedded } from '../harness/widget-driver.ts';
import { withoutPrograms } from '../harness/widget-walk.ts';
import {
  foundBrowser,
  newEmail,
  orderReaches,
  startWidgetFixture,
  type WidgetFixture,
} from './widget-fixture.ts';

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('buying crypto at the widget', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture();
  });
  afterAll(() => fixture?.close());

  const balance = (address: `0x${string}`) => {
    const { client, settings } = fixture.gateway.deps.chains.get('base-mainnet');
    return tokenBalance(client, settings.tokens.find(({ code }) => code === 'USDC')!.address, address);
  };

  const IN_EUROS = { side: 'onramp', fiatCurrency: 'EUR', country: 'DE', amount: '100.00' };
  const IN_DOLLARS = { side: 'onramp', fiatCurrency: 'CAD', country: 'CA', amount: '100.00' };

  // Proves C4.6 rules 5 and 8, D13.8.
  it('goes from a page of another origin to crypto in the customer’s wallet, and page and partner are told of one order', async () => {
    const wallet = newAddress();
    const email = newEmail();
    const { context, page, widget, complaints, requests } = await fixture.open({
      embed: { by: 'script', options: { ...IN_EUROS, userReference: 'basket-7' } },
    });
    await widget.amount({ rail: 'iban-sepa' });
    await widget.identify(email);
    await widget.verify();
    await widget.pasteWallet(wallet);
    const orderId = await widget.confirm();
    await widget.phase('pay');
    await widget.by('instruction-iban').waitFor();
    await widget.press('i-have-paid');
    await widget.phase('completed');

    const order = await fixture.gateway.sdk().orders.get(orderId);
    const { crypto_amount: amount } = order.amounts;
    const { platform_fee: platformFee, partner_fee: partnerFee } = order.fee_breakdown;
    const atomic = (text: string) => BigInt(text.replace('.', ''));
    expect(await balance(wallet)).toBe(atomic(amount) - atomic(platformFee) - atomic(partnerFee));
    await until('the last webhook', () => fixture.toldOf(orderId).includes('completed'));
    expect(fixture.toldOf(orderId)).toEqual([
      'awaiting_liquidity_provider',
      'awaiting_vendor_escrow_funding',
      'awaiting_fiat_transfer',
      'fiat_transfer_pending',
      'completed',
    ]);
    expect((await callsOf(page)).map(({ name, payload }) => [name, payload?.orderId])).toEqual([
      ['onReady', undefined],
      ['onTradeStarted', orderId],
      ['onTradeCompleted', orderId],
    ]);
    expect(order).toMatchObject({ reference_id: 'basket-7', allowed_actions: [] });
    const refused = await fixture.gateway.partner.orders.cancel(orderId);
    expect([refused.status, refused.body.error.code]).toEqual([404, 'ORDER_NOT_FOUND']);
    expect(complaints).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    const addresses = requests.flatMap((request) => [request.url(), request.headers().referer ?? '']);
    const personal = [
      email,
      encodeURIComponent(email),
      'Lovelace',
      wallet,
      'basket-7',
      'cw_session_',
      'DE89',
    ];
    expect(addresses.filter((address) => personal.some((text) => address.includes(text)))).toEqual([]);
  });

  /** A customer who is known and verified, at the review of a purchase. */
  async function atReview(options: Record<string, string> = IN_EUROS, rail = 'iban-sepa') {
    const opened = await fixture.open({
      embed: { by: 'script', options: { ...options, wallet: newAddress() } },
    });
    const email = await fixture.verifiedEmail();
    await opened.widget.amount({ rail });
    await opened.widget.identify(email);
    await opened.widget.step('destination');
    await opened.widget.by('continue').click();
    await opened.widget.step('review');
    return { ...opened, email };
  }

  it('says that the vendor has not been paid, and offers no false hope', async () => {
    const { widget } = await atReview({ ...IN_EUROS, amount: '113.10' });
    const orderId = await widget.confirm();
    await widget.phase('pay');
    await widget.press('i-have-paid');
    await widget.phase('disputed');
    await orderReaches(fixture.gateway, orderId, 'dispute_started');
  });

  it('keeps the order over a reload, and shows it on another device to who has the e-mail', async () => {
    const { page, widget, email } = await atReview();
    const orderId = await widget.confirm();
    await widget.phase('pay');
    await page.reload();
    const again = embedded(page);
    expect(await again.orderId()).toBe(orderId);
    await again.phase('pay');

    const elsewhere = await fixture.open({
      embed: { by: 'element', attributes: { 'fiat-currency': 'EUR', country: 'DE', amount: '50' } },
    });
    await elsewhere.widget.amount({ rail: 'iban-sepa' });
    await elsewhere.widget.identify(email);
    await elsewhere.widget.by('my-orders').click();
    await elsewhere.widget.step('orders');
    await elsewhere.widget.root.locator(`[data-order-id="${orderId}"]`).click();
    await elsewhere.widget.phase('pay');
    expect(await elsewhere.widget.orderId()).toBe(orderId);
    await elsewhere.widget.press('i-have-paid');
    // The first device hears of it.
    await again.phase('completed');
    await elsewhere.widget.phase('completed');
  });

  it('tells the page of what was completed while its tab was elsewhere, and tells it once', async () => {
    const { page, widget } = await atReview();
    const orderId = await widget.confirm();
    await widget.phase('pay');
    const { sandbox } = fixture.gateway.sdk();
    await sandbox.setSettings({ auto_advance: false });
    onTestFinished(async () => void (await sandbox.setSettings({ auto_advance: true })));
    await widget.press('i-have-paid');
    await widget.phase('settle');
    const shop = page.url();
    await page.goto('about:blank');
    await sandbox.orderEvent(orderId, { event: 'vendor_confirms_fiat' });
    await orderReaches(fixture.gateway, orderId, 'completed');
    const told = async () => (await callsOf(page)).map(({ name }) => name);
    await page.goto(shop);
    await embedded(page).phase('completed');
    await until('what the page is told', async () => (await told()).length === 2);
    expect(await told()).toEqual(['onReady', 'onTradeCompleted']);
    await page.reload();
    await embedded(page).phase('completed');
    expect(await told()).toEqual(['onReady']);
  });

  it('says at the field what the service refuses of who pays', async () => {
    const { page, widget } = await atReview(IN_DOLLARS, 'interac-canada');
    await widget.confirm();
    await widget.phase('pay');
    await widget.by('payer-full_name').fill('Emma Tremblay');
    await widget.by('payer-email').fill('emma@example.ca');
    const fields = [{ path: 'payment_details.email', message: 'is malformed' }];
    const error = { code: 'INVALID_PAYER_DETAILS', message: '', details: { fields } };
    await page.route(
      '**/submit-payer-details',
      (route) => route.fulfill({ status: 400, json: { success: false, error } }),
      { times: 1 },
    );
    await widget.by('payer-submit').click();
    await widget.root.locator('[data-testid="payer-email"][aria-invalid="true"]').waitFor();
    expect(await widget.by('problem').count()).toBe(0);
    await widget.by('payer-submit').click();
    await widget.by('payer-known').waitFor();
  });

  it('is cancelled before the money is sent, and another order may follow', async () => {
    const { widget } = await atReview();
    const orderId = await widget.confirm();
    await widget.phase('pay');
    await widget.press('cancel-order');
    await widget.phase('stopped');
    await orderReaches(fixture.gateway, orderId, 'cancelled');
    await widget.by('new-order').click();
    await widget.step('amount');
  });

  it('goes on when the connection was lost for a while', async () => {
    const { context, widget } = await atReview();
    const orderId = await widget.confirm();
    await widget.phase('pay');
    await context.setOffline(true);
    await widget.press('i-have-paid');
    await widget.by('problem').first().waitFor();
    await context.setOffline(false);
    await widget.by('i-have-paid-yes').click();
    await widget.phase('completed');
    expect(await widget.orderId()).toBe(orderId);
  });

  it('asks for a new price when the old one is over, and for a click when it is worse', async () => {
    const { widget } = await atReview();
    // The best offers are gone, and the minute of the first price with them.
    await withoutPrograms(fixture.gateway.sdk(fixture.gateway.sandbox.operatorKey));
    await fixture.gateway.sdk().sandbox.advanceClock({ seconds: 61 });
    await widget.by('confirm-order').click();
    await widget.by('problem').waitFor();
    expect(await widget.by('confirm-order').count()).toBe(0);
    await widget.by('refresh-quote').click();
    await widget.by('price-change').waitFor();
    const orderId = await widget.confirm();
    await orderReaches(fixture.gateway, orderId, 'awaiting_fiat_transfer');
  });

  it('asks who it is when the session is over, and goes on where it was', async () => {
    const opened = await fixture.open({
      embed: { by: 'script', options: { ...IN_EUROS, wallet: newAddress() } },
    });
    const { widget } = opened;
    const email = await fixture.verifiedEmail();
    await widget.amount({ rail: 'iban-sepa' });
    await widget.identify(email);
    await widget.step('destination');
    await fixture.gateway.sdk().sandbox.advanceClock({ seconds: 5 * 60 * 60 });
    await widget.by('continue').click();
    await widget.identify(email);
    await widget.step('review');
    await widget.confirm();
    await widget.phase('pay');
  });

  it('is a page of its own for a session that the partner’s server has made, and leads back to the shop', async () => {
    const email = await fixture.verifiedEmail();
    const user = await fixture.userOf(email);
    const { sdk } = fixture.gateway;
    const session = await sdk().widgetSessions.create({
      user_uuid: user.id,
      side: 'onramp',
      fiat_currency: 'EUR',
      fiat_amount: '60.00',
      country_code: 'DE',
      wallet_address: newAddress(),
      redirect_url: `${fixture.shop.origin}/thanks`,
    });
    const { page, widget } = await fixture.openHosted(session.url);
    await widget.step('amount');
    expect(await widget.by('amount-fiat').isEditable()).toBe(false);
    expect(page.url()).not.toContain('#');
    await widget.amount({ rail: 'iban-sepa' });
    await widget.step('destination');
    await widget.by('continue').click();
    await widget.confirm();
    await widget.phase('pay');
    await widget.press('i-have-paid');
    await widget.phase('completed');
    await widget.by('back-to-shop').click();
    await page.waitForURL(`${fixture.shop.origin}/thanks`);
    // Its address opens once.
    const again = await fixture.openHosted(session.url);
    await again.widget.step('unavailable');
  });
});
