import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toWire } from '../../apps/gateway/src/local/sandbox-file.ts';
import { runCli } from '../../packages/cli/src/cli.ts';
import type { Report } from '../../packages/cli/src/conformance/report.ts';
import { partOf, REQUIREMENTS } from '../../packages/cli/src/conformance/requirements.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

const API = Object.values(REQUIREMENTS)
  .flat()
  .filter((requirement) => partOf(requirement) === 'api');
const EXAMPLE = new URL('../../examples/conformance-driver.mjs', import.meta.url).pathname;

const SDK = new URL('../../packages/sdk/src', import.meta.url).pathname;

/** Habits of partners' code that the runner must find: what replaces which function of the good driver. */
const BAD_DRIVERS: Readonly<Record<string, { readonly finds: readonly string[]; readonly code: string }>> = {
  'opens nothing': {
    finds: ['api.order.opens'],
    code: 'export const openOnramp = async () => ({ orderId: "none" });',
  },
  'sends no Idempotency-Key and repeats with a new quote': {
    finds: ['api.idempotency.key', 'api.idempotency.lost_answer', 'api.retry.unavailable'],
    code: `
      export async function openOnramp(request) {
        for (let attempt = 0; attempt < 2; attempt++) {
          try {
            const { quote_id } = await call(request, 'onramp/quote', quoteOf(request));
            const { order_id } = await call(request, 'onramp/initiate', { quote_id, reference_id: request.referenceId });
            return { orderId: order_id };
          } catch (error) {
            if (attempt === 1) throw error;
          }
        }
      }`,
  },
  'has one key for everything': {
    finds: ['api.idempotency.key'],
    code: `
      export async function openOnramp(request) {
        const { quote_id } = await call(request, 'onramp/quote', quoteOf(request));
        const body = { quote_id, reference_id: request.referenceId };
        const { order_id } = await call(request, 'onramp/initiate', body, { 'idempotency-key': globalKey });
        return { orderId: order_id };
      }
      const globalKey = 'always-the-same-' + Date.now();`,
  },
  'repeats at once, whatever Retry-After says': {
    finds: ['api.retry.unavailable', 'api.retry.rate_limited'],
    code: `
      async function again(work) {
        try { return await work(); } catch { return work(); }
      }
      export async function openOnramp(request) {
        const { quote_id } = await again(() => call(request, 'onramp/quote', quoteOf(request)));
        const body = { quote_id, reference_id: request.referenceId };
        const key = { 'idempotency-key': crypto.randomUUID() };
        const { order_id } = await again(() => call(request, 'onramp/initiate', body, key));
        return { orderId: order_id };
      }`,
  },
  'gives up with its quote, and sends amounts as numbers': {
    finds: ['api.quote.expired', 'api.amounts.exact'],
    code: `
      export async function openOnramp(request) {
        const exact = quoteOf(request);
        const asked = { ...exact, fiat_amount: Number(exact.fiat_amount).toFixed(2) };
        const { quote_id } = await call(request, 'onramp/quote', asked);
        const body = { quote_id, reference_id: request.referenceId };
        const { order_id } = await call(request, 'onramp/initiate', body, { 'idempotency-key': quote_id });
        return { orderId: order_id };
      }`,
  },
  'knows every field there is': {
    finds: ['api.answers.unknown_fields'],
    code: `
      export async function openOnramp(request) {
        const quote = await call(request, 'onramp/quote', quoteOf(request));
        if ('conformance_note' in quote) throw new TypeError('unrecognized key');
        const body = { quote_id: quote.quote_id, reference_id: request.referenceId };
        const { order_id } = await call(request, 'onramp/initiate', body, { 'idempotency-key': quote.quote_id });
        return { orderId: order_id };
      }`,
  },
  'confirms at once': {
    finds: ['api.order.next_action'],
    code: `
      export { openOnramp } from ${JSON.stringify(EXAMPLE)};
      export const followOrder = (request) => call(request, 'orders/' + request.orderId + '/confirm-payment-sent', {});`,
  },
  'goes by the status, of which it knows all': {
    finds: ['api.order.not_allowed', 'api.order.unknown_status'],
    code: `
      export { openOnramp } from ${JSON.stringify(EXAMPLE)};
      const WAITING = ['awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding'];
      export async function followOrder(request) {
        for (;;) {
          const { status } = await call(request, 'orders/' + request.orderId);
          if (status === 'awaiting_fiat_transfer') {
            return call(request, 'orders/' + request.orderId + '/confirm-payment-sent', {});
          }
          if (!WAITING.includes(status)) throw new Error('no such status: ' + status);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }`,
  },
  'leaves its deposit behind': {
    finds: ['api.refund.authorized'],
    code: `
      import { readFile } from 'node:fs/promises';
      import { Causeway } from ${JSON.stringify(`${SDK}/index.ts`)};
      import { privateKeySigner, signTransfer, trustOfSandbox } from ${JSON.stringify(`${SDK}/signing/index.ts`)};
      export { openOfframp } from ${JSON.stringify(EXAMPLE)};
      export async function followOrder({ baseUrl, apiKey, orderId }) {
        const { orders } = new Causeway({ baseUrl, apiKey });
        const sandbox = JSON.parse(await readFile(process.env.CAUSEWAY_HOME + '/sandbox.json', 'utf8'));
        const [order, parameters] = [await orders.get(orderId), await orders.transferParameters(orderId)];
        const { owners } = (await orders.funds(orderId)).escrow;
        const signer = privateKeySigner(sandbox.partners[0].wallet_private_key);
        const trust = trustOfSandbox(sandbox);
        await orders.authorizeTransfer(orderId, await signTransfer({ order, parameters, owners, trust }, signer));
      }`,
  },
};

/** Code of a partner without an SDK. */
const PLAIN = `
  async function call({ baseUrl, apiKey, signal }, path, body, headers = {}) {
    const response = await fetch(baseUrl + '/api/v1/partner/' + path, {
      method: body === undefined ? 'GET' : 'POST', signal,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { success, data, error } = await response.json();
    if (!success) throw new Error(error.code);
    return data;
  }
  const quoteOf = ({ userId, fiatAmount, fiatCurrency, cryptoCurrency }) =>
    ({ user_uuid: userId, fiat_amount: fiatAmount, fiat_currency: fiatCurrency, crypto_currency: cryptoCurrency });
`;

describe('causeway conformance against a sandbox', () => {
  let gateway: TestGateway;
  let home: string;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    home = await mkdtemp(join(tmpdir(), 'causeway-conformance-'));
    await writeFile(join(home, 'sandbox.json'), JSON.stringify(toWire(gateway.sandbox)));
    vi.stubEnv('CAUSEWAY_HOME', home);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await gateway?.stop();
    await rm(home, { recursive: true, force: true });
  });

  async function conformance(
    ...options: string[]
  ): Promise<{ code: number; report: Report; stderr: string }> {
    let stdout = '';
    let stderr = '';
    const code = await runCli(['conformance', '--json', ...options], {
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
      env: {
        CAUSEWAY_BASE_URL: gateway.baseUrl,
        CAUSEWAY_API_KEY: gateway.partners[0].apiKey,
        CAUSEWAY_WEBHOOK_SECRET: gateway.partners[0].webhookSecret,
      },
      folder: home,
      signal: new AbortController().signal,
    });
    return { code, stderr, report: stdout === '' ? (undefined as never) : JSON.parse(stdout) };
  }

  const outcomes = ({ checks }: Report) =>
    checks
      .filter(({ outcome }) => outcome !== 'not_observable')
      .map(({ id, outcome, reason }) => ({ id, outcome, reason }));

  it('gives the example driver full marks, puts the clock back and leaves no order open', async () => {
    const trace = join(home, 'trace.json');
    const { code, report, stderr } = await conformance('--driver', EXAMPLE, '--trace', trace);
    expect(outcomes(report).filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    expect([code, report.verdict, report.score.percent, report.score.of]).toEqual([
      0,
      'conformant',
      100,
      API.length,
    ]);
    expect(stderr).toBe('');
    expect((await gateway.sdk().sandbox.clock()).offset_seconds).toBe(0);
    const written = await readFile(trace, 'utf8');
    expect(JSON.parse(written).length).toBeGreaterThan(30);
    expect(written).not.toContain(gateway.partners[0].apiKey);
    expect(written).not.toContain('Lovelace');
    expect(written).not.toMatch(/"signature\\?":\\?"0x/);
    const { orders } = await gateway.sdk().orders.list({ limit: 100 });
    expect(orders.filter(({ allowed_actions }) => allowed_actions.includes('cancel'))).toEqual([]);
  });

  it.each(Object.entries(BAD_DRIVERS))('finds a driver that %s', async (name, { finds, code: source }) => {
    const file = join(home, `${name.replaceAll(/\W+/g, '-')}.mjs`);
    await writeFile(file, source + PLAIN);
    const only = finds.flatMap((id) => ['--only', id]);
    const { code, report } = await conformance('--driver', file, ...only);
    expect(outcomes(report).map(({ id, outcome }) => [id, outcome])).toEqual(
      API.filter(({ id }) => finds.includes(id)).map(({ id }) => [id, 'missed']),
    );
    expect(report.checks.filter(({ reason }) => reason?.includes('proves nothing'))).toEqual([]);
    expect(code).toBe(7);
  });

  it('has a bad driver for every check', () => {
    const found = new Set(Object.values(BAD_DRIVERS).flatMap(({ finds }) => finds));
    expect(API.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([]);
  });

  it('sends what the service sends: the same headers, and a body in the same form', async () => {
    const got: { headers: IncomingHttpHeaders; body: string }[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      got.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    try {
      await gateway.sdk().webhooks.set({ url });
      await gateway.sdk().webhooks.test();
      const { code } = await conformance('--webhook', url, '--only', 'webhooks.delivery.acknowledged');
      expect(code).toBe(0);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    const [real, ours] = got.map(({ headers, body }) => ({
      headers: Object.entries(headers)
        .filter(([name]) => !['connection', 'content-length', 'host'].includes(name))
        .map(([name, value]) =>
          /signature|timestamp/.test(name)
            ? [name, `${value}`.replaceAll(/[0-9a-f]{10,}/g, '')]
            : [name, value],
        )
        .sort(),
      fields: Object.keys(JSON.parse(body)),
      isCompact: JSON.stringify(JSON.parse(body)) === body,
    }));
    expect(ours).toEqual(real);
  });

  it('tells a deployment that is down, or is no sandbox, from a driver that is wrong', async () => {
    const around = { stdout: { write: () => {} }, stderr: { write: () => {} }, folder: home };
    const signal = new AbortController().signal;
    const env = { CAUSEWAY_BASE_URL: 'http://127.0.0.1:9', CAUSEWAY_API_KEY: 'cw_test_x' };
    expect(await runCli(['conformance', '--driver', EXAMPLE], { ...around, signal, env })).toBe(6);
    const server = createServer((_request, response) =>
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"success":false,"error":{"code":"ROUTE_NOT_FOUND","message":"x","details":{}}}'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const production = {
      ...env,
      CAUSEWAY_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    };
    expect(await runCli(['conformance', '--driver', EXAMPLE], { ...around, signal, env: production })).toBe(
      5,
    );
    server.closeAllConnections();
    server.close();
  });
});
