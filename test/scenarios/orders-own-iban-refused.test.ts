import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ledgerAccountOf } from '../../apps/gateway/src/features/fiat-accounts/fiat-account.ts';
import { orderPart } from '../../apps/gateway/src/features/orders/lifecycle/reconcile-orders.ts';
import { BankingError, type BankingPort } from '../../apps/gateway/src/ports/banking.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { FiatDriver } from './fiat-driver.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';
import { type Holder, type OwnIbanFixture, openOwnIbanFixture } from './own-iban-fixture.ts';

describe('orders whose vendor the bank does not pay from the customer’s own account', () => {
  let fixture: OwnIbanFixture;
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let fiat: FiatDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    fixture = await openOwnIbanFixture();
    ({ gateway, driver, fiat } = fixture);
    parties = orderParties(gateway);
  });
  afterAll(() => gateway?.stop());

  /** The transfer to the vendor, as an operator sees it. */
  async function paymentOf(orderId: string) {
    const { effects } = (await gateway.operator.orders.get(orderId)).body.data;
    const effect = effects.find(({ kind }) => kind === 'bank.pay-vendor');
    if (effect === undefined) throw new Error('the vendor is not to be paid');
    return effect;
  }
  const vendorPaymentOf = async (orderId: string) =>
    (await gateway.operator.orders.get(orderId)).body.data.facts.vendorPayment;

  it('an order whose vendor the bank will not pay is held; decided for the vendor, the customer has its deposit back', async () => {
    const ada = await fixture.holder();
    const order = await fixture.locked(ada, '13.13');
    expect((await ada.pay('13.13')).body.data).toMatchObject({ status: 'matched' });
    // The bank may refuse before the order is read.
    await until('the hold', () => parties.isHeld(order.id));
    await order.took('3.1 deposit matched', { held: true, holdReason: 'FIAT_TRANSFER_REVIEW' });
    expect((await driver.event(order.id, 'dispute_opened')).status).toBe(200);
    await order.took('dispute opened', { held: true, holdReason: 'FIAT_TRANSFER_REVIEW' });
    expect((await parties.operate(order.id, 'hold', { decision: 'release' })).status).toBe(200);
    expect((await parties.operate(order.id, 'dispute', { decision: 'for_seller' })).status).toBe(200);
    await order.took('dispute for the seller');
    await order.ended('returned');
    expect(await fiat.ledger(ada.userId, ada.accountId)).toMatchObject({
      balance: '13.13',
      entries: [
        { kind: 'order_payment_returned', direction: 'credit', amount: '13.13', order_id: order.id },
        { kind: 'order_payment', direction: 'debit', amount: '13.13' },
        { kind: 'deposit' },
      ],
    });
    const [payment] = await ada.payments();
    expect(payment).toMatchObject({ status: 'received' });
    expect(payment).not.toHaveProperty('order_id');
    await driver.booksBalance();
    const booked = `${order.id}:customer_deposit_applied`;
    expect(
      await orderPart({ ...gateway.deps, depositAccountOf: ledgerAccountOf }).again(
        booked,
        'entry_unexpected',
      ),
    ).toEqual({ verdict: 'equal' });
    // The order has stopped: trying the transfer again does not pay the vendor.
    const { effect_id, last_error: refusal } = await paymentOf(order.id);
    expect((await gateway.operator.effects.retry(effect_id, { reason: 'ticket 9' })).status).toBe(200);
    await until('the transfer to fail again', async () => {
      const { status, last_error: error } = await paymentOf(order.id);
      return status === 'failed' && error !== refusal;
    });
    expect(await vendorPaymentOf(order.id)).toBe('refused');
  });

  /** The customer has its money back, once, and nothing is amiss in the books of the order. */
  async function expectReturned(holder: Holder, orderId: string, amount: string): Promise<void> {
    expect(await fiat.ledger(holder.userId, holder.accountId)).toMatchObject({
      balance: amount,
      entries: [
        { kind: 'order_payment_returned', direction: 'credit', amount, order_id: orderId },
        { kind: 'order_payment', direction: 'debit', amount },
        { kind: 'deposit' },
      ],
    });
    const [payment] = await holder.payments();
    expect(payment).toMatchObject({ status: 'received' });
    expect(payment).not.toHaveProperty('order_id');
    await driver.booksBalance();
    const part = orderPart({ ...gateway.deps, depositAccountOf: ledgerAccountOf });
    expect(await part.again(`${orderId}:customer_deposit_applied`, 'entry_unexpected')).toEqual({
      verdict: 'equal',
    });
  }

  it.each([
    ['while it is held for that', false],
    ['after the hold for that', true],
  ])(
    'an order that fails %s gives the customer its deposit back, and the vendor its crypto',
    async (_when, isReleased) => {
      const ada = await fixture.holder();
      const order = await fixture.locked(ada, '13.13');
      expect((await ada.pay('13.13')).body.data).toMatchObject({ status: 'matched' });
      await until('the hold', () => parties.isHeld(order.id));
      const HELD_FOR_IT = { held: true, holdReason: 'FIAT_TRANSFER_REVIEW' };
      await order.took('3.1 deposit matched', HELD_FOR_IT);
      const release = async () =>
        expect((await parties.operate(order.id, 'hold', { decision: 'release' })).status).toBe(200);
      if (isReleased) await release();
      expect((await driver.event(order.id, 'escrow_error')).status).toBe(200);
      await order.took(
        'escrow error after the payment',
        isReleased ? {} : { ...HELD_FOR_IT, refundOwed: true },
      );
      await expectReturned(ada, order.id, '13.13');
      if (!isReleased) await release();
      await until('the return', async () => (await driver.funds(order.id)).escrow.state === 'emptied');
      await order.ended('returned');
      // The transfer that had failed is started anew, and nothing is given back twice.
      const { effect_id, last_error: refusal } = await paymentOf(order.id);
      await gateway.operator.effects.retry(effect_id, { reason: 'ticket 9' });
      await until('the transfer to fail again', async () => {
        const { status, last_error: error } = await paymentOf(order.id);
        return status === 'failed' && error !== refusal;
      });
      await expectReturned(ada, order.id, '13.13');
    },
  );

  it('while the bank may be paying the vendor, a dispute is not decided for the vendor, who would have both', async () => {
    const ada = await fixture.holder();
    const order = await fixture.locked(ada, '47.11');
    const transfer = vi
      .spyOn(gateway.deps.bank as BankingPort, 'transfer')
      .mockRejectedValue(new BankingError('unavailable', 'the bank is closed'));
    expect((await ada.pay('47.11')).body.data).toMatchObject({ status: 'matched' });
    await until('the bank to be asked', async () => transfer.mock.calls.length > 0);
    // A hold keeps the money back: the transfer is looked at, and the bank is not asked.
    expect((await parties.operate(order.id, 'hold', { decision: 'place' })).status).toBe(200);
    const lookedAtAgain = async () => {
      const { next_attempt_at: due } = await paymentOf(order.id);
      await until('the next look', async () => (await paymentOf(order.id)).next_attempt_at !== due);
    };
    // The first one may have begun before the hold.
    await lookedAtAgain();
    transfer.mockClear();
    await lookedAtAgain();
    expect(transfer).not.toHaveBeenCalled();
    expect((await parties.operate(order.id, 'hold', { decision: 'release' })).status).toBe(200);
    await order.took('3.1 deposit matched');
    expect((await driver.event(order.id, 'dispute_opened')).status).toBe(200);
    await order.took('dispute opened');
    const refused = await parties.operate(order.id, 'dispute', { decision: 'for_seller' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(await vendorPaymentOf(order.id)).toBe('sending');
    transfer.mockRestore();
    const { effect_id } = await paymentOf(order.id);
    await gateway.operator.effects.retry(effect_id, { reason: 'ticket 9' });
    await until('the vendor to be paid', async () => (await vendorPaymentOf(order.id)) === 'sent');
    await order.ended('locked');
  });

  it.each([
    ['refuses it: the customer has its deposit back', 'refused'],
    ['does it: the crypto stays in escrow until somebody has looked', 'sent'],
  ])(
    'an order that fails while the bank is closed is decided once that answers, which %s',
    async (_what, answer) => {
      const ada = await fixture.holder();
      const order = await fixture.locked(ada, '48.11');
      const transfer = vi
        .spyOn(gateway.deps.bank as BankingPort, 'transfer')
        .mockRejectedValue(new BankingError('unavailable', 'the bank is closed'));
      expect((await ada.pay('48.11')).body.data).toMatchObject({ status: 'matched' });
      await until('the bank to be asked', async () => transfer.mock.calls.length > 0);
      await order.took('3.1 deposit matched');
      expect((await driver.event(order.id, 'escrow_error')).status).toBe(200);
      await order.took('escrow error after the payment', { held: true, refundOwed: true });
      expect(await vendorPaymentOf(order.id)).toBe('sending');
      if (answer === 'refused')
        transfer.mockRejectedValue(new BankingError('refused', 'the bank will not do it'));
      else transfer.mockRestore();
      // While it is held the bank is not asked, so the hold is released for that.
      const release = async () =>
        expect((await parties.operate(order.id, 'hold', { decision: 'release' })).status).toBe(200);
      await release();
      const { effect_id } = await paymentOf(order.id);
      await gateway.operator.effects.retry(effect_id, { reason: 'ticket 9' });
      await until('the answer', async () => (await vendorPaymentOf(order.id)) === answer);
      transfer.mockRestore();
      const held = { held: true, holdReason: 'FIAT_TRANSFER_REVIEW', refundOwed: true };
      await order.is('failed', held);
      if (answer === 'refused') await expectReturned(ada, order.id, '48.11');
      else expect(await fiat.ledger(ada.userId, ada.accountId)).toMatchObject({ balance: '0.00' });
      await release();
      await until('the return', async () => (await driver.funds(order.id)).escrow.state === 'emptied');
      await order.ended('returned');
    },
  );

  it('wallets of partner, vendors and treasury changed by exactly what the orders moved', () =>
    fixture.book.checkWallets());
});
