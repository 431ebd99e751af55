import { randomUUID } from 'node:crypto';
import type { ListStuckEffectsQuery, SearchOrdersQuery } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allocateTransaction,
  settleDisplaced,
} from '../../apps/gateway/src/chain/transactions/transaction.store.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { actOnOrder } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { connect } from '../harness/database.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { holderOf, type VendorClient, vendorClients } from './vendor-driver.ts';

const REASON = { reason: 'ticket 12' };

/** No worker and no chain: effects stay where they were written, so that they can be looked at. */
describe('the operator API for orders', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let drivers: readonly VendorClient[];

  beforeAll(async () => {
    gateway = await startGateway({ env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000' } });
    driver = ordersDriver(gateway);
    drivers = await vendorClients(gateway);
  });
  afterAll(() => gateway?.stop());

  const code = ({ status, body }: Answer) => [status, body.error?.code];
  const auditTrail = async (orderId: string) => (await gateway.operator.orders.get(orderId)).body.data;
  const auditOf = async (subject: string) =>
    (await gateway.operator.audit.list({ subject })).body.data.entries.map(
      ({ action, reason }: { action: string; reason: string }) => [action, reason],
    );

  /** The vendor has its fiat and signed: the release is decided, and waits for a worker. */
  async function releasing(): Promise<{ orderId: string; effectId: string }> {
    const orderId = await driver.onrampOrder();
    const vendor = await holderOf(gateway, drivers, orderId);
    await vendor.act(orderId, 'accept', {
      refund_signature: await vendor.sign(orderId, 'refund'),
      payment_details: { full_name: 'Vendor', iban: 'DE02120300000000202051' },
    });
    await unitOfWork(gateway.deps, SYSTEM, (unit) =>
      actOnOrder(unit, gateway.deps.orderAdapters, orderId, 'escrow_funded', 'chain'),
    );
    await driver.act(orderId, 'confirm-payment-sent');
    await vendor.act(orderId, 'fiat-confirmed', { release_signature: await vendor.sign(orderId, 'release') });
    const { effects } = await auditTrail(orderId);
    const release = effects.find(({ kind }: { kind: string }) => kind === 'escrow.release');
    return { orderId, effectId: release!.effect_id };
  }

  // Proves C7 INVALID_ORDER_ID.
  it('finds orders of all partners by what an operator knows of them, page by page', async () => {
    const mine = await driver.onrampOrder();
    const payout = await driver.offrampOrder();
    await gateway.operator.orders.decideHold(mine, { decision: 'place', ...REASON });
    const found = async (query: SearchOrdersQuery) =>
      (await gateway.operator.orders.list({ limit: 100, ...query })).body.data.orders.map(
        ({ order_id }) => order_id,
      );
    const { order } = await auditTrail(mine);
    expect(order).toMatchObject({
      held_for_review: true,
      hold: { reason: 'COMPLIANCE_REVIEW', since: expect.stringMatching(/Z$/) },
      failure: null,
      cancelled_by: null,
      expires_at: null,
      reference_id: null,
    });
    expect(await found({ held: true })).toEqual([mine]);
    expect(await found({ reference_id: 'payout-1' })).toContain(payout);
    expect(await found({ reference_id: 'payout-1' })).not.toContain(mine);
    expect(await found({ partner_id: order.partner_id })).toEqual(expect.arrayContaining([mine, payout]));
    expect(await found({ partner_id: randomUUID() })).toEqual([]);
    expect(await found({ user_uuid: order.user_id })).toEqual([mine]);
    expect(await found({ vendor_id: order.vendor_id!, direction: 'onramp' })).toContain(mine);
    expect(await found({ status: ['awaiting_liquidity_provider', 'completed'] })).toContain(mine);
    expect(await found({ direction: 'offramp' })).not.toContain(mine);

    const first = (await gateway.operator.orders.list({ limit: 1 })).body.data;
    const next = (await gateway.operator.orders.list({ limit: 1, cursor: first.pagination.next_cursor! }))
      .body.data;
    expect([first.orders[0]?.order_id, next.orders[0]?.order_id]).toEqual([payout, mine]);
    for (const query of [
      { status: 'odd' },
      { held: 'maybe' },
      { partner_id: 'x' },
      { limit: 101 },
      { created_from: 'soon' },
    ]) {
      const refused = await gateway.operator.orders.list(untyped(query));
      expect(refused.status, JSON.stringify(query)).toBe(400);
    }
    expect(code(await gateway.operator.orders.get(randomUUID()))).toEqual([404, 'ORDER_NOT_FOUND']);
    expect(code(await gateway.operator.orders.get('x'))).toEqual([400, 'INVALID_ORDER_ID']);
  });

  it('answers an order’s audit trail at once, without personal data', async () => {
    const { orderId, effectId } = await releasing();
    const told = await auditTrail(orderId);
    expect(told).toMatchObject({
      order: { order_id: orderId, status: 'crypto_release_pending', escrow_state: 'releasing' },
      facts: { held: false, escrow: 'releasing' },
      deposits: [],
      transactions: [],
      proofs: [],
      compliance_case_id: null,
      audit: [],
    });
    expect(told.timeline.map(({ status }: { status: string }) => status)).toEqual([
      'awaiting_liquidity_provider',
      'awaiting_vendor_escrow_funding',
      'awaiting_fiat_transfer',
      'fiat_transfer_pending',
      'fiat_received_confirmed',
      'crypto_release_pending',
    ]);
    expect(told.signatures.map(({ purpose }: { purpose: string }) => purpose)).toEqual(['refund', 'release']);
    expect(told.funds.movements).toHaveLength(1);
    expect(told.webhooks.map(({ status }) => status)).toEqual([
      'awaiting_liquidity_provider',
      'awaiting_vendor_escrow_funding',
      'awaiting_fiat_transfer',
      'fiat_transfer_pending',
    ]);
    expect(told.effects.map(({ kind, status }: { kind: string; status: string }) => [kind, status])).toEqual(
      expect.arrayContaining([
        ['escrow.deploy-and-watch', 'prepared'],
        ['escrow.release', 'prepared'],
      ]),
    );
    expect(told.effects.find((one) => one.effect_id === effectId)?.remedies).toEqual(['retry', 'give-up']);
    const text = JSON.stringify(told);
    for (const personal of ['Lovelace', '@example.com', 'DE02120300000000202051']) {
      expect(text).not.toContain(personal);
    }
  });

  // Proves D12.3.
  it('an effect that never left is given up once: its order is held, and released again by its hold', async () => {
    const { orderId, effectId } = await releasing();
    const raced = await Promise.all([
      gateway.operator.effects.giveUp(effectId, REASON),
      gateway.operator.effects.giveUp(effectId, REASON),
    ]);
    expect(raced.map(({ status }) => status).sort()).toEqual([200, 409]);
    const held = await auditTrail(orderId);
    expect(held.order).toMatchObject({
      status: 'fiat_received_confirmed',
      escrow_state: 'funded',
      held_for_review: true,
    });
    expect(await auditOf(`orders/${orderId}`)).toEqual([['effect.give-up', 'ticket 12']]);
    const again = await gateway.operator.effects.retry(effectId, REASON);
    expect(code(again)).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(again.body.error.message).toContain('release the hold');

    await gateway.operator.orders.decideHold(orderId, { decision: 'release', ...REASON });
    const releases = (await auditTrail(orderId)).effects.filter(
      ({ kind }: { kind: string }) => kind === 'escrow.release',
    );
    expect(releases.map(({ status }: { status: string }) => status)).toEqual(['failed', 'prepared']);
  });

  // Proves C7 EFFECT_NOT_FOUND.
  it('an effect that was signed, or that others can carry out, is not given up', async () => {
    const { orderId, effectId } = await releasing();
    const { deps } = gateway;
    const transactionId = deps.ids.uuid();
    await allocateTransaction(deps.db, {
      transactionId,
      effectKey: effectId,
      chainId: deps.chains.get('base-mainnet').settings.chainId,
      sender: deps.chains.service.address,
      call: { to: deps.chains.service.address, data: '0x', value: 0n },
      gas: 21_000n,
      observedNonce: 7,
      at: deps.clock.date(),
    });
    const refused = await gateway.operator.effects.giveUp(effectId, REASON);
    expect([...code(refused), refused.body.error.message]).toEqual([
      409,
      'OPERATION_NOT_ALLOWED',
      'It has been signed and may still reach the chain.',
    ]);
    const { effects } = await auditTrail((await releasing()).orderId);
    const watch = effects.find(({ kind }: { kind: string }) => kind === 'escrow.deploy-and-watch');
    expect(code(await gateway.operator.effects.giveUp(watch!.effect_id, REASON))).toEqual([
      409,
      'OPERATION_NOT_ALLOWED',
    ]);
    expect(code(await gateway.operator.effects.retry(randomUUID(), REASON))).toEqual([
      404,
      'EFFECT_NOT_FOUND',
    ]);
    for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(501) }, { reason: 7 }]) {
      expect((await gateway.operator.effects.retry(effectId, untyped(body))).status).toBe(400);
    }
    // Once something else has used its nonce for good, it cannot reach the chain any more.
    await settleDisplaced(deps.db, transactionId, deps.clock.date());
    const givenUp = await gateway.operator.effects.giveUp(effectId, REASON);
    expect(givenUp.body.data).toMatchObject({ status: 'failed', transaction: { status: 'displaced' } });
    expect((await auditTrail(orderId)).order).toMatchObject({
      escrow_state: 'funded',
      held_for_review: true,
    });
  });

  it('lists what is late, unknown or failed with its last error, and hurries it when asked', async () => {
    const { orderId, effectId } = await releasing();
    const listed = async (query: ListStuckEffectsQuery = {}) =>
      (await gateway.operator.effects.list({ order_id: orderId, ...query })).body.data.effects.map(
        ({ kind, status, late, last_error }) => [kind, status, late, last_error],
      );
    expect(await listed()).toEqual([]);
    const owner = await connect(gateway.databaseUrl);
    await owner.query(
      `UPDATE intents SET status = 'unknown', attempts = 3, last_error = 'no answer' WHERE intent_id = $1`,
      [effectId],
    );
    await owner.query(
      `UPDATE intents SET status = 'failed', last_error = 'gone', settled_at = created_at
        WHERE kind = 'escrow.deploy-and-watch' AND payload->>'order_id' = $1`,
      [orderId],
    );
    expect(await listed({ state: 'unknown' })).toEqual([['escrow.release', 'unknown', false, 'no answer']]);
    expect(await listed({ state: 'failed' })).toEqual([['escrow.deploy-and-watch', 'failed', false, 'gone']]);
    const stuck = (await gateway.operator.orders.list({ stuck: true, limit: 100 })).body.data.orders;
    expect(stuck.map(({ order_id }: { order_id: string }) => order_id)).toContain(orderId);

    await gateway.partner.sandbox.advanceClock({ seconds: 180 });
    expect(await listed({ state: 'late', kind: 'escrow.release' })).toEqual([
      ['escrow.release', 'unknown', true, 'no answer'],
    ]);
    const [offer] = (await gateway.operator.effects.list({ order_id: orderId, state: 'failed' })).body.data
      .effects;
    const retried = await gateway.operator.effects.retry(offer!.effect_id, REASON);
    expect(retried.body.data).toMatchObject({
      status: 'prepared',
      attempts: 0,
      late: false,
      settled_at: null,
    });
    const hurried = await gateway.operator.effects.retry(effectId, REASON);
    expect(hurried.body.data).toMatchObject({ status: 'unknown', attempts: 3, late: false });

    await owner.query(`UPDATE intents SET status = 'failed', settled_at = created_at WHERE intent_id = $1`, [
      effectId,
    ]);
    await owner.end();
    expect((await gateway.operator.effects.giveUp(effectId, REASON)).status).toBe(200);
    expect(await listed({ state: 'failed' })).toEqual([]);
    expect((await auditTrail(orderId)).order.status).toBe('crypto_release_pending');
  });

  // Proves D12.3.
  it('sends a partner its events again: one, or the latest of each since a time; audited', async () => {
    const partnerId = (await auditTrail(await driver.onrampOrder())).order.partner_id;
    expect(
      code(
        await gateway.operator.partners.replayEvents(partnerId, { since: '2026-01-01T00:00:00Z', ...REASON }),
      ),
    ).toEqual([400, 'WEBHOOK_NOT_CONFIGURED']);
    await gateway.partner.webhooks.set({ url: 'https://127.0.0.1:9/hook' });
    const orderId = await driver.onrampOrder();
    const { deliveries } = (await gateway.operator.partners.listDeliveries(partnerId, { order_id: orderId }))
      .body.data;
    expect(deliveries).toHaveLength(1);
    const { id, event_id } = deliveries[0]!;
    const once = { idempotencyKey: 'replay-1' };
    const one = await gateway.operator.partners.replayDelivery(partnerId, id, REASON, once);
    expect(one.body.data).toMatchObject({ replay_of: id, event_id });
    const twice = await gateway.operator.partners.replayDelivery(partnerId, id, REASON, once);
    expect(twice.text).toBe(one.text);
    const all = await gateway.operator.partners.replayEvents(partnerId, {
      since: '2026-01-01T00:00:00Z',
      ...REASON,
    });
    expect(all.body.data.replayed).toBeGreaterThan(1);
    expect((await auditOf(`partners/${partnerId}`)).slice(0, 2)).toEqual([
      ['webhook.replay', 'ticket 12'],
      ['webhook.replay', 'ticket 12'],
    ]);
    expect(code(await gateway.operator.partners.replayDelivery(partnerId, randomUUID(), REASON))).toEqual([
      404,
      'DELIVERY_NOT_FOUND',
    ]);
    expect(code(await gateway.operator.partners.listDeliveries(randomUUID()))).toEqual([
      404,
      'PARTNER_NOT_FOUND',
    ]);
    expect(
      code(
        await gateway.operator.partners.replayEvents(randomUUID(), {
          since: '2026-01-01T00:00:00Z',
          ...REASON,
        }),
      ),
    ).toEqual([404, 'PARTNER_NOT_FOUND']);
  });

  it('a creation repeated with its key makes one partner, whose keys are shown again', async () => {
    const body = {
      name: `Twice ${randomUUID()}`,
      settlement_chain: 'base-mainnet',
      wallet_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    };
    const once = { idempotencyKey: body.name };
    const made = await gateway.operator.partners.create(body, once);
    const again = await gateway.operator.partners.create(body, once);
    expect([made.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
      200,
      made.text,
      'true',
    ]);
    const works = await gateway.as(again.body.data.secret_key.key).orders.list();
    expect(works.status).toBe(200);
    expect(code(await gateway.operator.partners.create({ ...body, name: 'Other' }, once))).toEqual([
      422,
      'IDEMPOTENCY_KEY_REUSED',
    ]);
    // A name that is taken is an answer as well, and is kept like one.
    const taken = await gateway.operator.partners.create(body, { idempotencyKey: `${body.name} 2` });
    expect(code(taken)).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    const kept = await gateway.operator.partners.create(body, { idempotencyKey: `${body.name} 2` });
    expect([kept.text, kept.headers.get('idempotency-replayed')]).toEqual([taken.text, 'true']);
  });

  it('reconciliation says which escrows no node could be asked about, and pages on', async () => {
    const { orderId } = await releasing();
    const first = (await gateway.operator.reconciliation.get({ limit: 1 })).body.data;
    expect(first.books).toEqual([{ asset: 'USDC@base-mainnet', sum: '0', balanced: true }]);
    expect(first.escrows).toMatchObject({ checked: 1, equal: 0, different: [] });
    const seen: string[] = [];
    for (let next: { cursor?: string } = {}; ; ) {
      const page = await gateway.operator.reconciliation.get({ limit: 2, ...next });
      const { escrows, next_cursor } = page.body.data;
      seen.push(...escrows.unreachable.map(({ order_id }) => order_id));
      if (next_cursor === null) break;
      next = { cursor: next_cursor };
    }
    expect(seen).toContain(orderId);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
