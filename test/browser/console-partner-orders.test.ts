import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Statistics } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleGround, type ConsoleTab, consoleBrowser, startConsole } from '../harness/console.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';

const REFERENCE = 'console-order-1';

describe.skipIf(consoleBrowser === undefined)('orders at the partner’s desk', () => {
  let ground: ConsoleGround;
  let tab: ConsoleTab;
  let driver: OrdersDriver;
  let receiver: Server;
  let onrampId = '';
  let offrampId = '';

  beforeAll(async () => {
    ground = await startConsole({ chains: true });
    driver = ordersDriver(ground.gateway);
    await sdk().sandbox.setSettings({ auto_advance: false });
    receiver = createServer((request, response) => {
      request.resume();
      response.end('taken');
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    await sdk().webhookEndpoints.create({ url: `http://127.0.0.1:${port}/hooks` });
    [tab, offrampId] = await Promise.all([ground.enter('partner'), settledOfframp()]);
  }, 120_000);
  afterAll(async () => {
    await ground?.stop();
    receiver?.close();
  });

  async function settledOfframp(): Promise<string> {
    const orderId = await driver.offrampOrder({ fiat_amount: '50.00' });
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    for (const one of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted'])
      await driver.event(orderId, one);
    await driver.act(orderId, 'confirm-fiat-received');
    await driver.reaches(orderId, 'completed');
    return orderId;
  }

  const by = (testId: string, on = tab) => on.page.getByTestId(testId);
  const sdk = () => ground.gateway.sdk();
  const lit = (status: string) =>
    tab.page.locator(`[data-testid="machine"] [data-node="${status}"][data-lit="true"]`).waitFor();
  const rowIn = (other: ConsoleTab, orderId: string, status: string) =>
    other.page.locator(`[data-row="${orderId}"] [data-status="${status}"]`).waitFor();
  const confirm = async (action: string) => {
    await by(`action-${action}`).click();
    await by('confirm').click();
  };
  const event = (name: string) => by(`event-${name}`).click();
  /** Opens an order by clicks; answers its id. */
  async function openOrder(direction: string, amount: string, reference: string): Promise<string> {
    await tab.goto('/partner/sandbox');
    await by(`direction-${direction}`).click();
    await by('order-amount').fill(amount);
    await by('order-reference').fill(reference);
    await by('open-test-order').click();
    await by('order-status').waitFor();
    return tab.page.url().split('/').at(-1) ?? '';
  }

  it('drives an on-ramp order from its opening to completed, and a second tab follows', async () => {
    const other = await ground.enter('partner');
    await other.goto('/partner/orders?order_type=onramp');
    await other.page.locator('[data-testid="live"][data-state="live"]').waitFor();
    await other.page.evaluate(() => {
      (globalThis as unknown as { stays: boolean }).stays = true;
    });
    onrampId = await openOrder('onramp', '100.00', REFERENCE);
    await lit('awaiting_liquidity_provider');
    await rowIn(other, onrampId, 'awaiting_liquidity_provider');
    await event('vendor_accepts');
    await lit('awaiting_vendor_escrow_funding');
    await event('escrow_funded');
    await lit('awaiting_fiat_transfer');
    await rowIn(other, onrampId, 'awaiting_fiat_transfer');
    await confirm('confirm-payment-sent');
    await event('vendor_confirms_fiat');
    await lit('completed');
    await rowIn(other, onrampId, 'completed');
    // Not read again as a page: what was put into it is still there.
    expect(await other.page.evaluate(() => (globalThis as unknown as { stays?: boolean }).stays)).toBe(true);
    const taken = tab.page.locator('[data-testid="machine"] [data-taken="true"]');
    expect(await taken.evaluateAll((edges) => edges.map((edge) => edge.getAttribute('data-edge')))).toContain(
      'crypto_release_pending completed',
    );
    await other.context.close();
  });

  it('explains the order: the money, the next call, requests, the raw answer, the machine as a list', async () => {
    await by('funds-summary').waitFor();
    await by('amounts').getByText('100.00 EUR').first().waitFor();
    await by('tab-calls').click();
    await by('calls').getByText(`causeway.orders.get('${onrampId}')`).last().waitFor();
    await sdk().orders.get(onrampId);
    await until('the request in the log', async () => {
      const { requests } = await sdk().requestLog.list({ order_id: onrampId });
      return requests.length > 0;
    });
    await by('tab-requests').click();
    await by('order-requests').getByText(`GET orders/${onrampId}`).first().waitFor();
    await by('tab-webhooks').click();
    const told = by('order-deliveries').getByRole('row', { name: /order\.status\.changed, completed/ });
    await told.getByText('delivered').waitFor();
    await by('tab-json').click();
    await tab.page.getByText(`"order_id": "${onrampId}"`).waitFor();
    await by('machine-list').click();
    await tab.page.locator('li[aria-current="step"]', { hasText: 'Completed' }).waitFor();
    expect(await tab.seriousFindings()).toEqual([]);
  });

  it('stops and holds orders, and says why in words', async () => {
    await openOrder('onramp', '60.00', 'console-order-3');
    await event('hold_for_review');
    await by('hold').waitFor();
    await event('release_hold');
    await by('hold').waitFor({ state: 'detached' });
    await by('action-cancel').click();
    await by('reason').fill('The customer changed their mind');
    await by('confirm').click();
    await lit('cancelled');
    expect(await by('failure').getAttribute('data-code')).toBe('CANCELLED_ON_REQUEST');
  });

  it('keeps its filters in the address, over a reload', async () => {
    await tab.goto('/partner/orders');
    await by('filter-reference_id').fill(REFERENCE);
    await until('one row', async () => (await tab.page.locator('[data-row]').count()) === 1);
    await tab.page.reload();
    await tab.page.locator(`[data-row="${onrampId}"]`).waitFor();
    expect(await tab.page.locator('[data-row]').count()).toBe(1);
    expect(await by('filter-reference_id').inputValue()).toBe(REFERENCE);
    await tab.goto('/partner/orders?status=cancelled&status=completed&order_type=offramp');
    await tab.page.locator(`[data-row="${offrampId}"]`).waitFor();
    expect(await tab.page.locator('[data-row]').count()).toBe(1);
  });

  it('finds everything by any id, and nothing of others', async () => {
    const order = await sdk().orders.get(onrampId);
    const { escrow } = await sdk().orders.funds(onrampId);
    const { events } = await sdk().events.list({ limit: 500 });
    const told = events.find(({ data }) => 'order_id' in data && data.order_id === onrampId);
    const { requests } = await sdk().requestLog.list({ order_id: onrampId });
    const [endpoint] = (await sdk().webhookEndpoints.list()).endpoints;
    const { deliveries } = await sdk().webhookEndpoints.listDeliveries(endpoint?.id ?? '', {
      order_id: onrampId,
    });
    const { recipient_id: recipientId } = await sdk().recipients.create({
      recipient_name: 'Kofi Mensah',
      recipient_country: 'DE',
    });
    const email = `any-id-${onrampId}@example.com`;
    const customer = await sdk().users.create({ email, first_name: 'Grace', last_name: 'Hopper' });
    const here = `/partner/orders/${onrampId}`;
    const key = ground.gateway.partners[0].apiKey;
    const places: readonly (readonly [string | null | undefined, string, shown?: string])[] = [
      [onrampId, here],
      [order.quote_id, here],
      [REFERENCE, here],
      [escrow?.address, here],
      [escrow?.address.toLowerCase(), here],
      [order.tx_hash, here],
      [told?.event_id, here],
      [requests[0]?.request_id, '/partner/requests?request_id='],
      [order.user_id, `/partner/customers/${order.user_id}`],
      [email.toUpperCase(), `/partner/customers/${customer.id}`],
      [key, '/partner/keys?key=', '[data-row][aria-current="true"]'],
      [recipientId, `/partner/recipients/${recipientId}`, '[data-testid="screening-words"]'],
      [deliveries[0]?.id, `/partner/webhooks/${endpoint?.id}?delivery=`, '[data-testid="delivery"]'],
    ];
    for (const [text, place, shown] of places) {
      await tab.page.getByRole('link', { name: 'Home' }).click();
      await by('figure-orders').waitFor();
      await tab.page.keyboard.press('/');
      await tab.page.keyboard.insertText(text ?? 'nothing');
      await tab.page.keyboard.press('Enter');
      await until(`${text} leads to ${place}`, () => tab.page.url().includes(`/console${place}`));
      if (shown !== undefined) await tab.page.locator(shown).first().waitFor();
      if (place.includes('delivery=')) await tab.page.keyboard.press('Escape');
    }
    // What another partner has is not there, whatever names it.
    const second = ground.gateway.sdk(ground.gateway.partners[1].apiKey);
    const foreign = await second.users.create({ email, first_name: 'Alan', last_name: 'Turing' });
    const vendor = await ground.enter('vendor');
    const operator = await ground.enter('operator');
    for (const [at, text] of [
      [tab, foreign.id],
      [tab, 'no such thing'],
      [vendor, foreign.id],
      [vendor, email],
    ] as const) {
      await by('search', at).fill(text);
      await by('search-nothing', at).waitFor({ state: 'detached' });
      await by('search', at).press('Enter');
      await by('search-nothing', at).waitFor();
    }
    // The same address at two partners: an operator sees both, and chooses.
    await by('search', operator).fill(email);
    await by('search', operator).press('Enter');
    for (const { id } of [customer, foreign]) await operator.page.locator(`[data-found="${id}"]`).waitFor();
    await by('search', operator).fill(onrampId);
    await by('search', operator).press('Enter');
    await operator.page.waitForURL(`**/console/operator/orders/${onrampId}`);
    for (const text of [requests[0]?.request_id, order.user_id]) {
      await by('search', operator).fill(text ?? 'nothing');
      await by('search', operator).press('Enter');
      const list = text === order.user_id ? 'orders?q=' : 'requests?request=';
      await operator.page.waitForURL(`**/console/operator/${list}*`);
      await operator.page.locator('[data-row]').first().waitFor();
    }
    await Promise.all([vendor.context.close(), operator.context.close()]);
  });

  it('counts exactly', async () => {
    const [statistics, { orders }] = await Promise.all([sdk().statistics.get(), sdk().orders.list()]);
    const settled = orders.filter(({ status }) => status === 'completed');
    const sum = (amounts: readonly string[]) =>
      amounts.reduce((total, amount) => total + BigInt(amount.replace('.', '')), 0n).toString();
    expect(statistics).toMatchObject({
      orders: 3,
      settled: 2,
      stopped: 1,
      disputed: 0,
      open: 0,
      success_rate: '0.6666',
      statuses: [
        { status: 'completed', orders: 2 },
        { status: 'cancelled', orders: 1 },
      ],
      open_actions: { total: 0, orders: [] },
    });
    const crypto = sum(settled.map(({ amounts }) => amounts.crypto_amount));
    const volumes: Statistics['volumes'] = [
      { currency: 'EUR', kind: 'fiat', orders: 2, amount: '150.00' },
      {
        currency: 'USDC',
        kind: 'crypto',
        orders: 2,
        amount: `${crypto.slice(0, -6)}.${crypto.slice(-6)}`,
      },
    ];
    expect(statistics.volumes).toEqual(volumes);
    expect(statistics.series.at(-1)).toMatchObject({ orders: 3, settled: 2, volumes });
    expect(statistics.series).toHaveLength(31);
    const seconds = settled
      .map(({ created_at, timeline }) => {
        const at = timeline.find(({ status }) => status === 'completed')?.at ?? '';
        return Math.round((Date.parse(at) - Date.parse(created_at)) / 1_000);
      })
      .sort((a, b) => a - b);
    expect(statistics.time_to_complete).toEqual({ median_seconds: seconds[0], p90_seconds: seconds[1] });
    // Another partner has none of it.
    const [, second] = ground.gateway.partners;
    expect(await ground.gateway.sdk(second.apiKey).statistics.get()).toMatchObject({
      orders: 0,
      volumes: [],
    });

    await tab.goto('/partner/home');
    await by('figure-orders').getByText('3', { exact: true }).waitFor();
    await by('figure-success-rate').getByText('66.66 %').waitFor();
    await by('figure-volume').getByText('150.00 EUR').waitFor();
    await by('chart-orders-table').click();
    await by('chart-orders').getByRole('row').last().getByText('3', { exact: true }).waitFor();
    await by('period-12m').click();
    await tab.page.waitForURL('**/home?period=12m');
    expect(ground.complaints).toEqual([]);
  });

  it('pays from the faucet, decides KYC, moves the clock and puts it back', async () => {
    await tab.goto('/partner/sandbox');
    const wallet = `0x${'5c'.repeat(20)}` as const;
    await by('faucet-address').fill(wallet);
    await by('faucet-amount').fill('12.500001');
    await by('faucet-send').click();
    await by('faucet-done').waitFor();
    expect(await driver.balance(wallet)).toBe(12_500_001n);

    const { id } = await sdk().users.create({
      email: 'clock@example.com',
      first_name: 'Grace',
      last_name: 'Hopper',
    });
    await by('kyc-user').fill(id);
    await by('kyc-set').click();
    await until('the outcome', async () => (await sdk().kyc.status(id)).status === 'VERIFIED');

    await by('clock-86400').click();
    await by('clock-offset').getByText('86400 s').waitFor();
    await by('clock-reset').click();
    await by('confirm').click();
    await by('clock-offset').getByText('0 s', { exact: true }).waitFor();
    expect(ground.complaints).toEqual([]);
  });
});
