import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { startOrdersFixture } from './orders-fixture.ts';
import type { OrderParties } from './orders-parties.ts';

const LOST = 'UNDER_REVIEW';
const REFUSED = [422, 'KYC_NOT_CLEARED'];

describe('a customer’s KYC that is lost while an order runs', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    ({ gateway, driver, parties } = await startOrdersFixture());
  });
  afterAll(() => gateway?.stop());

  async function funded(): Promise<string> {
    const orderId = await driver.offrampOrder();
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    return orderId;
  }

  // Proves C4.5 rule 9, trap 5, trap 42.
  it('before the transfer is signed: refused, nothing is funded, so nothing is held', async () => {
    const orderId = await driver.offrampOrder();
    await parties.setKyc(orderId, LOST);
    const answer = await gateway.partner.orders.transferParameters(orderId);
    expect([answer.status, answer.body.error.code]).toEqual(REFUSED);
    expect(await parties.isHeld(orderId)).toBe(false);
  });

  // Proves trap 5.
  it('before the deposit is final: the order is held and the buyer is not told to pay', async () => {
    const orderId = await driver.offrampOrder();
    await driver.fund(orderId);
    await parties.setKyc(orderId, LOST);
    await driver.reaches(orderId, 'crypto_received');
    expect(await parties.isHeld(orderId)).toBe(true);
    const answer = await (await parties.vendorOf(orderId)).get('payment-instructions');
    expect([answer.status, answer.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
  });

  it('before the buyer learns where to pay: it is refused and the hold stays', async () => {
    const orderId = await funded();
    await parties.setKyc(orderId, LOST);
    const vendor = await parties.vendorOf(orderId);
    const answer = await vendor.get('payment-instructions');
    expect([answer.status, answer.body.error.code]).toEqual(REFUSED);
    expect(await parties.isHeld(orderId)).toBe(true);
    const since = expect.stringMatching(/Z$/);
    expect(await driver.read(orderId)).toMatchObject({
      hold: { reason: 'KYC_REVIEW', since },
      expires_at: null,
      failure: null,
    });
    // What is the matter with the customer is none of the vendor's business.
    const shown = await gateway.as(vendor.key).vendor.orders.get(orderId);
    expect(shown.body.data).toMatchObject({
      held_for_review: true,
      hold: { reason: 'COMPLIANCE_REVIEW', since },
    });
    expect(shown.text).not.toMatch(/kyc/i);
    await parties.setKyc(orderId, 'VERIFIED');
    expect((await parties.operate(orderId, 'hold', { decision: 'release' })).status).toBe(200);
    expect((await vendor.get('payment-instructions')).status).toBe(200);
  });

  // Proves trap 5, trap 42.
  it('before an on-ramp customer learns where to pay: the crypto is locked, the order held, and nothing shown until it is cleared', async () => {
    const orderId = await driver.onrampOrder();
    await driver.event(orderId, 'vendor_accepts');
    await parties.setKyc(orderId, LOST);
    expect((await driver.event(orderId, 'escrow_funded')).status).toBe(200);
    const held = await driver.read(orderId);
    expect(held).toMatchObject({
      status: 'awaiting_fiat_transfer',
      hold: { reason: 'KYC_REVIEW' },
      expires_at: null,
    });
    expect(held).not.toHaveProperty('vendor_payment_details');
    await parties.setKyc(orderId, 'VERIFIED');
    expect((await parties.operate(orderId, 'hold', { decision: 'release' })).status).toBe(200);
    expect(await driver.read(orderId)).toHaveProperty('vendor_payment_details');
    // Lost once more: whoever could still pay is told nothing, whoever has paid is asked for nothing more.
    await parties.setKyc(orderId, LOST);
    expect(await driver.read(orderId)).not.toHaveProperty('vendor_payment_details');
    expect((await driver.act(orderId, 'confirm-payment-sent')).status).toBe(200);
    expect(await driver.read(orderId)).toHaveProperty('vendor_payment_details');
  });

  // Proves C4.5 rule 9, trap 5, trap 42.
  it('before the release: both directions record the confirmation and keep the crypto, and go on after review', async () => {
    const offramp = await funded();
    for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
      expect((await driver.event(offramp, event)).status).toBe(200);
    }
    const onramp = await driver.onrampOrder();
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(onramp, event);
    await driver.act(onramp, 'confirm-payment-sent');
    await Promise.all([parties.setKyc(offramp, LOST), parties.setKyc(onramp, LOST)]);

    const confirmed = await driver.act(offramp, 'confirm-fiat-received');
    expect(confirmed.body.data).toEqual({ order_id: offramp, status: 'fiat_received_confirmed' });
    const vendor = await parties.vendorOf(onramp);
    const release_signature = await vendor.sign('release');
    const received = await vendor.post('fiat-confirmed', { release_signature });
    expect(received.body.data.status).toBe('fiat_received_confirmed');
    for (const orderId of [offramp, onramp]) {
      expect(await parties.isHeld(orderId)).toBe(true);
      expect(await driver.escrowBalance(orderId)).toBeGreaterThan(0n);
      await parties.setKyc(orderId, 'VERIFIED');
      await parties.operate(orderId, 'hold', { decision: 'release' });
    }
    await Promise.all([driver.reaches(offramp, 'completed'), driver.reaches(onramp, 'completed')]);
    await driver.booksBalance();
  });

  it('before a dispute is decided for the buyer: the operator is refused and the hold stays, with a key as without', async () => {
    for (const idempotencyKey of [undefined, 'decide-once']) {
      const orderId = await funded();
      await driver.event(orderId, 'dispute_opened');
      await parties.setKyc(orderId, LOST);
      const body = { decision: 'for_buyer', reason: 'ticket 7' } as const;
      const decide = () =>
        idempotencyKey === undefined
          ? gateway.call('POST', `/api/v1/operator/orders/${orderId}/dispute`, {
              key: gateway.sandbox.operatorKey,
              body,
            })
          : gateway.operator.orders.decideDispute(orderId, body, { idempotencyKey });
      const answer = await decide();
      expect([answer.status, answer.body.error.code]).toEqual(REFUSED);
      expect(await parties.isHeld(orderId)).toBe(true);
      const again = await decide();
      if (again.headers.get('idempotency-replayed')) expect(again.body).toEqual(answer.body);
      else expect(again.body.error.code).toBe('OPERATION_NOT_ALLOWED');
      await parties.setKyc(orderId, 'VERIFIED');
      await parties.operate(orderId, 'hold', { decision: 'release' });
      expect((await parties.operate(orderId, 'dispute', { decision: 'for_buyer' })).status).toBe(200);
    }
  });

  it('before the partner’s own release: refused, held, and the partner’s key replays the refusal', async () => {
    const orderId = await driver.onrampOrder();
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
    await driver.act(orderId, 'confirm-payment-sent');
    await driver.event(orderId, 'dispute_opened');
    await parties.operate(orderId, 'dispute', { decision: 'for_buyer' });
    await parties.setKyc(orderId, LOST);
    const authorize = () =>
      gateway.partner.orders.authorizeRelease(
        orderId,
        { signature: `0x${'11'.repeat(65)}` },
        { idempotencyKey: `release-${orderId}` },
      );
    const answer = await authorize();
    expect([answer.status, answer.body.error.code]).toEqual(REFUSED);
    await until('the hold', () => parties.isHeld(orderId));
    const replayed = await authorize();
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(replayed.body).toEqual(answer.body);
  });

  describe('for good, when others have done their part', () => {
    const operate = (orderId: string, more: object, idempotencyKey?: string) =>
      gateway.operator.orders.decideHold(
        orderId,
        { decision: 'release', reason: 'ticket 9', ...more },
        idempotencyKey === undefined ? {} : { idempotencyKey },
      );
    const auditTrail = async (orderId: string) => (await gateway.operator.orders.get(orderId)).body.data;
    const waivers = async (orderId: string) => {
      const { audit, timeline } = await auditTrail(orderId);
      return {
        audited: audit
          .filter(({ action }: { action: string }) => action === 'order.hold.release_without_kyc')
          .map(({ reason }: { reason: string }) => reason),
        shown: timeline.filter((entry: { decision?: string }) => entry.decision === 'kyc_waived'),
      };
    };

    it('an operator lets this one payout go on, on record; a plain release does not', async () => {
      const orderId = await funded();
      const early = await operate(orderId, { override_kyc: true });
      expect([early.status, early.body.error.code]).toEqual([409, 'INVALID_STATUS']);
      for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
        await driver.event(orderId, event);
      }
      await parties.setKyc(orderId, 'REJECTED');
      await driver.act(orderId, 'confirm-fiat-received');
      expect(await parties.isHeld(orderId)).toBe(true);

      expect((await operate(orderId, {})).body.data.status).toBe('fiat_received_confirmed');
      expect(await parties.isHeld(orderId)).toBe(true);
      expect((await operate(orderId, { decision: 'place', override_kyc: true })).status).toBe(400);
      expect((await operate(orderId, { override_kyc: true, reason: '' })).status).toBe(400);
      expect(await waivers(orderId)).toEqual({ audited: [], shown: [] });

      const waive = () => operate(orderId, { override_kyc: true }, `waive-${orderId}`);
      const [one, two] = [await waive(), await waive()];
      expect(one.body.data).toEqual({ order_id: orderId, status: 'crypto_release_pending' });
      expect([two.text, two.headers.get('idempotency-replayed')]).toEqual([one.text, 'true']);
      const { timeline } = await driver.reaches(orderId, 'completed');
      expect(timeline.map(({ status }: { status: string }) => status).slice(-3)).toEqual([
        'fiat_received_confirmed',
        'crypto_release_pending',
        'completed',
      ]);
      expect(await waivers(orderId)).toEqual({
        audited: ['ticket 9'],
        shown: [{ status: 'fiat_received_confirmed', at: expect.any(String), decision: 'kyc_waived' }],
      });
      expect(await driver.escrowBalance(orderId)).toBe(0n);
      await driver.booksBalance();
    });

    it('an operator decides the dispute for the vendor that paid, and the customer gets no new order by it', async () => {
      const orderId = await funded();
      await driver.event(orderId, 'buyer_submits_proof');
      await driver.event(orderId, 'dispute_opened');
      await parties.setKyc(orderId, 'REJECTED');
      const refused = await parties.operate(orderId, 'dispute', { decision: 'for_buyer' });
      expect([refused.status, refused.body.error.code]).toEqual(REFUSED);
      expect((await operate(orderId, { override_kyc: true })).body.data.status).toBe('dispute_started');
      expect((await parties.operate(orderId, 'dispute', { decision: 'for_buyer' })).status).toBe(200);
      await driver.reaches(orderId, 'completed');
      expect((await waivers(orderId)).shown).toHaveLength(1);
      const { user_id: userId } = (await auditTrail(orderId)).order;
      const quote = await gateway.partner.onramp.quote({
        user_uuid: userId,
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '100.00',
      });
      const order = await gateway.partner.onramp.initiate({
        quote_id: quote.body.data?.quote_id ?? crypto.randomUUID(),
      });
      expect([quote.body.error?.code, order.body.error?.code]).toContain('KYC_NOT_CLEARED');
      await driver.booksBalance();
    });
  });
});
