import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ListWebhookEndpointDeliveriesQuery } from '@causeway/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';
import { type ReceivedWebhook, startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';
import { opensslAccepts } from '../harness/webhook-sink-openssl.ts';

const KYC = 'user.kyc.updated';
const ORDERS = 'order.status.changed';

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

describe('further webhook endpoints of a partner', () => {
  let gateway: TestGateway;
  let sink: WebhookSink;
  let users = 0;

  beforeAll(async () => {
    gateway = await startGateway({ worker: true, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000' } });
    sink = await startWebhookSink({ tls: false });
  });
  afterAll(async () => {
    // What hangs there ends with it; the worker would wait for its time-out.
    await sink?.close();
    await gateway?.stop();
  });
  afterEach(async () => {
    sink.setFault({ kind: 'none' });
    for (const { id, is_default } of await listed())
      if (!is_default) await gateway.partner.webhookEndpoints.delete(id);
    await gateway.partner.webhooks.delete('any');
  });

  const listed = async () => (await gateway.partner.webhookEndpoints.list()).body.data.endpoints;
  const further = async () => (await listed()).filter((one) => !one.is_default).map(({ id }) => id);
  const advance = (seconds: number) => gateway.partner.sandbox.advanceClock({ seconds });
  const setDefault = (path = '/default') => gateway.partner.webhooks.set({ url: sink.url + path });
  const code = ({ status, body }: Answer) => [status, body.error?.code];

  async function create(path: string, options: object = {}): Promise<Endpoint> {
    const { status, text, body } = await gateway.partner.webhookEndpoints.create({
      url: sink.url + path,
      ...options,
    });
    expect(status, text).toBe(200);
    return body.data;
  }

  /** A customer whose verification sends one event. */
  async function verifyUser(): Promise<string> {
    const user = await gateway.partner.users.create({ email: `e${users++}@example.com` });
    const id = user.body.data.id as string;
    await gateway.partner.sandbox.kycStatus(id, { status: 'VERIFIED' });
    return id;
  }

  const at = (path: string, userId: string) =>
    sink.received.filter((one) => one.path === path && one.event?.data.user_id === userId);
  const arrived = (path: string, userId: string, count = 1) =>
    until(
      `${count} at ${path}`,
      () => at(path, userId).length >= count && (at(path, userId)[count - 1] as ReceivedWebhook),
    );
  const log = async (endpointId: string, query: ListWebhookEndpointDeliveriesQuery = {}) =>
    (await gateway.partner.webhookEndpoints.listDeliveries(endpointId, query)).body.data.deliveries;
  /** The latest delivery there, once it has had an attempt. */
  const attempted = (endpointId: string) =>
    until('an attempt', async () => {
      const [delivery] = await log(endpointId, { limit: 1 });
      return delivery !== undefined && delivery.attempts.length > 0 && delivery;
    });

  // Proves D13.6.
  it('are created, listed after the default one, read and changed; the secret is shown once', async () => {
    expect(await listed()).toEqual([]);
    await setDefault();
    const made = await create('/a', { events: [KYC] });
    expect(made).toMatchObject({
      url: `${sink.url}/a`,
      events: [KYC],
      enabled: true,
      is_default: false,
      api_version: '2026-11-01',
      health: { state: 'ok', pending_deliveries: 0 },
      previous_secret_valid_until: null,
    });
    expect(made.secret).toMatch(/^whsec_[0-9A-Za-z]{32}$/);
    const list = await gateway.partner.webhookEndpoints.list();
    expect(list.text).not.toContain(made.secret);
    expect(
      list.body.data.endpoints.map((one: { is_default: boolean; events: string[] }) => [
        one.is_default,
        one.events,
      ]),
    ).toEqual([
      [true, ['*']],
      [false, [KYC]],
    ]);
    const changed = await gateway.partner.webhookEndpoints.update(made.id, { events: ['*', ORDERS] });
    expect(changed.body.data).toMatchObject({ id: made.id, events: ['*'], url: `${sink.url}/a` });
    const moved = await gateway.partner.webhookEndpoints.update(made.id, { url: `${sink.url}/b` });
    expect(moved.body.data).toMatchObject({ events: ['*'], url: `${sink.url}/b`, enabled: true });
    const { secret: _shown, ...expected } = { ...made, events: ['*'], url: `${sink.url}/b` };
    expect((await gateway.partner.webhookEndpoints.get(made.id)).body.data).toEqual(expected);
    // The same address may be given twice: with another filter it is another endpoint.
    expect((await create('/b', { events: [ORDERS] })).id).not.toBe(made.id);
  });

  it('what does not fit is refused with what would, and nothing is made', async () => {
    const post = (body: unknown) => gateway.partner.webhookEndpoints.create(untyped(body));
    const url = `${sink.url}/x`;
    const unknown = await post({ url, events: ['order.made'] });
    expect(code(unknown)).toEqual([400, 'VALIDATION_ERROR']);
    expect(unknown.text).toContain(`${ORDERS}, order.refund.required`);
    for (const body of [
      {},
      { url: 5 },
      { url: '' },
      { url: `https://example.com/${'x'.repeat(2048)}` },
      { url, events: [] },
      { url, events: 'all' },
      { url, events: [KYC, KYC] },
      { url, events: ['webhook.test'] },
      { url, enabled: 'sometimes' },
      { url, api_version: '2020-01-01' },
    ]) {
      expect([body, ...code(await post(body))]).toEqual([body, 400, 'VALIDATION_ERROR']);
    }
    for (const bad of ['http://example.com/', 'nonsense', 'https://10.0.0.1/x', 'https://u:p@example.com/']) {
      expect([bad, ...code(await post({ url: bad }))]).toEqual([bad, 400, 'INVALID_WEBHOOK_URL']);
    }
    const { id } = await create('/x');
    const patch = (body: unknown) => gateway.partner.webhookEndpoints.update(id, untyped(body));
    expect(code(await patch({}))).toEqual([400, 'VALIDATION_ERROR']);
    expect(code(await patch({ url: 'https://169.254.169.254/' }))).toEqual([400, 'INVALID_WEBHOOK_URL']);
    expect(await further()).toEqual([id]);
  });

  it('are at most sixteen, also when they are created at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        gateway.partner.webhookEndpoints.create({ url: `${sink.url}/${n}` }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(code)).toEqual(Array(4).fill([409, 'OPERATION_NOT_ALLOWED']));
    expect(refused[0]?.body.error.message).toContain('16');
    expect(await further()).toHaveLength(16);
  });

  // Proves C7 WEBHOOK_ENDPOINT_NOT_FOUND.
  it('belong to their partner: to another one they do not exist', async () => {
    const { id } = await create('/own');
    const user = await verifyUser();
    await arrived('/own', user);
    const delivery = await attempted(id);
    const key = gateway.partners[1].apiKey;
    const { webhookEndpoints: theirs } = gateway.as(key);
    const calls: Record<string, (endpointId: string) => Promise<Answer>> = {
      get: (endpointId) => theirs.get(endpointId),
      update: (endpointId) => theirs.update(endpointId, { enabled: false }),
      delete: (endpointId) => theirs.delete(endpointId),
      rotateSecret: (endpointId) => theirs.rotateSecret(endpointId),
      test: (endpointId) => theirs.test(endpointId),
      listDeliveries: (endpointId) => theirs.listDeliveries(endpointId),
      getDelivery: (endpointId) => theirs.getDelivery(endpointId, delivery.id),
      replayDelivery: (endpointId) => theirs.replayDelivery(endpointId, delivery.id),
      replay: (endpointId) => theirs.replay(endpointId, { since: '2026-01-01T00:00:00.000Z' }),
    };
    for (const [name, send] of Object.entries(calls)) {
      for (const endpoint of [id, randomUUID()]) {
        expect([name, ...code(await send(endpoint))]).toEqual([name, 404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
      }
    }
    expect((await theirs.list()).body.data.endpoints).toEqual([]);
    expect((await gateway.partner.webhookEndpoints.get(id)).body.data.enabled).toBe(true);
  });

  // Proves D13.6.
  it('the default one is read, tested and rotated here, and changed and removed only where the contract says', async () => {
    await setDefault();
    const { id } = (await listed())[0]!;
    const { webhookEndpoints: endpoints } = gateway.partner;
    for (const refused of [await endpoints.update(id, { events: [KYC] }), await endpoints.delete(id)]) {
      expect(code(refused)).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      expect(refused.body.error.message).toContain('/partner/webhooks');
    }
    expect((await gateway.partner.webhookEndpoints.test(id)).body.data).toEqual({
      delivered: true,
      http_status: 200,
    });
    const test = sink.received.at(-1) as ReceivedWebhook;
    expect(opensslAccepts(test, gateway.partners[0].webhookSecret)).toBe(true);
    expect(test.headers['x-service-api-version']).toBeUndefined();
  });

  // Proves D13.6.
  it('each gets the events of its filter, with the same event_id and a secret of its own, and the default one all as ever', async () => {
    await setDefault();
    const all = await create('/all');
    const kyc = await create('/kyc', { events: [KYC, 'order.refund.required'] });
    const orders = await create('/orders', { events: [ORDERS] });
    const off = await create('/off', { enabled: false });
    const user = await verifyUser();
    const received = await Promise.all(['/default', '/all', '/kyc'].map((path) => arrived(path, user)));
    expect(new Set(received.map(({ event }) => event?.event_id)).size).toBe(1);
    expect(new Set(received.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
    const secrets = [gateway.partners[0].webhookSecret, all.secret, kyc.secret];
    expect(received.map((one) => secrets.map((secret) => opensslAccepts(one, secret)))).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
    expect(received.map(({ headers }) => headers['x-service-api-version'])).toEqual([
      undefined,
      '2026-11-01',
      '2026-11-01',
    ]);
    expect([await log(orders.id), await log(off.id)]).toEqual([[], []]);
    // The default endpoint's log is its own.
    const { body } = await gateway.partner.webhooks.listDeliveries({
      event_id: received[0]?.event?.event_id,
    });
    expect(body.data.deliveries).toHaveLength(1);
    const { id: defaultId } = (await listed())[0]!;
    expect(body.data.deliveries[0]?.endpoint_id).toBe(defaultId);
    // An operator sees where each went.
    const operator = await gateway.operator.partners.listDeliveries(defaultId, { limit: 3 });
    expect(
      operator.body.data.deliveries.map((one: { endpoint_id: string }) => one.endpoint_id).toSorted(),
    ).toEqual([defaultId, all.id, kyc.id].toSorted());
    // A test event is for whom it was asked, whatever the filter.
    expect((await gateway.partner.webhookEndpoints.test(orders.id)).body.data.delivered).toBe(true);
    expect(sink.received.at(-1)).toMatchObject({ path: '/orders', event: { event_type: 'webhook.test' } });
    expect(opensslAccepts(sink.received.at(-1) as ReceivedWebhook, orders.secret)).toBe(true);
  });

  // Proves D13.6.
  it('a rotated secret signs at once, the previous one beside it for 24 hours, and no other endpoint notices', async () => {
    const [one, other] = [await create('/one'), await create('/other')];
    const rotate = () =>
      gateway.partner.webhookEndpoints.rotateSecret(one.id, { idempotencyKey: 'rotate-endpoint' });
    const rotated = await rotate();
    const { secret, previous_secret_valid_until } = rotated.body.data;
    expect((await rotate()).text).toBe(rotated.text);
    expect((await gateway.partner.webhookEndpoints.get(one.id)).body.data).toMatchObject({
      previous_secret_valid_until,
    });
    const during = await verifyUser();
    const signed = await arrived('/one', during);
    expect(opensslAccepts(signed, secret)).toBe(true);
    expect(opensslAccepts(signed, one.secret, 'x-service-signature-previous')).toBe(true);
    const unchanged = await arrived('/other', during);
    expect(opensslAccepts(unchanged, other.secret)).toBe(true);
    expect(unchanged.headers['x-service-signature-previous']).toBeUndefined();
    await advance(24 * 60 * 60);
    const later = await arrived('/one', await verifyUser());
    expect(opensslAccepts(later, secret)).toBe(true);
    expect(later.headers['x-service-signature-previous']).toBeUndefined();
    expect(
      (await gateway.partner.webhookEndpoints.get(one.id)).body.data.previous_secret_valid_until,
    ).toBeNull();
  });

  it('a disabled or deleted one gets nothing of what waited for it; what it missed is replayed by its filter', async () => {
    sink.setFault({
      paths: { '/down': { kind: 'status', status: 503 }, '/gone': { kind: 'status', status: 503 } },
    });
    const since = gateway.deps.clock.date().toISOString();
    const [down, gone] = [await create('/down', { events: [KYC] }), await create('/gone')];
    const user = await verifyUser();
    await Promise.all([attempted(down.id), attempted(gone.id)]);
    const failing = (await gateway.partner.webhookEndpoints.get(down.id)).body.data;
    expect(failing.health).toMatchObject({
      state: 'failing',
      last_error: 'not_acknowledged: answered 503',
      pending_deliveries: 1,
    });
    await gateway.partner.webhookEndpoints.update(down.id, { enabled: false });
    expect((await gateway.partner.webhookEndpoints.delete(gone.id)).status).toBe(200);
    expect(code(await gateway.partner.webhookEndpoints.listDeliveries(gone.id))).toEqual([
      404,
      'WEBHOOK_ENDPOINT_NOT_FOUND',
    ]);
    expect(code(await gateway.partner.webhookEndpoints.delete(gone.id))).toEqual([
      404,
      'WEBHOOK_ENDPOINT_NOT_FOUND',
    ]);
    expect((await log(down.id))[0]?.status).toBe('cancelled');
    const { replay, replayDelivery } = gateway.partner.webhookEndpoints;
    for (const refused of [
      await replay(down.id, { since }),
      await replayDelivery(down.id, (await log(down.id))[0]!.id),
    ]) {
      expect(code(refused)).toEqual([400, 'WEBHOOK_NOT_CONFIGURED']);
    }
    sink.setFault({ kind: 'none' });
    await advance(120);
    await gateway.partner.webhookEndpoints.update(down.id, { enabled: true });
    await arrived('/down', await verifyUser());
    expect([at('/down', user).length, at('/gone', user).length]).toEqual([1, 1]);

    const replayed = await gateway.partner.webhookEndpoints.replay(down.id, { since });
    expect(replayed.body.data).toEqual({ replayed: 2, has_more: false });
    const again = await arrived('/down', user, 2);
    expect(again.event?.event_id).toBe(at('/down', user)[0]?.event?.event_id);
    const none = await create('/none', { events: [ORDERS] });
    const nothing = await gateway.partner.webhookEndpoints.replay(none.id, { since });
    expect(nothing.body.data).toEqual({ replayed: 0, has_more: false });
  });

  it('a replay sends what still waits at once, makes no queue longer however often it is asked for, and is limited', async () => {
    sink.setFault({ paths: { '/late': { kind: 'status', status: 503 } } });
    const since = gateway.deps.clock.date().toISOString();
    const late = await create('/late', { events: [KYC] });
    const user = await verifyUser();
    const replay = () => gateway.partner.webhookEndpoints.replay(late.id, { since });
    for (const attempts of [1, 2, 3]) {
      // The next attempt would be due in a minute.
      await until('the attempt', async () => (await log(late.id))[0]?.attempts.length === attempts);
      expect((await replay()).body.data).toEqual({ replayed: 1, has_more: false });
    }
    sink.setFault({ kind: 'none' });
    await arrived('/late', user, 4);
    expect(await log(late.id)).toHaveLength(1);
    const refused = await until('the limit', async () => {
      const answer = await replay();
      return answer.status === 200 ? false : answer;
    });
    expect(code(refused)).toEqual([429, 'RATE_LIMITED']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('one that hangs delays neither the default one nor another', async () => {
    sink.setFault({ paths: { '/hangs': { kind: 'hang' } } });
    await setDefault();
    const [hanging] = [await create('/hangs'), await create('/works')];
    const first = await verifyUser();
    await arrived('/hangs', first);
    const others = [first, await verifyUser(), await verifyUser()];
    // Its attempt would take ten seconds.
    const began = performance.now();
    await Promise.all(others.flatMap((user) => [arrived('/default', user), arrived('/works', user)]));
    expect(performance.now() - began).toBeLessThan(8_000);
    expect((await log(hanging.id)).map((one: { attempts: object[] }) => one.attempts.length)).toEqual([
      0, 0, 0,
    ]);
  });

  describe('the log of one', () => {
    let receiver: Server;
    let answer: { status: number; headers: Record<string, string>; body: Buffer };
    let url: string;

    beforeAll(async () => {
      receiver = createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(answer.status, answer.headers).end(answer.body));
      });
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/log?token=t`;
    });
    afterAll(() => new Promise((resolve) => receiver.close(resolve)));

    const detail = async (endpointId: string, deliveryId: string) =>
      (await gateway.partner.webhookEndpoints.getDelivery(endpointId, deliveryId)).body.data;

    it('shows the body, the request and the response of each attempt, whatever was answered', async () => {
      const { id } = (await gateway.partner.webhookEndpoints.create({ url })).body.data;
      const copy = await create('/copy');
      const hostile = Buffer.concat([Buffer.from([0x61, 0x00, 0xff, 0x1b, 0x62]), Buffer.alloc(5_000, 'é')]);
      const long = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`x-h${n}`, 'v'.repeat(400)]));
      answer = { status: 500, headers: { 'set-cookie': 'session=1', ...long }, body: hostile };
      const user = await verifyUser();
      const delivery = await attempted(id);
      const seen = await arrived('/copy', user);
      expect(delivery.body).toBe(seen.rawBody.toString());
      expect(delivery.attempts[0]?.response?.length).toBeLessThanOrEqual(256);

      const shown = await detail(id, delivery.id);
      expect(shown).toMatchObject({
        id: delivery.id,
        endpoint_id: id,
        api_version: '2026-11-01',
        status: 'pending',
      });
      const attempt = shown.attempts[0]!;
      expect(attempt.request).toMatchObject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', 'x-service-api-version': '2026-11-01' },
      });
      expect(attempt).toMatchObject({
        http_status: 500,
        error: 'not_acknowledged',
        response_truncated: true,
      });
      expect(attempt.response_body).toMatch(/^a·\ufffd·b/);
      expect(Buffer.byteLength(attempt.response_body!)).toBeLessThanOrEqual(4_096 + 8);
      expect(Object.keys(attempt.response_headers!)).toHaveLength(20);
      expect(attempt.response_headers).not.toHaveProperty('set-cookie');
      expect(attempt.response_headers?.['x-h0']).toBe('v'.repeat(256));

      answer = { status: 200, headers: { 'x-trace': 'abc' }, body: Buffer.from('thanks') };
      await advance(61);
      const settled = await until('delivered', async () => {
        const now = await detail(id, delivery.id);
        return now.status === 'delivered' && now;
      });
      expect(settled.attempts).toHaveLength(2);
      expect(settled.attempts[1]).toMatchObject({
        http_status: 200,
        error: null,
        response: 'thanks',
        response_body: 'thanks',
        response_truncated: false,
        response_headers: { 'x-trace': 'abc' },
      });
      // The signatures are those that arrived: a receiver can compare its own with them.
      const copied = await until('settled', async () => (await log(copy.id, { status: 'delivered' }))[0]);
      const sent = (await detail(copy.id, copied.id)).attempts[0]!.request!.headers;
      expect(sent['x-service-signature']).toBe(seen.headers['x-service-signature']);
      expect(sent['x-service-timestamp']).toBe(seen.headers['x-service-timestamp']);

      expect(code(await gateway.partner.webhookEndpoints.getDelivery(copy.id, delivery.id))).toEqual([
        404,
        'DELIVERY_NOT_FOUND',
      ]);
      expect(code(await gateway.partner.webhooks.replayDelivery(delivery.id))[0]).toBe(400);
      const replayed = await gateway.partner.webhookEndpoints.replayDelivery(copy.id, copied.id);
      expect(replayed.body.data).toMatchObject({
        replay_of: copied.id,
        endpoint_id: copy.id,
        event_id: copied.event_id,
      });
      expect((await arrived('/copy', user, 2)).rawBody.equals(seen.rawBody)).toBe(true);
      const page = (await gateway.partner.webhookEndpoints.listDeliveries(copy.id, { limit: 1 })).body.data;
      expect(page.pagination.next_cursor).toBe(page.deliveries[0]?.id);
      expect((await log(copy.id, { limit: 1, cursor: page.pagination.next_cursor! }))[0]!.id).toBe(copied.id);
    });

    it('loses what was answered about a person who is erased, and keeps that it was', async () => {
      answer = {
        status: 200,
        headers: { 'x-customer': 'Quartermain' },
        body: Buffer.from('stored Allan Quartermain'),
      };
      const { id } = (await gateway.partner.webhookEndpoints.create({ url })).body.data;
      const user = await verifyUser();
      const delivery = await attempted(id);
      const before = (await detail(id, delivery.id)).attempts[0]!;
      expect([before.response_body, before.response_headers?.['x-customer']]).toEqual([
        'stored Allan Quartermain',
        'Quartermain',
      ]);
      const erased = await gateway.operator.users.erase(user, { reason: 'asked for' });
      expect(erased.status, erased.text).toBe(200);
      const shown = await detail(id, delivery.id);
      expect(JSON.stringify(shown)).not.toContain('Quartermain');
      expect(shown.attempts).toEqual([
        {
          ...before,
          response: null,
          response_body: null,
          response_headers: null,
        },
      ]);
      expect(shown.body).toBe(delivery.body);
    });
  });
});
