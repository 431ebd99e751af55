import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Causeway } from '@causeway/sdk';
import { privateKeySigner, signTransfer, trustOfSandbox } from '@causeway/sdk/signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedSandbox, startSandbox } from '../../scripts/demo/running-sandbox.ts';
import { COMPILED } from '../harness/process.ts';
import { until } from '../harness/until.ts';

/** Every example and the demo, beside each other, as processes of their own against one sandbox. */
const REPOSITORY = new URL('../..', import.meta.url).pathname;
const MOST_LINES = 79;
const RUN_TIMEOUT_MS = 110_000;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** What each says last, and how the orders that it names have ended. */
const EXAMPLES: Readonly<Record<string, { last: RegExp; orders: readonly string[] }>> = {
  'first-onramp': { last: /^on chain +0x[0-9a-f]{64} on base-mainnet/, orders: ['completed'] },
  'offramp-with-refund': {
    last: /^refunded +\d+\.\d{6} USDC, 0x[0-9a-f]{64}$/,
    orders: ['completed', 'cancelled'],
  },
  'third-party-payout': { last: /^paid +250\.00 EUR to recipient /, orders: ['completed'] },
  'own-account': { last: /^completed +\d+\.\d{6} USDC for 100\.00 EUR$/, orders: ['completed'] },
  'webhook-receiver': { last: /^ended +events: \d+, each handled once$/, orders: [] },
  'vendor-bot': { last: /^offline +orders served: 2$/, orders: [] },
};
/** A real event of the other examples' orders ends it. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'webhook-receiver': ['order.status.changed'],
  'vendor-bot': ['2'],
};

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

it('are short: under 80 lines each', async () => {
  for (const file of globSync('examples/*.ts', { cwd: REPOSITORY })) {
    const lines = (await readFile(join(REPOSITORY, file), 'utf8')).trimEnd().split('\n').length;
    expect(lines, file).toBeLessThanOrEqual(MOST_LINES);
  }
});

describe('examples against a sandbox', () => {
  const endings: (() => Promise<void>)[] = [];
  const runs = new Map<string, Promise<Run>>();
  /** What a running example has printed so far. */
  const printed = new Map<string, string>();
  let started: StartedSandbox;
  let causeway: Causeway;

  beforeAll(async () => {
    started = await startSandbox(endings);
    const { base_url: baseUrl, partners } = started.sandbox;
    causeway = new Causeway({ baseUrl, apiKey: partners[0]!.api_key });
    for (const name of Object.keys(EXAMPLES)) runs.set(name, run(`examples/${name}.ts`, ARGUMENTS[name]));
    runs.set('demo', run('scripts/demo.ts', ['--fast']));
  }, 90_000);
  afterAll(async () => {
    await Promise.allSettled(runs.values());
    for (const end of endings) await end();
  });

  function run(file: string, args: readonly string[] = [], home = started.home): Promise<Run> {
    const env = { PATH: process.env.PATH ?? '', CAUSEWAY_HOME: home, HOOK_PORT: '0' };
    const options = {
      cwd: REPOSITORY,
      env: { ...env, NODE_COMPILE_CACHE: COMPILED },
      timeout: RUN_TIMEOUT_MS,
      maxBuffer: 2 ** 24,
    };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
      child.stdout?.on('data', (chunk: string) => printed.set(file, (printed.get(file) ?? '') + chunk));
    });
  }

  async function finished(name: string): Promise<{ stdout: string; last: string }> {
    const { code, stdout, stderr } = await runs.get(name)!;
    expect(stderr, name).toBe('');
    expect(code, stdout).toBe(0);
    return { stdout, last: stdout.trimEnd().split('\n').at(-1)! };
  }

  /** A partner for whom nobody acts by himself: whatever its orders get done, the bot has done. */
  async function partnerOfTheBot() {
    const { base_url: baseUrl, partners, operator_key: operatorKey } = started.sandbox;
    const partner = partners[1]!;
    const sdk = new Causeway({ baseUrl, apiKey: partner.api_key });
    await sdk.sandbox.setSettings({ auto_advance: false });
    const { id } = await sdk.users.create({ email: `${crypto.randomUUID()}@example.com` });
    await sdk.sandbox.kycStatus(id, { status: 'VERIFIED' });
    const { operator } = new Causeway({ baseUrl, apiKey: operatorKey });
    return { sdk, partner, userId: id, operator };
  }
  type BotsPartner = Awaited<ReturnType<typeof partnerOfTheBot>>;

  const pair = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '731.00' };
  const within = { timeout: RUN_TIMEOUT_MS };

  /** Orders that only the bot's offers fit, for the best price. */
  async function sellsToPartner({ sdk, userId }: BotsPartner): Promise<string> {
    const quote = await sdk.onramp.quote({ user_uuid: userId, ...pair });
    const { order_id: orderId } = await sdk.onramp.initiate({ quote_id: quote.quote_id });
    await sdk.orders.waitFor(orderId, 'awaiting_fiat_transfer', within);
    await sdk.orders.confirmPaymentSent(orderId);
    await sdk.orders.waitFor(orderId, 'completed', within);
    return orderId;
  }

  async function buysFromPartner({ sdk, userId, partner, operator }: BotsPartner): Promise<string> {
    const { id: payment_details_id } = await sdk.paymentDetails.create(userId, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
      details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
    });
    const asked = { user_uuid: userId, payment_details_id, provider_scope: 'p2p', ...pair };
    const quote = await sdk.offramp.quote(asked);
    const { order_id: orderId } = await sdk.offramp.initiate({ quote_id: quote.quote_id });
    await sdk.orders.waitFor(orderId, 'awaiting_crypto_transfer_authorization', within);
    const [order, parameters] = [await sdk.orders.get(orderId), await sdk.orders.transferParameters(orderId)];
    const { escrow } = await sdk.orders.funds(orderId);
    const trust = trustOfSandbox(started.sandbox as never, { partner: 1 });
    const signer = privateKeySigner(partner.wallet_private_key);
    const body = await signTransfer({ order, parameters, owners: escrow!.owners, trust }, signer);
    await sdk.orders.authorizeTransfer(orderId, body);
    await sdk.orders.waitFor(orderId, 'fiat_payment_started', within);
    await operator.orders.reviewProof(orderId, { decision: 'start', reason: 'ticket 17' });
    await operator.orders.reviewProof(orderId, { decision: 'accepted', reason: 'seen at the bank' });
    await sdk.orders.confirmFiatReceived(orderId);
    await sdk.orders.waitFor(orderId, 'completed', within);
    return orderId;
  }

  it('the vendor bot sells and buys unattended', async () => {
    const hasPrinted = () => printed.get('examples/vendor-bot.ts')?.includes('online') === true;
    await until('the bot to be online', hasPrinted, RUN_TIMEOUT_MS);
    await until('the offer to be known', async () =>
      (await causeway.supported.corridors()).corridors.some(
        ({ crypto_currency, fiat_currency, country, onramp, offramp }) =>
          `${crypto_currency} ${fiat_currency} ${country} ${onramp?.spread_pct} ${offramp?.spread_pct}` ===
          'USDC EUR DE 0 0',
      ),
    );
    const partner = await partnerOfTheBot();
    const sold = await sellsToPartner(partner);
    const bought = await buysFromPartner(partner);
    const { stdout } = await finished('vendor-bot');
    expect(stdout).toContain(`accepted               ${sold}`);
    expect(stdout).toMatch(/^funded +\d+\.\d{6} USDC, 0x[0-9a-f]{64}$/m);
    expect(stdout).toMatch(/^fiat confirmed +731\.00 EUR$/m);
    expect(stdout).toContain(`refund signed          ${bought}`);
    expect(stdout).toMatch(/^paid and proved +731\.00 EUR to Ada Lovelace$/m);
  });

  it.each(Object.entries(EXAMPLES))('%s runs to its end', async (name, { last, orders }) => {
    const run = await finished(name);
    expect(run.last).toMatch(last);
    const ids = [...run.stdout.matchAll(new RegExp(`^order +(${UUID.source})`, 'gm'))].map(([, id]) => id!);
    const statuses = await Promise.all(ids.map(async (id) => (await causeway.orders.get(id)).status));
    expect(statuses).toEqual(orders);
  });

  it('the receiver refuses a forged delivery, handles a repeated one once, and leaves no endpoint', async () => {
    const { stdout } = await finished('webhook-receiver');
    const answers = [...stdout.matchAll(/^answered (\d+) +(.*)$/gm)].map(([, status, body]) => [
      Number(status),
      JSON.parse(body!),
    ]);
    expect(answers).toEqual([
      [200, { received: true }],
      [200, { received: true, reason: 'duplicate' }],
      [400, { received: false, reason: 'signature_mismatch' }],
    ]);
    await finished('demo');
    const { endpoints } = await causeway.webhookEndpoints.list();
    expect(endpoints.filter(({ is_default: isDefault }) => !isDefault)).toEqual([]);
  });

  it('the demo tells of calls, webhooks and balances, and adds up', async () => {
    const { stdout, last } = await finished('demo');
    expect(last).toBe('It adds up exactly.');
    expect(stdout.match(/^ {2}✓ /gm)).toHaveLength(4);
    // Not a terminal: no colour.
    expect(stdout).not.toContain('\u001b');
    for (const told of [
      /→ POST {3}\/partner\/orders\/…[0-9a-f]{8}\/authorize-bridge +200 status=send_out_pending/,
      /→ POST {3}\/partner\/orders\/…[0-9a-f]{8}\/authorize-refund +200 status=cancelled/,
      /← webhook order\.status\.changed …[0-9a-f]{8} send_out_completed/,
      /← webhook order\.refund\.required …[0-9a-f]{8} cancelled/,
      /= on chain: escrow 1\d\d\.\d{6}, partner wallet/,
      /destination, arbitrum-one +0\.000000 +\+1\d\d\.\d{6} +1\d\d\.\d{6}/,
    ])
      expect(stdout).toMatch(told);
  });

  it('a day is reconciled, and what differs is found', async () => {
    await Promise.all(runs.values());
    const good = await run('examples/reconcile-day.ts');
    expect(`${good.stdout}${good.stderr}`).toMatch(/^differences +0$/m);
    expect(good.code).toBe(0);
    const { orders } = await causeway.orders.list({ limit: 100 });
    expect(good.stdout).toMatch(new RegExp(`^day +\\S+: ${orders.length} orders, `));

    const altering = await startAltering(started.sandbox.base_url);
    const home = await mkdtemp(join(tmpdir(), 'causeway-altered-'));
    try {
      const file = { ...started.sandbox, base_url: altering.url };
      await writeFile(join(home, 'sandbox.json'), JSON.stringify(file));
      const bad = await run('examples/reconcile-day.ts', [], home);
      expect(bad.stderr).toBe('');
      expect(bad.stdout).toMatch(/^differs +fees and treasury, USDC@base-mainnet: /m);
      expect(bad.stdout).toMatch(/^differs +status of [0-9a-f-]{36}: /m);
      expect(bad.stdout).toMatch(/^differences +2$/m);
      expect(bad.code).toBe(1);
    } finally {
      await rm(home, { recursive: true });
      altering.close();
    }
  });
});

/** The same service, but for one fee that is a unit higher and one order that is said to have ended otherwise. */
async function startAltering(baseUrl: string): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const headers = { 'x-api-key': String(request.headers['x-api-key']) };
    const answer = await fetch(`${baseUrl}${request.url}`, { headers });
    let body = await answer.text();
    if (request.url?.includes('fees.csv'))
      body = body.replace(
        /(,base-mainnet,[\d.]+,\d+\.\d{5})(\d)/,
        (_, start, digit) => `${start}${(Number(digit) + 1) % 10}`,
      );
    if (request.url?.includes('orders.csv')) body = body.replace(',onramp,completed,', ',onramp,cancelled,');
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(body);
    await text(request);
  });
  server.listen(0, '127.0.0.1');
  await until('the altering server to listen', () => server.listening);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
