import { readFile } from 'node:fs/promises';
import { Causeway, type CausewayError, isCausewayError, type Order } from '@causeway/sdk';
import {
  privateKeySigner,
  readForwarderNonce,
  type Signer,
  signBridge,
  signRefund,
  signRelease,
  signTransfer,
  type Trust,
  trustOfSandbox,
} from '@causeway/sdk/signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toWire } from '../../apps/gateway/src/local/sandbox-file.ts';
import { ALIASES, METHODS, NOT_CALLED } from '../../scripts/sdk/names.ts';
import { type Called, type Description, operationsOf, renderSdk } from '../../scripts/sdk/render.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

const CHAIN = 'base-mainnet';
const GENERATED = '../../packages/sdk/src/generated';
const UNKNOWN_ID = '0199aa9f-0000-7c41-9d0e-6b1f5a3c2d10';
const WAIT = { timeout: 60_000 };

/** A partner's engineer: a client, a wallet, and what is known of the deployment without asking it. */
interface Engineer {
  readonly causeway: Causeway;
  readonly signer: Signer;
  readonly trust: Trust;
}

function engineerOf({ sdk, partners, sandbox }: TestGateway, index: 0 | 1): Engineer {
  const { apiKey, walletPrivateKey } = partners[index];
  return {
    causeway: sdk(apiKey),
    signer: privateKeySigner(walletPrivateKey),
    trust: trustOfSandbox(toWire(sandbox), { partner: index, chain: CHAIN }),
  };
}

describe('the SDK against a gateway', () => {
  let gateway: TestGateway;
  let operator: Causeway;
  let operations: Called[];
  let description: Description;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    operator = gateway.sdk(gateway.sandbox.operatorKey);
    description = (await gateway.call('GET', '/api/v1/openapi.json')).body;
    operations = operationsOf(description);
  });
  afterAll(() => gateway?.stop());

  it('has its generated files as the description makes them', async () => {
    for (const [file, text] of Object.entries(renderSdk(description))) {
      await expect(text, 'run npm run sdk:generate').toMatchFileSnapshot(
        file.endsWith('.md') ? `../../packages/sdk/${file}` : `${GENERATED}/${file}`,
      );
    }
  });

  it('goes through the first order of its README', async () => {
    const readme = await readFile(new URL('../../packages/sdk/README.md', import.meta.url), 'utf8');
    const [, example = ''] = /## A first order.*?```ts\n(.*?)```/s.exec(readme) ?? [];
    const [{ apiKey }] = gateway.partners;
    const steps = example
      .replace(/^import .*\n/, '')
      .replace('http://localhost:8080', gateway.baseUrl)
      .replace('cw_test_…', apiKey);
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
    const shown: unknown[] = [];
    await new AsyncFunction('Causeway', 'console', steps)(Causeway, {
      log: (...said: unknown[]) => shown.push(...said),
    });
    expect(shown).toEqual([expect.objectContaining({})]);
    const { orders } = await gateway.sdk(apiKey).orders.list({ reference_id: 'my-42' });
    expect(orders.map(({ status }) => status)).toEqual(['completed']);
  });

  it('knows of a sandbox what its own settings say', () => {
    const file = toWire(gateway.sandbox);
    const { chains } = gateway.deps;
    const { chainId, contracts, treasury, tokens } = chains.get(CHAIN).settings;
    expect(trustOfSandbox(file, { partner: 1 })).toEqual({
      ...{ chainId, contracts, treasury, service: chains.service.address },
      wallet: gateway.partners[1].walletAddress,
      bridgeSolvers: [expect.stringMatching(/^0x[0-9a-fA-F]{40}$/)],
      tokens: Object.fromEntries(tokens.map(({ code, address, decimals }) => [code, { address, decimals }])),
    });
    expect(() => trustOfSandbox(file, { partner: 9 })).toThrow('no partner 9');
    expect(() => trustOfSandbox(file, { chain: 'moon' })).toThrow('no chain moon');
    const old = { ...file, chains: [{ slug: CHAIN, chain_id: chainId }] };
    expect(() => trustOfSandbox(old)).toThrow('does not tell');
  });

  it('has a method for every operation, of which an alias is the same operation', () => {
    const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
    expect(operations.length).toBeGreaterThan(150);
    expect(() =>
      renderSdk({
        paths: { ...description.paths, '/x': { get: { ...operations[0]!, operationId: 'new' } } },
      }),
    ).toThrow('no method of the SDK calls new');
    const names = operations
      .map(({ operationId }) => METHODS[operationId])
      .filter((name) => name !== undefined);
    expect(new Set(names).size).toBe(names.length);
    const shapeOf = ({ method, requestBody, responses }: Called) => {
      const asked = requestBody?.content?.['application/json']?.schema;
      const answered = responses['200']?.content?.['application/json']?.schema?.properties?.data;
      return [
        method,
        asked?.required,
        Object.keys(asked?.properties ?? {}),
        Object.keys(answered?.properties ?? {}),
      ];
    };
    for (const [alias, id] of Object.entries(ALIASES))
      expect(shapeOf(byId.get(alias)!)).toEqual(shapeOf(byId.get(id)!));
  });

  async function customer({ causeway }: Engineer): Promise<string> {
    const { id } = await causeway.users.create({
      email: `${crypto.randomUUID()}@example.com`,
      first_name: 'Ada',
      last_name: 'Lovelace',
    });
    await causeway.sandbox.kycStatus(id, { status: 'VERIFIED' });
    return id;
  }

  async function onramp(engineer: Engineer): Promise<Order> {
    const { causeway } = engineer;
    const quote = await causeway.onramp.quote({
      ...{
        user_uuid: await customer(engineer),
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '100.00',
      },
      partner_fee_pct: '1',
    });
    return causeway.onramp.initiate({ quote_id: quote.quote_id, reference_id: 'sdk' });
  }

  async function fundedOfframp(engineer: Engineer): Promise<Order> {
    const { causeway, signer, trust } = engineer;
    const user = await customer(engineer);
    const details = await causeway.paymentDetails.create(user, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
      details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
    });
    const quote = await causeway.offramp.quote({
      ...{ user_uuid: user, payment_details_id: details.id, crypto_currency: 'USDC', fiat_currency: 'EUR' },
      ...{ crypto_amount: '50.000001', partner_fee_pct: '0.7', provider_scope: 'p2p' },
    });
    const order = await causeway.offramp.initiate({ quote_id: quote.quote_id });
    const parameters = await causeway.orders.transferParameters(order.order_id);
    const { escrow } = await causeway.orders.funds(order.order_id);
    const { rpc_url: rpcUrl, forwarder_address: forwarder } = parameters;
    const nonce = await readForwarderNonce({ rpcUrl, forwarder, wallet: trust.wallet });
    const nowhere = readForwarderNonce({ rpcUrl, forwarder: trust.wallet, wallet: trust.wallet });
    await expect(nowhere).rejects.toThrow('no forwarder at this address');
    const body = await signTransfer({ order, parameters, owners: escrow!.owners, trust, nonce }, signer);
    await causeway.orders.authorizeTransfer(order.order_id, body);
    return order;
  }

  describe.concurrent('both ways at once, of two partners', () => {
    // Proves C1 rule 2, C4.5 rows 1, 2 and 4 to 6.
    it('on-ramp to the end, and a send-out to another network', async () => {
      const engineer = engineerOf(gateway, 0);
      const { causeway, signer, trust } = engineer;
      const order = await onramp(engineer);
      const asked = await causeway.orders.waitFor(order.order_id, 'awaiting_fiat_transfer', WAIT);
      expect(asked.vendor_payment_details).toBeDefined();
      expect((await causeway.orders.confirmPaymentSent(order.order_id)).status).toBe('fiat_transfer_pending');
      const done = await causeway.orders.waitFor(order.order_id, 'completed', WAIT);
      expect(done.tx_hash).toMatch(/^0x/);
      const destination = {
        destination_chain: 'arbitrum-one',
        destination_address: gateway.partners[1].walletAddress,
      };
      const parameters = await causeway.orders.bridgeParameters(order.order_id, destination);
      const body = await signBridge({ order: done, parameters, destination, trust }, signer);
      expect((await causeway.orders.authorizeBridge(order.order_id, body)).status).toBe('send_out_pending');
      expect(
        (await causeway.orders.waitFor(order.order_id, 'send_out_completed', WAIT)).send_out_tx_hash,
      ).toMatch(/^0x/);
      const found: string[] = [];
      for await (const { order_id } of causeway.orders.list({ reference_id: 'sdk', limit: 1 }))
        found.push(order_id);
      expect(found).toEqual([order.order_id]);
    });

    // Proves C1 rule 3, C4.6 rows 1 to 5.
    it('off-ramp to the end', async () => {
      const engineer = engineerOf(gateway, 1);
      const { causeway } = engineer;
      const { order_id: orderId } = await fundedOfframp(engineer);
      await causeway.orders.waitFor(orderId, 'awaiting_fiat_received_confirmation', WAIT);
      await causeway.orders.confirmFiatReceived(orderId);
      expect((await causeway.orders.waitFor(orderId, 'completed', WAIT)).timeline.length).toBeGreaterThan(3);
      await expect(causeway.orders.waitFor(orderId, 'cancelled', WAIT)).rejects.toMatchObject({
        code: 'ORDER_ENDED',
      });
    });
  });

  // Proves C1 rule 3, C4.6 rows 6 to 8.
  it('a refund and, after a dispute, a release, each signed for exactly this order', async () => {
    const engineer = engineerOf(gateway, 0);
    const { causeway, signer, trust } = engineer;
    await causeway.sandbox.setSettings({ auto_advance: false });
    const order = await fundedOfframp(engineer);
    await causeway.orders.waitFor(order.order_id, 'crypto_received', WAIT);
    await causeway.orders.cancel(order.order_id, { reason: 'a test' });
    const stopped = await causeway.orders.waitFor(
      order.order_id,
      ({ allowed_actions: allowed }) => allowed.includes('authorize-refund'),
      WAIT,
    );
    const owners = (await causeway.orders.funds(order.order_id)).escrow!.owners;
    const parameters = await causeway.orders.refundParameters(order.order_id);
    const refund = await signRefund({ order: stopped, parameters, owners, trust }, signer);
    await causeway.orders.authorizeRefund(order.order_id, refund);
    await expect(causeway.orders.waitFor(order.order_id, 'completed', WAIT)).rejects.toMatchObject({
      code: 'ORDER_ENDED',
    });

    const { order_id: disputed } = await onramp(engineer);
    for (const event of ['vendor_accepts', 'escrow_funded'] as const)
      await causeway.sandbox.orderEvent(disputed, { event });
    await causeway.orders.waitFor(disputed, 'awaiting_fiat_transfer', WAIT);
    await causeway.orders.confirmPaymentSent(disputed);
    await causeway.sandbox.orderEvent(disputed, { event: 'dispute_opened' });
    await operator.operator.orders.decideDispute(disputed, { decision: 'for_buyer', reason: 'a test' });
    const decided = await causeway.orders.waitFor(
      disputed,
      ({ next_action: next }) => next === 'authorize_release',
      WAIT,
    );
    const release = await signRelease(
      {
        order: decided,
        parameters: await causeway.orders.releaseParameters(disputed),
        owners: (await causeway.orders.funds(disputed)).escrow!.owners,
        trust,
      },
      signer,
    );
    await causeway.orders.authorizeRelease(disputed, release);
    await causeway.orders.waitFor(disputed, 'completed', WAIT);
  });

  it('calls every operation at its own address', async () => {
    const called = new Set<string>();
    const answers: string[] = [];
    for (const { operationId, path, parameters = [], requestBody } of operations) {
      const name = METHODS[operationId];
      if (name === undefined) continue;
      const { apiKey, recorded } = clientFor(gateway, path, called, operations);
      const client = new Causeway({ baseUrl: gateway.baseUrl, apiKey, fetch: recorded, maxRetries: 0 });
      const [owner, method] = name
        .split('.')
        .reduce<[unknown, unknown]>(
          ([, at], part) => [at, (at as Record<string, unknown>)[part]],
          [undefined, client],
        );
      const takesInput =
        requestBody !== undefined || parameters.some((parameter) => parameter.in === 'query');
      const args = [...path.matchAll(/\{\w+\}/g)].map(() => UNKNOWN_ID);
      const answer = (method as (...given: unknown[]) => PromiseLike<unknown>).apply(
        owner,
        takesInput ? [...args, {}] : args,
      );
      const code = await Promise.resolve(answer).then(
        () => 'answered',
        (error: unknown) => (isCausewayError(error) ? (error as CausewayError).code : String(error)),
      );
      answers.push(`${operationId} ${code}`);
    }
    const wrong = /ROUTE_NOT_FOUND|UNAUTHORIZED|INVALID_ANSWER|CONNECTION_FAILED|TIMED_OUT|Error:/;
    expect(answers.filter((answer) => wrong.test(answer))).toEqual([]);
    const all = operations.map(({ operationId }) => operationId);
    expect(all.filter((id) => !called.has(id)).sort()).toEqual(
      [...Object.keys(ALIASES), ...Object.keys(NOT_CALLED)].sort(),
    );
  });
});

/** The key of whoever may call this, and a record of what the description calls the request. */
function clientFor(gateway: TestGateway, path: string, called: Set<string>, operations: readonly Called[]) {
  const { partners, sandbox } = gateway;
  const desk = /^\/api\/v1\/(operator|vendor)\//.exec(path)?.[1];
  const apiKey =
    { operator: sandbox.operatorKey, vendor: sandbox.vendors[0]!.apiKey }[`${desk}`] ?? partners[0].apiKey;
  const recorded: typeof fetch = (input, init) => {
    const { pathname } = new URL(String(input));
    const matching = operations.filter(
      ({ method, path: template }) =>
        method === init?.method && new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
    );
    // A word in a path is a better match than a parameter.
    const [best] = matching.sort((left, right) => left.path.split('{').length - right.path.split('{').length);
    if (best !== undefined) called.add(best.operationId);
    return fetch(input, init);
  };
  return { apiKey, recorded };
}
