import type { Page } from 'playwright-core';
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { hosted, type WidgetDriver } from '../harness/widget-driver.ts';
import { simulate } from '../harness/widget-walk.ts';
import { type InjectedWallet, injectWallet } from '../harness/widget-wallet.ts';
import { foundBrowser, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

interface Funding {
  readonly approval: { data: string; amount_atomic: string } | null;
  readonly trust: { readonly router: `0x${string}` };
}

interface Customer {
  readonly token: string;
  readonly sessionId: string;
  readonly paymentDetailsId: number;
}

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('signing at the widget', () => {
  let fixture: WidgetFixture;
  let customer: Customer;

  beforeAll(async () => {
    fixture = await startWidgetFixture();
    await simulate({ sdk: fixture.gateway.sdk() }, false);
    customer = await newCustomer();
  });
  afterAll(() => fixture?.close());

  const inSession = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${fixture.gateway.baseUrl}/api/v1/widget/session${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${customer.token}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { data: T };
    expect(response.ok, JSON.stringify(answer)).toBe(true);
    return answer.data;
  };

  /** Of a session that the partner’s server has made, with an account to be paid to. */
  async function newCustomer(): Promise<Customer> {
    const { users, sandbox, widgetSessions, paymentDetails } = fixture.gateway.sdk();
    const { id } = await users.create({ email: 'signing@example.com' });
    await sandbox.kycStatus(id, { status: 'VERIFIED' });
    const account = await paymentDetails.create(id, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
      details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
    });
    const { session_id, url } = await widgetSessions.create({ user_uuid: id });
    const begun = await fetch(`${fixture.gateway.baseUrl}/api/v1/widget/sessions/${session_id}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
      body: JSON.stringify({ code: new URL(url).hash.slice(1) }),
    });
    const { data } = (await begun.json()) as { data: { token: string } };
    return { token: data.token, sessionId: session_id, paymentDetailsId: account.id };
  }

  /** The hosted page at an order that this wallet has to sign, as after a reload. */
  async function atOrder(wallet: InjectedWallet, page: Page): Promise<WidgetDriver> {
    const { quote_id } = await inSession<{ quote_id: string }>('/quotes', {
      ...{ side: 'offramp', crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' },
      payment_details_id: customer.paymentDetailsId,
    });
    const { order_id } = await inSession<{ order_id: string }>('/orders', {
      quote_id,
      wallet_address: wallet.address,
    });
    const stored = { key: customer.sessionId, token: customer.token, draft: { orderId: order_id } };
    await page.addInitScript(
      `sessionStorage['causeway-widget'] ??= ${JSON.stringify(JSON.stringify(stored))}`,
    );
    await page.goto(`${fixture.gateway.baseUrl}/widget/checkout?session=${customer.sessionId}`);
    const widget = hosted(page);
    await widget.phase('sign');
    return widget;
  }

  const asked = ({ calls }: InjectedWallet, method: string) =>
    calls.filter((call) => call.method === method).length;

  it('goes through the wallet of the order alone, on its network, when it can pay, once each', async () => {
    const context = await fixture.newContext();
    const wallet = await fixture.wallet(context);
    const other = await injectWallet(context, fixture.chain, { name: 'Other', rdns: 'example.other' });
    const page = await context.newPage();
    const widget = await atOrder(wallet, page);
    const option = (rdns: string) => page.locator(`[data-testid="wallet-option"][data-rdns="${rdns}"]`);

    await option(other.rdns).click();
    const wrong = await widget.by('wrong-account').textContent();
    expect(wrong).toContain(other.address);
    expect(wrong).toContain(wallet.address);
    await widget.by('other-wallet').click();

    wallet.moveTo(1);
    wallet.refuseNext('eth_requestAccounts');
    await option(wallet.rdns).click();
    await widget.by('wallet-rejected').waitFor();
    await option(wallet.rdns).click();
    await widget.by('switch-chain').click();

    expect(await widget.by('balance-low').textContent()).toMatch(/has 0\.00\sUSDC/);
    await fixture.fund(wallet.address, '1000');

    expect(await widget.by('sign-words').textContent()).toMatch(/exactly \d+\.\d+\sUSDC/);
    wallet.refuseNext('eth_sendTransaction');
    await widget.by('approve').click();
    await widget.by('wallet-rejected').waitFor();
    const sendNow = wallet.hold('eth_sendTransaction');
    await widget.by('approve').dblclick();
    await page.locator('[data-testid="approve"][aria-busy="true"]').waitFor();
    sendNow();
    await widget.by('sign-transfer').waitFor();
    expect(asked(wallet, 'eth_sendTransaction')).toBe(2);

    // After a reload it goes on where it was, without a question.
    const before = asked(wallet, 'eth_requestAccounts');
    await page.reload();
    await widget.by('sign-transfer').waitFor();
    expect(asked(wallet, 'eth_requestAccounts')).toBe(before);
    const words = await widget.by('sign-words').textContent();
    expect(words).toContain(wallet.address);
    const signNow = wallet.hold('eth_signTypedData_v4');
    await widget.by('sign-transfer').dblclick();
    await page.locator('[data-testid="sign-transfer"][aria-busy="true"]').waitFor();
    signNow();
    await widget.phase('settle');
    expect(asked(wallet, 'eth_signTypedData_v4')).toBe(1);
    expect(other.calls.map(({ method }) => method)).not.toContain('eth_signTypedData_v4');
  });

  it('asks no wallet for what does not fit the order', async () => {
    const context = await fixture.newContext();
    const wallet = await fixture.wallet(context);
    await fixture.fund(wallet.address, '1000');
    const page = await context.newPage();
    /** What the service answers, changed on its way to the page. */
    const tamper = (path: string, change: (data: never) => void) =>
      page.route(`**/${path}`, async (route) => {
        const response = await route.fetch();
        const answer = (await response.json()) as { data: never };
        change(answer.data);
        await route.fulfill({ response, json: answer });
      });
    await tamper('funding', ({ approval, trust }: Funding) => {
      const args = [trust.router, maxUint256] as const;
      if (approval !== null)
        approval.data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
    });
    const widget = await atOrder(wallet, page);
    await widget.by('wallet-option').click();
    await widget.by('sign-refused').waitFor();
    expect(await widget.by('approve').count()).toBe(0);

    await page.unroute('**/funding');
    await tamper('transfer-authorization-parameters', (data: { amount_human: string }) => {
      data.amount_human = '1.000000';
    });
    await widget.by('approve').click();
    await widget.by('sign-refused').waitFor();
    expect(await widget.by('sign-refused').textContent()).toContain('AMOUNT_MISMATCH');
    expect(await widget.by('sign-transfer').count()).toBe(0);
    expect(asked(wallet, 'eth_signTypedData_v4')).toBe(0);
  });

  it('asks again for what has changed meanwhile, and for what could not be read', async () => {
    const context = await fixture.newContext();
    const wallet = await fixture.wallet(context);
    await fixture.fund(wallet.address, '1000');
    const page = await context.newPage();
    // As with a token whose old permission has to be withdrawn first.
    await page.route('**/funding', async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: Funding };
      if (data.approval !== null && asked(wallet, 'eth_sendTransaction') === 0) {
        const args = [data.trust.router, 0n] as const;
        data.approval.data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
        data.approval.amount_atomic = '0';
      }
      await route.fulfill({ response, json: { success: true, data } });
    });
    let refused = 0;
    const refuse = (path: string, status: number, code: string, times = 1) =>
      page.route(
        `**/${path}`,
        async (route) => {
          refused += 1;
          await route.fulfill({ status, json: { success: false, error: { code, message: code } } });
        },
        { times },
      );
    const widget = await atOrder(wallet, page);
    await widget.by('wallet-option').click();
    await widget.by('approve').click();
    await page.locator('[data-testid="sign-words"]', { hasText: 'exactly' }).waitFor();
    await refuse('transfer-authorization-parameters', 500, 'INTERNAL_ERROR', 2);
    await widget.by('approve').click();

    await widget.by('prepare-again').click();
    await until('the second refusal', () => refused === 2);
    await widget.by('prepare-again').waitFor();
    // As when a lost connection is back.
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    await refuse('authorize-crypto-transfer', 409, 'NONCE_ALREADY_USED');
    await widget.by('sign-transfer').click();
    await page.getByText('Please sign again.').waitFor();
    await widget.by('sign-transfer').click();
    await widget.phase('settle');
    expect(asked(wallet, 'eth_sendTransaction')).toBe(2);
    expect(asked(wallet, 'eth_signTypedData_v4')).toBe(2);
  });
});
