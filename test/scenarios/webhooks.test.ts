import { PARTNER_EVENT_TYPES, type PublishedOrderStatus } from '@causeway/protocol';
import type { ListWebhookDeliveriesQuery } from '@causeway/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { emitEvent } from '../../apps/gateway/src/engine/outbox.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { dereference } from '../harness/api-description.ts';
import { connect } from '../harness/database.ts';
import { orderChanged } from '../harness/events.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';
import { type ReceivedWebhook, startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';
import { opensslAccepts } from '../harness/webhook-sink-openssl.ts';

/** Written out from C6. */
const CONTRACT_EVENTS = [
  'order.status.changed',
  'order.refund.required',
  'user.kyc.updated',
  'retail.settlement.completed',
  'webhook.test',
];
const CONTRACT_STATUSES = [
  ...['created', 'awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer'],
  ...['fiat_transfer_pending', 'awaiting_crypto_transfer_authorization', 'crypto_received'],
  ...['fiat_payment_started', 'fiat_payment_review_started', 'awaiting_fiat_received_confirmation'],
  ...['completed', 'cancelled', 'failed', 'dispute_started'],
  ...['send_out_pending', 'send_out_completed', 'send_out_failed'],
];

describe('webhooks as a partner sees them', () => {
  let gateway: TestGateway;
  let sink: WebhookSink;
  let partnerId: string;
  let users = 0;

  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
    const owner = await connect(gateway.databaseUrl);
    const { rows } = await owner.query('SELECT partner_id FROM partners WHERE name = $1', [
      gateway.partners[0].name,
    ]);
    partnerId = rows[0].partner_id;
    await owner.end();
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    sink = await startWebhookSink({ tls: true });
    expect((await gateway.partner.webhooks.set({ url: sink.url })).status).toBe(200);
  });
  afterEach(async () => {
    await gateway.partner.webhooks.delete('any');
    await sink.close();
  });

  async function verifyNewUser(status = 'VERIFIED'): Promise<string> {
    const user = await gateway.partner.users.create({ email: `w${users++}@example.com` });
    const id = user.body.data.id as string;
    const body = { status, ...(status === 'REJECTED' ? { rejection_reasons: ['blurred'] } : {}) };
    expect((await gateway.partner.sandbox.kycStatus(id, body)).status).toBe(200);
    return id;
  }

  async function emitOrderEvents(orderId: string, statuses: readonly PublishedOrderStatus[]): Promise<void> {
    for (const status of statuses) {
      await unitOfWork(gateway.deps, SYSTEM, async (unit) =>
        emitEvent(unit, {
          eventType: 'order.status.changed',
          partnerId,
          subjectId: orderId,
          data: orderChanged({ order_id: orderId, status }),
        }),
      );
    }
  }

  const about = (id: string) =>
    sink.received.filter(({ event }) => event?.data.user_id === id || event?.data.order_id === id);
  const arrived = (id: string, count = 1) => until(`${count} webhooks`, () => about(id).length >= count);
  const advance = (seconds: number) => gateway.partner.sandbox.advanceClock({ seconds });

  // Proves C4.8 rows 1 to 3, C2.11 rule 4, D10.4, C7 INVALID_WEBHOOK_URL, C7 WEBHOOK_NOT_CONFIGURED, trap 34.
  it('reads, sets and removes the one webhook, whatever id is given', async () => {
    expect((await gateway.partner.webhooks.get()).body.data).toMatchObject({
      url: sink.url,
      enabled: true,
      health: { state: 'ok', consecutive_failures: 0 },
    });
    for (const body of [{}, { url: 5 }, { url: '' }]) {
      expect((await gateway.partner.webhooks.set(untyped(body))).body.error.code).toBe('VALIDATION_ERROR');
    }
    for (const [url, cause] of [
      ['http://example.com/', 'https_required'],
      ['ftp://example.com/', 'https_required'],
      ['nonsense', 'not_a_url'],
      ['https://example.com/a b', 'not_a_url'],
      ['https://user:secret@example.com/', 'credentials'],
      ['https://10.0.0.1/x', 'address_not_allowed'],
      ['https://169.254.169.254/latest', 'address_not_allowed'],
    ] as const) {
      const refused = await gateway.partner.webhooks.set({ url });
      expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_WEBHOOK_URL']);
      expect(refused.body.error.details).toEqual({ cause });
      expect(refused.text).not.toMatch(/10\.0\.0\.1|169\.254|secret/);
    }
    // What was sent is what is answered, as far as it is kept: an address grows by being written in ASCII.
    for (const url of ['https://93.184.216.34', `https://93.184.216.34/${'é'.repeat(1500)}`]) {
      expect((await gateway.partner.webhooks.set({ url })).body.data).toEqual({ url, enabled: true });
      expect((await gateway.partner.webhooks.get()).body.data.url).toBe(url);
    }
    // A sandbox's users develop behind whatever port they have.
    const elsewhere = await gateway.partner.webhooks.set({ url: 'https://93.184.216.34:9443/hooks' });
    expect([elsewhere.status, elsewhere.body.data?.enabled]).toEqual([200, true]);
    const removed = await gateway.partner.webhooks.delete('whatever-id');
    expect(removed.body.data).toEqual({ message: expect.any(String) });
    expect((await gateway.partner.webhooks.get()).body.data.enabled).toBe(false);
    const test = await gateway.partner.webhooks.test();
    expect([test.status, test.body.error.code]).toEqual([400, 'WEBHOOK_NOT_CONFIGURED']);
    expect((await gateway.as(null).webhooks.get()).status).toBe(401);
  });

  // Proves C4.8 row 4, D10.1, C7 WEBHOOK_DELIVERY_FAILED.
  it('the test event is signed, its refusal is an error with the status, and it is limited', async () => {
    const sent = await gateway.partner.webhooks.test();
    expect(sent.body.data).toEqual({ delivered: true, http_status: 200 });
    const [test] = sink.received as [ReceivedWebhook];
    expect(test.event).toMatchObject({ event_type: 'webhook.test', data: { message: expect.any(String) } });
    expect(opensslAccepts(test, gateway.partners[0].webhookSecret)).toBe(true);

    sink.setFault({ kind: 'status', status: 418 });
    const refused = await gateway.partner.webhooks.test();
    expect([refused.status, refused.body.error]).toEqual([
      502,
      { code: 'WEBHOOK_DELIVERY_FAILED', message: expect.any(String), details: { http_status: 418 } },
    ]);
    sink.setFault({ kind: 'reset', when: 'after-body' });
    expect((await gateway.partner.webhooks.test()).body.error.details).toEqual({});
    const answers = await Promise.all(Array.from({ length: 64 }, () => gateway.partner.webhooks.test()));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThanOrEqual(2);
    expect(limited[0]?.headers.get('retry-after')).toMatch(/^[0-9]+$/);
  });

  // Proves trap 31.
  it('an event whose transaction rolled back is never sent, and takes no place in the stream', async () => {
    const orderId = gateway.deps.ids.uuid();
    const draft = { eventType: 'order.status.changed', partnerId, subjectId: orderId } as const;
    const failing = unitOfWork(gateway.deps, SYSTEM, async (unit) => {
      emitEvent(unit, { ...draft, data: orderChanged({ order_id: orderId }) });
      // Written and visible to this transaction before it fails.
      await unit.tx.query({ name: 'test.written', text: 'SELECT 1' }, []);
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');
    await emitOrderEvents(orderId, ['cancelled']);
    await arrived(orderId);
    expect(about(orderId).map(({ event }) => event?.data.status)).toEqual(['cancelled']);
    const { body } = await gateway.partner.events.list({ after: '0', limit: 500 });
    const streamed = body.data.events.filter(
      (event) => event.event_type === 'order.status.changed' && event.data.order_id === orderId,
    );
    expect(streamed).toHaveLength(1);
  });

  // Proves C6 rule 2, D10.2.
  it('openssl, too, finds every signature right: first attempts and retries', async () => {
    sink.setFault({ sequence: [{ kind: 'status', status: 500 }] });
    const user = await verifyNewUser();
    await arrived(user);
    await until('the failure is recorded', async () => (await attemptsOf(user)) === 1);
    await advance(61);
    await arrived(user, 2);
    const [first, second] = about(user) as [ReceivedWebhook, ReceivedWebhook];
    expect(second.rawBody.equals(first.rawBody)).toBe(true);
    for (const delivery of [first, second]) {
      expect(opensslAccepts(delivery, gateway.partners[0].webhookSecret)).toBe(true);
      expect(opensslAccepts(delivery, 'whsec_other')).toBe(false);
    }
  });

  async function attemptsOf(userId: string): Promise<number | undefined> {
    const { body } = await gateway.partner.webhooks.listDeliveries();
    const found = body.data.deliveries.find(({ subject_id }) => subject_id === userId);
    return found?.attempts.length;
  }

  // Proves D10.3, trap 38, C5 rule 3.
  it('a rotated secret is shown once and signs at once; the previous one signs beside it for 24 hours', async () => {
    const before = gateway.partners[1].webhookSecret;
    const key = gateway.partners[1].apiKey;
    await gateway.as(key).webhooks.set({ url: sink.url });
    const once = { idempotencyKey: 'rotate-1' };
    const rotated = await gateway.as(key).webhooks.rotateSecret(once);
    const { secret } = rotated.body.data;
    expect(secret).toMatch(/^whsec_[0-9A-Za-z]{32}$/);
    const again = await gateway.as(key).webhooks.rotateSecret(once);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([rotated.text, 'true']);
    expect((await gateway.as(key).webhooks.get()).text).not.toContain(secret);

    await gateway.as(key).webhooks.test();
    const during = sink.received.at(-1) as ReceivedWebhook;
    expect(opensslAccepts(during, secret)).toBe(true);
    expect(opensslAccepts(during, before, 'x-service-signature-previous')).toBe(true);

    await advance(24 * 60 * 60);
    await gateway.as(key).webhooks.test();
    const after = sink.received.at(-1) as ReceivedWebhook;
    expect(opensslAccepts(after, secret)).toBe(true);
    expect(after.headers['x-service-signature-previous']).toBeUndefined();
    await gateway.as(key).webhooks.delete('x');
  });

  // Proves C7 DELIVERY_NOT_FOUND.
  it('lists deliveries with their attempts, by order, event, type and status, and never another partner’s', async () => {
    sink.setFault({
      kind: 'by-delivery',
      choose: ({ attempt }) => ({ kind: attempt === 1 ? 'truncated' : 'none' }),
    });
    const orderId = gateway.deps.ids.uuid();
    await emitOrderEvents(orderId, ['completed']);
    const list = (query: ListWebhookDeliveriesQuery, key = gateway.partners[0].apiKey) =>
      gateway.as(key).webhooks.listDeliveries(query);
    const [delivery] = await until('one attempt', async () => {
      const { body } = await list({ order_id: orderId });
      return body.data.deliveries[0]?.attempts.length === 1 && body.data.deliveries;
    });
    expect(delivery).toMatchObject({
      status: 'pending',
      subject_id: orderId,
      attempts: [{ http_status: null, error: 'answer_incomplete', duration_ms: expect.any(Number) }],
    });
    await advance(61);
    await until(
      'delivered',
      async () => (await list({ order_id: orderId, status: 'delivered' })).body.data.deliveries[0],
    );
    const found = (await list({ event_id: delivery!.event_id })).body.data.deliveries;
    expect(found).toHaveLength(1);
    expect(found[0]?.attempts[1]).toMatchObject({ http_status: 200, response: '{"received":true}' });
    expect((await list({ order_id: orderId, event_type: 'user.kyc.updated' })).body.data.deliveries).toEqual(
      [],
    );

    const page = (await list({ limit: 1 })).body.data;
    expect(page.deliveries).toHaveLength(1);
    const next = (await list({ limit: 1, cursor: page.pagination.next_cursor! })).body.data;
    expect(next.deliveries[0]!.id < page.deliveries[0]!.id).toBe(true);
    const otherKey = gateway.partners[1].apiKey;
    expect((await list({ order_id: orderId }, otherKey)).body.data.deliveries).toEqual([]);
    await gateway.as(otherKey).webhooks.set({ url: sink.url });
    const [theirs, missing] = await Promise.all(
      [delivery!.id, gateway.deps.ids.uuid()].map((id) => gateway.as(otherKey).webhooks.replayDelivery(id)),
    );
    expect([theirs?.status, theirs?.body.error.code]).toEqual([404, 'DELIVERY_NOT_FOUND']);
    expect(theirs?.text).toBe(missing?.text);
    await gateway.as(otherKey).webhooks.delete('any');
  });

  it('replays one delivery, and after an outage only the latest state of each order', async () => {
    const [one, two] = [gateway.deps.ids.uuid(), gateway.deps.ids.uuid()];
    const since = gateway.deps.clock.date().toISOString();
    await emitOrderEvents(one, ['awaiting_fiat_transfer', 'fiat_transfer_pending', 'completed']);
    await emitOrderEvents(two, ['awaiting_fiat_transfer', 'cancelled']);
    await arrived(one, 3);
    await arrived(two, 2);
    const settled = await until('settled', async () => {
      const { body } = await gateway.partner.webhooks.listDeliveries({ order_id: one, status: 'delivered' });
      return body.data.deliveries.length === 3 && body.data.deliveries;
    });
    const replayed = await gateway.partner.webhooks.replayDelivery(settled[2]!.id);
    expect(replayed.body.data).toMatchObject({ event_id: settled[2]?.event_id, replay_of: settled[2]?.id });
    await arrived(one, 4);
    expect(about(one).at(-1)?.event?.data.status).toBe('awaiting_fiat_transfer');

    const bulk = await gateway.partner.webhooks.replay({ since });
    expect(bulk.body.data).toEqual({ replayed: 2, has_more: false });
    await arrived(one, 5);
    await arrived(two, 3);
    expect([about(one).at(-1), about(two).at(-1)].map((last) => last?.event?.data.status)).toEqual([
      'completed',
      'cancelled',
    ]);
    expect((await gateway.partner.webhooks.replay({ since: 'yesterday' })).status).toBe(400);
  });

  // Proves trap 36.
  it('a deleted webhook receives no retries: what waits is cancelled, also after it is set again', async () => {
    sink.setFault({ kind: 'status', status: 500 });
    const user = await verifyNewUser('REJECTED');
    await until('one attempt', async () => (await attemptsOf(user)) === 1);
    await gateway.partner.webhooks.delete('1');
    await gateway.partner.webhooks.set({ url: sink.url });
    sink.setFault({ kind: 'none' });
    await advance(120);
    const other = await verifyNewUser();
    await arrived(other);
    expect(about(user)).toHaveLength(1);
    expect(about(user)[0]?.event?.data.rejection_reasons).toEqual(['blurred']);
  });

  // Proves C6 rows 1 to 4, trap 14.
  it('publishes a schema for every event, with the 17 statuses and no other', async () => {
    const body = dereference((await gateway.call('GET', '/api/v1/openapi.json', { key: null })).body);
    expect(Object.keys(body.webhooks).sort()).toEqual([...PARTNER_EVENT_TYPES].sort());
    expect(Object.keys(body.webhooks)).toEqual(expect.arrayContaining(CONTRACT_EVENTS));
    const changed = body.webhooks['order.status.changed'].post.requestBody.content['application/json'].schema;
    expect([...changed.properties.data.properties.status.enum].sort()).toEqual([...CONTRACT_STATUSES].sort());
  });

  // Proves trap 37.
  it('the test endpoint is no port scanner: the same filter, one answer for all that fails, few tries', async () => {
    const key = gateway.partners[1].apiKey;
    const owner = await connect(gateway.databaseUrl);
    const answers: string[] = [];
    try {
      await gateway.as(key).webhooks.set({ url: sink.url });
      // As if they had been registered before the filter knew them; a closed port of this machine is the last.
      for (const url of [
        'https://169.254.169.254/',
        'https://10.0.0.1/',
        'http://example.com/',
        'http://127.0.0.1:9/',
      ]) {
        await owner.query('UPDATE partners SET webhook_url = $2 WHERE name = $1', [
          gateway.partners[1].name,
          url,
        ]);
        const { status, text } = await gateway.as(key).webhooks.test();
        answers.push(`${status} ${text}`);
      }
    } finally {
      await owner.end();
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('WEBHOOK_DELIVERY_FAILED');
    const more = await Promise.all(Array.from({ length: 64 }, () => gateway.as(key).webhooks.test()));
    expect(more.some(({ status }) => status === 429)).toBe(true);
    await gateway.as(key).webhooks.delete('any');
  });
});
