import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../apps/gateway/src/api.ts';
import { pickPort } from '../../apps/gateway/src/local/free-port.ts';
import { runCli } from '../../packages/cli/src/cli.ts';
import { LONGEST_MESSAGE } from '../../packages/cli/src/mcp/mcp.ts';
import { TOOLS } from '../../packages/cli/src/mcp/server.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { connect, type SpawnedMcp, serveInProcess, spawnMcp } from '../harness/mcp.ts';

const READING = TOOLS.filter(({ acts }) => !acts).map(({ name }) => name);
const ACTING = TOOLS.filter(({ acts }) => acts).map(({ name }) => name);

describe('causeway mcp', () => {
  let gateway: TestGateway;
  let server: SpawnedMcp;
  let client: Client;
  let live: { api: Api; baseUrl: string };

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    const port = await pickPort(undefined);
    const baseUrl = `http://127.0.0.1:${port}`;
    // The same deployment as production has it: without the routes of a sandbox.
    live = { baseUrl, api: await createApi({ ...gateway.deps, sandbox: false }, baseUrl) };
    await live.api.listen({ host: '127.0.0.1', port });
    server = spawnMcp({
      CAUSEWAY_BASE_URL: gateway.baseUrl,
      CAUSEWAY_API_KEY: gateway.partners[0].apiKey,
      CAUSEWAY_OPERATOR_KEY: gateway.sandbox.operatorKey,
    });
    client = await connect(server, 'handshake');
  });
  afterAll(async () => {
    await server?.stop();
    await live?.api.close();
    await gateway?.stop();
  });

  // biome-ignore lint/suspicious/noExplicitAny: read as a model reads it.
  async function use(name: string, args: object = {}, by = client): Promise<any> {
    const result = await by.callTool({ name, arguments: { ...args } });
    const [content] = result.content;
    if (content?.type !== 'text') throw new Error('an answer without text');
    const told = JSON.parse(content.text);
    if (!result.isError) expect(result.structuredContent).toEqual(told);
    return told;
  }

  it('lists its tools, with what they take and answer', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...READING, ...ACTING]);
    for (const { name, annotations, inputSchema, outputSchema, description } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: READING.includes(name), openWorldHint: false });
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
      expect(description).toContain('never instructions');
      expect(description?.startsWith('SANDBOX ONLY.')).toBe(ACTING.includes(name));
    }
    expect(client.getServerVersion()).toMatchObject({ name: 'causeway' });
  });

  it('drives an order through a sandbox, and reads it with its money, events and deliveries', async () => {
    expect(await use('sandbox_auto_advance', { on: false })).toEqual({ auto_advance: false });
    const { user_uuid } = await use('sandbox_create_customer');
    const reference_id = `mcp-${randomUUID()}`;
    const opened = await use('sandbox_create_order', {
      ...{ direction: 'onramp', fiat_amount: '100.00', user_uuid, reference_id },
    });
    const { order_id } = opened.order;
    const step = async (name: string) => (await use('sandbox_drive_order', { order_id, step: name })).order;
    expect((await use('sandbox_drive_order', { order_id, step: 'proof_accepted' })).error).toMatchObject({
      code: 'INVALID_STATUS',
      details: { applicable_events: expect.arrayContaining(['vendor_accepts']) },
      explanation: expect.any(String),
      request_id: expect.any(String),
    });
    await step('vendor_accepts');
    const waiting = await step('escrow_funded');
    expect(waiting).toMatchObject({ status: 'awaiting_fiat_transfer', next_action: 'confirm_payment_sent' });
    expect(waiting.vendor_payment_fields).toContain('iban');
    await step('confirm_payment_sent');
    expect((await step('vendor_confirms_fiat')).status).toBe('completed');

    expect((await use('list_orders', { reference_id })).orders).toMatchObject([{ order_id, reference_id }]);
    expect((await use('get_order_funds', { order_id })).funds).toMatchObject({
      escrow: { state: 'emptied', balance_on_chain: '0.000000' },
      truncated: false,
    });
    const { events } = await use('list_events', { order_id, limit: 50 });
    expect(events.at(-1)).toMatchObject({
      event_type: 'order.status.changed',
      data: { status: 'completed' },
    });
    const first = await use('list_events', { order_id, limit: 1 });
    expect(first).toMatchObject({ events: [events[0]], next_cursor: events[0].cursor, truncated: true });
    expect(await use('list_webhook_deliveries', { order_id })).toMatchObject({
      deliveries: [],
      truncated: false,
    });
    expect(JSON.stringify(server.messages)).not.toMatch(
      /@example\.com|Test Customer|DE\d{20}|cw_(test|operator)_/,
    );
  });

  it('says why an order failed or is held, and what to do', async () => {
    const { order } = await use('sandbox_create_order', { direction: 'offramp', crypto_amount: '50' });
    const { order_id } = order;
    await use('sandbox_drive_order', { order_id, step: 'hold_for_review' });
    expect((await use('get_order', { order_id })).order.hold).toMatchObject({
      reason: 'COMPLIANCE_REVIEW',
      explanation: expect.stringContaining('reviews the order'),
    });
    await use('sandbox_drive_order', { order_id, step: 'release_hold' });
    await use('sandbox_drive_order', { order_id, step: 'cancel' });
    const { orders } = await use('list_orders', { status: ['cancelled'], limit: 1 });
    expect(orders[0]).toMatchObject({
      ...{ order_id, cancelled_by: 'partner' },
      failure: { code: 'CANCELLED_ON_REQUEST', explanation: expect.stringContaining('You called cancel') },
    });
  });

  it('knows the market and the documentation, several questions at a time', async () => {
    const [estimate, corridors, rails, docs, clock, faucet] = await Promise.all([
      use('estimate_price', { direction: 'onramp', fiat_amount: '100.00' }),
      use('list_supported', { what: 'corridors', currency: 'eur', limit: 3 }),
      use('list_supported', { what: 'rails', country: 'DE', direction: 'offramp' }),
      use('search_docs', { query: 'rotate webhook secret', limit: 2 }),
      use('sandbox_clock'),
      use('sandbox_faucet', {
        ...{ chain: 'base-mainnet', token: 'USDC', amount: '1' },
        address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      }),
    ]);
    expect(estimate.estimate).toMatchObject({ fiat_amount: '100.00', is_indicative: true });
    expect(corridors.items).toHaveLength(3);
    expect(new Set(corridors.items.map((one: { fiat_currency: string }) => one.fiat_currency))).toEqual(
      new Set(['EUR']),
    );
    expect(rails.items.map((one: { slug: string }) => one.slug)).toContain('iban-sepa');
    expect(docs.sections[0].url).toContain(`${gateway.baseUrl}/docs/`);
    expect(JSON.stringify(docs.sections)).toMatch(/rotat/i);
    expect([clock.offset_seconds, faucet.transaction_hash]).toEqual([0, expect.stringMatching(/^0x/)]);
    const others = ['crypto_currencies', 'fiat_currencies', 'blockchains'];
    for (const what of others) expect((await use('list_supported', { what })).total).toBeGreaterThan(0);
    const banks = await use('list_supported', { what: 'institutions', rail: 'ghana-transfer', limit: 2 });
    expect(banks).toMatchObject({ truncated: true, items: [{ id: expect.any(String) }, {}] });

    const { resources } = await client.listResources();
    const guide = resources.find(({ uri }) => uri === 'causeway://docs/guides/orders');
    expect(guide).toMatchObject({ mimeType: 'text/markdown' });
    const { contents } = await client.readResource({ uri: 'causeway://docs/guides/orders' });
    expect(contents[0]).toMatchObject({ text: expect.stringContaining('# ') });
    await expect(client.readResource({ uri: 'causeway://docs/../api/v1/partner/users' })).rejects.toThrow();
  });

  it('acts on no deployment that is no sandbox, and reads there', async () => {
    const partner = gateway.partners[0].apiKey;
    const elsewhere = serveInProcess({ baseUrl: live.baseUrl, apiKey: partner });
    const model = await connect(elsewhere, 'stateless');
    const { tools } = await model.listTools();
    expect(tools.map(({ name }) => name)).toEqual(READING);
    const before = (await use('list_orders', {}, model)).total;
    const arguments_: Record<string, object> = {
      sandbox_create_order: { direction: 'onramp', fiat_amount: '100.00' },
      sandbox_drive_order: { order_id: randomUUID(), step: 'cancel' },
      sandbox_auto_advance: { on: true },
    };
    for (const name of ACTING) {
      const { error } = await use(name, arguments_[name], model);
      expect([name, error.code]).toEqual([name, 'NOT_A_SANDBOX']);
    }
    expect((await use('list_orders', {}, model)).total).toBe(before);
    await elsewhere.stop();
  });

  it('goes on after what is no message, is too long, or asks for nothing that there is', async () => {
    const refusal = (line: string) => {
      const refused = server.next((message) => message.id === null);
      server.write(line);
      return refused;
    };
    expect((await refusal('{"jsonrpc":')).error.code).toBe(-32700);
    expect((await refusal('x'.repeat(LONGEST_MESSAGE + 1))).error.code).toBe(-32700);
    const unknown = await server.ask('tools/call', { name: 'transfer_everything', arguments: {} });
    expect(unknown.error.code).toBe(-32602);
    expect((await server.ask('ping')).result).toEqual({});
  });

  it('writes the protocol only, and ends with its client', async () => {
    expect(await server.end()).toBe(0);
    expect(server.strays).toEqual([]);
    expect(server.stderr()).toMatch(/^MCP on stdio: .*Waiting for a client\.\n$/);
  });

  it('starts with a partner’s key only, and with no option that it does not know', async () => {
    const start = async (argv: readonly string[], key: string) => {
      const written = { out: '', err: '' };
      const code = await runCli(['mcp', ...argv], {
        stdout: { write: (text) => (written.out += text) },
        stderr: { write: (text) => (written.err += text) },
        env: { CAUSEWAY_BASE_URL: gateway.baseUrl, CAUSEWAY_API_KEY: key },
        folder: '/nonexistent',
        signal: new AbortController().signal,
      });
      return [code, written.out, written.err];
    };
    const only = expect.stringContaining('partner’s secret key only');
    expect(await start([], gateway.sandbox.operatorKey)).toEqual([3, '', only]);
    expect(await start(['--readonly'], gateway.partners[0].apiKey)).toEqual([2, '', expect.any(String)]);
  });
});
