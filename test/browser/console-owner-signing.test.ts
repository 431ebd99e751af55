import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';
import { injectWallet } from '../harness/widget-wallet.ts';
import { atomic, type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';
import { orderParties } from '../scenarios/orders-parties.ts';
import { type WidgetCustomer, widgetPeople } from '../scenarios/widget-customer.ts';

const FEE = { partner_fee_pct: '1', locked: true };

describe.skipIf(consoleBrowser === undefined)('an owner’s signature at the operator’s desk', () => {
  let ground: ConsoleGround;
  let driver: OrdersDriver;
  let partnerId: string;

  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    const { gateway } = ground;
    driver = ordersDriver(gateway);
    await driver.sdk.sandbox.setSettings({ auto_advance: false });
    const { partners } = (await gateway.operator.partners.list()).body.data;
    const own = partners.find(
      ({ wallet_address }: { wallet_address: string }) => wallet_address === driver.wallet,
    );
    partnerId = own?.partner_id ?? '';
  }, 120_000);
  afterAll(() => ground?.stop());

  async function moveTo(wallet_address: string): Promise<void> {
    const moved = await ground.gateway.operator.partners.update(partnerId, {
      wallet_address,
      reason: 'another wallet',
    });
    expect(moved.status).toBe(200);
  }
  const newWallet = () => privateKeyToAccount(generatePrivateKey()).address;

  /** A customer’s order of which the dispute was decided for it: its signature releases the escrow. */
  async function toRelease(): Promise<{ readonly customer: WidgetCustomer; readonly orderId: string }> {
    const customer = await widgetPeople(ground.gateway, ground.gateway.partners[0]).arrive(FEE);
    const { order_id: orderId } = await customer.open('onramp');
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
    await customer.asked(orderId, 'pay');
    await customer.act(orderId, 'confirm-payment-sent');
    await driver.event(orderId, 'dispute_opened');
    const decided = await orderParties(ground.gateway).operate(orderId, 'dispute', { decision: 'for_buyer' });
    expect(decided.status).toBe(200);
    return { customer, orderId };
  }

  /** The operator’s page of the order, in a browser that has the customer’s wallet; the buyer’s is to sign. */
  async function atTheDesk({ key }: WidgetCustomer, orderId: string): Promise<ConsoleTab> {
    const tab = await ground.enter('operator');
    const [chain] = ground.gateway.sandbox.chains;
    if (chain === undefined) throw new Error('the sandbox has no chain');
    await injectWallet(tab.context, chain, { key });
    await tab.goto(`/operator/orders/${orderId}`);
    await tab.page.getByTestId('owner-sign').getByTestId('connect-wallet').click();
    return tab;
  }

  it('is given for an order from before the partner took other wallets: the fee goes where the escrow says', async () => {
    const { customer, orderId } = await toRelease();
    await moveTo(newWallet());
    const now = newWallet();
    await moveTo(now);
    const { page, context, seriousFindings } = await atTheDesk(customer, orderId);
    const words = (await page.getByTestId('sign-words').textContent()) ?? '';
    expect(words).toContain('to the partner, as its fee, at the wallet that it had when the escrow was made');
    const movements = await page.getByTestId('movement').allTextContents();
    expect(movements.filter((text) => text.includes(driver.wallet))).toHaveLength(1);
    expect(movements.join()).not.toContain(now);
    expect(await seriousFindings()).toEqual([]);

    const before = await driver.balance(driver.wallet);
    await page.getByTestId('sign-reason').fill('the customer signs at our desk');
    await page.getByTestId('owner-sign-button').click();
    await until('the payout', async () => (await driver.read(orderId)).status === 'completed');
    const { fee_breakdown } = await driver.read(orderId);
    expect((await driver.balance(driver.wallet)) - before).toBe(atomic(fee_breakdown.partner_fee));
    expect(await driver.balance(now)).toBe(0n);
    await context.close();
    await moveTo(driver.wallet);
    expect(ground.complaints).toEqual([]);
  }, 90_000);

  it('is refused where the fee would go to a wallet that the partner never had', async () => {
    const { customer, orderId } = await toRelease();
    const tab = await ground.enter('operator');
    const stranger = newWallet().slice(2).toLowerCase();
    await tab.page.route(`**/orders/${orderId}/escrow-signing-parameters*`, async (request) => {
      const answer = await request.fetch();
      const text = (await answer.text()).replaceAll(driver.wallet.slice(2).toLowerCase(), stranger);
      expect(text).toContain(stranger);
      await request.fulfill({ response: answer, body: text });
    });
    const [chain] = ground.gateway.sandbox.chains;
    if (chain === undefined) throw new Error('the sandbox has no chain');
    await injectWallet(tab.context, chain, { key: customer.key });
    await tab.goto(`/operator/orders/${orderId}`);
    await tab.page.getByTestId('sign-refused').waitFor();
    expect(await tab.page.getByTestId('owner-sign-button').count()).toBe(0);
    await tab.context.close();
  }, 60_000);
});
