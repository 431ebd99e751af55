import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { ChainDriver } from './chain-driver.ts';
import { expectEveryRow } from './contract-coverage.ts';
import {
  ANY_SIGNATURE,
  accept,
  type Followed,
  type FundedStatus,
  type OfframpSteps,
  prove,
  refunded,
  review,
} from './offramp-steps.ts';
import type { OrderBook } from './order-book.ts';
import type { RowName, Situation } from './order-contract.ts';
import { atomic, type OrdersDriver } from './orders-driver.ts';
import { startOfframpFixture } from './orders-fixture.ts';
import { type OperatorAction, orderParties, signSafeTransaction } from './orders-parties.ts';

const vendorOf = statement<[orderId: string], { vendor_id: string | null }>(
  'test.offramp_vendor_of_order',
  'SELECT vendor_id FROM orders WHERE order_id = $1',
);

const OWED: Situation = { refundOwed: true };
const OWED_BUT_HELD: Situation = { refundOwed: true, held: true };

describe('off-ramp orders, C3.2', () => {
  let gateway: TestGateway;
  let drivers: readonly [OrdersDriver, OrdersDriver];
  let book: OrderBook;
  let settlementChain: ChainDriver;
  let steps: OfframpSteps;

  beforeAll(async () => {
    ({ gateway, drivers, book, steps, settlementChain } = await startOfframpFixture());
  });
  afterAll(() => gateway?.stop());

  const operate = (orderId: string, what: OperatorAction, decision: string) =>
    orderParties(gateway).operate(orderId, what, { decision, reason: 'a scenario' });
  const advance = (seconds: number) => gateway.partner.sandbox.advanceClock({ seconds });

  describe.concurrent('that are paid', () => {
    // Proves C3.2 rows 1 to 6, C4.6 rows 2 to 5, C2.10 rules 3 and 7, D1.3, D6.3, D6.5, D6.14, D7.2.
    it('the partner confirms: buyer, treasury and markup are paid in one transaction', async () => {
      const order = await steps.open();
      expect(await order.driver.read(order.id)).toMatchObject({
        order_type: 'offramp',
        anchor_type: 'fiat',
        has_fiat_settlement_notification: false,
        payment_details_id: expect.any(Number),
      });
      await order.driver.fund(order.id);
      await order.took('3.2 authorize-crypto-transfer');
      await prove(order);
      await review(order);
      const early = await order.driver.act(order.id, 'confirm-fiat-received');
      expect([early.status, early.body.error.code]).toEqual([409, 'INVALID_STATUS']);
      await accept(order);
      const promised = await order.driver.event(order.id, 'provider_confirms_fiat');
      expect([promised.status, promised.body.error.code]).toEqual([409, 'INVALID_STATUS']);
      expect(promised.body.error.details).toEqual({
        status: 'awaiting_fiat_received_confirmation',
        allowed_actions: ['confirm-fiat-received'],
        applicable_events: ['dispute_opened', 'escrow_error', 'hold_for_review'],
      });
      const confirmed = await order.driver.act(order.id, 'confirm-fiat-received');
      expect([confirmed.status, Object.keys(confirmed.body.data)]).toEqual([200, ['order_id', 'status']]);
      await order.took('3.2 confirm-fiat-received');
      await order.ended('released');
    });

    // Proves C3.2 row 6, C2.10 rule 5, D6.7.
    it('the provider confirms by itself, and every later confirmation is a 200 that changes nothing', async () => {
      const order = await steps.fund({ provider_scope: 'all', has_fiat_settlement_notification: true });
      await prove(order);
      await review(order);
      await accept(order, { providerConfirms: true });
      expect((await order.driver.event(order.id, 'provider_confirms_fiat')).status).toBe(200);
      await order.took('3.2 automatic confirmation');
      const late = await order.driver.act(order.id, 'confirm-fiat-received');
      expect([late.status, late.body.data]).toEqual([200, { order_id: order.id, status: 'completed' }]);
      expect((await order.driver.event(order.id, 'provider_confirms_fiat')).status).toBe(200);
      await order.is('completed');
      await order.ended('released');
    });

    it('a wallet that pays into the escrow by itself has funded the order', async () => {
      const [partner] = gateway.partners;
      const order = await steps.open({}, drivers[0]);
      const { escrow } = await until('the escrow', async () => {
        const funds = await order.driver.funds(order.id);
        return funds.escrow !== null && funds;
      });
      await settlementChain.pay(partner, escrow.address, atomic(escrow.expected_amount));
      await order.took('3.2 wallet pays by itself');
      await order.ended('locked');
    });

    // Proves D1 row 4, C2.10 rule 1, D11.4.
    it('a crypto-anchored deposit is exactly what was asked for, and has no cost bound', async () => {
      const order = await steps.fund({ fiat_amount: undefined, crypto_amount: '120.000001' });
      expect((await order.driver.funds(order.id)).escrow.balance_on_chain).toBe('120.000001');
      const answer = await order.driver.event(order.id, 'reprice', { cost_multiplier: 2 });
      expect([answer.status, answer.body.error.code]).toEqual([409, 'INVALID_STATUS']);
      await order.is('crypto_received');
      await order.ended('locked');
    });

    it('a hold stops the proof and the payout; the confirmation is kept and paid when it is released', async () => {
      const order = await steps.fund();
      await operate(order.id, 'hold', 'place');
      const refused = await order.driver.event(order.id, 'buyer_submits_proof');
      expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      expect(refused.body.error.details.applicable_events).toContain('release_hold');
      expect(refused.body.error.message).toContain('release_hold');
      await operate(order.id, 'hold', 'release');
      await prove(order);
      await review(order);
      await accept(order);
      await operate(order.id, 'hold', 'place');
      expect((await order.driver.act(order.id, 'confirm-fiat-received')).status).toBe(200);
      await order.is('fiat_received_confirmed', { held: true });
      await operate(order.id, 'hold', 'release');
      await order.took('3.2 confirm-fiat-received');
      await order.ended('released');
    });
  });

  describe.concurrent('that stop', () => {
    // Proves C3.2 row 7, C4.6 row 6, C4.6 rule 2, C7 INVALID_STATUS.
    it('cancelled without a deposit, nothing is owed', async () => {
      const order = await steps.open();
      const cancelled = await order.driver.act(order.id, 'cancel');
      expect(cancelled.body.data).toEqual({ order_id: order.id, status: 'cancelled' });
      await order.took('3.2 cancelled before the deposit');
      for (const call of [
        order.driver.act(order.id, 'authorize-refund', ANY_SIGNATURE),
        gateway.as(order.driver.apiKey).orders.refundParameters(order.id),
      ]) {
        const { status, body } = await call;
        expect([status, body.error.code]).toEqual([409, 'INVALID_STATUS']);
      }
      await order.ended('untouched');
    });

    // Proves C3.2 row 7, C3.2 rule 2, C4.6 rules 2 to 4, C4.6 rows 7 and 8, C5 rule 4,
    // C7 ESCROW_SIGNER_MISMATCH, C7 OPERATION_NOT_ALLOWED.
    it('a cancelled deposit is asked back once and returns whole: not by a third party, not while held', async () => {
      const order = await steps.fund();
      await order.driver.act(order.id, 'cancel', { reason: 'changed my mind' });
      await order.took('3.2 cancelled with a deposit', OWED);
      const { typed_data } = await order.driver.sdk.orders.refundParameters(order.id);
      const foreign = await signSafeTransaction(generatePrivateKey(), typed_data);
      const wrong = await order.driver.act(order.id, 'authorize-refund', { signature: foreign });
      expect([wrong.status, wrong.body.error.code]).toEqual([502, 'ESCROW_SIGNER_MISMATCH']);
      for (const signature of ['0x1234', 'not hex', `0x${'f'.repeat(130)}`]) {
        const malformed = await order.driver.act(order.id, 'authorize-refund', { signature });
        expect([malformed.status, malformed.body.error.code]).toEqual([400, 'INVALID_SIGNATURE']);
      }
      await operate(order.id, 'hold', 'place');
      await order.is('cancelled', OWED_BUT_HELD);
      const held = await order.driver.act(order.id, 'authorize-refund', ANY_SIGNATURE);
      expect([held.status, held.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      await operate(order.id, 'hold', 'release');
      await order.is('cancelled', OWED);
      await refunded(order, 'cancelled');
    });

    // Proves C3.2 row 7, D6.12.
    it('the third refused proof cancels and asks for the refund', async () => {
      const order = await steps.fundedAnd('fiat_payment_review_started');
      for (const _ of ['first', 'second']) {
        await order.driver.event(order.id, 'proof_rejected');
        await order.took('3.2 proof refused', { proofPending: false });
        expect((await order.driver.event(order.id, 'buyer_submits_proof')).status).toBe(200);
        await review(order);
      }
      await order.driver.event(order.id, 'proof_rejected');
      await order.took('3.2 third proof refused', OWED);
      await order.ended('locked');
    });

    // Proves C3.2 row 8.
    it('an escrow error fails an order that waits for its deposit', async () => {
      const order = await steps.open();
      expect((await order.driver.event(order.id, 'escrow_error')).status).toBe(200);
      await order.took('3.2 escrow error before the deposit');
      await order.ended('untouched');
    });

    // Proves C3.2 row 8.
    it('an escrow error fails a funded order, whose refund the partner signs', async () => {
      const order = await steps.fund();
      expect((await order.driver.event(order.id, 'escrow_error')).status).toBe(200);
      await order.took('3.2 escrow error with a deposit', OWED);
      await refunded(order, 'failed');
    });

    it.each<[RowName, FundedStatus]>([
      ['3.2 escrow error after the proof', 'fiat_payment_started'],
      ['3.2 escrow error under review', 'fiat_payment_review_started'],
      ['3.2 escrow error after the review', 'awaiting_fiat_received_confirmation'],
    ])('%s: the buyer may have paid, so the refund waits for the operator', async (row, status) => {
      const order = await steps.fundedAnd(status);
      expect((await order.driver.event(order.id, 'escrow_error')).status).toBe(200);
      await order.took(row, { ...OWED_BUT_HELD, holdReason: 'SETTLEMENT_REVIEW' });
      const early = await order.driver.act(order.id, 'authorize-refund', ANY_SIGNATURE);
      expect([early.status, early.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      await operate(order.id, 'hold', 'release');
      await order.is('failed', OWED);
      await order.ended('locked');
    });

    // Proves C3.2 row 9, C8 row 3, D7.4, trap 11, trap 25.
    it('at exactly 1.20 the order goes on; beyond it fails and the deposit returns without the partner', async () => {
      const order = await steps.fund();
      await order.driver.event(order.id, 'reprice', { cost_multiplier: '1.20' });
      await order.is('crypto_received');
      await order.driver.event(order.id, 'reprice', { cost_multiplier: '1.200001' });
      await order.took('3.2 cost beyond 1.20');
      await order.ended('returned');
    });

    it('beyond 1.20 while held, the deposit returns when the hold is released', async () => {
      const order = await steps.fund();
      await operate(order.id, 'hold', 'place');
      await order.driver.event(order.id, 'reprice', { cost_multiplier: '1.21' });
      await order.took('3.2 cost beyond 1.20', OWED_BUT_HELD);
      await operate(order.id, 'hold', 'release');
      await until('the refund', async () => (await order.driver.funds(order.id)).escrow.state === 'emptied');
      await order.is('failed');
      await order.ended('returned');
    });
  });

  describe.concurrent('in dispute', () => {
    // Proves C3.2 row 10, D6.12.
    it.each<[RowName, FundedStatus]>([
      ['3.2 dispute with a deposit', 'crypto_received'],
      ['3.2 dispute under review', 'fiat_payment_review_started'],
    ])('%s: the escrow keeps everything', async (row, status) => {
      const order = await steps.fundedAnd(status);
      expect((await order.driver.event(order.id, 'dispute_opened')).status).toBe(200);
      await order.took(row);
      await order.ended('locked');
    });

    // Proves D12.4.
    it('decided for the buyer that paid, the escrow pays out as agreed', async () => {
      const order = await steps.fundedAnd('awaiting_fiat_received_confirmation');
      await operate(order.id, 'dispute', 'open');
      await order.took('3.2 dispute after the review');
      expect((await operate(order.id, 'dispute', 'for_buyer')).status).toBe(200);
      await order.took('3.2 dispute for the buyer');
      await order.ended('released');
    });

    // Proves D12.4.
    it('decided for the partner, the refund is asked for', async () => {
      const order = await steps.fundedAnd('fiat_payment_started');
      await operate(order.id, 'dispute', 'open');
      await order.took('3.2 dispute after the proof');
      expect((await operate(order.id, 'dispute', 'for_seller')).status).toBe(200);
      await order.took('3.2 dispute for the seller', OWED);
      await refunded(order, 'cancelled');
    });
  });

  // From here on the chain itself is changed, so one scenario at a time.

  // Proves D6.6, C3.2 rule 2.
  it('a deposit that loses against a cancellation or a failure is owed back when it arrives', async () => {
    const orders = await Promise.all([steps.open({}, drivers[0]), steps.open({}, drivers[1])]);
    const [cancelled, failed] = orders;
    await settlementChain.withoutBlocks(async () => {
      for (const order of orders) {
        await order.driver.fund(order.id);
        await order.is('crypto_transfer_authorization_pending');
      }
      await cancelled.driver.act(cancelled.id, 'cancel');
      await cancelled.took('3.2 cancelled while authorized');
      await failed.driver.event(failed.id, 'escrow_error');
      await failed.took('3.2 escrow error while authorized');
    });
    for (const order of orders) {
      await until('the deposit', async () => (await order.driver.funds(order.id)).escrow.state === 'funded');
    }
    await cancelled.is('cancelled', OWED);
    await failed.is('failed', OWED);
    await Promise.all([refunded(cancelled, 'cancelled'), refunded(failed, 'failed')]);
  });

  // Proves D7.6, trap 20, C7 NONCE_ALREADY_USED.
  it('a transfer that the chain refuses is asked for again only when the first can no longer execute', async () => {
    const [partner] = gateway.partners;
    const order = await steps.open({}, drivers[0]);
    const signed = await order.driver.signedFunding(order.id);
    await settlementChain.allowRouter(partner, 0n);
    expect((await order.driver.act(order.id, 'authorize-crypto-transfer', signed)).status).toBe(200);
    await order.is('crypto_transfer_authorization_pending');
    const early = await gateway.partner.orders.transferParameters(order.id);
    expect([early.status, early.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    await settlementChain.passTime(700);
    await order.took('3.2 transfer refused by the chain');
    await settlementChain.allowRouter(partner, 2n ** 255n);
    const repeated = await order.driver.act(order.id, 'authorize-crypto-transfer', signed);
    expect([repeated.status, repeated.body.error.code]).toEqual([409, 'NONCE_ALREADY_USED']);
    await order.driver.fund(order.id);
    await order.took('3.2 authorize-crypto-transfer');
    await order.ended('locked');
  });

  async function vendorsOnline(online: boolean): Promise<void> {
    for (const { apiKey: key } of gateway.sandbox.vendors) {
      await gateway.as(key).vendor.setOnline({ online });
    }
    await until('the book to know', async () => {
      const { body } = await gateway.partner.liquidity.get();
      return body.data.pairs.length > 0 === online;
    });
  }

  async function openWithoutVendors(count: number): Promise<Followed[]> {
    const [driver] = drivers;
    const userId = await driver.user();
    const detailsId = await driver.ownDetails(userId);
    const quotes = await Promise.all(
      Array.from({ length: count }, () =>
        driver.offrampQuote({ user_uuid: userId, payment_details_id: detailsId }),
      ),
    );
    await vendorsOnline(false);
    return Promise.all(
      quotes.map(async ({ body }) => {
        const initiated = await gateway.partner.offramp.initiate({ quote_id: body.data.quote_id });
        expect(initiated.body.data).toMatchObject({ status: 'awaiting_liquidity_provider', timeline: [] });
        const order = steps.follow(driver, initiated.body.data.order_id);
        await order.took('3.2 initiate, vendor gone');
        return order;
      }),
    );
  }

  // Proves C3.2 row 7, C3.2 rule 1, D6.9, D6.12.
  it('every wait ends in its time: for a vendor, for the signature, for the proof and for a better one', async () => {
    const [unpaid, refused, pending] = await Promise.all([
      steps.fund(),
      steps.fundedAnd('fiat_payment_review_started'),
      steps.fundedAnd('fiat_payment_started'),
    ]);
    await refused.driver.event(refused.id, 'proof_rejected');
    await refused.took('3.2 proof refused', { proofPending: false });

    const [cancelled, failed, served, unserved] = (await openWithoutVendors(4)) as [
      Followed,
      Followed,
      Followed,
      Followed,
    ];
    await cancelled.driver.act(cancelled.id, 'cancel');
    await cancelled.took('3.2 cancelled before a vendor');
    await failed.driver.event(failed.id, 'escrow_error');
    await failed.took('3.2 escrow error before a vendor');
    await vendorsOnline(true);
    await advance(6);
    await until('another vendor', async () => {
      const [row] = await gateway.deps.db.query(SYSTEM, vendorOf, [served.id]);
      return row?.vendor_id != null;
    });
    expect((await served.driver.event(served.id, 'vendor_accepts')).status).toBe(200);
    await served.took('3.2 vendor accepts');

    await advance(901);
    await unserved.took('3.2 no vendor in time');
    await served.is('awaiting_crypto_transfer_authorization');
    await advance(900);
    await served.took('3.2 no authorization in 30 min');
    await advance(86_400);
    await unpaid.took('3.2 no proof in time', OWED);
    await refused.took('3.2 refused proof not renewed', OWED);
    await pending.is('fiat_payment_started');
    await refunded(unpaid, 'cancelled');
    await Promise.all([cancelled, failed, served, unserved].map((order) => order.ended('untouched')));
    await Promise.all([refused, pending].map((order) => order.ended('locked')));
  });

  // Proves C3.2 rows 1 to 10.
  it('every row of 3.2 was taken, and every step that the table knows', () =>
    expectEveryRow(book, 'offramp'));

  // Proves D1.3.
  it('wallets of partners, vendors and treasury changed by exactly what the orders moved', () =>
    book.checkWallets());
});
