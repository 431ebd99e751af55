import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DESKS, type Desk } from '@causeway/protocol/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleSubjects, furnish } from '../../scripts/demo/console-subjects.ts';
import { createRandom } from '../fuzz/random.ts';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { addressOf, consoleScreens, settled } from '../harness/console-screens.ts';
import { until } from '../harness/until.ts';
import { injectWallet } from '../harness/widget-wallet.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';
/** How many screens of the console are looked at, and which: `npm run console:screenshots` looks at all. */
const { CONSOLE_SCREENS = '5', CONSOLE_SCREENS_SEED = String(Date.now() % 2 ** 31) } = process.env;

describe.skipIf(consoleBrowser === undefined)('the operator’s pages', () => {
  let ground: ConsoleGround;
  let tab: ConsoleTab;
  let driver: OrdersDriver;
  /** The customer says that it has paid; the vendor has not said that it was. */
  let orderId: string;
  let subjects: ConsoleSubjects;

  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    const { gateway } = ground;
    driver = ordersDriver(gateway);
    subjects = await furnish(
      driver.sdk,
      gateway.sdk(gateway.sandbox.operatorKey),
      gateway.sandbox.vendors.map(({ apiKey }) => gateway.sdk(apiKey)),
    );
    const quote = await driver.sdk.onramp.quote({
      user_uuid: await driver.user(),
      crypto_currency: 'USDC',
      fiat_currency: 'EUR',
      fiat_amount: '100.00',
      partner_fee_pct: '1',
    });
    const asked = { quote_id: quote.quote_id, reference_id: 'look-for-me' };
    orderId = (await driver.sdk.onramp.initiate(asked)).order_id;
    await driver.event(orderId, 'vendor_accepts');
    await driver.event(orderId, 'escrow_funded');
    await driver.act(orderId, 'confirm-payment-sent');
    tab = await ground.enter('operator');
    const chain = gateway.sandbox.chains[0];
    if (chain === undefined) throw new Error('the sandbox has no chain');
    await injectWallet(tab.context, chain, { key: gateway.partners[0].walletPrivateKey as `0x${string}` });
  }, 120_000);
  afterAll(() => ground?.stop());

  const on = (id: string) => tab.page.getByTestId(id);
  const row = (key: string) => tab.page.locator(`tr[data-row="${key}"]`);

  /** In the dialog that is open. */
  async function confirm(reason: string, button = 'confirm'): Promise<void> {
    await on('reason').fill(reason);
    await on(button).click();
    await on('reason').waitFor({ state: 'detached' });
  }

  it(`a sample of all desks’ screens is whole and keeps nobody out (CONSOLE_SCREENS_SEED=${CONSOLE_SCREENS_SEED})`, async () => {
    const random = createRandom(Number(CONSOLE_SCREENS_SEED));
    const desks = new Map<Desk, Promise<ConsoleTab>>([['operator', Promise.resolve(tab)]]);
    for (let left = Number(CONSOLE_SCREENS); left > 0; left -= 1) {
      const { desk, path } = random.pick(consoleScreens());
      const colorScheme = random.pick(['light', 'dark'] as const);
      const width = random.pick([390, 820, 1280]);
      const screen = `${desk}/${path}, ${colorScheme}, ${width}`;
      const entered = desks.get(desk) ?? ground.enter(desk);
      desks.set(desk, entered);
      const { page, goto, seriousFindings } = await entered;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await goto(`/${desk}/${addressOf(path, { ...subjects })}`);
      await settled(page);
      expect([screen, await page.getByTestId('problem').count()]).toEqual([screen, 0]);
      expect([screen, await seriousFindings()]).toEqual([screen, []]);
      const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      expect([screen, isWider]).toEqual([screen, false]);
    }
    for (const entered of desks.values()) {
      const { context } = await entered;
      if (context !== tab.context) await context.close();
    }
    await tab.page.emulateMedia({ colorScheme: 'light' });
    await tab.page.setViewportSize({ width: 1280, height: 900 });
    expect(ground.complaints).toEqual([]);
  }, 180_000);

  it('a page of something that is not there says what it would have shown, why not, and leads back to the list', async () => {
    const unknown = Object.fromEntries(Object.keys(subjects).map((name) => [name, randomUUID()]));
    const pages = consoleScreens().filter(({ path }) => path.includes('$'));
    expect(pages.length).toBeGreaterThan(8);
    for (const desk of DESKS) {
      const { page, context, goto, seriousFindings } = await ground.enter(desk);
      for (const { path, title } of pages.filter((screen) => screen.desk === desk)) {
        await goto(`/${desk}/${addressOf(path, unknown)}`);
        await page.getByTestId('problem').waitFor();
        const heading = await page.getByRole('heading', { level: 1 }).textContent();
        expect([desk, path, heading]).toEqual([desk, path, title]);
        expect([desk, path, await seriousFindings()]).toEqual([desk, path, []]);
        await page.getByTestId('back-to-list').click();
        await settled(page);
        const [list] = path.split('/$');
        expect(new URL(page.url()).pathname).toBe(`/console/${desk}/${list}`);
      }
      await context.close();
    }
  });

  it('an order is found by reference, hash, escrow and parties, and the address keeps the search', async () => {
    const { order, deposits } = (await ground.gateway.operator.orders.get(orderId)).body.data;
    const names = ['look-for-me', order.quote_id, order.escrow_address, deposits[0]?.tx_hash, order.user_id];
    for (const name of names) {
      await tab.goto(`/operator/orders?q=${name}`);
      await row(orderId).waitFor();
      expect([name, await tab.page.getByTestId('filter-q').inputValue()]).toEqual([name, name]);
    }
    await on('filter-q').fill('nothing-is-called-that');
    await on('empty').waitFor();
    expect(tab.page.url()).toContain('q=nothing-is-called-that');
    await tab.page.reload();
    await on('empty').waitFor();
  });

  it('a dispute is decided and its payout signed with a wallet, in words; all of it is on record', async () => {
    await tab.goto(`/operator/orders/${orderId}`);
    await on('decide-hold-place').click();
    await confirm('looks odd, ticket 12');
    await on('held').waitFor();
    await on('decide-hold-release').click();
    await confirm('was nothing', 'decide-hold-release-submit');
    await on('held').waitFor({ state: 'detached' });
    await on('decide-dispute-open').click();
    await confirm('vendor is silent');
    await on('decide-dispute-for-buyer').click();
    await confirm('the bank shows the payment');

    const signing = on('owner-sign');
    await signing.getByTestId('connect-wallet').click();
    const words = await signing.getByTestId('sign-words').textContent();
    const { order } = (await ground.gateway.operator.orders.get(orderId)).body.data;
    expect(words).toMatch(
      /^Pays [\d.]+ USDC to the buyer and [\d.]+ USDC to the platform, as its fee, out of/,
    );
    expect(words).toContain(order.platform_fee);
    expect(await signing.getByTestId('owner-sign-button').isDisabled()).toBe(true);
    await signing.getByTestId('sign-reason').fill('the partner signs at our desk');
    await signing.getByTestId('owner-sign-button').click();
    await until('the payout', async () => (await driver.read(orderId)).status === 'completed');

    await on('tab-audit').click();
    const audit = on('audit');
    await audit.getByText('Handed in a signature to pay out').waitFor();
    const [shown] = await audit.getByRole('row').filter({ hasText: 'Held the order' }).allTextContents();
    const { name } =
      (await ground.gateway.operator.audit.list({ search: 'ticket 12' })).body.data.entries[0]?.actor ?? {};
    expect(shown).toContain('looks odd, ticket 12');
    expect(shown).toContain(String(name));
    expect(shown).toMatch(/held\s*false\s*→\s*true/);
    await tab.goto('/operator/audit?search=ticket%2012&action=order.hold');
    await tab.page.getByText('1–1 of 1').waitFor();
  }, 60_000);

  it('a partner is created, its limits are changed with a reason, and both are in its audit tab', async () => {
    await tab.goto('/operator/partners');
    await on('create-partner').click();
    await on('partner-name').fill('Harbour Pay');
    await on('partner-chain').click();
    await tab.page.getByRole('option', { name: 'base-mainnet' }).click();
    await on('partner-wallet').fill(WALLET.toLowerCase());
    await on('create-partner-submit').click();
    await tab.page.locator('[data-testid="problem"]').waitFor();
    await on('partner-wallet').fill(WALLET);
    await on('create-partner-submit').click();
    await on('secrets').getByText('cw_test_').waitFor();
    await on('secrets-kept').click();
    await tab.page.getByRole('cell', { name: 'Harbour Pay' }).click();

    await on('shown-open-order-limit').getByText('1,000 orders, the deployment’s own').waitFor();
    await on('change-limits').click();
    await on('open-order-limit').fill('many');
    expect(await on('change-limits-submit').isDisabled()).toBe(true);
    await on('open-order-limit').fill('7');
    await confirm('a new partner begins small', 'change-limits-submit');
    await on('shown-open-order-limit').getByText('7 orders').waitFor();
    await on('tab-audit').click();
    const change = tab.page.getByRole('row').filter({ hasText: 'Changed the partner' });
    await change.getByText('a new partner begins small').waitFor();
    expect(await change.textContent()).toMatch(/open_order_limit\s*null\s*→\s*7/);

    await on('tab-users').click();
    await on('invite-user').click();
    await on('invite-email').fill('first@harbour.example');
    await on('invite-user-submit').click();
    await on('secrets').getByText('/console/invitation').waitFor();
  });

  it('a currency is switched off: what that reaches is said first, and quotes in it end', async () => {
    const estimate = () =>
      ground.gateway.partner.onramp.estimate({
        crypto_currency: 'USDC',
        fiat_currency: 'KES',
        fiat_amount: '10000',
      });
    expect((await estimate()).status).toBe(200);
    await tab.goto('/operator/catalogue?tab=fiat_currencies&search=KES');
    await row('KES').getByTestId('open-record').click();
    await on('switch-record').click();
    expect(await on('what-it-affects').textContent()).toMatch(
      /used by \d+ rails and \d+ authorized offers?,/,
    );
    await confirm('the regulator asks for it', 'switch-record-submit');
    await until('the end of its quotes', async () => (await estimate()).status !== 200);
    await on('record').getByText('the regulator asks for it').waitFor();
    await on('switch-record').click();
    await confirm('all clear', 'switch-record-submit');
    await until('its quotes', async () => (await estimate()).status === 200);
    await tab.goto('/operator/catalogue?tab=institutions&search=gtbank');
    await tab.page.getByTestId('list-count').waitFor();
  });

  it('rates have a history that is drawn, wallets have gas, the books balance and are to be had as a file', async () => {
    await tab.goto('/operator/rates?q=EUR');
    await row('USD/EUR').getByTestId('rate-history').click();
    await on('rate-chart').waitFor();
    await tab.goto('/operator/wallets');
    const wallet = tab.page.locator('[data-testid="hot-wallet"][data-chain="base-mainnet"]');
    await wallet.waitFor();
    expect(await wallet.getAttribute('data-state')).toBe('ok');
    expect(await wallet.textContent()).toContain('Enough to pay for gas.');
    await tab.goto('/operator/reconciliation?scope=all');
    await on('books').getByText('The books balance').waitFor();
    await tab.goto('/operator/exports');
    const [file] = await Promise.all([tab.page.waitForEvent('download'), on('download-orders').click()]);
    expect(await readFile(await file.path(), 'utf8')).toContain(orderId);
  });
});
