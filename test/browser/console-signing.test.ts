import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';
import { injectWallet } from '../harness/widget-wallet.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';
import { deskVendor } from './console-vendor-desk.ts';

const CHAIN = 'base-mainnet';
const ELSEWHERE = 'arbitrum-one';
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(80, 1)]);
const CANADIAN = { fiat_currency: 'CAD', payment_network_slug: 'interac-canada' };

describe.skipIf(consoleBrowser === undefined)('wallets at the desks', () => {
  let ground: ConsoleGround;
  let driver: OrdersDriver;
  let partner: ConsoleTab;

  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    driver = ordersDriver(ground.gateway);
    await driver.sdk.sandbox.setSettings({ auto_advance: false });
    partner = await ground.enter('partner');
    const { chainId, rpcUrl } = ground.gateway.deps.chains.get(CHAIN).settings;
    const key = ground.gateway.partners[0].walletPrivateKey as `0x${string}`;
    await injectWallet(partner.context, { chainId, rpcUrl }, { key });
  }, 120_000);
  afterAll(() => ground?.stop());

  const by = (testId: string, on = partner) => on.page.getByTestId(testId);
  const lit = (status: string) =>
    partner.page.locator(`[data-testid="machine"] [data-node="${status}"][data-lit="true"]`).waitFor();
  /** A wallet is connected once for as long as the page is not loaded anew. */
  async function sign(on = partner, button = 'sign-button'): Promise<void> {
    const connect = by('connect-wallet', on);
    await connect.or(by('wallet-connected', on)).first().waitFor();
    if ((await connect.count()) > 0) await connect.click();
    await by(button, on).click();
  }
  async function opened(orderId: string): Promise<void> {
    await partner.goto(`/partner/orders/${orderId}`);
    await by('order-status').waitFor();
  }
  /** Sold, paid in, and reported as paid by the customer. */
  async function paidOnramp(): Promise<string> {
    const orderId = await driver.onrampOrder();
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    await driver.act(orderId, 'confirm-payment-sent');
    return orderId;
  }

  it('a partner signs only what the order says, in words; what an order that stopped has in escrow comes back', async () => {
    const orderId = await driver.offrampOrder();
    await opened(orderId);
    // Somebody between page and service asks for another amount.
    const parameters = `**/orders/${orderId}/transfer-authorization-parameters`;
    await partner.page.route(parameters, async (request) => {
      const answer = await request.fetch();
      const { data, ...rest } = await answer.json();
      await request.fulfill({ response: answer, json: { ...rest, data: { ...data, amount_atomic: '1' } } });
    });
    await by('action-authorize-crypto-transfer').click();
    await by('sign-refused').waitFor();
    expect(await by('sign-button').count()).toBe(0);
    await partner.page.unroute(parameters);
    await partner.page.keyboard.press('Escape');
    await by('sign-dialog').waitFor({ state: 'detached' });

    await by('action-authorize-crypto-transfer').click();
    const { fee_breakdown, amounts } = await driver.read(orderId);
    const units = (text: string) => BigInt(text.replace('.', ''));
    const total = (units(amounts.crypto_amount) + units(fee_breakdown.partner_fee)).toString();
    expect(await by('sign-words').textContent()).toBe(
      `Moves ${total.slice(0, -6)}.${total.slice(-6)} USDC from your wallet to the escrow of this order.`,
    );
    expect(await partner.seriousFindings()).toEqual([]);
    await sign();
    await lit('crypto_received');
    await driver.event(orderId, 'order_expires');
    await by('action-authorize-refund').click();
    expect(await by('sign-words').textContent()).toContain(
      'USDC to your wallet, out of the escrow of this order',
    );
    await sign();
    await until('an empty escrow', async () => (await driver.escrowBalance(orderId)) === 0n);
    await driver.booksBalance();
  }, 90_000);

  it('a dispute that was decided for the partner is paid out by its signature, and the crypto is sent on', async () => {
    const orderId = await paidOnramp();
    await driver.event(orderId, 'dispute_opened');
    expect((await driver.funds(orderId)).summary).toContain('The operator decides the dispute.');
    await ground.gateway.operator.orders.decideDispute(orderId, {
      decision: 'for_buyer',
      reason: 'the bank shows the payment',
    });
    await opened(orderId);
    await by('funds-summary').getByText('It waits for a signature of the partner.').waitFor();
    const before = await driver.balance(driver.wallet);
    await by('action-authorize-release').click();
    expect(await by('sign-words').textContent()).toContain('to your wallet');
    expect(await by('sign-meaning').textContent()).toContain('cannot be refunded any more');
    await sign();
    await lit('completed');
    expect(await driver.balance(driver.wallet)).toBeGreaterThan(before);

    const destination = `0x${'7e'.repeat(20)}` as const;
    await by('action-authorize-bridge').click();
    await by('destination-chain').click();
    await partner.page.getByRole('option', { name: ELSEWHERE }).click();
    await by('destination-address').fill(destination);
    await by('destination-done').click();
    expect(await by('sign-words').textContent()).toContain('from your wallet to the bridge');
    expect(await by('sign-meaning').textContent()).toContain(`${destination} on ${ELSEWHERE}`);
    expect(await partner.seriousFindings()).toEqual([]);
    await sign();
    await lit('send_out_pending');
    await driver.event(orderId, 'bridge_settles');
    await lit('send_out_completed');
    expect(await driver.balance(destination, ELSEWHERE)).toBeGreaterThan(0n);
    await driver.booksBalance();
  }, 90_000);

  it('who pays is told on the page of the order, out of the customer’s own accounts', async () => {
    const user_uuid = await driver.user();
    const orderId = await driver.onrampOrder({ ...CANADIAN, user_uuid });
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    const elsewhere = { full_name: 'Emma Tremblay', iban: 'DE89370400440532013000' };
    await driver.sdk.paymentDetails.create(user_uuid, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
      details: elsewhere,
    });
    await opened(orderId);
    await by('action-submit-payer-details').click();
    await by('empty').getByText('The customer has no account of interac-canada in CAD').waitFor();
    expect(await partner.seriousFindings()).toEqual([]);
    await partner.page.keyboard.press('Escape');
    await driver.sdk.paymentDetails.create(user_uuid, {
      rail: 'interac-canada',
      currency: 'CAD',
      country_code: 'CA',
      details: { full_name: 'Emma Tremblay', email: 'emma@example.ca' },
    });
    await partner.page.reload();
    await by('action-submit-payer-details').click();
    await by('payer-account').click();
    expect(await partner.page.getByRole('option').count()).toBe(1);
    await partner.page.getByRole('option', { name: /interac-canada, CAD/ }).click();
    await by('payer-submit').click();
    await by('action-confirm-payment-sent').waitFor();
    expect(await driver.read(orderId)).toMatchObject({ next_action: 'confirm_payment_sent' });
  }, 60_000);

  // The driver only looks: everything that happens to the order is done on a page.
  it('an order is opened, escrowed, paid, proven, reviewed and completed at three desks, by clicks and signatures alone', async () => {
    await driver.sdk.sandbox.setSettings({ auto_advance: true });
    const [vendor, operator] = await Promise.all([ground.enter('vendor'), ground.enter('operator')]);
    await deskVendor(ground, vendor);
    const vendorStep = (name: string) =>
      vendor.page.locator(`[data-testid="order"][data-step="${name}"]`).waitFor();
    await partner.goto('/partner/sandbox');
    await by('auto-off').click();
    await partner.page.getByText('They wait for your clicks now').waitFor();
    await by('direction-offramp').click();
    await by('order-amount').fill('50.00');
    await by('order-reference').fill('three-desks');
    await by('open-test-order').click();
    await lit('awaiting_crypto_transfer_authorization');
    const orderId = partner.page.url().split('/').at(-1) ?? '';

    // The way back is signed before anything is paid in: by hand where the vendor is asked before its program is.
    await vendor.goto(`/vendor/orders/${orderId}`);
    const signsByHand = by('sign-refund-button', vendor).or(by('wallet-picker', vendor)).first();
    await vendor.page.locator('[data-step="wait-for-deposit"]').or(signsByHand).first().waitFor();
    if ((await signsByHand.count()) > 0) {
      await sign(vendor, 'sign-refund-button');
      await vendorStep('wait-for-deposit');
    }

    await by('action-authorize-crypto-transfer').click();
    await sign();
    await lit('crypto_received');
    expect(await driver.escrowBalance(orderId)).toBeGreaterThan(0n);

    await vendorStep('pay');
    await by('payment-reference', vendor).fill('E2E-20261116-0001');
    await vendor.page
      .locator('input[type="file"]')
      .setInputFiles({ name: 'slip.png', mimeType: 'image/png', buffer: PNG });
    await sign(vendor, 'sign-release-button');
    await lit('fiat_payment_started');

    await operator.goto('/operator/queue');
    const waiting = operator.page.locator('[data-testid="queue-row"][data-kind="proof"]');
    await waiting.click();
    await by('case', operator).waitFor();
    await operator.page.keyboard.press('c');
    await operator.page.locator('[data-claim="mine"]').waitFor();
    await operator.page.keyboard.press('v');
    await by('revealed', operator).waitFor();
    await operator.page.keyboard.press('a');
    await operator.page.keyboard.press('Control+Enter');
    await waiting.waitFor({ state: 'detached' });

    await by('action-confirm-fiat-received').click();
    await by('confirm').click();
    await lit('completed');
    await vendor.page.locator('[data-testid="order"][data-status="completed"]').waitFor();
    expect(await driver.escrowBalance(orderId)).toBe(0n);
    await driver.booksBalance();
    expect(ground.complaints).toEqual([]);
  }, 120_000);
});
