import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Causeway } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../apps/gateway/src/api.ts';
import { pickPort } from '../../apps/gateway/src/local/free-port.ts';
import { toWire } from '../../apps/gateway/src/local/sandbox-file.ts';
import { runCli } from '../../packages/cli/src/cli.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';

const UNKNOWN_ID = '0199aa9f-0000-7c41-9d0e-6b1f5a3c2d10';

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Piped in, or typed where `isTTY`. */
  readonly input?: string;
  readonly isTTY?: boolean;
  readonly signal?: AbortSignal;
  readonly onOut?: (text: string) => void;
}

describe('the command line against a gateway', () => {
  let gateway: TestGateway;
  let live: { readonly baseUrl: string; close(): Promise<unknown> };
  let sink: WebhookSink;
  let folder: string;
  let config: string;
  let causeway: Causeway;
  let customer: string;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    const port = await pickPort(undefined);
    const api = await createApi({ ...gateway.deps, sandbox: false }, `http://127.0.0.1:${port}`);
    await api.listen({ host: '127.0.0.1', port });
    live = { baseUrl: `http://127.0.0.1:${port}`, close: () => api.close() };
    sink = await startWebhookSink({ tls: false, secret: gateway.partners[0].webhookSecret });
    folder = await mkdtemp(join(tmpdir(), 'causeway-cli-'));
    config = join(folder, 'config', 'config.json');
    await writeFile(join(folder, 'sandbox.json'), JSON.stringify(toWire(gateway.sandbox)), { mode: 0o600 });
    causeway = new Causeway({ baseUrl: gateway.baseUrl, apiKey: gateway.partners[0].apiKey });
    ({ id: customer } = await causeway.users.create({
      email: 'ada@example.com',
      first_name: 'Ada',
      last_name: 'Lovelace',
    }));
    await causeway.sandbox.kycStatus(customer, { status: 'VERIFIED' });
  });
  afterAll(async () => {
    await sink?.close();
    await live?.close();
    await gateway?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(argv: readonly string[], options: RunOptions = {}) {
    const { isTTY = false, input, onOut } = options;
    const written = { out: '', err: '' };
    const modes: boolean[] = [];
    const stdin = Object.assign(new PassThrough(), {
      isTTY,
      setRawMode: (on: boolean) => void modes.push(on),
    });
    if (input === undefined) stdin.end();
    else if (isTTY) stdin.write(input);
    else stdin.end(input);
    const code = await runCli(argv, {
      stdout: {
        isTTY,
        write: (text: string) => {
          written.out += text;
          onOut?.(text);
        },
      },
      stderr: { isTTY, write: (text: string) => (written.err += text) },
      stdin,
      env: {
        CAUSEWAY_CONFIG_DIR: join(folder, 'config'),
        CAUSEWAY_HOME: folder,
        NO_COLOR: '1',
        ...options.env,
      },
      folder,
      signal: options.signal ?? new AbortController().signal,
    });
    return { code, modes, ...written };
  }

  /** The document of a command that succeeds. */
  async function json(argv: readonly string[], options?: RunOptions) {
    const { code, out, err } = await run([...argv, '--json'], options);
    expect([code, err], `${argv.join(' ')}: ${err}`).toEqual([0, '']);
    return JSON.parse(out);
  }

  /** The error of a command that fails, as JSON has it. */
  async function failure(argv: readonly string[], options?: RunOptions) {
    const { code, err } = await run([...argv, '--json'], options);
    const { error } = JSON.parse(err);
    expect(error.exit_code).toBe(code);
    return { ...error, code: error.code, exit: code };
  }

  async function onramp(reference: string): Promise<string> {
    const quote = await json([
      'quote',
      'onramp',
      '--crypto',
      'USDC',
      '--fiat',
      'EUR',
      '--fiat-amount',
      '100.00',
      '--user',
      customer,
    ]);
    const order = await causeway.onramp.initiate({ quote_id: quote.quote_id, reference_id: reference });
    return order.order_id;
  }

  /** The gateway behind something whose clock is ten minutes behind. */
  async function lateProxy() {
    const server = createServer(async (request, response) => {
      const answer = await fetch(gateway.baseUrl + request.url);
      const late = new Date(Date.now() - 600_000).toUTCString();
      response.writeHead(answer.status, { 'content-type': 'application/json', date: late });
      response.end(await answer.text());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { baseUrl: `http://127.0.0.1:${port}`, close: () => server.close() };
  }

  it('needs no login in the folder of a sandbox', async () => {
    expect((await json(['profiles'])).profiles).toEqual([
      {
        ...{ name: 'sandbox', base_url: gateway.baseUrl, kind: 'sandbox', in_use: true },
        ...{ keys: ['partner', 'vendor', 'operator'], source: join(folder, 'sandbox.json') },
      },
    ]);
    expect((await json(['orders', 'list'])).orders).toEqual([]);
    expect((await run(['orders', 'list'])).out).toBe('No orders.\n');
  });

  describe('login', () => {
    it('asks at a terminal, hides the key, checks it, and saves it for its owner only', async () => {
      const { vendors, operatorKey } = gateway.sandbox;
      const typed = `${gateway.baseUrl}/\n${gateway.partners[0].apiKey}x\u007f\r`;
      const { code, out, err, modes } = await run(['login'], { isTTY: true, input: typed });
      expect([code, modes]).toEqual([0, [true, false]]);
      expect(out).toContain(`Logged in to ${gateway.baseUrl} (sandbox) as partner: profile “default”.`);
      expect(err).toContain('Key: ');
      expect(out + err).not.toContain(gateway.partners[0].apiKey);
      expect((await stat(config)).mode & 0o777).toBe(0o600);
      expect((await stat(join(folder, 'config'))).mode & 0o777).toBe(0o700);
      // Further keys of the same address join the profile: from a pipe, and from the environment.
      const vendor = await json(['login', '--key-stdin'], { input: `${vendors[0]!.apiKey}\n` });
      expect(vendor).toMatchObject({ profile: 'default', kind: 'sandbox', saved_keys: ['vendor'] });
      await json(['login', '--as', 'operator'], { env: { CAUSEWAY_OPERATOR_KEY: operatorKey } });
      const saved = JSON.parse(await readFile(config, 'utf8'));
      expect(saved).toEqual({
        current: 'default',
        profiles: {
          default: {
            ...{ base_url: gateway.baseUrl, kind: 'sandbox' },
            keys: { partner: gateway.partners[0].apiKey, vendor: vendors[0]!.apiKey, operator: operatorKey },
          },
        },
      });
    });

    it('saves nothing that the service refuses, and never moves a profile to another address', async () => {
      const before = await readFile(config, 'utf8');
      const key = gateway.partners[1].apiKey;
      const login = (argv: readonly string[], options: RunOptions) => failure(['login', ...argv], options);
      const refusals = [
        await login(['--key-stdin'], { input: 'cw_test_wrong' }),
        await login(['--key-stdin'], { input: gateway.partners[0].widgetKey }),
        await login(['--key-stdin', '--as', 'vendor'], { input: key }),
        await login(['--key-stdin', '--base-url', live.baseUrl], { input: key }),
        await login(['--key-stdin', '--base-url', 'http://10.1.2.3', '--name', 'far'], { input: key }),
        await login(['--key-stdin'], { input: '' }),
        await login(['--key-stdin', '--base-url', 'http://127.0.0.1:9', '--name', 'off'], { input: key }),
        // The key of another address is not taken for this one.
        await login(['--base-url', live.baseUrl, '--name', 'x'], {
          env: { CAUSEWAY_BASE_URL: gateway.baseUrl, CAUSEWAY_API_KEY: key },
        }),
      ];
      expect(refusals.map(({ exit }) => exit)).toEqual([3, 3, 3, 5, 5, 2, 6, 2]);
      expect(refusals[2].message).toContain('This is the key of a partner, not of a vendor');
      expect(await readFile(config, 'utf8')).toBe(before);
      const stopped = await run(['login', '--name', 'y'], {
        isTTY: true,
        input: `${gateway.baseUrl}\ncw_\u0003`,
      });
      expect([stopped.code, stopped.modes]).toEqual([130, [true, false]]);
      expect((await failure(['login', '--sandbox'], { env: { CAUSEWAY_HOME: '/nonexistent' } })).exit).toBe(
        1,
      );
    });

    it('knows a live deployment from a sandbox, and goes where it is told', async () => {
      const input = gateway.partners[1].apiKey;
      const made = await json(['login', '--base-url', live.baseUrl, '--name', 'live', '--key-stdin'], {
        input,
      });
      expect(made).toMatchObject({ profile: 'live', kind: 'live', base_url: live.baseUrl });
      expect((await run(['profiles'])).out).toMatch(new RegExp(`\\*\\s+live\\s+${live.baseUrl}\\s+live`));
      const refused = await failure(['clock']);
      expect([refused.exit, refused.message]).toEqual([
        5,
        `${live.baseUrl} is a live deployment: causeway clock is for sandboxes.`,
      ]);
      expect((await json(['clock', '--profile', 'default'])).offset_seconds).toBe(0);
      expect(await json(['profiles', 'use', 'default'])).toMatchObject({
        profile: 'default',
        kind: 'sandbox',
      });
      expect((await failure(['profiles', 'use', 'nobody'])).exit).toBe(4);
      expect(await json(['login', '--sandbox'])).toMatchObject({
        profile: 'sandbox',
        saved_keys: ['partner', 'vendor', 'operator'],
      });
    });

    it('is undone by logout, key by key or as a whole', async () => {
      expect((await run(['logout', 'default', '--as', 'operator'])).out).toContain(
        'the key of operator of default',
      );
      const { profiles } = await json(['profiles']);
      expect(profiles.find(({ name }: { name: string }) => name === 'default').keys).toEqual([
        'partner',
        'vendor',
      ]);
      expect(await json(['logout', 'live'])).toEqual({ removed: ['live'], profile: 'live' });
      expect((await failure(['logout', 'live'])).exit).toBe(4);
      expect((await json(['logout', '--all'])).removed.toSorted()).toEqual(['default', 'sandbox']);
      expect(await readFile(config, 'utf8')).not.toContain('cw_');
    });
  });

  it('prices without a customer and quotes for one', async () => {
    const pair = ['--crypto', 'USDC', '--fiat', 'EUR'];
    const estimate = await run(['quote', 'onramp', ...pair, '--fiat-amount', '100.00']);
    expect(estimate.code).toBe(0);
    expect(estimate.out).toMatch(/pays +100\.00 EUR\ngets +\d+\.\d{6} USDC/);
    expect(estimate.err).toContain('An estimate');
    // Estimates are public.
    const anybody = { env: { CAUSEWAY_BASE_URL: gateway.baseUrl } };
    expect(await json(['quote', 'offramp', ...pair, '--crypto-amount', '50'], anybody)).toMatchObject({
      is_indicative: true,
    });
    const details = await causeway.paymentDetails.create(customer, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
      details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
    });
    const firm = await run([
      'quote',
      'offramp',
      ...pair,
      '--crypto-amount',
      '50',
      '--user',
      customer,
      '--payment-details',
      String(details.id),
    ]);
    expect(firm.out).toMatch(/quote +[0-9a-f-]{36}\npays +50\.000000 USDC/);
    const unknown = ['--fiat-amount', '100.00', '--user', UNKNOWN_ID];
    expect((await failure(['quote', 'onramp', ...pair, ...unknown])).exit).toBe(4);
    const small = ['--fiat-amount', '1', '--user', customer];
    expect((await failure(['quote', 'onramp', ...pair, ...small])).exit).toBe(5);
    expect((await failure(['quote', 'onramp', ...pair, '--fiat-amount', 'ten'])).exit).toBe(5);
    expect(
      (await failure(['quote', 'onramp', ...pair, '--fiat-amount', '1', '--user', customer], anybody)).exit,
    ).toBe(3);
    expect(
      (
        await failure([
          'quote',
          'onramp',
          ...pair,
          '--fiat-amount',
          '1',
          '--user',
          customer,
          '--purpose',
          'x',
        ])
      ).exit,
    ).toBe(2);
    expect(
      (await failure(['quote', 'offramp', ...pair, '--fiat-amount', '1', '--recipient', UNKNOWN_ID])).exit,
    ).toBe(2);
  });

  it('follows an order to its end, shows it and where its money is', async () => {
    await causeway.webhooks.set({ url: `${sink.url}/hook` });
    const orderId = await onramp('cli-\u001b[2J-1');
    const lines: { order?: { status: string }; event?: { event_type: string; data: { status: string } } }[] =
      [];
    const watching = run(['orders', 'watch', orderId, '--json'], {
      onOut: (text) => void lines.push(JSON.parse(text)),
    });
    await causeway.orders.waitFor(orderId, 'awaiting_fiat_transfer', { timeout: 60_000 });
    const open = await run(['orders', 'show', orderId]);
    expect(open.code).toBe(0);
    expect(open.out).toContain('next         confirm_payment_sent: once the customer has paid, confirm it');
    expect(open.out).toContain('reference    cli-\\u001b[2J-1');
    expect(open.out).toMatch(/amounts +100\.00 EUR for \d+\.\d+ USDC, at /);
    expect(open.out).toMatch(/fees +platform .* total .* USDC/);
    expect(open.out).toMatch(/funds +The crypto is in the escrow/);
    expect(open.out).toMatch(/the customer pays to\n +reference/);
    const funds = await run(['funds', orderId]);
    expect(funds.out).toMatch(/escrow +0x[0-9a-fA-F]{40} \(funded\)/);
    expect(funds.out).toMatch(/can move it +partner: cancelled_by_partner/);
    expect((await json(['funds', orderId])).escrow.state).toBe('funded');
    await causeway.orders.confirmPaymentSent(orderId);
    expect((await watching).code).toBe(0);
    const events = lines.flatMap(({ event }) => (event === undefined ? [] : [event.data.status]));
    expect(events).toEqual(expect.arrayContaining(['fiat_transfer_pending', 'completed']));
    expect([lines.at(0), lines.at(-1)].map((line) => line?.order?.status)).toEqual([
      expect.any(String),
      'completed',
    ]);
    expect((await json(['orders', 'show', orderId])).status).toBe('completed');
    // Of an order that has ended there is nothing to wait for.
    expect((await run(['orders', 'watch', orderId])).out).toMatch(/completed +next: none\n$/);
  });

  it('lists orders by what the API filters by, a page or all of them', async () => {
    const orderId = await onramp('cli-2');
    await causeway.orders.cancel(orderId, { reason: 'changed their mind' });
    const cancelled = await run(['orders', 'show', orderId]);
    expect(cancelled.out).toMatch(/failure +[A-Z_]+: .+\n +(A new order|The same request)/);
    expect(cancelled.out).toMatch(/cancelled by +partner/);
    const ids = async (...argv: string[]) =>
      (await json(['orders', 'list', ...argv])).orders.map((order: { order_id: string }) => order.order_id);
    expect(await ids('--reference', 'cli-2')).toEqual([orderId]);
    expect(
      await ids('--status', 'cancelled', '--status', 'failed', '--user', customer, '--type', 'onramp'),
    ).toEqual([orderId]);
    expect(await ids('--to', '2020-01-01T00:00:00Z')).toEqual([]);
    expect(await ids('--from', '2020-01-01T00:00:00Z', '--limit', '1', '--page', '2')).toHaveLength(1);
    const page = await run(['orders', 'list', '--limit', '1']);
    expect(page.out.split('\n')).toHaveLength(3);
    expect(page.err).toContain('1 of 2');
    const all = await run(['orders', 'list', '--limit', '1', '--all', '--json']);
    expect(
      all.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).reference_id),
    ).toEqual(['cli-2', 'cli-\u001b[2J-1']);
    expect((await failure(['orders', 'list', '--from', 'yesterday'])).exit).toBe(2);
    for (const command of [['orders', 'show'], ['orders', 'watch'], ['funds']]) {
      expect(await failure([...command, UNKNOWN_ID])).toMatchObject({
        exit: 4,
        code: 'ORDER_NOT_FOUND',
        request_id: expect.any(String),
      });
    }
    expect((await failure(['orders', 'show', 'x'])).exit).toBe(5);
  });

  it('stops watching when it is told to', async () => {
    await causeway.sandbox.setSettings({ auto_advance: false });
    const orderId = await onramp('cli-3');
    const stop = new AbortController();
    const { code } = await run(['orders', 'watch', orderId], {
      signal: stop.signal,
      onOut: () => stop.abort(),
    });
    expect(code).toBe(130);
    await causeway.sandbox.setSettings({ auto_advance: true });
  });

  it('lists, shows and replays deliveries', async () => {
    const delivered = async (): Promise<{ deliveries: { id: string; endpoint_id: string }[] }> =>
      json([
        'webhooks',
        'deliveries',
        '--status',
        'delivered',
        '--event-type',
        'order.status.changed',
        '--limit',
        '1',
      ]);
    const [first] = await until('a delivery', async () => {
      const { deliveries } = await delivered();
      return deliveries.length > 0 && deliveries;
    });
    const { id, endpoint_id: endpoint } = first!;
    const shown = await run(['webhooks', 'show', id]);
    expect(shown.out).toMatch(/attempt 1, .*: 200 in \d+ ms\n {2}POST http:\/\/127\.0\.0\.1:\d+\/hook\n/);
    expect(shown.out).toContain('  > x-service-signature: sha256=');
    expect((await json(['webhooks', 'show', id, '--endpoint', endpoint])).id).toBe(id);
    const received = sink.received.length;
    const replayed = await json(['webhooks', 'replay', id]);
    expect(replayed).toMatchObject({ replay_of: id });
    await until('the replay', () => sink.received.length > received);
    const table = await run(['webhooks', 'deliveries', '--endpoint', endpoint, '--limit', '1']);
    expect(table.out).toContain('order.status.changed');
    expect(table.err).toContain('There are more: --cursor ');
    const all = await run(['webhooks', 'deliveries', '--all', '--limit', '2', '--json']);
    expect(
      all.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toContain(id);
    for (const command of ['show', 'replay'])
      expect((await failure(['webhooks', command, UNKNOWN_ID])).exit).toBe(4);
  });

  it('moves the clock of a sandbox and pays from its faucet', async () => {
    expect((await run(['clock', 'advance', '1h30m'])).out).toMatch(/ahead +1h30m/);
    expect((await json(['clock'])).offset_seconds).toBe(5_400);
    const back = await run(['clock', 'reset']);
    expect(back.out).toMatch(/ahead +no, as the machine’s\nBack by 1h30m/);
    const pay = [
      'faucet',
      '--chain',
      'base-mainnet',
      '--token',
      'USDC',
      '--address',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    ];
    expect((await json([...pay, '--amount', '2.50'])).transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await failure([...pay, '--amount', '2.5000001'])).exit).toBe(5);
    expect((await failure([...pay.slice(0, -1), '0x5'])).exit).toBe(2);
  });

  it('opens pages that there are, in a browser at a terminal only', async () => {
    const browser = join(folder, 'browser');
    const opened = join(folder, 'opened');
    await writeFile(browser, `#!/bin/sh\necho "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
    await chmod(browser, 0o755);
    const env = { BROWSER: browser };
    const address = `${gateway.baseUrl}/docs`;
    expect(await json(['open', 'docs'], { env, isTTY: true })).toEqual({ url: address, opened: false });
    expect((await run(['open', 'docs'], { env })).out).toBe(`${address}\n`);
    expect((await run(['open', 'docs', '--print'], { env, isTTY: true })).out).toBe(`${address}\n`);
    await expect(stat(opened)).rejects.toThrow('ENOENT');
    await run(['open', 'docs'], { env, isTTY: true });
    expect(await until('the browser', () => readFile(opened, 'utf8').catch(() => undefined))).toBe(
      `${address}\n`,
    );
    const { status } = await fetch(`${gateway.baseUrl}/console`);
    if (status === 404)
      expect(await failure(['open', 'console'])).toMatchObject({
        exit: 4,
        message: expect.stringContaining('has no console'),
      });
  });

  it('finds what is wrong with a set-up, and says the way on', async () => {
    type Check = { check: string; verdict: string; message: string; hint?: string };
    const checksOf = async (argv: readonly string[] = [], options: RunOptions = {}) => {
      const { code, out } = await run(['doctor', '--json', ...argv], options);
      const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Check[] };
      expect(code).toBe(ok ? 0 : 7);
      return {
        ok,
        of: (name: string) => checks.filter(({ check }) => check === name),
        names: checks.map(({ check }) => check),
      };
    };
    const well = await checksOf();
    expect([well.ok, well.of('webhook')]).toEqual([
      true,
      [{ check: 'webhook', verdict: 'ok', message: expect.stringContaining('took a test event with 200') }],
    ]);
    expect(well.names).toEqual([
      ...['node', 'config file', 'profile', 'reachable', 'clock', 'ready', 'version', 'kind'],
      ...['partner key', 'vendor key', 'operator key', 'chains', 'rates', 'webhook'],
    ]);
    sink.setFault({ kind: 'status', status: 500 });
    const broken = await checksOf();
    expect(broken.of('webhook')).toMatchObject([
      { verdict: 'fail', hint: expect.stringContaining('reachable') },
    ]);
    sink.setFault({ kind: 'none' });
    const known = await checksOf(['--skip-webhook-test']);
    expect(known.of('webhook')[0]?.message).toContain('last delivery');
    // A key of another class, a wrong key, an address where nothing is, and none at all.
    const env = { CAUSEWAY_BASE_URL: gateway.baseUrl };
    const swapped = await checksOf([], {
      env: {
        ...env,
        CAUSEWAY_VENDOR_KEY: gateway.partners[0].apiKey,
        CAUSEWAY_OPERATOR_KEY: 'cw_operator_x',
      },
    });
    expect(swapped.of('vendor key')).toMatchObject([
      { verdict: 'fail', message: 'it is the key of a partner' },
    ]);
    expect(swapped.of('operator key')).toMatchObject([{ verdict: 'fail' }]);
    expect(swapped.of('webhook')).toMatchObject([{ verdict: 'warn' }]);
    const away = await checksOf([], { env: { CAUSEWAY_BASE_URL: 'http://127.0.0.1:9' } });
    expect(away.of('reachable')).toMatchObject([
      { verdict: 'fail', message: expect.stringContaining('does not answer') },
    ]);
    expect(
      (await checksOf([], { env: { CAUSEWAY_BASE_URL: 'http://10.0.0.1' } })).of('profile'),
    ).toMatchObject([{ verdict: 'fail' }]);
    expect((await checksOf([], { env: { CAUSEWAY_HOME: '/nonexistent' } })).of('profile')).toMatchObject([
      { verdict: 'fail' },
    ]);
    const late = await lateProxy();
    const skewed = await checksOf([], { env: { CAUSEWAY_BASE_URL: late.baseUrl } });
    late.close();
    expect(skewed.of('clock')).toMatchObject([
      {
        verdict: 'fail',
        message: expect.stringMatching(/^this machine is (9m5\ds|10m|10m\ds) ahead of the service$/),
        hint: expect.stringContaining('NTP'),
      },
    ]);
    await json(['login', '--sandbox']);
    // A delivery that met the fault is tried again later; until then its endpoint is not well.
    await until('all is well again', async () => (await checksOf(['--skip-webhook-test'])).ok);
    await chmod(config, 0o644);
    const open = await run(['doctor', '--skip-webhook-test'], { isTTY: true });
    expect(open.code).toBe(7);
    expect(open.out).toMatch(/fail +config file +.* can be read by others \(mode 644\)\n +chmod 600 /);
    expect(open.err).toContain('1 check failed');
  });
});
