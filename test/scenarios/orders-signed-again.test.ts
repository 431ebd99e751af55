import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { until } from '../harness/until.ts';
import { forgetTreasury, type OrdersFixture, startOrdersFixture } from './orders-fixture.ts';

const CHAIN = 'base-mainnet';

/** In place of what its owner signed: its signature of something else, which is what another payload makes of it. */
const storeAnother = statement<[orderId: string, signature: string], { signer: string }>(
  'test.store_another_signature',
  `UPDATE escrow_signatures SET signature = $2 WHERE order_id = $1 AND purpose = 'refund' RETURNING signer`,
);

/** What was signed is no longer what would be sent: the chains file names other addresses than at the signature. */
describe('a signature that no longer fits its payout', () => {
  let fixture: OrdersFixture;
  beforeAll(async () => {
    fixture = await startOrdersFixture();
  });
  afterAll(() => fixture?.gateway.stop());

  const settings = () => fixture.gateway.deps.chains.get(CHAIN).settings;

  /** A release that the vendor has signed, for another treasury than the file names from now on. */
  async function outdate(orderId: string): Promise<void> {
    await forgetTreasury(fixture, orderId);
    settings().treasury = privateKeyToAccount(generatePrivateKey()).address;
  }

  const isHeld = (orderId: string) => until('the review', () => fixture.parties.isHeld(orderId));

  const releaseHold = (orderId: string) =>
    fixture.parties.operate(orderId, 'hold', { decision: 'release', reason: 'signed again' });

  /** Off-ramp, with a release that the vendor signed before the file changed; the order is held for it. */
  async function stuckOfframp(): Promise<string> {
    const { driver, parties } = fixture;
    const orderId = await driver.offrampOrder();
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    const vendor = await parties.vendorOf(orderId);
    const proof = { payment_reference: 'E2E-1', release_signature: await vendor.sign('release') };
    expect((await vendor.post('payment-proof', proof)).status).toBe(200);
    await outdate(orderId);
    for (const decision of ['start', 'accepted']) {
      expect((await parties.operate(orderId, 'proof-review', { decision })).status).toBe(200);
    }
    expect((await driver.act(orderId, 'confirm-fiat-received')).status).toBe(200);
    await isHeld(orderId);
    return orderId;
  }

  it('of a release counts as none: the vendor signs again, and the review lets the release go on', async () => {
    const { driver, parties } = fixture;
    const orderId = await stuckOfframp();
    const vendor = await parties.vendorOf(orderId);
    const shown = async () => (await vendor.get('order')).body.data;
    expect(await shown()).toMatchObject({
      signed: { release: false },
      allowed_actions: expect.arrayContaining(['sign-release']),
    });
    // The review alone does not help.
    expect((await releaseHold(orderId)).status).toBe(200);
    await isHeld(orderId);
    const signed = await vendor.post('sign-release', { release_signature: await vendor.sign('release') });
    expect([signed.status, signed.body.data.status]).toEqual([200, 'fiat_received_confirmed']);
    const after = await shown();
    expect(after.signed).toMatchObject({ release: true });
    expect(after.allowed_actions).not.toContain('sign-release');
    expect((await releaseHold(orderId)).status).toBe(200);
    await driver.reaches(orderId, 'completed');
    await driver.booksBalance();
  });

  it('of a release is replaced by one that an operator hands in', async () => {
    const { driver, parties } = fixture;
    const orderId = await stuckOfframp();
    const vendor = await parties.vendorOf(orderId);
    const handed = await parties.operate(orderId, 'escrow-signature', {
      purpose: 'release',
      signature: await vendor.sign('release'),
      reason: 'the vendor has lost its key',
    });
    expect(handed.status, handed.text).toBe(200);
    expect((await releaseHold(orderId)).status).toBe(200);
    await driver.reaches(orderId, 'completed');
    await driver.booksBalance();
  });

  const outdateRefund = (orderId: string) =>
    until('the vendor’s signature', async () => {
      const signature = await (await fixture.parties.vendorOf(orderId)).sign('release');
      const { db } = fixture.gateway.deps;
      return (await db.query(SYSTEM, storeAnother, [orderId, signature])).length === 1;
    });

  it('of a refund by the vendor does not keep the partner’s own deposit from it', async () => {
    const { driver } = fixture;
    const orderId = await driver.offrampOrder();
    await outdateRefund(orderId);
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    expect((await driver.act(orderId, 'cancel')).status).toBe(200);
    const refunded = await driver.refund(orderId);
    expect(refunded.body.data).toMatchObject({ status: 'cancelled', tx_hash: expect.any(String) });
    expect(await driver.escrowBalance(orderId)).toBe(0n);
    await driver.booksBalance();
  });

  it('of a refund by the vendor is replaced by another of its own, and its crypto comes back after the review', async () => {
    const { driver, parties } = fixture;
    const orderId = await driver.onrampOrder();
    await driver.event(orderId, 'vendor_accepts');
    await driver.event(orderId, 'escrow_funded');
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    await outdateRefund(orderId);
    expect((await driver.act(orderId, 'cancel')).status).toBe(200);
    await isHeld(orderId);
    const vendor = await parties.vendorOf(orderId);
    const signed = await vendor.post('sign-refund', { refund_signature: await vendor.sign('refund') });
    expect(signed.status, signed.text).toBe(200);
    expect((await releaseHold(orderId)).status).toBe(200);
    await until('the refund', async () => (await driver.escrowBalance(orderId)) === 0n);
    await driver.booksBalance();
  });
});
