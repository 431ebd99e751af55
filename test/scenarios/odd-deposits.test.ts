import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { ChainDriver } from './chain-driver.ts';
import { CHAIN, code, type DepositDriver, startDepositDriver } from './deposit-driver.ts';
import { atomic, type OrdersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';

type Hex = `0x${string}`;
const NOT_ALLOWED = [409, 'OPERATION_NOT_ALLOWED'];
/** More than the tolerance of these tests. */
const MISSING = 1_000_000n;

describe('a payment into an escrow that is not exactly what was awaited', () => {
  let at: DepositDriver;
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let settlementChain: ChainDriver;
  let tokens: Record<string, Hex>;
  let parties: OrderParties;

  beforeAll(async () => {
    at = await startDepositDriver();
    ({ gateway, driver, settlementChain, tokens } = at);
    parties = orderParties(gateway);
  });
  afterAll(() => gateway?.stop());

  // Proves D13.4, trap 24.
  it('too short: it is shown, cannot be accepted alone, and with what was missing the order goes on', async () => {
    const { orderId, escrow, expected } = await at.awaiting();
    await settlementChain.pay(gateway.partners[0], escrow, expected - MISSING);
    const [short] = await at.seen(orderId);
    expect(short).toMatchObject({
      status: 'held_for_review',
      kind: 'short',
      sender: driver.wallet,
      token: 'USDC',
      amount_atomic: `${expected - MISSING}`,
      expected: { sender: driver.wallet, token: 'USDC' },
      order_status: 'awaiting_crypto_transfer_authorization',
      return: null,
    });
    const funds = await driver.funds(orderId);
    expect(funds.summary).not.toContain('Nothing has been paid');
    expect(funds.summary).toContain(short.amount);
    expect(funds.escrow.balances).toMatchObject([{ token: 'USDC', amount_atomic: `${expected - MISSING}` }]);
    expect(funds.deposits).toMatchObject([{ deposit_id: short.deposit_id, status: 'held_for_review' }]);
    await at.agrees(orderId);
    expect(code(await at.decide(short.deposit_id, 'accept'))).toEqual(NOT_ALLOWED);

    await settlementChain.pay(gateway.partners[0], escrow, MISSING);
    await at.seen(orderId, 2);
    const decided = await at.decide(short.deposit_id, 'accept');
    expect(decided.body.data).toMatchObject({ status: 'accepted', credited_atomic: `${expected - MISSING}` });
    expect((await at.depositsOf(orderId)).map(({ status }) => status)).toEqual(['accepted', 'accepted']);
    expect((await driver.read(orderId)).status).not.toBe('awaiting_crypto_transfer_authorization');
    expect(await driver.published(orderId)).toContain('crypto_received');
    await at.agrees(orderId);
    const late = await at.decide(short.deposit_id, 'return');
    expect(code(late)).toEqual([409, 'INVALID_STATUS']);
    expect(late.body.error.details).toEqual({ status: 'accepted', allowed_actions: [] });
    await at.refunded(orderId);
    await at.agrees(orderId);
    expect(await at.holds(tokens.USDC!, escrow)).toBe(0n);
  });

  it('one unit short is within the tolerance: the order goes on, and the platform’s fee alone bears the unit', async () => {
    const { treasury } = gateway.deps.chains.get(CHAIN).settings;
    const { orderId, escrow, expected } = await at.awaiting();
    await settlementChain.pay(gateway.partners[0], escrow, expected - 1n);
    const [{ deposit_id: id }] = await at.seen(orderId);
    expect((await at.decide(id, 'accept')).body.data).toMatchObject({
      status: 'accepted',
      credited_atomic: `${expected - 1n}`,
    });
    await driver.reaches(orderId, 'crypto_received');
    await at.agrees(orderId);
    const vendor = await parties.vendorOf(orderId);
    const before = await Promise.all(
      [treasury, vendor.wallet, driver.wallet].map((one) => driver.balance(one)),
    );
    for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
      expect((await driver.event(orderId, event)).status).toBe(200);
    }
    expect((await driver.act(orderId, 'confirm-fiat-received')).status).toBe(200);
    await driver.reaches(orderId, 'completed');
    const { amounts, fee_breakdown: fees } = await driver.read(orderId);
    const [platformFee, partnerFee] = [atomic(fees.platform_fee), atomic(fees.partner_fee)];
    const after = await Promise.all(
      [treasury, vendor.wallet, driver.wallet].map((one) => driver.balance(one)),
    );
    expect(after.map((balance, position) => balance - before[position]!)).toEqual([
      platformFee - 1n,
      atomic(amounts.crypto_amount) - platformFee,
      partnerFee,
    ]);
    expect(await at.holds(tokens.USDC!, escrow)).toBe(0n);
    await at.agrees(orderId);

    const refundedOrder = await at.awaiting();
    await settlementChain.pay(gateway.partners[0], refundedOrder.escrow, refundedOrder.expected - 1n);
    const [other] = await at.seen(refundedOrder.orderId);
    await at.decide(other.deposit_id, 'accept');
    await at.refunded(refundedOrder.orderId);
    expect(await at.holds(tokens.USDC!, refundedOrder.escrow)).toBe(0n);
    await at.agrees(refundedOrder.orderId);
  });

  it('one unit short of an order that is cancelled goes back to its payer, out of an escrow that was never deployed', async () => {
    const { orderId, escrow, expected } = await at.awaiting();
    const before = await driver.balance(driver.wallet);
    await settlementChain.pay(gateway.partners[0], escrow, expected - 1n);
    const [{ deposit_id: id }] = await at.seen(orderId);
    expect((await at.decide(id, 'return')).body.data).toMatchObject({ status: 'return_pending' });
    expect((await at.depositsOf(orderId))[0].return.waiting_for).toBe('order');
    expect(code(await gateway.partner.deposits.returnParameters(id))).toEqual(NOT_ALLOWED);
    await driver.act(orderId, 'cancel');
    expect((await at.depositsOf(orderId))[0].return.waiting_for).toBe('signature');
    const back = await at.sendBack(orderId, id);
    expect(back.return).toMatchObject({ recipient_address: driver.wallet, waiting_for: null });
    expect(back.return.tx_hash).toMatch(/^0x/);
    expect(await driver.balance(driver.wallet)).toBe(before);
    await at.agrees(orderId);

    // The escrow's first nonce is used: an exact deposit that comes now cannot be refunded as the order's.
    await settlementChain.pay(gateway.partners[0], escrow, expected);
    const [, late] = await at.seen(orderId, 2);
    expect(late).toMatchObject({ kind: 'exact', status: 'held_for_review' });
    await at.agrees(orderId);
    await at.decide(late.deposit_id, 'return');
    await at.sendBack(orderId, late.deposit_id);
    expect(await driver.balance(driver.wallet)).toBe(before);
    await at.agrees(orderId);
  });

  // Proves D13.4, trap 40.
  it('one unit over: accepted, the order goes on, and the unit goes back after the order’s own payout', async () => {
    const { orderId, escrow, expected } = await at.awaiting();
    const before = await driver.balance(driver.wallet);
    await settlementChain.pay(gateway.partners[0], escrow, expected + 1n);
    const [{ deposit_id: id, kind }] = await at.seen(orderId);
    expect(kind).toBe('excess');
    expect((await at.decide(id, 'accept')).body.data).toMatchObject({
      status: 'return_pending',
      credited_atomic: `${expected}`,
      return_to: driver.wallet,
      return_atomic: '1',
    });
    expect(await driver.published(orderId)).toContain('crypto_received');
    await at.agrees(orderId);
    expect(code(await at.decide(id, 'hold'))).toEqual(NOT_ALLOWED);
    expect(code(await gateway.partner.deposits.returnParameters(id))).toEqual(NOT_ALLOWED);
    await at.refunded(orderId);
    expect(await at.holds(tokens.USDC!, escrow)).toBe(1n);
    await at.sendBack(orderId, id);
    expect(await driver.balance(driver.wallet)).toBe(before);
    await at.agrees(orderId);
  });

  // Proves trap 24, trap 40.
  it('paid twice: the second payment goes back once the order has its own', async () => {
    const { orderId, escrow, expected } = await at.awaiting();
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    await settlementChain.pay(gateway.partners[0], escrow, expected);
    const double = (await at.seen(orderId, 2)).find(({ kind }) => kind === 'double');
    expect((await driver.funds(orderId)).summary).toContain('double');
    expect(code(await at.decide(double.deposit_id, 'accept'))).toEqual(NOT_ALLOWED);
    await at.decide(double.deposit_id, 'return');
    await at.agrees(orderId);
    await at.refunded(orderId);
    await at.sendBack(orderId, double.deposit_id);
    expect(await at.holds(tokens.USDC!, escrow)).toBe(0n);
    await at.agrees(orderId);
  });

  // Proves trap 24, trap 40.
  it('the wrong token is never accepted and goes back', async () => {
    const { orderId, escrow } = await at.awaiting();
    const before = await at.holds(tokens.USDT!, driver.wallet);
    await settlementChain.transfer(gateway.partners[0].walletPrivateKey, escrow, 5_000_001n, tokens.USDT);
    const [{ deposit_id: id, kind }] = await at.seen(orderId);
    expect(kind).toBe('wrong_token');
    expect((await driver.funds(orderId)).escrow.balances).toMatchObject([
      { token: 'USDT', amount: '5.000001' },
    ]);
    expect(code(await at.decide(id, 'accept'))).toEqual(NOT_ALLOWED);
    expect(code(await at.decide(id, 'dismiss'))).toEqual(NOT_ALLOWED);
    await driver.act(orderId, 'cancel');
    await at.decide(id, 'return');
    await at.sendBack(orderId, id);
    expect(await at.holds(tokens.USDT!, driver.wallet)).toBe(before);
    await at.agrees(orderId);
  });

  // Proves D13.4, trap 24, trap 40.
  it('a foreign sender’s payment is accepted, or goes back to that sender', async () => {
    const otherPartner = gateway.partners[1];
    const accepted = await at.awaiting();
    await settlementChain.pay(otherPartner, accepted.escrow, accepted.expected);
    const [one] = await at.seen(accepted.orderId);
    expect(one).toMatchObject({ kind: 'foreign_sender', sender: otherPartner.walletAddress });
    expect((await at.decide(one.deposit_id, 'accept')).body.data).toMatchObject({ status: 'accepted' });
    await driver.reaches(accepted.orderId, 'crypto_received');
    await at.refunded(accepted.orderId);
    await at.agrees(accepted.orderId);

    const returned = await at.awaiting();
    const before = await at.holds(tokens.USDC!, otherPartner.walletAddress);
    await settlementChain.pay(otherPartner, returned.escrow, returned.expected);
    const [other] = await at.seen(returned.orderId);
    await driver.act(returned.orderId, 'cancel');
    await at.decide(other.deposit_id, 'return');
    await at.sendBack(returned.orderId, other.deposit_id);
    expect(await at.holds(tokens.USDC!, otherPartner.walletAddress)).toBe(before);
    await at.agrees(returned.orderId);
  });

  it('a late payment after the cancellation goes back; with two, one after the other', async () => {
    const { orderId, escrow } = await at.awaiting();
    await driver.act(orderId, 'cancel');
    await settlementChain.pay(gateway.partners[0], escrow, 7n);
    await settlementChain.pay(gateway.partners[0], escrow, 8n);
    const [first, second] = await at.seen(orderId, 2);
    for (const { deposit_id } of [first, second]) await at.decide(deposit_id, 'return');
    // Both are signed for the nonce that is next: only one of them can have it.
    const signatures = [await at.signature(first.deposit_id), await at.signature(second.deposit_id)];
    const answers = await Promise.all([
      at.handIn(first.deposit_id, signatures[0]!),
      at.handIn(second.deposit_id, signatures[1]!),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [now, later] = answers[0].status === 200 ? [first, second] : [second, first];
    await at.reaches(orderId, now.deposit_id, 'returned');
    await at.sendBack(orderId, later.deposit_id);
    expect(await at.holds(tokens.USDC!, escrow)).toBe(0n);
    await at.agrees(orderId);
  });

  // Proves trap 40.
  it('an unknown token is rescued, or dismissed', async () => {
    const { orderId, escrow } = await at.awaiting();
    const { walletPrivateKey } = gateway.partners[1];
    const stray = await settlementChain.deployToken(walletPrivateKey, 1_000n);
    await settlementChain.transfer(walletPrivateKey, escrow, 400n, stray);
    await settlementChain.transfer(walletPrivateKey, escrow, 1n, stray);
    const [large, dust] = await at.seen(orderId, 2);
    expect(large).toMatchObject({ kind: 'wrong_token', token: null, amount: null, amount_atomic: '400' });
    expect((await driver.funds(orderId)).escrow.balances).toMatchObject([
      { token_address: stray, token: null, amount_atomic: '401' },
    ]);
    expect((await at.decide(dust.deposit_id, 'dismiss')).body.data).toMatchObject({ status: 'dismissed' });
    await driver.act(orderId, 'cancel');
    await at.decide(large.deposit_id, 'return');
    await at.sendBack(orderId, large.deposit_id);
    expect(await at.holds(stray, gateway.partners[1].walletAddress)).toBe(999n);
    const { movements } = await driver.funds(orderId);
    expect(movements.map(({ kind }: { kind: string }) => kind)).toEqual(['deposit_held', 'deposit_returned']);
    await at.agrees(orderId);
  });

  it('on-ramp: what the vendor paid too much goes back to it after the order, signed by the partner', async () => {
    const orderId = await driver.onrampOrder();
    await driver.event(orderId, 'vendor_accepts');
    const vendorId = await parties.vendorId(orderId);
    const vendors = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
    const vendor = vendors.find(({ row }) => row.vendor_id === vendorId)!;
    const { escrow } = await driver.funds(orderId);
    const expected = atomic(escrow.expected_amount);
    await settlementChain.transfer(vendor.privateKey, escrow.address, expected + 3n);
    const [{ deposit_id: id }] = await at.seen(orderId);
    await at.decide(id, 'accept');
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    await at.agrees(orderId);
    await driver.act(orderId, 'cancel');
    await until('the return', async () => (await driver.funds(orderId)).escrow.state === 'emptied');
    const before = await at.holds(tokens.USDC!, vendor.row.wallet_address);
    await at.sendBack(orderId, id);
    expect(await at.holds(tokens.USDC!, vendor.row.wallet_address)).toBe(before + 3n);
    await at.agrees(orderId);
  });
});
