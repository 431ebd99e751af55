import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { injectWallet } from '../harness/widget-wallet.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';

const CHAIN = 'base-mainnet';
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(80, 1)]);

// The driver only looks: everything that happens to the order is done on a page.
describe.skipIf(consoleBrowser === undefined)('an order at the three desks', () => {
  let ground: ConsoleGround;
  let driver: OrdersDriver;
  let partner: ConsoleTab;
  let vendor: ConsoleTab;
  let operator: ConsoleTab;

  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    driver = ordersDriver(ground.gateway);
    [partner, vendor, operator] = await Promise.all([
      ground.enter('partner'),
      ground.enter('vendor'),
      ground.enter('operator'),
    ]);
    const { deps, sandbox, partners } = ground.gateway;
    const atDesk = (await vendor.page.getByTestId('desk').textContent()) ?? '';
    // One vendor is there, so that the order is its own.
    for (const { name, apiKey } of sandbox.vendors) {
      if (name !== atDesk) await ground.gateway.as(apiKey).vendor.setOnline({ online: false });
    }
    const vendors = await listSimulatedVendors(deps.db, deps.sealer);
    const key = vendors.find(({ row }) => row.name === atDesk)?.privateKey;
    if (key === undefined) throw new Error(`the sandbox keeps no key of ${atDesk}`);
    const { chainId, rpcUrl } = deps.chains.get(CHAIN).settings;
    await injectWallet(vendor.context, { chainId, rpcUrl }, { key });
    const own = partners[0].walletPrivateKey as `0x${string}`;
    await injectWallet(partner.context, { chainId, rpcUrl }, { key: own });
  }, 120_000);
  afterAll(() => ground?.stop());

  const lit = (status: string) =>
    partner.page.locator(`[data-testid="machine"] [data-node="${status}"][data-lit="true"]`).waitFor();
  const vendorStep = (name: string) =>
    vendor.page.locator(`[data-testid="order"][data-step="${name}"]`).waitFor();

  it('is opened, escrowed, paid, proven, reviewed and completed by clicks and signatures alone', async () => {
    await partner.goto('/partner/sandbox');
    await partner.page.getByTestId('auto-off').click();
    await partner.page.getByText('They wait for your clicks now').waitFor();
    await partner.page.getByTestId('direction-offramp').click();
    await partner.page.getByTestId('order-amount').fill('50.00');
    await partner.page.getByTestId('order-reference').fill('three-desks');
    await partner.page.getByTestId('open-test-order').click();
    await lit('awaiting_crypto_transfer_authorization');
    const orderId = partner.page.url().split('/').at(-1) ?? '';

    // The way back is signed before anything is paid in: by hand where the vendor is asked before its program is.
    await vendor.goto(`/vendor/orders/${orderId}`);
    await vendor.page.locator('[data-testid="order"]').waitFor();
    const signsByHand = vendor.page.getByTestId('sign-refund-button');
    await vendor.page.locator('[data-step="wait-for-deposit"]').or(signsByHand).waitFor();
    if ((await signsByHand.count()) > 0) {
      await vendor.page.getByTestId('connect-wallet').click();
      await signsByHand.click();
      await vendorStep('wait-for-deposit');
    }

    await partner.page.getByTestId('action-authorize-crypto-transfer').click();
    await partner.page.getByTestId('sign-with').click();
    await lit('crypto_received');
    const before = await driver.escrowBalance(orderId);
    expect(before).toBeGreaterThan(0n);

    await vendorStep('pay');
    const connect = vendor.page.getByTestId('connect-wallet');
    if ((await connect.count()) > 0) await connect.click();
    await vendor.page.getByTestId('payment-reference').fill('E2E-20261116-0001');
    await vendor.page
      .locator('input[type="file"]')
      .setInputFiles({ name: 'slip.png', mimeType: 'image/png', buffer: PNG });
    await vendor.page.getByTestId('sign-release-button').click();
    await lit('fiat_payment_started');

    await operator.goto('/operator/queue');
    const waiting = operator.page.locator('[data-testid="queue-row"][data-kind="proof"]');
    await waiting.click();
    await operator.page.locator('[data-testid="case"]').waitFor();
    await operator.page.keyboard.press('c');
    await operator.page.locator('[data-claim="mine"]').waitFor();
    await operator.page.keyboard.press('v');
    await operator.page.getByTestId('revealed').waitFor();
    await operator.page.keyboard.press('a');
    await operator.page.keyboard.press('Control+Enter');
    await waiting.waitFor({ state: 'detached' });

    await partner.page.getByTestId('action-confirm-fiat-received').click();
    await partner.page.getByTestId('confirm').click();
    await lit('completed');
    await vendor.page.locator('[data-testid="order"][data-status="completed"]').waitFor();
    expect(await driver.escrowBalance(orderId)).toBe(0n);
    await driver.booksBalance();
    expect(ground.complaints).toEqual([]);
  }, 120_000);
});
