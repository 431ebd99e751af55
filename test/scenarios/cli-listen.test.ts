import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Causeway, type CausewayEvent } from '@causeway/sdk';
import { constructEvent } from '@causeway/sdk/webhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { requestHeaders } from '../../apps/gateway/src/features/webhooks/webhook-sender.ts';
import { jsonLines, type RunningCli, startCli } from '../harness/cli.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { loopbackCertificate } from '../harness/tls.ts';
import { until } from '../harness/until.ts';

const MAIN = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname;

const bodyOf = statement<[eventId: string], { body: string }>(
  'test.body_of_event',
  'SELECT body FROM events WHERE event_id = $1',
);

interface Received {
  readonly event: CausewayEvent;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** A partner's own receiver: checks signatures, keeps what it accepted. */
class Inbox {
  readonly accepted: Received[] = [];
  /** What it answers to an event; 2xx accepts it. */
  answer: (event: CausewayEvent) => number | Promise<number> = () => 200;
  readonly #secret: () => string;
  #server: Server | undefined;
  #port = 0;

  constructor(secret: () => string) {
    this.#secret = secret;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hooks?tenant=1`;
  }

  async open(): Promise<void> {
    this.#server = createServer(async (request, response) => {
      const bytes = Buffer.concat(await request.toArray());
      try {
        const event = await constructEvent(bytes, request.headers, this.#secret());
        const status = await this.answer(event);
        if (status < 300) this.accepted.push({ event, body: bytes.toString(), headers: request.headers });
        response.writeHead(status, { location: '/elsewhere' }).end();
      } catch (error) {
        response.writeHead(400).end(String(error));
      }
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  /** Events about one subject, as they were accepted. */
  statusesOf(subject: string): string[] {
    return this.accepted.flatMap(({ event }) => {
      const data = event.data as { user_id: string; order_id?: string; status?: string; kyc_status?: string };
      return (data.order_id ?? data.user_id) === subject ? [data.status ?? data.kyc_status ?? ''] : [];
    });
  }
}

describe('causeway listen', () => {
  let gateway: TestGateway;
  let causeway: Causeway;
  let inbox: Inbox;
  let env: Record<string, string>;
  let running: RunningCli[] = [];
  let secret = '';

  beforeAll(async () => {
    gateway = await startGateway();
    const { apiKey } = gateway.partners[0];
    causeway = new Causeway({ baseUrl: gateway.baseUrl, apiKey });
    env = {
      CAUSEWAY_BASE_URL: gateway.baseUrl,
      CAUSEWAY_API_KEY: apiKey,
      CAUSEWAY_CONFIG_DIR: await mkdtemp(join(tmpdir(), 'causeway-listen-')),
    };
    secret = (await startCli(['listen', '--print-secret'], { env }).ended).stdout.trim();
    inbox = new Inbox(() => secret);
    await inbox.open();
  });
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()));
    running = [];
    inbox.answer = () => 200;
    inbox.accepted.length = 0;
  });
  afterAll(async () => {
    await inbox?.close();
    await gateway?.stop();
    await rm(env.CAUSEWAY_CONFIG_DIR ?? '', { recursive: true, force: true });
  });

  const ended = (...argv: string[]) => startCli(['listen', ...argv], { env }).ended;

  /** Listening from now on, with its lines as JSON. */
  async function listening(...argv: string[]): Promise<RunningCli> {
    const one = startCli(['listen', '--json', ...argv], { env });
    running.push(one);
    await until('the stream', () => one.lines().some(({ kind }) => kind === 'ready'));
    return one;
  }

  const forwarding = (...argv: string[]) => listening('--forward-to', inbox.url, '--from', 'now', ...argv);
  const told = (one: RunningCli, kind: string) => one.lines().filter((line) => line.kind === kind);

  async function customer(): Promise<string> {
    return (await causeway.users.create({ email: `${crypto.randomUUID()}@example.com` })).id;
  }

  const KYC = ['UNDER_REVIEW', 'VERIFIED', 'REJECTED'] as const;
  async function kycChanges(userId: string): Promise<void> {
    for (const status of KYC) await causeway.sandbox.kycStatus(userId, { status });
  }

  it('forwards the very bytes and headers of the service, signed, and nothing of its own', async () => {
    const one = await forwarding('-H', 'X-Tenant: 42', '-H', 'Authorization: Basic YTpi');
    const user = await customer();
    await causeway.sandbox.kycStatus(user, { status: 'VERIFIED' });
    const quote = await causeway.onramp.quote({
      ...{ user_uuid: user, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' },
      partner_fee_pct: '1',
    });
    const { order_id: orderId } = await causeway.onramp.initiate({
      quote_id: quote.quote_id,
      reference_id: 'größer & 🙂',
    });
    await causeway.orders.cancel(orderId, { reason: 'a test' });
    await until('both events of the order', () => inbox.statusesOf(orderId).length === 2);
    expect(inbox.statusesOf(orderId)).toEqual(['awaiting_liquidity_provider', 'cancelled']);
    for (const { event, body, headers } of inbox.accepted) {
      const [written] = await gateway.deps.db.query(SYSTEM, bodyOf, [event.event_id]);
      expect(body).toBe(written?.body);
      const { 'x-service-timestamp': timestamp = '', 'x-service-signature': signature = '' } = headers;
      const own = requestHeaders({ timestamp: `${timestamp}`, signature: `${signature}` }, null);
      expect(headers).toEqual({
        ...own,
        host: new URL(inbox.url).host,
        connection: 'keep-alive',
        'content-length': `${Buffer.byteLength(body)}`,
        'x-tenant': '42',
        authorization: 'Basic YTpi',
      });
    }
    await until('its lines', () => told(one, 'forwarded').length === inbox.accepted.length);
    expect(told(one, 'forwarded').at(-1)).toMatchObject({
      event_type: 'order.status.changed',
      order_id: orderId,
      status: 200,
      attempt: 1,
      accepted: true,
      ms: expect.any(Number),
    });
    expect((await one.stop()).exitCode).toBe(130);
  });

  it('keeps the order of each subject, lets others pass, and sends again what was not accepted', async () => {
    const one = await forwarding('--retries', '1');
    const users = await Promise.all(Array.from({ length: 6 }, customer));
    const [slow, redirecting, ...others] = users as [string, string, ...string[]];
    const refused = new Map<string, number>();
    inbox.answer = async (event) => {
      const { user_id: user } = event.data as { user_id: string };
      if (user === redirecting) return 302;
      if (user !== slow || refused.has(event.event_id)) return 204;
      refused.set(event.event_id, inbox.accepted.length);
      return 500;
    };
    await Promise.all(users.map(kycChanges));
    await until('all of the others', () => others.every((user) => inbox.statusesOf(user).length === 3));
    // Those were not kept waiting by the one that is tried again.
    expect(inbox.statusesOf(slow).length).toBeLessThan(3);
    await until('the slow one', () => inbox.statusesOf(slow).length === 3);
    for (const user of [slow, ...others]) expect(inbox.statusesOf(user)).toEqual(KYC);
    const failures = told(one, 'forwarded').filter(({ status }) => status === 500);
    expect(failures).toHaveLength(3);
    expect(failures[0]).toMatchObject({ attempt: 1, accepted: false, retry_in_ms: 1_000, given_up: false });
    await until(
      'the end of the other',
      () => told(one, 'forwarded').filter((line) => line.given_up).length === 3,
    );
    const givenUp = told(one, 'forwarded').filter((line) => line.given_up);
    expect(givenUp.map(({ status, attempt }) => [status, attempt])).toEqual(Array(3).fill([302, 2]));
    expect(inbox.statusesOf(redirecting)).toEqual([]);
  });

  it('0 retries are none; a filter leaves the others out; a receiver that is away is waited for', async () => {
    const one = await forwarding('--retries', '0', '--events', 'user.kyc.updated');
    inbox.answer = () => 503;
    const user = await customer();
    await causeway.sandbox.kycStatus(user, { status: 'UNDER_REVIEW' });
    await until('the refusal', () => told(one, 'forwarded').length === 1);
    expect(told(one, 'forwarded')[0]).toMatchObject({ status: 503, attempt: 1, given_up: true });
    await inbox.close();
    await causeway.sandbox.kycStatus(user, { status: 'VERIFIED' });
    await until('that it is away', () => told(one, 'receiver_down').length === 1);
    const quote = await causeway.onramp.quote({
      ...{ user_uuid: user, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' },
    });
    await causeway.onramp.initiate({ quote_id: quote.quote_id });
    await causeway.sandbox.kycStatus(user, { status: 'REJECTED' });
    inbox.answer = () => 200;
    await inbox.open();
    await until('what waited', () => inbox.accepted.length === 2);
    expect(inbox.statusesOf(user)).toEqual(['VERIFIED', 'REJECTED']);
    expect(told(one, 'receiver_up')).toHaveLength(1);
    expect(told(one, 'forwarded').every((line) => line.event_type === 'user.kyc.updated')).toBe(true);
  });

  it('loses nothing when it is killed in the middle: the next one goes on where it stopped', async () => {
    // An address of its own, of which no cursor is saved yet.
    const address = `${inbox.url}&killed`;
    const first = spawned(['listen', '--json', '--forward-to', address]);
    await until('the stream', () => first.lines().some(({ kind }) => kind === 'ready'));
    const users = await Promise.all(Array.from({ length: 8 }, customer));
    // It is killed while some are answered, some are under way and some are to come.
    inbox.answer = async () => {
      if (inbox.accepted.length >= 9) first.child.kill('SIGKILL');
      return 200;
    };
    await Promise.all(users.map(kycChanges));
    await first.exited;
    expect(first.child.signalCode).toBe('SIGKILL');
    const before = inbox.accepted.length;
    expect(before).toBeLessThan(users.length * KYC.length);
    inbox.answer = () => 200;
    const second = await listening('--forward-to', address);
    const idsOf = () => new Set(inbox.accepted.map(({ event }) => event.event_id));
    await until('every event', () => idsOf().size === users.length * KYC.length);
    for (const user of users) {
      // What was answered but not yet saved may come twice, never out of order and never not at all.
      expect([...new Set(inbox.statusesOf(user))]).toEqual(KYC);
    }
    await until('its lines', () => told(second, 'forwarded').length === inbox.accepted.length - before);
    await second.stop();
    inbox.accepted.length = 0;
    const third = await listening('--forward-to', address);
    const user = await customer();
    await causeway.sandbox.kycStatus(user, { status: 'VERIFIED' });
    await until('the next event', () => told(third, 'forwarded').length > 0);
    expect(inbox.accepted.map(({ event }) => event.data)).toEqual([
      { user_id: user, kyc_status: 'VERIFIED' },
    ]);
  });

  function spawned(argv: readonly string[]): {
    child: ChildProcess;
    lines: RunningCli['lines'];
    exited: Promise<unknown>;
  } {
    const child = spawn(process.execPath, [MAIN, ...argv], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout?.on('data', (chunk) => {
      out += chunk;
    });
    return { child, lines: () => jsonLines(out), exited: once(child, 'exit') };
  }

  it('prints events without an address, from where it is told', async () => {
    const one = await listening('--from', 'start', '--events', 'order.status.changed');
    await until('events of the past', () => told(one, 'event').length >= 2);
    expect(told(one, 'event')[0]).toMatchObject({
      cursor: expect.any(String),
      event_type: 'order.status.changed',
    });
    const { cursor } = told(one, 'event')[0];
    const after = await listening('--from', cursor, '--events', 'order.status.changed');
    await until('the one behind', () => told(after, 'event').length > 0);
    expect(told(after, 'event')[0]).toEqual(told(one, 'event')[1]);
  });

  it('speaks https to whom --ca trusts, and tells people in lines of their own', async () => {
    const certificate = await loopbackCertificate();
    const secure = createTlsServer({ ...certificate }, async (request, response) => {
      await request.toArray();
      response.writeHead(201).end();
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const address = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/`;
    const file = join(env.CAUSEWAY_CONFIG_DIR ?? '', 'ca.pem');
    await writeFile(file, certificate.cert);
    // The other partner: a partner has ten streams, and one that was left is noticed by the next heartbeat.
    const { apiKey } = gateway.partners[1];
    const theirs = { env: { ...env, CAUSEWAY_API_KEY: apiKey } };
    const other = new Causeway({ baseUrl: gateway.baseUrl, apiKey });
    const forward = ['listen', '--forward-to', address, '--from', 'now'];
    const doubting = startCli([...forward, '--retries', '0', '--json'], theirs);
    const trusting = startCli([...forward, '--ca', file], theirs);
    running.push(doubting, trusting);
    await until('the stream', () => told(doubting, 'ready').length === 1);
    await until('the stream', () => trusting.stderr().includes(`Forwarding events to ${address}, from now.`));
    const { id: user } = await other.users.create({ email: 'tls@example.com' });
    await other.sandbox.kycStatus(user, { status: 'VERIFIED' });
    await until('the line of the one that trusts', () => trusting.stdout() !== '');
    await until('the refusal of the one that doubts', () => told(doubting, 'forwarded').length === 1);
    expect(trusting.stdout()).toMatch(
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d  user\\.kyc\\.updated  ${user}  VERIFIED  201  \\d+ ms\\n$`),
    );
    expect(told(doubting, 'forwarded')[0]).toMatchObject({
      status: null,
      problem: expect.stringContaining('--ca FILE'),
      given_up: true,
    });
    secure.closeAllConnections();
    secure.close();
  });

  it('has one secret a profile, readable by its owner only, and writes it into a file of variables', async () => {
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    const folder = join(env.CAUSEWAY_CONFIG_DIR ?? '', 'listen');
    for (const file of await readdir(folder))
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    const file = join(env.CAUSEWAY_CONFIG_DIR ?? '', '.env');
    await writeFile(file, 'A=1\nexport CAUSEWAY_WEBHOOK_SECRET=old\nB=2');
    expect((await ended('--print-secret', '--env-file', file)).stdout).toBe(`${secret}\n`);
    expect(await readFile(file, 'utf8')).toBe(`A=1\nexport CAUSEWAY_WEBHOOK_SECRET=${secret}\nB=2`);
    await writeFile(file, 'A=1');
    await ended('--print-secret', '--env-file', file);
    expect(await readFile(file, 'utf8')).toBe(`A=1\nCAUSEWAY_WEBHOOK_SECRET=${secret}\n`);
    const given = startCli(['listen', '--print-secret', '--json'], {
      env: { ...env, CAUSEWAY_WEBHOOK_SECRET: 'whsec_mine' },
    });
    expect(JSON.parse((await given.ended).stdout)).toEqual({ secret: 'whsec_mine' });
  });

  it.each([
    [['--forward-to', '3000', '-H', 'X-Tenant 42'], 'there is no colon'],
    [['--forward-to', '3000', '-H', ': 42'], 'no name of a header'],
    [['--forward-to', '3000', '-H', 'X-Service-Signature: 1'], 'the service sets this header'],
    [['--forward-to', 'ftp://localhost/'], 'http and https only'],
    [['--forward-to', 'http://a:b@localhost/'], 'Authorization'],
    [['--forward-to', 'https://localhost/', '--ca', '/nonexistent'], 'cannot be read'],
    [['--forward-to', '3000', '--retries', '-1'], 'retries'],
    [['--from', 'yesterday'], '--from is start, now'],
    [['--events', 'order.status.change'], 'Did you mean order.status.changed'],
    [['-H', 'A: b'], 'is for --forward-to'],
    [['--insecure'], 'insecure'],
  ])('refuses %j', async (argv, says) => {
    const { exitCode, stderr } = await ended(...argv);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it('ends with its own exit code where the key is refused, also in the middle', async () => {
    const withKey = (key: string) =>
      startCli(['listen', '--json'], { env: { ...env, CAUSEWAY_API_KEY: key } });
    const refused = { exitCode: 3, stderr: expect.stringContaining('UNAUTHORIZED') };
    expect(await withKey('cw_test_wrong').ended).toMatchObject(refused);

    const operator = new Causeway({ baseUrl: gateway.baseUrl, apiKey: gateway.sandbox.operatorKey }).operator;
    const { partners } = await operator.partners.list();
    const mine = partners.find(({ name }) => name === gateway.partners[0].name);
    const made = await operator.partners.createKey(mine?.partner_id ?? '', {
      kind: 'secret',
      reason: 'a test',
    });
    const one = withKey(made.key);
    await until('the stream', () => one.lines().some(({ kind }) => kind === 'ready'));
    await operator.keys.revoke(made.key_id, { reason: 'a test' });
    await causeway.sandbox.kycStatus(await customer(), { status: 'VERIFIED' });
    expect(await one.ended).toMatchObject(refused);
    expect(one.lines().map(({ kind }) => kind)).toEqual(['ready', 'stream_broken']);
  });
});
