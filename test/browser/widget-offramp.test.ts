import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { until } from '../harness/until.ts';
import { callsOf } from '../harness/widget-driver.ts';
import { PAYOUT } from '../harness/widget-walk.ts';
import type { InjectedWallet } from '../harness/widget-wallet.ts';
import { foundBrowser, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('selling crypto at the widget', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture();
  });
  afterAll(() => fixture?.close());

  const balance = (address: `0x${string}`) => {
    const { client, settings } = fixture.gateway.deps.chains.get('base-mainnet');
    return tokenBalance(client, settings.tokens.find(({ code }) => code === 'USDC')!.address, address);
  };

  /** A verified customer with 1,000 USDC in a wallet of the browser, whose order waits for its signature. */
  async function atSigning(amount: string) {
    const context = await fixture.newContext();
    const wallet = await fixture.wallet(context);
    const [email] = await Promise.all([fixture.verifiedEmail(), fixture.fund(wallet.address, '1000')]);
    const attributes = { side: 'offramp', 'fiat-currency': 'EUR', country: 'DE', amount };
    const opened = await fixture.open({ context, embed: { by: 'element', attributes } });
    const { widget } = opened;
    await widget.amount({ rail: 'iban-sepa' });
    await widget.identify(email);
    await widget.connectWallet(wallet.rdns);
    await widget.fillPayout(PAYOUT);
    await widget.by('continue').click();
    const orderId = await widget.confirm();
    await widget.phase('sign');
    return { ...opened, wallet, orderId };
  }

  /** The transactions and signatures that a page asked for. */
  const asked = ({ calls }: InjectedWallet) =>
    calls.map(({ method }) => method).filter((method) => /^eth_(send|sign)/.test(method));

  it('is signed in words by the wallet of the page, and the fiat arrives', async () => {
    const { page, widget, wallet, orderId, complaints } = await atSigning('100.00');
    expect(await widget.by('sign-words').textContent()).toContain('USDC');
    await widget.sign();
    await widget.phase('confirm', 'completed').then(async (phase) => {
      if (phase === 'confirm') await widget.press('confirm-received');
    });
    await widget.phase('completed');
    expect(asked(wallet)).toEqual(['eth_sendTransaction', 'eth_signTypedData_v4']);
    const order = await fixture.gateway.sdk().orders.get(orderId);
    const atomic = (text: string) => BigInt(text.replace('.', ''));
    const paid = atomic(order.amounts.crypto_amount) + atomic(order.fee_breakdown.partner_fee);
    expect(await balance(wallet.address)).toBe(1_000_000_000n - paid);
    await until('the last webhook', () => fixture.toldOf(orderId).includes('completed'));
    expect(fixture.toldOf(orderId).filter((status) => status === 'completed')).toHaveLength(1);
    expect((await callsOf(page)).map(({ name, payload }) => [name, payload?.orderId])).toEqual([
      ['onReady', undefined],
      ['onTradeStarted', orderId],
      ['onTradeCompleted', orderId],
    ]);
    expect(complaints).toEqual([]);
  });

  it('waits for a wallet that refuses, and gives the crypto back when the fiat was never paid', async () => {
    const { widget, wallet, orderId } = await atSigning('113.23');
    await widget.by('approve').click();
    wallet.refuseNext('eth_signTypedData_v4');
    await widget.by('sign-transfer').click();
    await widget.by('wallet-rejected').waitFor();
    await widget.by('sign-transfer').click();
    await widget.phase('refund');
    expect(await balance(wallet.address)).toBeLessThan(1_000_000_000n);
    await widget.by('sign-refund').click();
    await widget.phase('stopped');
    await until('the refund', async () => (await balance(wallet.address)) === 1_000_000_000n);
    await until('the last webhook', () => fixture.toldOf(orderId).includes('cancelled'));
  });
});
