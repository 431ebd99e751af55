import type { FiatPaymentDecisionInput } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { enableFiatAccounts } from '../harness/bank.ts';
import type { TestGateway } from '../harness/gateway.ts';
import type { FiatDriver } from './fiat-driver.ts';
import type { OrderBook } from './order-book.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';
import { type OwnIbanFixture, openOwnIbanFixture } from './own-iban-fixture.ts';

const WAITING = { ownIban: true };
const WAITING_ON = { ...WAITING, wasHeld: true };
const HELD = { ownIban: true, held: true, holdReason: 'DEPOSIT_REVIEW' };

const settlements = statement<[], { body: string }>(
  'test.settlement_events',
  `SELECT body FROM events WHERE event_type = 'retail.settlement.completed' ORDER BY position`,
);

describe('orders paid from the customer’s own account, C3.1 row 5', () => {
  let fixture: OwnIbanFixture;
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let fiat: FiatDriver;
  let book: OrderBook;
  let parties: OrderParties;

  beforeAll(async () => {
    fixture = await openOwnIbanFixture();
    ({ gateway, driver, fiat, book } = fixture);
    parties = orderParties(gateway);
  });
  afterAll(() => gateway?.stop());

  const decide = (paymentId: string, body: Omit<FiatPaymentDecisionInput, 'reason'>) =>
    gateway.operator.fiatPayments.decide(paymentId, { reason: 'ticket 9', ...body });

  // Proves C3.1 row 5, C4.5 rule 6, C8 row 9, D9.2, D9.3, C7 OPERATION_NOT_ALLOWED.
  it('a deposit of the same amount takes the order on, and its fiat goes to the vendor', async () => {
    const ada = await fixture.holder();
    const order = await fixture.locked(ada);
    const reading = await driver.read(order.id);
    expect(reading).toMatchObject({ fiat_funding_source: 'own_iban', payment_request: false });
    expect(reading).not.toHaveProperty('vendor_payment_details');
    const refused = await driver.act(order.id, 'confirm-payment-sent');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    // A cent off is another amount.
    expect((await ada.pay('100.01')).body.data).toMatchObject({ status: 'received' });
    await order.is('awaiting_fiat_transfer', WAITING);
    const paid = await ada.pay('100', { sender_name: 'Ada Lovelace', reference: 'rent' });
    expect(paid.body.data).toMatchObject({
      status: 'matched',
      order_id: order.id,
      amount: '100.00',
      sender_name: 'Ada Lovelace',
      reference: 'rent',
      fiat_account_id: ada.accountId,
    });
    expect(await order.took('3.1 deposit matched')).not.toHaveProperty('vendor_payment_details');
    const again = await driver.act(order.id, 'cancel');
    expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    // Not a matter of when.
    const confirmed = await driver.act(order.id, 'confirm-payment-sent');
    expect([confirmed.status, confirmed.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    const { movements } = await driver.funds(order.id);
    expect(movements).toContainEqual(
      expect.objectContaining({
        kind: 'customer_deposit_applied',
        postings: [
          { account: `fiat_account:${ada.accountId}`, asset: 'EUR', amount: '-100.00' },
          { account: expect.stringMatching(/^outside:vendor:/), asset: 'EUR', amount: '100.00' },
        ],
      }),
    );
    await fixture.completed(order);
    const { balance, entries } = await fiat.ledger(ada.userId, ada.accountId);
    expect([balance, entries]).toMatchObject([
      '100.01',
      [
        {
          direction: 'debit',
          kind: 'order_payment',
          amount: '100.00',
          balance_after: '100.01',
          order_id: order.id,
        },
        {
          direction: 'credit',
          kind: 'deposit',
          amount: '100.00',
          balance_after: '200.01',
          reference: 'rent',
        },
        { direction: 'credit', kind: 'deposit', amount: '100.01', balance_after: '100.01', reference: null },
      ],
    ]);
    await driver.booksBalance();
  });

  // Proves C3.1 row 5, C8 row 9, D9.3, trap 28.
  it('two open orders of one amount are both held, and a person says which one was paid', async () => {
    const ada = await fixture.holder();
    const [first, second] = [await fixture.locked(ada), await fixture.locked(ada)];
    const held = (await ada.pay('100.00', { sender_name: 'Byron' })).body.data;
    expect(held).toMatchObject({ status: 'held_for_review' });
    for (const order of [first, second]) {
      await order.is('awaiting_fiat_transfer', HELD);
      const refused = await driver.act(order.id, 'cancel');
      expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    }
    // The money is there although it matches no order.
    expect(await fiat.ledger(ada.userId, ada.accountId)).toMatchObject({ balance: '100.00' });
    const listed = await gateway.operator.fiatPayments.list({ limit: 100 });
    expect(listed.text).not.toContain('Byron');
    expect(listed.body.data.payments).toContainEqual(
      expect.objectContaining({
        payment_id: held.id,
        candidate_order_ids: [first.id, second.id].sort(),
      }),
    );
    const revealed = await gateway.operator.fiatPayments.reveal(held.id, { reason: 'ticket 9' });
    expect(revealed.body.data).toMatchObject({ sender_name: 'Byron', reference: null });

    const decided = await decide(held.id, { decision: 'match', order_id: second.id });
    expect(decided.body.data, decided.text).toMatchObject({ status: 'matched', order_id: second.id });
    await second.took('3.1 deposit matched');
    // Nothing keeps the other one waiting any more.
    await first.is('awaiting_fiat_transfer', WAITING_ON);
    const again = await decide(held.id, { decision: 'leave' });
    expect([again.status, again.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect((await ada.pay('100.00')).body.data).toMatchObject({ status: 'matched', order_id: first.id });
    await first.took('3.1 deposit matched');
    await Promise.all([fixture.completed(first), fixture.completed(second)]);
    const audit = await gateway.operator.audit.list({ subject: `fiat-payments/${held.id}` });
    expect(audit.body.data.entries.map(({ action }: { action: string }) => action)).toEqual([
      'fiat_payment.match',
      'fiat_payment.reveal',
    ]);
  });

  it('matching a payment ends the hold that the payment put on the order, and no other', async () => {
    const ada = await fixture.holder();
    const [first, second] = [await fixture.locked(ada), await fixture.locked(ada)];
    const payment = (await ada.pay('100.00')).body.data;
    await first.is('awaiting_fiat_transfer', HELD);
    // Somebody holds both for reasons of their own: the deposit's hold gives way to theirs.
    for (const { id } of [first, second]) {
      const held = await gateway.operator.orders.decideHold(id, {
        decision: 'place',
        reason: 'sanctions question',
      });
      expect(held.status, held.text).toBe(200);
    }
    const refused = await decide(payment.id, { decision: 'match', order_id: first.id });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(refused.body.error.message).toContain('another reason');
    await gateway.operator.orders.decideHold(first.id, { decision: 'release', reason: 'answered' });
    expect((await decide(payment.id, { decision: 'match', order_id: first.id })).status).toBe(200);
    await first.took('3.1 deposit matched');
    // The other one is held for the other reason still.
    await second.is('awaiting_fiat_transfer', { ...HELD, holdReason: 'COMPLIANCE_REVIEW' });
    await fixture.completed(first);
    await gateway.operator.orders.decideHold(second.id, { decision: 'release', reason: 'answered' });
    expect((await driver.act(second.id, 'cancel')).status).toBe(200);
    await fixture.cancelled(second);
  });

  it('two payments for two equal orders wait for two decisions, and what is left goes on', async () => {
    const ada = await fixture.holder();
    const [first, second] = [await fixture.locked(ada), await fixture.locked(ada)];
    const payments = [await ada.pay('100.00'), await ada.pay('100.00')].map(({ body }) => body.data);
    expect(payments.map(({ status }) => status)).toEqual(['held_for_review', 'held_for_review']);
    const [one, other] = payments;
    expect((await decide(one.id, { decision: 'match', order_id: first.id })).status).toBe(200);
    await first.took('3.1 deposit matched');
    // The other payment could still be for it.
    await second.is('awaiting_fiat_transfer', HELD);
    expect((await decide(other.id, { decision: 'leave' })).body.data.status).toBe('received');
    await second.is('awaiting_fiat_transfer', WAITING_ON);
    expect((await driver.act(second.id, 'cancel')).status).toBe(200);
    await Promise.all([fixture.completed(first), fixture.cancelled(second)]);
    expect(await fiat.ledger(ada.userId, ada.accountId)).toMatchObject({ balance: '100.00' });
  });

  // Proves C4.5 rule 7.
  it('what matches nothing stays on the account; what came too early can be matched by an operator', async () => {
    const [ada, grace] = [await fixture.holder(), await fixture.holder()];
    const early = (await ada.pay('100.00')).body.data;
    expect(early).toMatchObject({ status: 'received' });
    const [order, others] = [await fixture.locked(ada), await fixture.locked(grace)];
    const wrong = [
      [others.id, 404, 'ORDER_NOT_FOUND'],
      ['00000000-0000-7000-8000-000000000000', 404, 'ORDER_NOT_FOUND'],
    ] as const;
    for (const [orderId, status, code] of wrong) {
      const refused = await decide(early.id, { decision: 'match', order_id: orderId });
      expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    }
    expect((await decide(early.id, { decision: 'match', order_id: order.id })).status).toBe(200);
    await order.took('3.1 deposit matched');
    await fixture.completed(order);
    expect((await driver.act(others.id, 'cancel')).status).toBe(200);
    await fixture.cancelled(others);
  });

  // Proves trap 42.
  it('a deposit of a customer who is not cleared any more pays no vendor until somebody has looked', async () => {
    const ada = await fixture.holder();
    const order = await fixture.locked(ada, '52.00');
    await parties.setKyc(order.id, 'UNDER_REVIEW');
    const payment = (await ada.pay('52.00')).body.data;
    expect(payment).toMatchObject({ status: 'held_for_review' });
    await order.is('awaiting_fiat_transfer', HELD);
    const refused = await decide(payment.id, { decision: 'match', order_id: order.id });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'KYC_NOT_CLEARED']);
    await parties.setKyc(order.id, 'VERIFIED');
    expect((await decide(payment.id, { decision: 'match', order_id: order.id })).status).toBe(200);
    await order.took('3.1 deposit matched');
    await fixture.completed(order);
  });

  // Proves C4.5 rule 7, C6 row 4, D9.3, D9.5.
  it('where collection is switched on, what matches nothing goes to the partner, who hears of it', async () => {
    await enableFiatAccounts(gateway, 0, { collection_enabled: true });
    const ada = await fixture.holder();
    const order = await fixture.locked(ada, '31.00');
    expect((await ada.pay('31.00')).body.data).toMatchObject({ status: 'matched' });
    await order.took('3.1 deposit matched');
    const collected = (await ada.pay('12.34')).body.data;
    expect(collected).toMatchObject({ status: 'collected', amount: '12.34' });
    // The bank refuses to move this amount: it stays, and no settlement is announced.
    expect((await ada.pay('13.13')).body.data).toMatchObject({ status: 'received' });
    const events = (await gateway.deps.db.query(SYSTEM, settlements, [])).map(({ body }) => JSON.parse(body));
    expect(events.map(({ data }) => data)).toEqual([
      {
        settlement_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        payment_id: collected.id,
        user_id: ada.userId,
        fiat_account_id: ada.accountId,
        amount: '12.34',
        currency: 'EUR',
        collected_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect(await fiat.ledger(ada.userId, ada.accountId)).toMatchObject({
      balance: '13.13',
      entries: [
        { kind: 'deposit', balance_after: '13.13' },
        { kind: 'collection', direction: 'debit', amount: '12.34', balance_after: '0.00' },
        { kind: 'deposit', balance_after: '12.34' },
        { kind: 'order_payment' },
        { kind: 'deposit' },
      ],
    });
    const refused = await decide(collected.id, { decision: 'match', order_id: order.id });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    await fixture.completed(order);
  });

  it('accounts and clients of a clock that was put back stay with the bank', async () => {
    await driver.sdk.sandbox.advanceClock({ seconds: 600 });
    const ada = await fixture.holder();
    const approved = await fiat.customer();
    await driver.sdk.sandbox.resetClock();
    await fiat.account(approved);
    const order = await fixture.locked(ada, '32.00');
    expect((await ada.pay('32.00')).body.data).toMatchObject({ status: 'matched' });
    expect((await ada.pay('12.35')).body.data).toMatchObject({ status: 'collected' });
    await order.took('3.1 deposit matched');
    await fixture.completed(order);
  });

  // Proves C4.5 rule 6.
  it('an order without an account in its currency pays the vendor as ever', async () => {
    const userId = await fiat.customer();
    await fiat.account(userId, { currency: 'GBP', jurisdiction: 'GB' });
    const order = book.follow('onramp', await driver.onrampOrder({ user_uuid: userId }));
    expect(await order.took('3.1 initiate')).toMatchObject({ fiat_funding_source: 'vendor_details' });
    await order.ended('untouched');
  });

  it('took the row that the other scenarios leave to this one', () => {
    expect(book.taken).toContain('3.1 deposit matched');
  });

  it('wallets of partner, vendors and treasury changed by exactly what the orders moved', () =>
    book.checkWallets());
});
