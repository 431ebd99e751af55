import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenTransferCall } from '../../apps/gateway/src/chain/token-reads.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from './chain-driver.ts';
import { expectEveryRow } from './contract-coverage.ts';
import { type FollowedOrder, type OrderBook, openOrderBook } from './order-book.ts';
import type { RowName, Situation } from './order-contract.ts';
import { atomic, type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OperatorAction, orderParties } from './orders-parties.ts';

type Hex = `0x${string}`;

/** A new address. */
const freshAddress = (): Hex =>
  `0x${Array.from({ length: 40 }, () => Math.floor(Math.random() * 16).toString(16)).join('')}`;

const PAYER = { full_name: 'Ada Lovelace', email: 'ada@example.ca' };
const CANADIAN = { fiat_currency: 'CAD', payment_network_slug: 'interac-canada', country_code: 'CA' };

describe('on-ramp orders, C3.1', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let book: OrderBook;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
    driver = ordersDriver(gateway);
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
    book = await openOrderBook(gateway, driver);
  });
  afterAll(() => gateway?.stop());

  async function opened(fields: Record<string, unknown> = {}): Promise<FollowedOrder> {
    const order = book.follow('onramp', await driver.onrampOrder(fields));
    await order.took('3.1 initiate');
    return order;
  }

  async function accepted(fields: Record<string, unknown> = {}): Promise<FollowedOrder> {
    const order = await opened(fields);
    expect((await driver.event(order.id, 'vendor_accepts')).status).toBe(200);
    expect(await order.took('3.1 vendor accepts')).not.toHaveProperty('vendor_payment_details');
    return order;
  }

  async function locked(fields: Record<string, unknown> = {}, situation?: Situation): Promise<FollowedOrder> {
    const order = await accepted(fields);
    expect((await driver.event(order.id, 'escrow_funded')).status).toBe(200);
    await order.took('3.1 crypto locked', situation);
    return order;
  }

  async function paid(): Promise<FollowedOrder> {
    const order = await locked();
    const answer = await driver.act(order.id, 'confirm-payment-sent');
    expect(answer.body.data).toEqual({ order_id: order.id, status: 'fiat_transfer_pending' });
    await order.took('3.1 confirm-payment-sent');
    return order;
  }

  async function completed(): Promise<FollowedOrder> {
    const order = await paid();
    expect((await driver.event(order.id, 'vendor_confirms_fiat')).status).toBe(200);
    await order.took('3.1 vendor confirms fiat');
    await order.ended('released');
    return order;
  }

  const operate = (orderId: string, what: OperatorAction, decision: string) =>
    orderParties(gateway).operate(orderId, what, { decision, reason: 'a scenario' });

  describe.concurrent('on their way', () => {
    // Proves C3.1 rows 1 to 4 and 6, C3.1 rules 1 and 2, C4.5 rows 2 and 4, C4.5 rule 5, C4.6 row 9, D3.2,
    // D6.7, D6.10, D6.14, D7.2.
    it('the vendor’s details appear with the locked crypto, and completed means paid to the wallet', async () => {
      const order = await locked();
      expect(await driver.read(order.id)).toMatchObject({
        fiat_funding_source: 'vendor_details',
        payment_request: false,
        vendor_payment_details: { reference: expect.any(String) },
      });
      const wrong = await driver.act(order.id, 'submit-payer-details', {
        payment_details: { email: 'a@b.ca' },
      });
      expect([wrong.status, wrong.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      await driver.act(order.id, 'confirm-payment-sent');
      await order.took('3.1 confirm-payment-sent');
      for (const action of ['confirm-payment-sent', 'cancel'] as const) {
        const refused = await driver.act(order.id, action);
        expect([refused.status, refused.body.error]).toMatchObject([
          409,
          { code: 'INVALID_STATUS', details: { status: 'fiat_transfer_pending', allowed_actions: [] } },
        ]);
      }
      await driver.event(order.id, 'vendor_confirms_fiat');
      const done = await order.took('3.1 vendor confirms fiat');
      expect(done.tx_hash).toMatch(/^0x[0-9a-f]{64}$/);
      await order.ended('released');
    });

    // Proves C2.10 rules 1 and 2, D1 row 2.
    it('a crypto-anchored order delivers exactly what was asked for', async () => {
      const order = await locked({ fiat_amount: undefined, crypto_amount: '50.000001' });
      const { amounts, fee_breakdown: fees } = await driver.read(order.id);
      const receipt = atomic(amounts.crypto_amount) - atomic(fees.platform_fee) - atomic(fees.partner_fee);
      expect(receipt).toBe(50_000_001n);
      await driver.act(order.id, 'confirm-payment-sent');
      await order.took('3.1 confirm-payment-sent');
      await driver.event(order.id, 'vendor_confirms_fiat');
      await order.took('3.1 vendor confirms fiat');
      await order.ended('released');
    });

    // Proves C3.1 rows 7 and 8, C4.5 rows 5 and 6, C4.5 rule 8, D7.1, C7 INVALID_DESTINATION,
    // C7 SEND_OUT_IN_PROGRESS.
    it('a send-out reaches the other network with the promised amount, and only one is under way', async () => {
      const order = await completed();
      const parameters = (destination_chain: string, destination_address: string) =>
        gateway.partner.orders.bridgeParameters(order.id, { destination_chain, destination_address });
      for (const [chain, address] of [
        ['moon-mainnet', freshAddress()],
        // Listed, but the sandbox is not connected to it.
        ['ethereum-mainnet', freshAddress()],
        ['base-mainnet', freshAddress()],
        ['arbitrum-one', '0x12'],
        ['arbitrum-one', '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
      ] as const) {
        const refused = await parameters(chain, address);
        expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_DESTINATION']);
        expect(refused.body.error.details).toEqual(
          chain === 'arbitrum-one'
            ? { field: 'destination_address' }
            : { field: 'destination_chain', destination_chains: ['arbitrum-one'] },
        );
      }
      const destination = freshAddress();
      const upper = `0x${destination.slice(2).toUpperCase()}`;
      const spelt = (await parameters('arbitrum-one', upper)).body.data.destination_address;
      expect([spelt.toLowerCase(), spelt === destination]).toEqual([destination, false]);
      expect((await parameters('arbitrum-one', spelt)).status).toBe(200);
      const { to_amount: promised } = (await parameters('arbitrum-one', destination)).body.data;
      const answer = await driver.sendOut(order.id, destination);
      expect(answer.body.data).toEqual({ order_id: order.id, status: 'send_out_pending' });
      await order.took('3.1 authorize-bridge');
      const again = await parameters('arbitrum-one', destination);
      expect([again.status, again.body.error.code]).toEqual([409, 'SEND_OUT_IN_PROGRESS']);
      await driver.event(order.id, 'bridge_settles');
      const { send_out_tx_hash: hash } = await order.took('3.1 bridge settles');
      expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
      expect(await driver.balance(destination, 'arbitrum-one')).toBe(BigInt(promised));
      await order.sentOut();
    });

    // Proves C3.1 row 8.
    it('a failed send-out comes back to the wallet and can be authorized again, once', async () => {
      const order = await completed();
      const destination = freshAddress();
      await driver.sendOut(order.id, destination);
      await order.took('3.1 authorize-bridge');
      await driver.event(order.id, 'bridge_fails');
      expect(await order.took('3.1 bridge fails')).toMatchObject({ send_out_tx_hash: null });
      expect((await driver.sendOut(order.id, destination)).status).toBe(200);
      await order.took('3.1 authorize-bridge again');
      await driver.event(order.id, 'bridge_settles');
      await order.took('3.1 bridge settles');
      await order.sentOut();
      const third = await gateway.partner.orders.bridgeParameters(order.id, {
        destination_chain: 'arbitrum-one',
        destination_address: destination,
      });
      expect([third.status, third.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    });

    // Proves C4.5 row 3, C4.5 rule 5, C3.1 row 4, C7 INVALID_PAYER_DETAILS.
    it('a payment_request order wants its payer first: a saved profile or an object, never both or none', async () => {
      const userId = await driver.user();
      const unknown: Situation = { paymentRequest: 'payer unknown' };
      const order = await locked({ ...CANADIAN, user_uuid: userId }, unknown);
      expect(await driver.read(order.id)).toMatchObject({
        order_type: 'payment_request',
        payment_request: true,
      });
      expect(await driver.read(order.id)).not.toHaveProperty('vendor_payment_details');
      const early = await driver.act(order.id, 'confirm-payment-sent');
      expect([early.status, early.body.error.code]).toEqual([409, 'INVALID_STATUS']);
      const own = (
        await gateway.partner.paymentDetails.create(userId, {
          rail: 'interac-canada',
          currency: 'CAD',
          country_code: 'CA',
          details: PAYER,
        })
      ).body.data.id;
      for (const body of [
        {},
        { payment_details_id: own, payment_details: PAYER },
        { payment_details: {} },
        { payment_details: { email: ' ' } },
      ]) {
        const refused = await driver.act(order.id, 'submit-payer-details', body);
        expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_PAYER_DETAILS']);
      }
      const othersDetails = await driver.ownDetails(await driver.user());
      const foreign = await driver.act(order.id, 'submit-payer-details', {
        payment_details_id: othersDetails,
      });
      expect(foreign.status).toBe(404);
      await order.is('awaiting_fiat_transfer', unknown);

      for (const body of [{ payment_details_id: own }, { payment_details: PAYER }]) {
        const given = await driver.act(order.id, 'submit-payer-details', body);
        expect(given.body.data).toEqual({ message: expect.any(String) });
        await order.is('awaiting_fiat_transfer', { paymentRequest: 'payer known' });
      }
      await driver.act(order.id, 'confirm-payment-sent');
      await order.took('3.1 confirm-payment-sent');
      const late = await driver.act(order.id, 'submit-payer-details', { payment_details_id: own });
      expect([late.status, late.body.error.code]).toEqual([409, 'INVALID_STATUS']);
      await order.ended('locked');
    });

    // Proves D13.4.
    it('says where the money is at every step', async () => {
      const order = await locked();
      const during = await driver.funds(order.id);
      expect(during).toMatchObject({
        escrow: { state: 'funded' },
        waiting_for: { actor: 'partner', fact: 'payment_sent_confirmed' },
        movements: [{ kind: 'vendor_escrow_funded' }],
      });
      expect(during.who_can_move_it).toContainEqual({ actor: 'partner', fact: 'cancelled_by_partner' });
      await driver.act(order.id, 'confirm-payment-sent');
      await driver.event(order.id, 'vendor_confirms_fiat');
      expect(await driver.funds(order.id)).toMatchObject({
        escrow: { state: 'emptied', booked_amount: '0.000000', balance_on_chain: '0.000000' },
        who_can_move_it: [],
        // A send-out is allowed, and nothing waits for it.
        waiting_for: null,
      });
      await order.ended('released');
    });
  });

  describe.concurrent('that stop', () => {
    const cancel = (id: string) => driver.act(id, 'cancel', { reason: 'changed my mind' });
    const fail = (id: string) => driver.event(id, 'escrow_error');

    // Proves D6.8, D6.11.
    it.each<[RowName, () => Promise<FollowedOrder>, (id: string) => Promise<{ status: number }>, boolean]>([
      ['cancelled before a vendor', opened, cancel, false],
      ['cancelled before the escrow', accepted, cancel, false],
      ['cancelled before the payment', locked, cancel, true],
      ['escrow error before the escrow', accepted, fail, false],
      ['escrow error before the payment', locked, fail, true],
      ['escrow error after the payment', paid, fail, true],
    ])('%s: vendor crypto is back with the vendor', async (row, reached, stop, wasLocked) => {
      const order = await reached();
      expect((await stop(order.id)).status).toBe(200);
      await order.took(row);
      await order.ended(wasLocked ? 'returned' : 'untouched');
      const again = await driver.act(order.id, 'cancel');
      expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    });

    // Proves D6.11.
    it('vendor crypto that arrives after the cancellation goes back too', async () => {
      const order = await accepted();
      await cancel(order.id);
      await order.took('cancelled before the escrow');
      await payInto(order.id);
      await until('the return', async () => (await driver.funds(order.id)).escrow.state === 'emptied');
      await order.is('cancelled');
      await order.ended('returned');
    });

    // Proves D6.11, D12.4.
    it('a disputed payment waits for the operator, who can give the crypto back to the vendor', async () => {
      const order = await paid();
      expect((await operate(order.id, 'dispute', 'open')).body.data.status).toBe('dispute_started');
      await order.took('dispute opened');
      expect((await operate(order.id, 'dispute', 'for_seller')).status).toBe(200);
      await order.took('dispute for the seller');
      await order.ended('returned');
    });

    it('a hold keeps the payout back, and an order that fails while held keeps its crypto in escrow', async () => {
      const [released, returned, cancelled] = await Promise.all([paid(), paid(), locked()]);
      for (const { id } of [released, returned, cancelled]) await operate(id, 'hold', 'place');

      await driver.event(released.id, 'vendor_confirms_fiat');
      await released.is('fiat_received_confirmed', { held: true });
      await operate(released.id, 'hold', 'release');
      await released.took('3.1 vendor confirms fiat');
      await released.ended('released');

      await fail(returned.id);
      await returned.took('escrow error after the payment', { held: true, refundOwed: true });
      await operate(returned.id, 'hold', 'release');
      await until('the return', async () => (await driver.funds(returned.id)).escrow.state === 'emptied');
      await returned.is('failed');
      await returned.ended('returned');

      const refused = await cancel(cancelled.id);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      await operate(cancelled.id, 'hold', 'release');
      expect((await cancel(cancelled.id)).status).toBe(200);
      await cancelled.took('cancelled before the payment');
      await cancelled.ended('returned');
    });
  });

  /** The vendor's wallet pays what the order asks for, whatever the order thinks of it. */
  async function payInto(orderId: string): Promise<void> {
    const { settings } = gateway.deps.chains.get('base-mainnet');
    const { escrow } = await driver.funds(orderId);
    const call = tokenTransferCall({
      token: settings.tokens.find(({ code }) => code === 'USDC')!.address,
      to: escrow.address,
      amount: atomic(escrow.expected_amount),
    });
    await until('the late payment', async () => {
      const progress = await gateway.deps.transactor.advance(`late:${orderId}`, async () => ({
        chainId: settings.chainId,
        sender: escrow.owners.seller,
        call,
      }));
      return progress.state === 'mined';
    });
  }

  // From here on the chain itself is changed, so one scenario at a time.

  it('a send-out that the chain refuses is tried again only when the first can no longer execute', async () => {
    const [partner] = gateway.partners;
    const settlementChain = chainDriver(gateway);
    const order = await completed();
    const destination = { destination_chain: 'arbitrum-one', destination_address: freshAddress() };
    const signed = await driver.signedSendOut(order.id, destination);
    await settlementChain.allowRouter(partner, 0n);
    expect((await driver.act(order.id, 'authorize-bridge', signed)).status).toBe(200);
    await order.took('3.1 authorize-bridge');
    for (const answer of [
      await driver.act(order.id, 'authorize-bridge', signed),
      await gateway.partner.orders.bridgeParameters(order.id, destination),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'SEND_OUT_IN_PROGRESS']);
    }
    await settlementChain.passTime(700);
    await order.took('3.1 bridge fails');
    await settlementChain.allowRouter(partner, 2n ** 255n);
    const repeated = await driver.act(order.id, 'authorize-bridge', signed);
    expect([repeated.status, repeated.body.error.code]).toEqual([409, 'NONCE_ALREADY_USED']);
    await driver.sendOut(order.id, freshAddress());
    await order.took('3.1 authorize-bridge again');
    await driver.event(order.id, 'bridge_settles');
    await order.took('3.1 bridge settles');
    await order.sentOut();
  });

  // Proves D6.11.
  it('each waits for its own time and no longer: 15 min for a vendor, 30 for the escrow, 60 for fiat', async () => {
    const advance = (seconds: number) => gateway.partner.sandbox.advanceClock({ seconds });
    const [offered, unfunded, unpaid, held] = await Promise.all([opened(), accepted(), locked(), locked()]);
    await operate(held.id, 'hold', 'place');
    await advance(901);
    await offered.took('no vendor in 15 min');
    await unfunded.is('awaiting_vendor_escrow_funding');
    await advance(900);
    await unfunded.took('no escrow funding in 30 min');
    await unpaid.is('awaiting_fiat_transfer');
    await advance(1800);
    await unpaid.took('no fiat in 60 min');
    expect(await driver.read(held.id)).toMatchObject({ status: 'awaiting_fiat_transfer' });
    await Promise.all([
      offered.ended('untouched'),
      unfunded.ended('untouched'),
      unpaid.ended('returned'),
      held.ended('locked'),
    ]);
  });

  // Proves C3.1 rows 1 to 8.
  it('every row of 3.1 was taken, and every step that the table knows', () => expectEveryRow(book, 'onramp'));

  // Proves D1.3.
  it('wallets of partner, vendors and treasury changed by exactly what the orders moved', () =>
    book.checkWallets());
});
