import { randomUUID } from 'node:crypto';
import type { OrderTrigger } from '@causeway/protocol';
import type { OfferInput, Streamed, VendorEvent } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { actOnOrder } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { connect } from '../harness/database.ts';
import { openEventStream } from '../harness/event-stream.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';
import { describedRoutes, fillPath, sampleOf } from '../invariants/described-routes.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import type { VendorAction } from './vendor-calls.ts';
import { holderOf, type VendorClient, vendorClients } from './vendor-driver.ts';

const DETAILS = { iban: 'DE02120300000000202051', full_name: 'Vendor' };
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(80, 1)]).toString('base64');
const WRONG_SIGNATURE = `0x${'11'.repeat(65)}`;

/** No worker and no chain: what the chain would report is reported by the test, so nothing moves on its own. */
describe('the vendor API', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let drivers: readonly VendorClient[];
  const streams: { stop(): void }[] = [];

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', ORDER_VENDOR_RESPONSE_SECONDS: '120' },
    });
    driver = ordersDriver(gateway);
    drivers = await vendorClients(gateway);
  });
  afterAll(async () => {
    for (const stream of streams) stream.stop();
    await gateway?.stop();
  });

  const report = (orderId: string, ...triggers: OrderTrigger[]) =>
    unitOfWork(gateway.deps, SYSTEM, async (unit) => {
      for (const trigger of triggers) {
        await actOnOrder(unit, gateway.deps.orderAdapters, orderId, trigger, 'chain');
      }
    });

  async function offered(): Promise<{ orderId: string; vendor: VendorClient; otherVendor: VendorClient }> {
    const orderId = await driver.onrampOrder();
    const vendor = await holderOf(gateway, drivers, orderId);
    const otherVendor = drivers.find(({ id }) => id !== vendor.id)!;
    return { orderId, vendor, otherVendor };
  }

  async function accepted() {
    const order = await offered();
    const refund_signature = await order.vendor.sign(order.orderId, 'refund');
    const body = { refund_signature, payment_details: DETAILS };
    expect((await order.vendor.act(order.orderId, 'accept', body)).status).toBe(200);
    return order;
  }

  /** An off-ramp order whose deposit is in escrow and whose vendor has signed the refund. */
  async function bought() {
    const orderId = await driver.offrampOrder();
    const vendor = await holderOf(gateway, drivers, orderId);
    const refund_signature = await vendor.sign(orderId, 'refund');
    expect((await vendor.act(orderId, 'sign-refund', { refund_signature })).status).toBe(200);
    await unitOfWork(gateway.deps, SYSTEM, (unit) =>
      actOnOrder(unit, gateway.deps.orderAdapters, orderId, 'transfer_authorized', 'partner'),
    );
    await report(orderId, 'deposit_finalized');
    return { orderId, vendor };
  }

  const code = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
    status,
    body.error?.code,
  ];

  it('what a vendor does reaches every webhook endpoint of the partner that wants it', async () => {
    const made = await gateway.partner.webhookEndpoints.create({
      url: 'https://127.0.0.1:9/vendor',
      events: ['order.status.changed'],
    });
    const { orderId } = await accepted();
    const { deliveries } = (
      await gateway.partner.webhookEndpoints.listDeliveries(made.body.data.id, { order_id: orderId })
    ).body.data;
    expect(deliveries.map(({ body }: { body: string }) => JSON.parse(body).data.status)).toEqual([
      'awaiting_vendor_escrow_funding',
      'awaiting_liquidity_provider',
    ]);
    await gateway.partner.webhookEndpoints.delete(made.body.data.id);
  });

  // Proves C7 ORDER_NOT_FOUND, C7 INVALID_ORDER_ID.
  it('answers another vendor’s order and an unknown one with the same bytes, and a malformed id with 400', async () => {
    const { orderId, otherVendor } = await offered();
    const routes = (await describedRoutes(gateway)).filter(
      ({ access, path }) => access === 'vendor' && path.includes('{order_id}'),
    );
    expect(routes.length).toBeGreaterThan(8);
    for (const route of routes) {
      const query = route.queryNames.includes('purpose') ? '?purpose=refund' : '';
      const send = (order_id: string) =>
        gateway.call(route.method, fillPath(route.path, { order_id }) + query, {
          key: otherVendor.key,
          ...(route.bodySchema === undefined ? {} : { body: sampleOf(route.bodySchema) }),
        });
      const [foreign, unknown, malformed] = [
        await send(orderId),
        await send(randomUUID()),
        await send('not-an-id'),
      ];
      expect([route.operationId, foreign.status, foreign.text]).toEqual([
        route.operationId,
        404,
        unknown.text,
      ]);
      expect([route.operationId, ...code(malformed)]).toEqual([route.operationId, 400, 'INVALID_ORDER_ID']);
    }
  });

  it('refuses what is missing, of the wrong type or too long, and changes nothing', async () => {
    const { orderId, vendor } = await offered();
    const refund_signature = await vendor.sign(orderId, 'refund');
    const wrong: [VendorAction, object][] = [
      ['accept', {}],
      ['accept', { refund_signature }],
      ['accept', { refund_signature, payment_details: {} }],
      ['accept', { refund_signature, payment_details: { iban: 'x'.repeat(501) } }],
      ['accept', { refund_signature, payment_details: { iban: { nested: 'x' } } }],
      ['accept', { refund_signature, payment_details: { iban: 'a\u0000b' } }],
      ['accept', { refund_signature: {}, payment_details: DETAILS }],
      ['accept', { refund_signature: `0x${'1'.repeat(2_000)}`, payment_details: DETAILS }],
      ['sign-refund', {}],
      ['fiat-confirmed', {}],
      ['payment-proof', { release_signature: WRONG_SIGNATURE }],
      ['payment-proof', { payment_reference: 'x'.repeat(201), release_signature: WRONG_SIGNATURE }],
      ['payment-proof', { payment_reference: 'a\nb', release_signature: WRONG_SIGNATURE }],
    ];
    for (const [action, body] of wrong) {
      expect([action, body, ...code(await vendor.act(orderId, action, body))]).toEqual([
        action,
        body,
        400,
        'VALIDATION_ERROR',
      ]);
    }
    const forged = await vendor.act(orderId, 'accept', {
      refund_signature: WRONG_SIGNATURE,
      payment_details: DETAILS,
    });
    expect(code(forged)).toEqual([400, 'INVALID_SIGNATURE']);
    const { wallet_address: expected_signer } = (await vendor.api.profile()).body.data;
    expect(forged.body.error.details).toEqual({ expected_signer, recovered_signer: null });
    const mistaken = await vendor.act(orderId, 'accept', {
      refund_signature: await vendor.sign(orderId, 'release'),
      payment_details: DETAILS,
    });
    expect(code(mistaken)).toEqual([400, 'INVALID_SIGNATURE']);
    const { recovered_signer } = mistaken.body.error.details;
    expect(mistaken.body.error.details).toEqual({ expected_signer, recovered_signer });
    expect(recovered_signer).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(recovered_signer).not.toBe(expected_signer);
    for (const query of [
      { status: 'no_such' },
      { limit: 0 },
      { limit: 101 },
      { offset: -1 },
      { direction: 'up' },
    ]) {
      const refused = await vendor.api.orders.list(untyped(query));
      expect(refused.status, JSON.stringify(query)).toBe(400);
    }
    const { data } = (await vendor.get(orderId)).body;
    expect(Date.parse(data.respond_by) - Date.parse(data.offered_at)).toBe(120_000);
    expect(data).toMatchObject({
      status: 'awaiting_liquidity_provider',
      signed: { refund: false, release: false },
      funding: null,
      allowed_actions: ['accept', 'decline'],
    });
  });

  // Proves D12.1, C7 INVALID_STATUS.
  it('an action in the wrong state is 409 and says where the order stands; taking it twice too', async () => {
    const { orderId, vendor } = await accepted();
    const release_signature = await vendor.sign(orderId, 'release');
    const refund_signature = await vendor.sign(orderId, 'refund');
    const attempts: [VendorAction, object?][] = [
      ['accept', { refund_signature, payment_details: DETAILS }],
      ['decline'],
      ['fiat-confirmed', { release_signature }],
      ['payment-proof', { payment_reference: 'E2E', release_signature }],
      ['dispute'],
    ];
    for (const [action, body] of attempts) {
      const answer = await vendor.act(orderId, action, body);
      expect([action, ...code(answer)]).toEqual([action, 409, 'INVALID_STATUS']);
      // A vendor is told what a vendor can do, not what the partner can.
      expect(answer.body.error.details).toEqual({
        status: 'awaiting_vendor_escrow_funding',
        allowed_actions: [],
      });
      expect((await driver.read(orderId)).allowed_actions).toEqual(['cancel']);
    }
    expect(code(await vendor.act(orderId, 'fiat-settled'))).toEqual([409, 'INVALID_STATUS']);
  });

  it('a retry with its Idempotency-Key gets the first answer; without one, two at once have one winner', async () => {
    const { orderId, vendor } = await offered();
    const body = { refund_signature: await vendor.sign(orderId, 'refund'), payment_details: DETAILS };
    const once = { idempotencyKey: 'accept-1' };
    const first = await vendor.act(orderId, 'accept', body, once);
    const again = await vendor.act(orderId, 'accept', body, once);
    expect([first.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
      200,
      first.text,
      'true',
    ]);
    expect(code(await vendor.act(orderId, 'decline', undefined, once))).toEqual([
      422,
      'IDEMPOTENCY_KEY_REUSED',
    ]);

    const contested = await offered();
    const signed = await contested.vendor.sign(contested.orderId, 'refund');
    const { key } = contested.vendor;
    const path = `/api/v1/vendor/orders/${contested.orderId}`;
    const acceptance = { refund_signature: signed, payment_details: DETAILS };
    const raced = await Promise.all([
      ...Array.from({ length: 4 }, () => gateway.call('POST', `${path}/accept`, { key, body: acceptance })),
      gateway.call('POST', `${path}/decline`, { key }),
    ]);
    expect(raced.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of raced) expect([200, 404, 409]).toContain(status);
  });

  it('an offer made twice with one key is one offer; another vendor’s key of the same name is its own', async () => {
    const [one, other] = drivers as [VendorClient, VendorClient];
    const body: OfferInput = {
      side: 'SELL',
      crypto_currency: 'USDC',
      fiat_currency: 'EUR',
      price: '0.93',
      min_amount: '10',
      max_amount: '500',
      payment_options: [{ network_slug: 'iban-sepa' }],
      countries: ['DE'],
      available_balance: '1000',
    };
    const make = (vendor: VendorClient, more = {}) =>
      vendor.api.offers.create({ ...body, ...more }, { idempotencyKey: 'same' });
    const before = (await one.api.offers.list()).body.data.pagination.total;
    const made = await Promise.all(Array.from({ length: 5 }, () => make(one)));
    const ids = new Set(
      made.filter(({ status }) => status === 200).map((answer) => answer.body.data.offer_id),
    );
    expect(ids.size).toBe(1);
    expect((await make(one)).body.data.offer_id).toBe([...ids][0]);
    expect((await one.api.offers.list()).body.data.pagination.total).toBe(before + 1);
    expect(code(await make(one, { price: '0.94' }))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect((await make(other)).body.data.offer_id).not.toBe([...ids][0]);
  });

  it('shows how the escrow is funded, then what was found there', async () => {
    const { orderId, vendor } = await accepted();
    const { settings } = gateway.deps.chains.get('base-mainnet');
    const usdc = settings.tokens.find(({ code: token }) => token === 'USDC')!.address;
    const before = (await vendor.get(orderId)).body.data;
    expect(before).toMatchObject({
      status: 'awaiting_vendor_escrow_funding',
      allowed_actions: [],
      respond_by: null,
      deadline_at: expect.any(String),
      signed: { refund: true, release: false },
    });
    expect(before.funding).toEqual({
      chain: 'base-mainnet',
      chain_id: settings.chainId,
      token_address: usdc,
      escrow_address: before.escrow_address,
      from_address: (await vendor.api.profile()).body.data.wallet_address,
      owners: {
        service: gateway.deps.chains.service.address,
        seller: (await vendor.api.profile()).body.data.wallet_address,
        buyer: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      },
      amount: before.crypto_amount,
      amount_atomic: before.crypto_amount.replace('.', '').replace(/^0+/, ''),
      confirmations: settings.confirmations,
      state: 'awaited',
      deposits: [],
    });
    await report(orderId, 'escrow_funded');
    expect((await vendor.get(orderId)).body.data.funding.state).toBe('funded');
  });

  it('takes a slip that is what it says it is, keeps it sealed, and refuses every other', async () => {
    const { orderId, vendor } = await bought();
    const release_signature = await vendor.sign(orderId, 'release');
    const proof = (more: object) => ({ payment_reference: 'E2E-7', release_signature, ...more });
    const refused: object[] = [
      { content: PNG },
      { content_type: 'image/png' },
      { content: PNG, content_type: 'application/pdf' },
      { content: PNG, content_type: 'text/html' },
      { content: '<svg onload=alert(1)>', content_type: 'image/png' },
      { content: Buffer.from('<html>'.repeat(40)).toString('base64'), content_type: 'image/png' },
      { content: 'iVBORw0KGgo=', content_type: 'image/png' },
    ];
    for (const more of refused) {
      const answer = await vendor.act(orderId, 'payment-proof', proof(more));
      expect([more, ...code(answer)]).toEqual([more, 400, 'VALIDATION_ERROR']);
    }
    const huge = await vendor.act(
      orderId,
      'payment-proof',
      proof({ content: 'A'.repeat(11 * 1024 * 1024), content_type: 'image/png' }),
    );
    expect(code(huge)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const sent = await vendor.act(
      orderId,
      'payment-proof',
      proof({ content: PNG, content_type: 'image/png' }),
    );
    expect(sent.body.data).toEqual({ order_id: orderId, status: 'fiat_payment_started' });
    const owner = await connect(gateway.databaseUrl);
    const { rows } = await owner.query('SELECT payment_proofs::text AS line FROM payment_proofs');
    await owner.end();
    expect(rows).toHaveLength(1);
    expect(rows[0].line).not.toContain('E2E-7');
    expect(rows[0].line).not.toContain(PNG.slice(0, 40));
  });

  it('a vendor answers a dispute until it is decided; the operator reads it, nobody else', async () => {
    const { orderId, vendor } = await bought();
    const body = { text: 'Paid by Ada Lovelace’s bank,\n20 EUR short.' };
    expect(code(await vendor.act(orderId, 'dispute-statements', body))).toEqual([409, 'INVALID_STATUS']);
    const release_signature = await vendor.sign(orderId, 'release');
    const proof = { payment_reference: 'E2E-7', release_signature };
    expect((await vendor.act(orderId, 'payment-proof', proof)).status).toBe(200);
    expect((await vendor.act(orderId, 'dispute')).status).toBe(200);
    const [{ proof_id }] = (await vendor.get(orderId)).body.data.proofs;

    const stated = await vendor.act(orderId, 'dispute-statements', { ...body, proof_id });
    expect(stated.body.data).toMatchObject({ proof_id, vendor_id: vendor.id });
    for (const wrong of [
      { text: ' ' },
      { text: 'a\u0000b' },
      { text: '' },
      { ...body, proof_id: randomUUID() },
    ]) {
      expect(code(await vendor.act(orderId, 'dispute-statements', wrong))).toEqual([400, 'VALIDATION_ERROR']);
    }
    const other = drivers.find(({ id }) => id !== vendor.id);
    expect(code((await other?.act(orderId, 'dispute-statements', body)) as never)).toEqual([
      404,
      'ORDER_NOT_FOUND',
    ]);

    const seen = (await vendor.get(orderId)).body.data;
    const said = [{ ...stated.body.data, text: body.text }];
    expect(seen.dispute_statements).toEqual(said);
    expect(seen.allowed_actions).toEqual(['dispute-statements']);
    const { body: trail } = await gateway.operator.orders.get(orderId);
    expect(trail.data.dispute_statements).toEqual([stated.body.data]);
    const reason = { reason: 'to decide' };
    const { body: revealed } = await gateway.operator.orders.revealDisputeStatements(orderId, reason);
    expect(revealed.data.statements).toEqual(said);
    const owner = await connect(gateway.databaseUrl);
    const { rows } = await owner.query('SELECT dispute_statements::text AS line FROM dispute_statements');
    expect(JSON.stringify(rows)).not.toContain('Lovelace');
    await owner.end();

    await gateway.operator.orders.decideDispute(orderId, { decision: 'for_seller', reason: 'seen' });
    expect(code(await vendor.act(orderId, 'dispute-statements', body))).toEqual([409, 'INVALID_STATUS']);
  });

  it('why an order was declined is told to the operator', async () => {
    const { orderId, vendor } = await offered();
    expect(code(await vendor.act(orderId, 'decline', { reason: 'no time' }))).toEqual([
      400,
      'VALIDATION_ERROR',
    ]);
    expect((await vendor.act(orderId, 'decline', { reason: 'no_balance' })).status).toBe(200);
    const { body } = await gateway.operator.orders.get(orderId);
    expect(body.data.declines).toEqual([
      { vendor_id: vendor.id, reason: 'no_balance', at: expect.any(String) },
    ]);
  });

  it('states what was earned: by order and by asset, exact, within the period', async () => {
    const sale = await accepted();
    await report(sale.orderId, 'escrow_funded');
    await driver.act(sale.orderId, 'confirm-payment-sent');
    const release_signature = await sale.vendor.sign(sale.orderId, 'release');
    await sale.vendor.act(sale.orderId, 'fiat-confirmed', { release_signature });
    const from = gateway.deps.clock.date().toISOString();
    await report(sale.orderId, 'release_confirmed');
    const { vendor } = sale;
    const order = (await vendor.get(sale.orderId)).body.data;
    const statement = await vendor.api.statement({ from });
    expect(statement.body.data).toEqual({
      lines: [
        {
          direction: 'onramp',
          chain: 'base-mainnet',
          crypto_currency: 'USDC',
          fiat_currency: 'EUR',
          orders: 1,
          crypto_amount: order.crypto_amount,
          fiat_amount: '100.00',
        },
      ],
      totals: [
        { asset: 'EUR', received: '100.00', paid: '0.00' },
        { asset: 'USDC@base-mainnet', received: '0.000000', paid: order.crypto_amount },
      ],
      entries: [
        expect.objectContaining({
          order_id: sale.orderId,
          crypto: { asset: 'USDC@base-mainnet', received: '0.000000', paid: order.crypto_amount },
          fiat: { asset: 'EUR', received: '100.00', paid: '0.00' },
        }),
      ],
      pagination: { total: 1, limit: 20, offset: 0 },
    });
    const beforeIt = await vendor.api.statement({ to: from });
    expect(beforeIt.body.data.entries).not.toContainEqual(
      expect.objectContaining({ order_id: sale.orderId }),
    );
    const beyond = await vendor.api.statement({ from, offset: 1 });
    expect([beyond.body.data.entries, beyond.body.data.totals.length]).toEqual([[], 2]);
    for (const query of [{ from: 'yesterday' }, { from, to: from }, { limit: 'x' }]) {
      const refused = await vendor.api.statement(untyped(query));
      expect(refused.status, JSON.stringify(query)).toBe(400);
    }
  });

  it('tells of orders as they come, change and go; a reconnection goes on where it was', async () => {
    const { orderId, vendor } = await offered();
    const listed = (await vendor.api.events.list({ limit: 200 })).body.data;
    expect(listed.events.at(-1)).toMatchObject({
      event_type: 'order.offered',
      order_id: orderId,
      status: 'awaiting_liquidity_provider',
      order: { order_id: orderId, allowed_actions: ['accept', 'decline'] },
    });
    expect(listed.events.map(({ cursor }: { cursor: string }) => Number(cursor))).toEqual(
      listed.events.map((_: unknown, index: number) => index + 1),
    );

    const live = await follow(vendor);
    const refund_signature = await vendor.sign(orderId, 'refund');
    await vendor.act(orderId, 'accept', { refund_signature, payment_details: DETAILS });
    await until('the change', () => live.seen.length === 1);
    expect(live.seen[0]?.event).toMatchObject({
      event_type: 'order.changed',
      order_id: orderId,
      status: 'awaiting_vendor_escrow_funding',
    });
    live.stop();

    const next = await offered();
    expect(next.vendor.id).toBe(vendor.id);
    await vendor.act(next.orderId, 'decline');
    const resumed = await follow(vendor, live.seen[0]?.cursor);
    await until('what was missed', () => resumed.seen.length === 2);
    expect(resumed.seen.map(({ event }) => [event.event_type, event.order_id, event.order])).toEqual([
      ['order.offered', next.orderId, null],
      ['order.withdrawn', next.orderId, null],
    ]);
    const others = (await next.otherVendor.api.events.list({ limit: 200 })).body.data.events;
    expect(others.filter(({ order_id }: { order_id: string }) => order_id === orderId)).toEqual([]);
  });

  it('a stream ends at once when its key is revoked', async () => {
    const { orderId, vendor } = await offered();
    const made = await gateway.operator.vendors.createKey(vendor.id, { label: 'for a stream' });
    const address = `${gateway.baseUrl}/api/v1/vendor/events`;
    const live = await openEventStream(address, { 'x-api-key': made.body.data.key });
    streams.push(live);
    expect(live.contentType).toContain('text/event-stream');
    await until('open', () => live.text().includes(': open'));
    await gateway.operator.keys.revoke(made.body.data.key_id);
    await until('the end', () => live.ended());
    expect((await vendor.get(orderId)).status).toBe(200);
  });

  /** The vendor's events from now on, or behind a cursor. */
  async function follow({ key }: VendorClient, after?: string) {
    const abort = new AbortController();
    const seen: Streamed<VendorEvent>[] = [];
    const reader = { seen, stop: () => abort.abort() };
    streams.push(reader);
    await new Promise<void>((open, failed) => {
      const options = {
        signal: abort.signal,
        onOpen: () => open(),
        ...(after === undefined ? {} : { after }),
      };
      const read = async () => {
        for await (const one of gateway.sdk(key).vendor.events.stream(options)) seen.push(one);
      };
      read().catch((error) => (abort.signal.aborted ? undefined : failed(error)));
    });
    return reader;
  }
});
