import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { connect as connectDatabase } from '../harness/database.ts';
import { until } from '../harness/until.ts';
import type { InjectedWallet } from '../harness/widget-wallet.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';
import { deskVendor } from './console-vendor-desk.ts';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(80, 1)]);

describe.skipIf(consoleBrowser === undefined)('the vendor desk', () => {
  let ground: ConsoleGround;
  let driver: OrdersDriver;
  let tab: ConsoleTab;
  let wallet: InjectedWallet;

  /** One vendor at its desk, its own wallet in the browser; the others are offline, and nobody acts by itself. */
  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    const { gateway } = ground;
    driver = ordersDriver(gateway);
    await gateway.partner.sandbox.setSettings({ auto_advance: false });
    tab = await ground.enter('vendor');
    const vendor = await deskVendor(ground, tab);
    wallet = vendor.wallet;
    await offerBothWays(vendor.apiKey);
    // From now on the sandbox signs nothing for it.
    const admin = await connectDatabase(gateway.databaseUrl);
    await admin.query('UPDATE vendors SET simulated_key_sealed = NULL WHERE vendor_id = $1', [vendor.id]);
    await admin.end();
    await tab.goto('/vendor/orders');
    await tab.page.locator('[data-testid="live"][data-state="live"]').waitFor();
  }, 120_000);
  afterAll(() => ground?.stop());

  /** The best price both ways, authorized, and known to the gateway. */
  async function offerBothWays(apiKey: string): Promise<void> {
    const { gateway } = ground;
    for (const side of ['SELL', 'BUY']) {
      const { body } = await gateway.as(apiKey).vendor.offers.create({
        ...{ side, crypto_currency: 'USDC', fiat_currency: 'EUR', margin_pct: '0', countries: ['DE'] },
        ...{ min_amount: '20', max_amount: '5000', available_balance: '2000' },
        payment_options: [{ network_slug: 'iban-sepa' }],
      });
      const authorization = { authorized: true, reason: 'contract signed' };
      await gateway.operator.offers.decideAuthorization(body.data.offer_id, authorization);
    }
    await until('the offers to be known', async () => {
      const { corridors } = await gateway.sdk().supported.corridors();
      return corridors.some(
        ({ crypto_currency, fiat_currency, country, onramp, offramp }) =>
          `${crypto_currency} ${fiat_currency} ${country} ${onramp?.spread_pct} ${offramp?.spread_pct}` ===
          'USDC EUR DE 0 0',
      );
    });
  }

  const at = (testId: string) => tab.page.getByTestId(testId);
  const step = (name: string) =>
    tab.page.locator(`[data-testid="order"][data-step="${name}"]`).waitFor({ timeout: 30_000 });
  const status = (name: string) =>
    tab.page.locator(`[data-testid="order"][data-status="${name}"]`).waitFor({ timeout: 30_000 });

  async function connect(): Promise<void> {
    await at('connect-wallet').click();
    await at('wallet-connected').waitFor();
  }

  /** A sale that is accepted, its wallet connected. */
  async function saleToFund(): Promise<string> {
    const orderId = await driver.onrampOrder();
    await tab.goto(`/vendor/orders/${orderId}`);
    await step('accept');
    await at('field-full_name').fill('Harbour Liquidity');
    await at('field-iban').fill('DE02 1203 0000 0000 2020 51');
    await connect();
    await at('sign-refund-button').click();
    await step('fund');
    return orderId;
  }

  it('sells: an order that comes by itself is accepted, funded, and released after the money', async () => {
    const orderId = await driver.onrampOrder();
    const row = tab.page.locator(`[data-row="${orderId}"]`);
    await row.waitFor({ timeout: 20_000 });
    // Five minutes less what has passed, by the service's clock.
    expect(Number(await row.getByTestId('countdown').getAttribute('data-seconds'))).toBeGreaterThan(60);
    await row.click();

    await step('accept');
    await at('field-full_name').fill('Harbour Liquidity');
    await at('field-iban').fill('DE02 1203 0000 0000 2020 51');
    const words = await at('sign-words').textContent();
    const { amounts } = await driver.read(orderId);
    expect(words).toBe(`Pays ${amounts.crypto_amount} USDC to your wallet, out of the escrow of this order.`);
    await expect(at('movement').first().textContent()).resolves.toContain(wallet.address);
    wallet.moveTo(1);
    await at('connect-wallet').click();
    await at('switch-network').click();
    await at('wallet-connected').waitFor();
    // What the service would refuse is told at its field, and no signature is asked for.
    for (const [iban, fault] of [
      ['DE02 1203', 'This is not the form of: IBAN.'],
      ['DE02 1203 0000 0000 2020 52', 'The check digits do not fit'],
    ] as const) {
      await at('field-iban').fill(iban);
      await at('field-iban').blur();
      await at('payment-fields').getByText(fault).waitFor();
      await at('details-missing').waitFor();
      expect(await at('sign-refund-button').isDisabled()).toBe(true);
    }
    await at('field-iban').fill('DE02 1203 0000 0000 2020 51');
    wallet.refuseNext('eth_signTypedData_v4');
    await at('sign-refund-button').click();
    await at('wallet-problem').waitFor();
    expect(await tab.seriousFindings()).toEqual([]);
    const shown = await at('hash-digest').textContent();
    await at('sign-refund-button').click();

    await step('fund');
    expect(wallet.calls.filter(({ method }) => method === 'eth_signTypedData_v4')).toHaveLength(2);
    expect(shown).toMatch(/^0x[0-9a-f]{64}$/);
    await at('fund-button').click();
    await at('funding-sent').waitFor();
    await status('awaiting_fiat_transfer');
    expect((await driver.read(orderId)).vendor_payment_details).toMatchObject({
      full_name: 'Harbour Liquidity',
    });
    await driver.act(orderId, 'confirm-payment-sent');

    await step('confirm-fiat');
    expect(await at('sign-words').textContent()).toContain('to the buyer');
    await at('sign-release-button').click();
    await status('completed');
    await driver.booksBalance();
  }, 90_000);

  it('buys: signs the refund, pays whom the page names, and proves it with a slip', async () => {
    const orderId = await driver.offrampOrder();
    await tab.goto(`/vendor/orders/${orderId}`);
    await step('sign-refund');
    await connect();
    await at('sign-refund-button').click();
    await step('wait-for-deposit');
    await driver.fund(orderId);
    await step('pay');
    await at('instructions').getByText('DE', { exact: false }).first().waitFor();
    await at('payment-reference').fill('E2E-20261115-0042');
    const file = tab.page.locator('input[type="file"]');
    await file.setInputFiles({ name: 'slip.txt', mimeType: 'text/plain', buffer: PNG });
    await tab.page.getByText('Choose a JPEG, PNG, WebP or PDF file.').waitFor();
    await file.setInputFiles({ name: 'slip.png', mimeType: 'image/png', buffer: PNG });
    expect(await at('sign-words').textContent()).toContain('to your wallet');
    expect(await tab.seriousFindings()).toEqual([]);
    await at('sign-release-button').click();
    await status('fiat_payment_started');
    await at('proofs').waitFor();

    // The dispute that follows is answered, with the proof, and decided by the operator.
    await at('open-dispute').click();
    await at('confirm').click();
    await step('answer-dispute');
    await at('statement-text').fill('Paid on the 16th in full.\nThe bank confirms it.');
    await at('send-statement').click();
    await at('statement').getByText('Paid on the 16th in full.').waitFor();
    const { operator } = ground.gateway;
    const { body } = await operator.orders.revealDisputeStatements(orderId, { reason: 'to decide' });
    expect(body.data.statements).toMatchObject([{ text: expect.stringContaining('The bank confirms it.') }]);
    await operator.orders.decideDispute(orderId, { decision: 'for_buyer', reason: 'the bank confirms it' });
    await status('completed');
  }, 90_000);

  it('gives in: a dispute of a sale that was decided for the buyer is released by the vendor’s signature', async () => {
    const orderId = await saleToFund();
    await at('fund-button').click();
    await status('awaiting_fiat_transfer');
    await driver.act(orderId, 'confirm-payment-sent');
    await step('confirm-fiat');
    await at('open-dispute').click();
    await at('confirm').click();
    await step('answer-dispute');
    await ground.gateway.operator.orders.decideDispute(orderId, {
      decision: 'for_buyer',
      reason: 'the bank shows the payment',
    });
    await step('sign-release');
    expect(await at('sign-words').textContent()).toContain('to the buyer');
    const before = await driver.balance(driver.wallet);
    await at('sign-release-button').click();
    await status('completed');
    expect(await driver.balance(driver.wallet)).toBeGreaterThan(before);
    expect(await driver.escrowBalance(orderId)).toBe(0n);
    await driver.booksBalance();
  }, 90_000);

  it('an escrow is paid once by two tabs, and a page that is cut off says how old it is', async () => {
    const orderId = await saleToFund();
    const second = await tab.context.newPage();
    await second.goto(tab.page.url());
    const there = (testId: string) => second.getByTestId(testId);
    await there('connect-wallet').click();
    await there('fund-button').waitFor();
    const before = wallet.calls.length;
    const payments = () =>
      wallet.calls.slice(before).filter(({ method }) => method === 'eth_sendTransaction').length;

    // What one tab remembers, the other is told; what it was not told of, it finds before it asks the wallet.
    await tab.page.evaluate(
      `localStorage.setItem('causeway.escrow-payment.${orderId}', '0x${'ab'.repeat(32)}')`,
    );
    await there('funding-sent').waitFor();
    await at('fund-button').click();
    await at('funding-sent').waitFor();
    expect(payments()).toBe(0);
    await there('send-again').click();
    await there('confirm').click();
    await at('fund-button').waitFor();

    // While a wallet waits for its owner, the other tab asks it for nothing.
    const answer = wallet.hold('eth_sendTransaction');
    wallet.refuseNext('eth_sendTransaction');
    await at('fund-button').click();
    await until('the wallet to be asked', () => payments() === 1);
    await there('fund-button').click();
    await there('wallet-problem').getByText('asked in another tab').waitFor();
    expect(payments()).toBe(1);
    answer();
    await at('wallet-problem').waitFor();

    const live = (state: string) => tab.page.locator(`[data-testid="live"][data-state="${state}"]`);
    await tab.page.route('**/api/v1/vendor/events**', (route) => route.abort());
    await tab.page.reload();
    await live('broken').waitFor();
    await tab.page.unroute('**/api/v1/vendor/events**');
    await live('live').waitFor();
    await tab.page.route('**/api/v1/vendor/orders/**', (route) => route.abort());
    await at('not-refreshed').getByText('The service cannot be reached.').waitFor();
    await step('fund');
    await tab.page.unroute('**/api/v1/vendor/orders/**');
    await at('not-refreshed').waitFor({ state: 'detached' });

    await connect();
    await at('fund-button').click();
    await status('awaiting_fiat_transfer');
    await second.locator('[data-testid="order"][data-status="awaiting_fiat_transfer"]').waitFor();
    expect(payments()).toBe(2);
    await second.close();
  }, 120_000);

  it('nothing that does not match the order can be signed, and an order is declined with a reason', async () => {
    const orderId = await driver.onrampOrder();
    // Somebody between page and service has the refund go elsewhere.
    await tab.page.route('**/signing-parameters?**', async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replaceAll(wallet.address.slice(2).toLowerCase(), 'e'.repeat(40));
      await route.fulfill({ response: answer, body: text });
    });
    await tab.goto(`/vendor/orders/${orderId}`);
    await at('sign-refused').waitFor();
    expect(await at('sign-refund-button').count()).toBe(0);
    await tab.page.unroute('**/signing-parameters?**');

    await at('decline').click();
    await at('decline-reason').click();
    await tab.page.getByRole('option', { name: 'I have not enough crypto or money' }).click();
    await at('confirm-decline').click();
    await tab.page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor();
    const { body } = await ground.gateway.operator.orders.get(orderId);
    expect(body.data.declines).toMatchObject([{ reason: 'no_balance' }]);
  }, 60_000);

  it('offers are made, changed, paused and withdrawn; offline keeps orders away', async () => {
    await tab.goto('/vendor/offers');
    await at('new-offer').click();
    await at('offer-fiat').fill('EUR');
    await tab.page.getByRole('option', { name: 'EUR', exact: true }).click();
    await at('offer-figure').fill('0.5');
    await at('offer-balance').fill('2500.000001');
    await at('offer-min').fill('20');
    await at('offer-max').fill('5000');
    await at('offer-rails').fill('SEPA');
    await tab.page.getByRole('option', { name: /SEPA/ }).first().click();
    await tab.page.keyboard.press('Escape');
    await at('offer-countries').fill('DE');
    await tab.page.getByRole('option', { name: 'DE', exact: true }).click();
    await tab.page.keyboard.press('Escape');
    expect(await tab.seriousFindings()).toEqual([]);
    await at('save-offer').click();
    // Newest first.
    const mine = tab.page.locator('[data-row]').first();
    await mine.locator('[data-state="waits for the operator"]').waitFor();
    expect(await mine.textContent()).toContain('2 500.000001 USDC');
    const id = await mine.getAttribute('data-row');

    await mine.getByTestId('edit-offer').click();
    await at('offer-balance').fill('1.5');
    await at('save-offer').click();
    await mine.getByText('1.5 USDC').waitFor();
    await mine.getByTestId('pause-offer').click();
    await at('confirm').click();
    await mine.getByTestId('pause-offer').waitFor({ state: 'detached' });
    await mine.getByTestId('withdraw-offer').click();
    await at('confirm').click();
    await tab.page.locator(`[data-row="${id}"]`).waitFor({ state: 'detached' });

    const profile = async () => {
      const { baseUrl } = ground.gateway;
      const answer = await tab.page.request.get(`${baseUrl}/api/v1/vendor/profile`);
      return (await answer.json()).data.online as boolean;
    };
    await tab.page.locator('label', { hasText: 'Online' }).first().click();
    await until('the vendor to be offline', async () => !(await profile()));
    await tab.page.locator('label', { hasText: 'Offline' }).first().click();
    await until('the vendor to be online', profile);
  }, 60_000);

  it('earnings are exact and can be downloaded; the log shows calls', async () => {
    await tab.goto('/vendor/earnings');
    const total = tab.page.locator('[data-testid="total"][data-asset="EUR"]');
    await total.waitFor();
    expect(await total.textContent()).toMatch(/Received \d+\.\d{2} EUR/);
    const download = tab.page.waitForEvent('download');
    await at('export').click();
    expect((await download).suggestedFilename()).toMatch(/^statement-.*\.csv$/);
    await tab.goto('/vendor/requests');
    await at('requests').waitFor();
    expect(ground.complaints).toEqual([]);
  }, 60_000);
});
