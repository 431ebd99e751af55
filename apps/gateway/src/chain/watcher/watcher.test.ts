import { randomUUID } from 'node:crypto';
import { feeOnTransferToken } from '@causeway/contracts';
import { createWalletClient, encodeFunctionData, getAddress, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cloneDatabase } from '../../../../../test/harness/database.ts';
import { until } from '../../../../../test/harness/until.ts';
import { createDatabase, type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import {
  forwardCall,
  fundEscrowData,
  hashForwardRequest,
  routerRequest,
} from '../authorization/forward-request.ts';
import { type Address, tokenByCode } from '../chain-settings.ts';
import { approveRouter } from '../contracts/local-deployment.ts';
import { describeEscrow } from '../escrow/escrow.ts';
import { createChainClient } from '../rpc/chain-client.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { startRpcProxy } from '../testing/rpc-proxy.ts';
import { tokenTransferCall } from '../token-reads.ts';
import type { ChainFact, EscrowWatch } from './chain-facts.ts';
import { readCursor, searchAgain, stopWatching, watchEscrow } from './watch.store.ts';
import { createWatcher, FinalityBrokenError } from './watcher.ts';
import type { WatcherDeps } from './watching.ts';

const insertPartner = statement<[partnerId: string, wallet: string, at: Date]>(
  'test.watched_partner',
  `INSERT INTO partners
     (partner_id, name, settlement_chain, wallet_address, platform_fee_pct, webhook_secret_sealed, created_at)
   VALUES ($1, 'Watched', 'test-chain', $2, 0, '', $3)`,
);
const insertSigner = statement<[chainId: number, forwarder: string, sender: string, partnerId: string]>(
  'test.watched_signer',
  'INSERT INTO forwarder_nonces (chain_id, forwarder, sender, partner_id, next_nonce) VALUES ($1, $2, $3, $4, 0)',
);

const insertClosedWatches = statement<
  [chainId: number, partnerId: string, token: string, sender: string, at: Date, watches: number]
>(
  'test.closed_watches',
  `INSERT INTO escrow_watches (chain_id, address, order_id, partner_id, token, expected_amount, expected_sender,
     caught_up, registered_at, closed_at)
   SELECT $1, '0x' || lpad(to_hex(n), 40, '0'), gen_random_uuid(), $2, $3, 1, $4, true, $5, $5
     FROM generate_series(1, $6::integer) AS n`,
);

const CONFIRMATIONS = 4;
const AMOUNT = 5_000_000n;

const readDeposits = statement<
  [orderId: string],
  { kind: string; disposition: string; amount: string; tx_hash: string }
>(
  'test.deposits',
  `SELECT kind, disposition, amount::text, tx_hash FROM deposit_observations
    WHERE order_id = $1 ORDER BY block_number, log_index`,
);

const countUnsearched = statement<[], { watches: number }>(
  'test.unsearched_watches',
  'SELECT count(*)::int AS watches FROM escrow_watches WHERE NOT caught_up',
);

let chain: TestChain;
let db: Database;
let vendor: TestWallet;
let stranger: TestWallet;
let facts: ChainFact[];

const clock = createClock();
const ids = createIdGenerator();
const logger = createLogger({ level: 'silent', format: 'json' });
const partnerId = randomUUID();

beforeAll(async () => {
  chain = await startTestChain(31_408);
  vendor = await chain.fundedWallet();
  stranger = await chain.fundedWallet();
});
beforeEach(async () => {
  await db?.close();
  db = createDatabase({ connectionString: await cloneDatabase(), poolSize: 5 });
  facts = [];
});
afterAll(async () => {
  await db?.close();
  await chain?.stop();
});

function watcherOf(others: Partial<WatcherDeps> = {}) {
  return createWatcher({
    db,
    clock,
    ids,
    logger,
    settings: { ...chain.settings, confirmations: CONFIRMATIONS },
    client: chain.client,
    handlers: [async (fact) => void facts.push(fact)],
    bookHeldDeposits: () => {},
    ...others,
  });
}

function newWatch(): EscrowWatch {
  const orderId = randomUUID();
  const parties = {
    service: randomWallet().address,
    seller: vendor.address,
    buyer: randomWallet().address,
  };
  return {
    address: describeEscrow(chain.settings, orderId, parties).address,
    orderId,
    partnerId,
    token: tokenByCode(chain.settings, 'USDC').address,
    expectedAmount: AMOUNT,
    expectedSender: vendor.address,
  };
}

async function register(watch: EscrowWatch, knownSince?: Date): Promise<EscrowWatch> {
  await unitOfWork({ db, clock, ids }, SYSTEM, async (unit) =>
    watchEscrow(unit, chain.settings.chainId, watch, knownSince),
  );
  return watch;
}

const pay = (to: Address, { from = vendor, amount = AMOUNT, code = 'USDC' } = {}) =>
  chain.send(from, tokenTransferCall({ token: tokenByCode(chain.settings, code).address, to, amount }));
const mine = (blocks: number) => chain.control.mine({ blocks });
const deposits = (watch: EscrowWatch) => db.query(SYSTEM, readDeposits, [watch.orderId]);
const unsearched = async () => (await db.query(SYSTEM, countUnsearched, []))[0]?.watches ?? 0;
const kinds = async (watch: EscrowWatch) => (await deposits(watch)).map(({ kind }) => kind);
const reported = () => facts.map((fact) => (fact.type === 'deposit' ? fact.kind : fact.type));

/** The first look only notes where the chain is. */
async function started(others: Partial<WatcherDeps> = {}) {
  const watcher = watcherOf(others);
  await watcher.catchUp();
  return watcher;
}

describe('a deposit', () => {
  // Proves D6.13, trap 23.
  test('is reported once, and only when it has the configured blocks on it', async () => {
    const watch = await register(newWatch());
    const watcher = await started();
    await pay(watch.address);
    for (let blocks = 1; blocks < CONFIRMATIONS; blocks++) {
      await watcher.catchUp();
      expect(await kinds(watch)).toEqual([]);
      await mine(1);
    }
    await watcher.catchUp();
    await watcher.catchUp();
    expect(await deposits(watch)).toMatchObject([
      { kind: 'exact', disposition: 'credited', amount: `${AMOUNT}` },
    ]);
    expect(facts).toMatchObject([{ type: 'deposit', kind: 'exact', orderId: watch.orderId, amount: AMOUNT }]);
  });

  // Proves trap 24.
  test.each([
    ['short', { amount: AMOUNT - 1n }],
    ['excess', { amount: AMOUNT + 1n }],
    ['wrong_token', { code: 'USDT' }],
    ['foreign_sender', {}],
  ] as const)('that is %s is held for review, and the right one still counts', async (kind, payment) => {
    const watch = await register(newWatch());
    const watcher = await started();
    await pay(watch.address, { ...payment, from: kind === 'foreign_sender' ? stranger : vendor });
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    expect(await deposits(watch)).toMatchObject([
      { kind, disposition: 'held_for_review' },
      { kind: 'exact', disposition: 'credited' },
    ]);
  });

  // Proves trap 24.
  test('of a token that takes a fee counts with what arrives: the expected amount is credited, less is held', async () => {
    const account = privateKeyToAccount(vendor.privateKey);
    const wallet = createWalletClient({ account, transport: http(chain.settings.rpcUrl) });
    const deploying = { ...feeOnTransferToken, args: [vendor.address] } as const;
    const hash = await wallet.deployContract({ ...deploying, chain: null });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
    const token = { code: 'FEE', address: getAddress(contractAddress!), decimals: 6 };
    const { abi } = feeOnTransferToken;
    const mint = encodeFunctionData({ abi, functionName: 'mint', args: [vendor.address, 10n * AMOUNT] });
    await chain.send(vendor, { to: token.address, data: mint, value: 0n });
    const settings = {
      ...chain.settings,
      confirmations: CONFIRMATIONS,
      tokens: [...chain.settings.tokens, token],
    };
    const [less, exact] = [
      await register({ ...newWatch(), token: token.address }),
      await register({ ...newWatch(), token: token.address }),
    ];
    const watcher = await started({ settings });
    // It burns one unit of each transfer.
    for (const [watch, amount] of [
      [less, AMOUNT],
      [exact, AMOUNT + 1n],
    ] as const) {
      await chain.send(vendor, tokenTransferCall({ token: token.address, to: watch.address, amount }));
    }
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    expect(await deposits(less)).toMatchObject([
      { kind: 'short', disposition: 'held_for_review', amount: `${AMOUNT - 1n}` },
    ]);
    expect(await deposits(exact)).toMatchObject([
      { kind: 'exact', disposition: 'credited', amount: `${AMOUNT}` },
    ]);
  });

  // Proves trap 24.
  test('that comes a second time is held for review, also long after the order is over', async () => {
    const watch = await register(newWatch());
    const watcher = await started();
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    await unitOfWork({ db, clock, ids }, SYSTEM, async (unit) => stopWatching(unit, [watch.orderId]));
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    expect(await kinds(watch)).toEqual(['exact', 'double']);
    expect(reported()).toEqual(['exact', 'double']);
  });

  test('made before the escrow was registered, or before the first start, is found', async () => {
    const early = newWatch();
    await pay(early.address);
    await mine(CONFIRMATIONS);
    const watcher = await started();
    await watcher.catchUp();
    await register(early);
    await watcher.catchUp();
    expect(await kinds(early)).toEqual(['exact']);
  });

  test('made while the worker was away is found, however many blocks ago the escrow was told', async () => {
    const [early, unknown] = [newWatch(), newWatch()];
    const opened = clock.date();
    await pay(early.address);
    await mine(40);
    const watcher = await started({ limits: { lookBackBlocks: 3, recentMs: 0 } });
    await watcher.catchUp();
    await register(early, new Date(opened.getTime() - 60_000));
    await register(unknown);
    await watcher.catchUp();
    expect([await kinds(early), await kinds(unknown)]).toEqual([['exact'], []]);
  });

  test('to a new escrow is found through a node that answers for a few blocks only and fails now and then', async () => {
    const [early, known] = [newWatch(), await register(newWatch())];
    await pay(early.address);
    const opened = clock.date();
    await mine(60);
    await (await started()).catchUp();
    const cursor = Number((await readCursor(db, chain.settings.chainId))?.blockNumber);
    const asked: number[] = [];
    const proxy = await startRpcProxy(chain.settings.rpcUrl);
    proxy.intercept = ({ method, params }) => {
      if (method !== 'eth_getLogs') return undefined;
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      if (Number(fromBlock) > cursor) return undefined;
      asked.push(Number(fromBlock));
      return Number(toBlock) - Number(fromBlock) + 1 > 8 || asked.length % 12 === 0 ? 'drop' : undefined;
    };
    const watcher = watcherOf({
      client: createChainClient({ ...chain.settings, rpcUrl: proxy.url }),
      limits: { maxRangeBlocks: 64, lookBackBlocks: 50, recentMs: 0 },
    });
    await register(early, new Date(opened.getTime() - 60_000));
    await pay(known.address);
    await mine(CONFIRMATIONS);
    let failures = 0;
    while ((await kinds(early)).length === 0 || (await unsearched()) > 0) {
      await watcher.catchUp().catch((error: Error) => {
        expect(error.message).toContain('unavailable');
        failures += 1;
      });
      // What is new is read although the old blocks are not yet searched.
      expect(await kinds(known)).toEqual(['exact']);
      expect(failures).toBeLessThan(60);
    }
    await proxy.close();
    expect(await kinds(early)).toEqual(['exact']);
    // Nothing that was searched is searched again, and after a failure the ranges grow again.
    const reached = asked.map((_, index) => Math.max(...asked.slice(0, index + 1)));
    expect(asked.filter((block, index) => block < reached[index]! - 16)).toEqual([]);
    expect(new Set(asked).size).toBeLessThan(30);
  });

  test('to an escrow that became known while a slow process read the chain is not passed over', async () => {
    await register(newWatch());
    const watcher = await started();
    await watcher.catchUp();
    const before = await chain.client.getBlockNumber({ cacheTime: 0 });
    const [early, slow, behind] = [
      newWatch(),
      await startRpcProxy(chain.settings.rpcUrl),
      await startRpcProxy(chain.settings.rpcUrl),
    ];
    // The address of an order's escrow can be seen before it is watched.
    await pay(early.address);
    await mine(CONFIRMATIONS);
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    slow.intercept = async ({ method }) => {
      if (method !== 'eth_getLogs') return undefined;
      asked.resolve();
      await answer.promise;
      return undefined;
    };
    behind.intercept = ({ method }) =>
      method === 'eth_blockNumber' ? { result: `0x${before.toString(16)}` } : undefined;
    const through = ({ url }: { url: string }) =>
      watcherOf({ client: createChainClient({ ...chain.settings, rpcUrl: url }) });
    const reading = through(slow).catchUp();
    await asked.promise;
    await register(early);
    // Searches the blocks that have been read, for this escrow alone; the payment is not among them.
    await through(behind).catchUp();
    answer.resolve();
    await reading;
    await watcher.catchUp();
    await Promise.all([slow.close(), behind.close()]);
    expect(await kinds(early)).toEqual(['exact']);
  });

  // Proves trap 24.
  test('that a node kept to itself is found when its escrow is searched again, and what was read is not told twice', async () => {
    const [read, missed] = [await register(newWatch()), await register(newWatch())];
    const proxy = await startRpcProxy(chain.settings.rpcUrl);
    const client = createChainClient({ ...chain.settings, rpcUrl: proxy.url });
    const watcher = await started({ client });
    await pay(read.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    await pay(missed.address);
    await mine(CONFIRMATIONS);
    // As behind a load balancer: blocks from one that is up to date, logs from one that is not.
    proxy.intercept = ({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined);
    await watcher.catchUp();
    proxy.intercept = () => undefined;
    await mine(1);
    await watcher.catchUp();
    expect(await kinds(missed)).toEqual([]);

    const searched = (watch: EscrowWatch, anew: boolean) =>
      unitOfWork({ db, clock, ids }, SYSTEM, (unit) =>
        searchAgain(unit, { orderId: watch.orderId, address: watch.address, balance: '5' }, { anew }),
      );
    expect(await searched(read, false)).not.toBeNull();
    expect(await searched(missed, false)).not.toBeNull();
    await watcher.catchUp();
    await proxy.close();
    expect(reported()).toEqual(['exact', 'exact']);
    expect(await kinds(missed)).toEqual(['exact']);
    // By itself once for what it holds; as often as a person asks.
    expect(await searched(missed, false)).toBeNull();
    expect(await searched(missed, true)).not.toBeNull();
  });

  test('to a new escrow does not wait for one that is searched again over many blocks', async () => {
    const limits = { maxRangeBlocks: 1, lookBackBlocks: 10, recentMs: 60_000 };
    const watcher = await started({ limits });
    await mine(100);
    await watcher.catchUp();
    const old = await register(newWatch(), new Date(clock.now() - 3_600_000));
    await watcher.catchUp();
    await unitOfWork({ db, clock, ids }, SYSTEM, (unit) =>
      searchAgain(unit, { orderId: old.orderId, address: old.address, balance: '5' }, { anew: false }),
    );
    await watcher.catchUp();
    expect(await unsearched()).toBe(1);
    const watch = newWatch();
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await register(watch);
    await watcher.catchUp();
    expect(await kinds(watch)).toEqual(['exact']);
    expect(await unsearched()).toBe(1);
    while ((await unsearched()) > 0) await watcher.catchUp();
  });

  test('whose consequence cannot be recorded is not passed over', async () => {
    const watch = await register(newWatch());
    await started();
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    const failing = watcherOf({
      handlers: [async () => Promise.reject(new Error('the database says no'))],
      bookHeldDeposits: () => {},
    });
    await expect(failing.catchUp()).rejects.toThrow('says no');
    expect(await kinds(watch)).toEqual([]);
    await watcherOf().catchUp();
    expect(reported()).toEqual(['exact']);
  });
});

describe('a reorganisation', () => {
  // Proves D6.13, trap 23.
  test.each(Array.from({ length: CONFIRMATIONS - 1 }, (_, index) => index + 1))(
    '%i deep, below finality, takes an unconfirmed deposit with it and nothing was reported',
    async (depth) => {
      const watch = await register(newWatch());
      const watcher = await started();
      await pay(watch.address);
      await mine(depth - 1);
      await watcher.catchUp();
      await chain.reorganise(depth);
      await mine(CONFIRMATIONS);
      await watcher.catchUp();
      expect(await kinds(watch)).toEqual([]);
      await pay(watch.address);
      await mine(CONFIRMATIONS);
      await watcher.catchUp();
      expect(await kinds(watch)).toEqual(['exact']);
    },
  );

  // Proves trap 23.
  test('below what was final stops the watcher instead of guessing', async () => {
    const watch = await register(newWatch());
    const watcher = await started();
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    const before = await readCursor(db, chain.settings.chainId);
    await chain.reorganise(CONFIRMATIONS + 2);
    await mine(2);
    await expect(watcher.catchUp()).rejects.toThrow(FinalityBrokenError);
    expect(await readCursor(db, chain.settings.chainId)).toEqual(before);
  });

  test('of a local chain that forgot its last blocks is read again, and a repeated deposit is seen', async () => {
    const watch = await register(newWatch());
    const watcher = await started({ rewindsAfterRollback: true });
    const snapshot = await chain.control.snapshot();
    await mine(CONFIRMATIONS + 3);
    await watcher.catchUp();
    await chain.control.revert({ id: snapshot });
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    expect(await kinds(watch)).toEqual(['exact']);
  });
});

describe('reading', () => {
  test('catches up over many blocks in steps, and asks for less where a node refuses', async () => {
    const watch = await register(newWatch());
    await started();
    await pay(watch.address);
    await mine(40);
    const proxy = await startRpcProxy(chain.settings.rpcUrl);
    proxy.intercept = ({ method, params }) => {
      if (method !== 'eth_getLogs') return undefined;
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      return Number(toBlock) - Number(fromBlock) + 1 > 7
        ? { error: { code: -32_602, message: 'block range too large' } }
        : undefined;
    };
    const client = createChainClient({ ...chain.settings, rpcUrl: proxy.url });
    await watcherOf({ client }).catchUp();
    await proxy.close();
    expect(await kinds(watch)).toEqual(['exact']);
    const head = await chain.client.getBlockNumber();
    expect((await readCursor(db, chain.settings.chainId))?.blockNumber).toBe(
      head - BigInt(CONFIRMATIONS) + 1n,
    );
  });

  test('goes on where a node was gone, without losing a block', async () => {
    const watch = await register(newWatch());
    await started();
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    const proxy = await startRpcProxy(chain.settings.rpcUrl);
    const watcher = watcherOf({ client: createChainClient({ ...chain.settings, rpcUrl: proxy.url }) });
    for (const broken of ['eth_blockNumber', 'eth_getBlockByNumber', 'eth_getLogs']) {
      proxy.intercept = ({ method }) => (method === broken ? 'drop' : undefined);
      await expect(watcher.catchUp()).rejects.toThrow('unavailable');
      expect(await kinds(watch)).toEqual([]);
    }
    proxy.intercept = () => undefined;
    await watcher.catchUp();
    await proxy.close();
    expect(reported()).toEqual(['exact']);
  });

  test('asks for the head alone while no further block becomes final', async () => {
    const watch = await register(newWatch());
    const proxy = await startRpcProxy(chain.settings.rpcUrl);
    const client = createChainClient({ ...chain.settings, rpcUrl: proxy.url });
    const watcher = await started({ client, limits: { unchangedMs: 3_600_000 } });
    await watcher.catchUp();
    proxy.asked.length = 0;
    await watcher.catchUp();
    expect(proxy.asked).toEqual(['eth_blockNumber']);
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    await proxy.close();
    expect(await kinds(watch)).toEqual(['exact']);
  });

  test('by several processes at once reports each deposit once', async () => {
    const watches = await Promise.all(Array.from({ length: 3 }, () => register(newWatch())));
    await started();
    for (const watch of watches) await pay(watch.address);
    await mine(CONFIRMATIONS);
    await Promise.all(Array.from({ length: 4 }, () => watcherOf().catchUp()));
    expect(reported()).toEqual(['exact', 'exact', 'exact']);
    for (const watch of watches) expect(await kinds(watch)).toEqual(['exact']);
  });

  test('over 10,000 escrows of orders that ended unpaid lists them once, and then asks for changes only', async () => {
    const { chainId } = chain.settings;
    const token = tokenByCode(chain.settings, 'USDC').address;
    await db.query(SYSTEM, insertClosedWatches, [
      chainId,
      partnerId,
      token,
      vendor.address,
      clock.date(),
      10_000,
    ]);
    let rowsRead = 0;
    const counting: Database = {
      ...db,
      async query(scope, declared, params) {
        const rows = await db.query(scope, declared, params);
        if (declared.text.includes('escrow_watches')) rowsRead += rows.length;
        return rows;
      },
    };
    const watcher = await started({ db: counting });
    async function rowsOfStep(): Promise<number> {
      await mine(1);
      rowsRead = 0;
      await watcher.catchUp();
      return rowsRead;
    }
    await mine(CONFIRMATIONS);
    expect(await rowsOfStep()).toBeGreaterThanOrEqual(10_000);
    // A transaction that is open anywhere on the server makes a step ask again for what it knows.
    await until('a step without changes', async () => (await rowsOfStep()) === 1);
    const watch = await register(newWatch());
    expect(await rowsOfStep()).toBe(2);
    await pay(watch.address);
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    expect(await kinds(watch)).toEqual(['exact']);
  });

  test('tells of a known wallet’s forward request that somebody executed, with its nonce', async () => {
    const partner = await chain.fundedWallet();
    const { chainId, contracts } = chain.settings;
    await db.query(SYSTEM, insertPartner, [partnerId, partner.address, clock.date()]);
    await db.query(SYSTEM, insertSigner, [chainId, contracts.forwarder, partner.address, partnerId]);
    await approveRouter(
      chain.settings.rpcUrl,
      partner.privateKey,
      chain.settings.contracts.router,
      chain.settings.tokens,
    );
    const watch = await register({ ...newWatch(), expectedSender: partner.address });
    const watcher = await started();
    const request = routerRequest(chain.settings, {
      from: partner.address,
      nonce: 0n,
      deadline: Number((await chain.client.getBlock()).timestamp) + 600,
      gas: 300_000n,
      data: fundEscrowData({ ...watch, escrow: watch.address, amount: AMOUNT }),
    });
    const signature = await partner.signDigest(hashForwardRequest(chain.settings, request));
    await chain.send(stranger, forwardCall(chain.settings, request, signature));
    await mine(CONFIRMATIONS);
    await watcher.catchUp();
    expect(reported()).toEqual(['exact', 'forward_executed']);
    expect(facts.at(-1)).toMatchObject({ signer: partner.address, nonce: 0n, succeeded: true });
  });
});
