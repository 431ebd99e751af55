import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { depositToBridgeData } from '../authorization/forward-request.ts';
import { type Address, tokenByCode } from '../chain-settings.ts';
import { approveRouter, fundWallets } from '../contracts/local-deployment.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { tokenTransferCall } from '../token-reads.ts';
import { createTransactor } from '../transactions/transactor.ts';
import { createWatcher, type Watcher } from '../watcher/watcher.ts';
import { type BridgeQuote, BridgeRefusedError, BridgeUnavailableError, httpBridge } from './bridge.ts';
import { setSolverConduct } from './simulated-bridge.store.ts';
import { type SimulatedBridge, simulateBridge } from './simulated-bridge.ts';

const AMOUNT = 20_000_000n;
const AFTER_FEE = 19_990_000n;

const clock = createClock();
const ids = createIdGenerator();

describe('the simulated bridge between two chains', () => {
  let source: TestChain;
  let target: TestChain;
  let database: TestDatabase;
  let solver: TestWallet;
  let partner: TestWallet;
  let bridge: SimulatedBridge;
  let watcher: Watcher;

  beforeAll(async () => {
    [source, target] = await Promise.all([startTestChain(31_410), startTestChain(31_411)]);
    database = await openTestDatabase();
    solver = await target.fundedWallet();
    // The same key on both chains, as a solver has it.
    const { tokens, rpcUrl, contracts } = source.settings;
    const funding = { wallets: [solver.address], tokens, etherWei: 10n ** 19n, wholeTokens: 100n };
    await fundWallets(rpcUrl, source.deployer.privateKey, funding);
    partner = await source.fundedWallet();
    await approveRouter(rpcUrl, partner.privateKey, contracts.router, tokens);
    const deps = { db: database.db, clock, ids };
    const transactor = createTransactor({ ...deps, chains: [source, target], signers: [solver] });
    bridge = simulateBridge({
      ...deps,
      chains: [source.settings, target.settings],
      solver: solver.address,
      transactor,
    });
    watcher = createWatcher({
      ...deps,
      logger: createLogger({ level: 'silent', format: 'json' }),
      settings: source.settings,
      client: source.client,
      handlers: [bridge.takeDeposits],
      bookHeldDeposits: () => {},
    });
    await watcher.catchUp();
  });
  afterAll(async () => {
    await database?.close();
    await Promise.all([source?.stop(), target?.stop()]);
  });

  const requested = (recipient: Address, amount = AMOUNT) => ({
    fromChainId: source.settings.chainId,
    toChainId: target.settings.chainId,
    token: tokenByCode(source.settings, 'USDC').address,
    amount,
    sender: partner.address,
    recipient,
  });

  const deposit = ({ quoteId, solver: to }: BridgeQuote, amount = AMOUNT) =>
    source.send(partner, {
      to: source.settings.contracts.router,
      value: 0n,
      data: depositToBridgeData({
        bridgeQuoteId: quoteId,
        token: tokenByCode(source.settings, 'USDC').address,
        solver: to,
        amount,
      }),
    });

  /** What the worker does with the solver's intent, until it is settled or waits for somebody. */
  async function letSolverAct(quote: BridgeQuote, turns = 50) {
    await watcher.catchUp();
    for (let turn = 0; turn < turns; turn++) {
      const intent = { payload: { quote_id: quote.quoteId } } as Intent<'sandbox.solver-payout'>;
      const outcome = await bridge.solverHandler.perform(intent);
      if (outcome.kind !== 'confirmed') continue;
      if (outcome.followUp) await unitOfWork({ db: database.db, clock, ids }, SYSTEM, outcome.followUp);
      return;
    }
  }

  test('pays out on the other chain what it quoted, to the atomic unit and once', async () => {
    const recipient = randomWallet().address;
    const quote = await bridge.quote(requested(recipient));
    expect(quote).toMatchObject({ toAmount: AFTER_FEE, solver: solver.address });
    expect(await bridge.track(quote.quoteId)).toEqual({ state: 'pending' });
    await deposit(quote);
    await letSolverAct(quote);
    await letSolverAct(quote);
    expect(await target.balanceOf('USDC', recipient)).toBe(AFTER_FEE);
    expect(await bridge.track(quote.quoteId)).toEqual({
      state: 'settled',
      toAmount: AFTER_FEE,
      txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
  });

  test('that refuses sends the deposit back and says so', async () => {
    const recipient = randomWallet().address;
    const before = await source.balanceOf('USDC', partner.address);
    const quote = await bridge.quote(requested(recipient));
    await deposit(quote);
    await unitOfWork({ db: database.db, clock, ids }, SYSTEM, async (unit) =>
      setSolverConduct(unit, quote.quoteId, 'refuses'),
    );
    await letSolverAct(quote);
    expect(await source.balanceOf('USDC', partner.address)).toBe(before);
    expect(await target.balanceOf('USDC', recipient)).toBe(0n);
    expect(await bridge.track(quote.quoteId)).toEqual({ state: 'failed', reason: 'refunded' });
  });

  test('that waits is pending until it is told to go on', async () => {
    const recipient = randomWallet().address;
    const quote = await bridge.quote(requested(recipient));
    await unitOfWork({ db: database.db, clock, ids }, SYSTEM, async (unit) =>
      setSolverConduct(unit, quote.quoteId, 'waits'),
    );
    await deposit(quote);
    await letSolverAct(quote, 3);
    expect(await bridge.track(quote.quoteId)).toEqual({ state: 'pending' });
    await unitOfWork({ db: database.db, clock, ids }, SYSTEM, async (unit) =>
      setSolverConduct(unit, quote.quoteId, 'pays'),
    );
    await letSolverAct(quote);
    expect(await target.balanceOf('USDC', recipient)).toBe(AFTER_FEE);
  });

  test('does not take a plain transfer, or less than it quoted, for a deposit', async () => {
    const quote = await bridge.quote(requested(randomWallet().address));
    const token = tokenByCode(source.settings, 'USDC').address;
    await source.send(partner, tokenTransferCall({ token, to: solver.address, amount: AMOUNT }));
    await deposit(quote, AMOUNT - 1n);
    await letSolverAct(quote, 2);
    expect(await bridge.track(quote.quoteId)).toEqual({ state: 'pending' });
  });

  test('refuses a way it does not serve', async () => {
    const unknownChain = { ...requested(randomWallet().address), toChainId: 1 };
    await expect(bridge.quote(unknownChain)).rejects.toThrow(BridgeRefusedError);
    const sameChain = { ...requested(randomWallet().address), toChainId: source.settings.chainId };
    await expect(bridge.quote(sameChain)).rejects.toThrow(BridgeRefusedError);
    await expect(bridge.quote(requested(randomWallet().address, 0n))).rejects.toThrow(BridgeRefusedError);
    await expect(bridge.track(`0x${'77'.repeat(32)}`)).rejects.toThrow(BridgeRefusedError);
  });
});

describe('a bridge behind an HTTP API', () => {
  let server: Server;
  let url: string;
  let answer: { status: number; body: unknown };
  let asked: { method: string; path: string; body: unknown; authorization: string | undefined };

  const quoteId = `0x${'c1'.repeat(32)}` as const;
  const solver = randomWallet().address;
  const requested = {
    fromChainId: 1,
    toChainId: 2,
    token: randomWallet().address,
    amount: AMOUNT,
    sender: randomWallet().address,
    recipient: randomWallet().address,
  };

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString('utf8');
      asked = {
        method: request.method ?? '',
        path: request.url ?? '',
        body: text === '' ? undefined : JSON.parse(text),
        authorization: request.headers.authorization,
      };
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hidden`;
  });
  beforeEach(() => {
    answer = { status: 500, body: {} };
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const bridge = () => httpBridge({ url, accessToken: 'bridge-token' });

  test('is asked for a quote with whole numbers as text, and its answer becomes ours', async () => {
    const expires = '2026-12-01T00:00:00.000Z';
    answer = {
      status: 200,
      body: { quote_id: quoteId, deposit_address: solver, output_amount: '19990000', expires_at: expires },
    };
    expect(await bridge().quote(requested)).toEqual({
      quoteId,
      solver,
      toAmount: AFTER_FEE,
      expiresAt: new Date(expires),
    });
    expect(asked).toMatchObject({
      method: 'POST',
      path: '/hidden/quotes',
      body: { input_amount: '20000000', origin_chain_id: 1, destination_chain_id: 2 },
      authorization: 'Bearer bridge-token',
    });
  });

  test.each([
    [{ status: 'pending' }, { state: 'pending' }],
    [
      { status: 'filled', fill_tx_hash: quoteId, output_amount: '5' },
      { state: 'settled', txHash: quoteId, toAmount: 5n },
    ],
    [{ status: 'refunded' }, { state: 'failed', reason: 'refunded' }],
    // Not given back yet: the money is still with the bridge.
    [{ status: 'expired' }, { state: 'pending' }],
  ])('%j is understood', async (body, progress) => {
    answer = { status: 200, body };
    expect(await bridge().track(quoteId)).toEqual(progress);
  });

  test.each([
    ['another shape', 200, { status: 'filled' }],
    [
      'an amount that is no whole number',
      200,
      { status: 'filled', fill_tx_hash: quoteId, output_amount: '1.5' },
    ],
    ['a server error', 503, {}],
  ])('%s means that nothing is known, and no address is shown', async (_name, status, body) => {
    answer = { status, body };
    const error = await bridge()
      .track(quoteId)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BridgeUnavailableError);
    expect(String(error)).not.toContain('hidden');
  });

  test('a refusal of a quote is a refusal', async () => {
    answer = { status: 422, body: {} };
    await expect(bridge().quote(requested)).rejects.toThrow(BridgeRefusedError);
  });
});
