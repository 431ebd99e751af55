import { randomUUID } from 'node:crypto';
import { eventFlood, testToken } from '@causeway/contracts';
import { encodeDeployData, encodeFunctionData, erc20Abi, getAddress } from 'viem';
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
import { type Address, type Hex, tokenByCode } from '../chain-settings.ts';
import { describeEscrow } from '../escrow/escrow.ts';
import {
  executionCall,
  hashSafeTransaction,
  packSignatures,
  payoutTransaction,
  type SafeTransaction,
} from '../escrow/safe-transaction.ts';
import { createChainClient } from '../rpc/chain-client.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { type RpcProxy, startRpcProxy } from '../testing/rpc-proxy.ts';
import { tokenTransferCall } from '../token-reads.ts';
import type { ChainFact, EscrowWatch } from './chain-facts.ts';
import { foreignTokenReader } from './foreign-tokens.ts';
import { readCursor, watchEscrow } from './watch.store.ts';
import { createWatcher } from './watcher.ts';
import type { WatcherDeps } from './watching.ts';

/** What it costs us when somebody fills blocks with logs about our escrows. */

const AMOUNT = 5_000_000n;
const FAKE_EVENTS = 30_000;
/** More than is taken in passing, and little enough for a busy node to answer in time. */
const TOO_LONG_IN_PASSING = 3_000;
/** Public nodes refuse at 10,000, for which a block would take long to fill. */
const NODE_LIMIT = 2_000;
const DUST = 2_400;
/** Gas of one flooding transaction: a chain's block holds several. */
const FLOOD_GAS = 90_000_000n;

const readDeposits = statement<[orderId: string], { kind: string; deposits: number; disposition: string }>(
  'test.flood_deposits',
  `SELECT kind, count(*)::integer AS deposits, min(disposition) AS disposition FROM deposit_observations
    WHERE order_id = $1 GROUP BY kind ORDER BY kind`,
);
const countExecutions = statement<[orderId: string], { executions: number }>(
  'test.flood_executions',
  'SELECT count(*)::integer AS executions FROM escrow_executions WHERE order_id = $1',
);
const readGaps = statement<[], { escrows: number; deposits: number }>(
  'test.flood_gaps',
  'SELECT escrows, deposits FROM foreign_token_gaps ORDER BY gap_id',
);

let chain: TestChain;
let vendor: TestWallet;
let attacker: TestWallet;
let flood: Address;
let db: Database;
let proxy: RpcProxy;
let facts: ChainFact[];
/** Logs that the node has answered with. */
let logsRead: number;

const clock = createClock();
const ids = createIdGenerator();
const logger = createLogger({ level: 'silent', format: 'json' });
const partnerId = randomUUID();
const usdc = () => tokenByCode(chain.settings, 'USDC').address;

beforeAll(async () => {
  chain = await startTestChain(31_420);
  await chain.control.setBlockGasLimit({ gasLimit: 400_000_000n });
  vendor = await chain.fundedWallet();
  attacker = await chain.fundedWallet();
  flood = (await sendAll([{ data: encodeDeployData(eventFlood) }]))[0]!.contractAddress!;
  await chain.send(attacker, tokenTransferCall({ token: usdc(), to: flood, amount: 100_000n }));
}, 60_000);
beforeEach(async () => {
  await db?.close();
  await proxy?.close();
  db = createDatabase({ connectionString: await cloneDatabase(), poolSize: 5 });
  proxy = await startRpcProxy(chain.settings.rpcUrl);
  facts = [];
  logsRead = 0;
});
afterAll(async () => {
  await db?.close();
  await proxy?.close();
  await chain?.stop();
});

/** All in one block, sent by the attacker. */
async function sendAll(calls: readonly { to?: Address; data: Hex; gas?: bigint }[]) {
  const account = privateKeyToAccount(attacker.privateKey);
  const fees = await chain.client.estimateFeesPerGas();
  let nonce = await chain.client.getTransactionCount({ address: attacker.address });
  await chain.control.setAutomine(false);
  const hashes: Hex[] = [];
  for (const call of calls) {
    const signed = await account.signTransaction({
      ...{ gas: 2_000_000n, ...call, ...fees, nonce: nonce++ },
      chainId: chain.settings.chainId,
      type: 'eip1559',
    });
    hashes.push(await chain.client.sendRawTransaction({ serializedTransaction: signed }));
  }
  await chain.control.mine({ blocks: 1 });
  await chain.control.setAutomine(true);
  const receipts = await Promise.all(hashes.map((hash) => chain.client.getTransactionReceipt({ hash })));
  expect(receipts.map(({ status }) => status)).toEqual(calls.map(() => 'success'));
  expect(new Set(receipts.map(({ blockNumber }) => blockNumber)).size).toBe(1);
  return receipts;
}

const pretended = (to: Address, times: number) => ({
  to: flood,
  gas: FLOOD_GAS,
  data: encodeFunctionData({ abi: eventFlood.abi, functionName: 'pretend', args: [to, BigInt(times)] }),
});
const dusted = (to: Address, times: number) => ({
  to: flood,
  gas: FLOOD_GAS,
  data: encodeFunctionData({ abi: eventFlood.abi, functionName: 'dust', args: [usdc(), to, BigInt(times)] }),
});
const paid = (to: Address, amount = AMOUNT) => ({
  to: usdc(),
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
});

async function watched(
  expectedSender = attacker.address,
  escrowOf: (orderId: string) => { readonly address: Address } = randomWallet,
): Promise<EscrowWatch> {
  const orderId = randomUUID();
  const watch = {
    ...{ address: escrowOf(orderId).address, orderId, partnerId, token: usdc() },
    ...{ expectedAmount: AMOUNT, expectedSender },
  };
  await unitOfWork({ db, clock, ids }, SYSTEM, async (unit) =>
    watchEscrow(unit, chain.settings.chainId, watch),
  );
  return watch;
}

function deps(): WatcherDeps {
  return {
    ...{ db, clock, ids, logger, settings: chain.settings },
    client: createChainClient({ ...chain.settings, rpcUrl: proxy.url }),
    handlers: [async (fact) => void facts.push(fact)],
    bookHeldDeposits: () => {},
  };
}

/** Has read everything that was before. */
async function started() {
  const watcher = createWatcher(deps());
  await watcher.catchUp();
  await watcher.catchUp();
  return watcher;
}

const deposits = (watch: EscrowWatch) => db.query(SYSTEM, readDeposits, [watch.orderId]);
const EXACT = [{ kind: 'exact', deposits: 1, disposition: 'credited' }];

/** Counts the logs of every answer, and refuses those that have too many. */
function limitLogs(limit: number, error: { code: number; message: string }): void {
  proxy.intercept = async ({ method, passOn }) => {
    if (method !== 'eth_getLogs') return undefined;
    const answer = await passOn();
    const { length } = answer.result as unknown[];
    if (length > limit) return { error };
    logsRead += length;
    return answer;
  };
}
const countLogs = () => limitLogs(Number.POSITIVE_INFINITY, { code: 0, message: '' });

async function turn(watcher: { catchUp(): Promise<void> }) {
  const before = db.stats.roundTrips;
  await watcher.catchUp();
  return db.stats.roundTrips - before;
}

describe('a block full of a third party’s events about an escrow', () => {
  // Proves trap 39.
  test('costs the watcher nothing: none of 30,000 is read, and another order’s deposit in the block is credited', async () => {
    const [victim, other] = [await watched(), await watched()];
    const watcher = await started();
    countLogs();
    await sendAll([paid(other.address)]);
    const quiet = await turn(watcher);
    expect(logsRead).toBe(1);

    const third = await watched();
    await watcher.catchUp();
    logsRead = 0;
    await sendAll([pretended(victim.address, FAKE_EVENTS), paid(third.address)]);
    expect(await turn(watcher)).toBe(quiet);
    expect(logsRead).toBe(1);
    expect(await deposits(other)).toEqual(EXACT);
    expect(await deposits(third)).toEqual(EXACT);
    expect(await deposits(victim)).toEqual([]);
  }, 60_000);

  // Proves trap 39.
  test('behind a node that refuses more than 2,000 logs does not stop the cursor', async () => {
    const [victim, other] = [await watched(), await watched()];
    const watcher = await started();
    limitLogs(NODE_LIMIT, { code: -32_602, message: 'query returned more than 2000 results' });
    await sendAll([pretended(victim.address, FAKE_EVENTS), paid(other.address)]);
    await watcher.catchUp();
    expect(await deposits(other)).toEqual(EXACT);
    const { blockNumber } = (await readCursor(db, chain.settings.chainId))!;
    expect(blockNumber).toBe(await chain.client.getBlockNumber());
  }, 60_000);
});

describe('a block full of real transfers of the smallest amount to one escrow', () => {
  test.each([
    ['an error of its own', { code: -32_602, message: 'Log response size exceeded' }],
    [
      'the code that also means "not now"',
      { code: -32_005, message: 'query returned more than 2000 results' },
    ],
  ])(
    'behind a node that refuses more than 2,000 logs with %s is read to the last, and the cursor moves',
    async (_name, error) => {
      const [victim, other] = [await watched(), await watched()];
      const watcher = await started();
      await sendAll([paid(other.address)]);
      const quiet = await turn(watcher);

      const third = await watched();
      await watcher.catchUp();
      limitLogs(NODE_LIMIT, error);
      await sendAll([
        dusted(victim.address, DUST / 2),
        dusted(victim.address, DUST / 2),
        paid(third.address),
      ]);
      await chain.control.mine({ blocks: 3 });
      // No other deposit waits for it, and the database is asked no more often than for a single deposit.
      expect(await turn(watcher)).toBeLessThanOrEqual(quiet + 1);
      expect(await deposits(third)).toEqual(EXACT);
      expect(await deposits(victim)).toEqual([
        { kind: 'foreign_sender', deposits: DUST, disposition: 'held_for_review' },
      ]);
      const { blockNumber } = (await readCursor(db, chain.settings.chainId))!;
      expect(blockNumber).toBe(await chain.client.getBlockNumber());
      expect(facts.filter(({ type }) => type === 'deposit')).toHaveLength(DUST + 2);
    },
    120_000,
  );

  test('is nothing at all where they move nothing', async () => {
    const victim = await watched(vendor.address);
    const watcher = await started();
    await sendAll([paid(victim.address, 0n), paid(victim.address, 0n)]);
    await watcher.catchUp();
    expect([await deposits(victim), facts]).toEqual([[], []]);
  });
});

describe('an escrow whose own owners log executions', () => {
  const HASHES = 1_000;

  /** Deployed, and delegating to a contract that logs as the escrow's Safe, each execution twice. */
  async function logsOfItsOwn() {
    const parties = {
      service: randomWallet().address,
      seller: vendor.address,
      buyer: attacker.address,
    };
    const watch = await watched(vendor.address, (orderId) =>
      describeEscrow(chain.settings, orderId, parties),
    );
    const escrow = describeEscrow(chain.settings, watch.orderId, parties);
    const first = `0x${'7'.repeat(64)}` as const;
    const transaction: SafeTransaction = {
      ...payoutTransaction([{ token: usdc(), to: vendor.address, amount: 1n }], flood),
      to: flood,
      operation: 1,
      data: encodeFunctionData({
        abi: eventFlood.abi,
        functionName: 'pretendExecutions',
        args: [first, BigInt(HASHES)],
      }),
    };
    const hash = hashSafeTransaction(escrow, transaction);
    const signatures = await Promise.all([vendor, attacker].map((owner) => owner.signDigest(hash)));
    const call = executionCall(escrow, transaction, await packSignatures(escrow, hash, signatures));
    return { watch, calls: [escrow.deploymentCall, { ...call, gas: FLOOD_GAS }] };
  }

  // Proves trap 39.
  test('twice each in one transaction does not stop the cursor, and another order’s deposit in the block is credited', async () => {
    const other = await watched();
    const { watch, calls } = await logsOfItsOwn();
    const watcher = await started();
    await sendAll([paid(other.address)]);
    const quiet = await turn(watcher);
    const third = await watched();
    await watcher.catchUp();
    await sendAll([...calls, paid(third.address)]);
    expect(await turn(watcher)).toBeLessThanOrEqual(quiet + 1);
    expect(await deposits(third)).toEqual(EXACT);
    // And what the Safe itself logged.
    expect(await db.query(SYSTEM, countExecutions, [watch.orderId])).toEqual([{ executions: HASHES + 1 }]);
    const { blockNumber } = (await readCursor(db, chain.settings.chainId))!;
    expect(blockNumber).toBe(await chain.client.getBlockNumber());
  }, 60_000);
});

describe('a node that tells of a log twice', () => {
  test('is believed once: the deposit is credited, and the cursor moves', async () => {
    const [exact, held] = [await watched(), await watched(vendor.address)];
    const watcher = await started();
    proxy.intercept = async ({ method, passOn }) => {
      if (method !== 'eth_getLogs') return undefined;
      const answer = await passOn();
      const logs = answer.result as unknown[];
      return { ...answer, result: [...logs, ...logs] };
    };
    await sendAll([paid(exact.address), paid(held.address)]);
    await watcher.catchUp();
    expect(await deposits(exact)).toEqual(EXACT);
    expect(await deposits(held)).toEqual([
      { kind: 'foreign_sender', deposits: 1, disposition: 'held_for_review' },
    ]);
  });
});

describe('a foreign token', () => {
  /** A token that the chain is not configured for, of which the attacker has plenty. */
  async function foreignToken(): Promise<Address> {
    const args = ['Foreign', 'FRN', 6, attacker.address] as const;
    const [deployed] = await sendAll([{ data: encodeDeployData({ ...testToken, args }), gas: 4_000_000n }]);
    const contractAddress = getAddress(deployed!.contractAddress!);
    const mint = encodeFunctionData({
      abi: testToken.abi,
      functionName: 'mint',
      args: [attacker.address, 10n ** 12n],
    });
    await sendAll([{ to: contractAddress, data: mint }]);
    return contractAddress;
  }
  const sent = (token: Address, to: Address, amount = 7n) => ({ ...paid(to, amount), to: token });

  // Proves trap 24.
  test('in an escrow is found apart from watching, and held for review once', async () => {
    const token = await foreignToken();
    const watch = await watched();
    const watcher = await started();
    const foreign = foreignTokenReader(deps());
    await foreign.look();
    await sendAll([sent(token, watch.address), paid(watch.address)]);
    await watcher.catchUp();
    expect(await deposits(watch)).toEqual(EXACT);
    await foreign.look();
    await foreign.look();
    expect(await deposits(watch)).toEqual([
      ...EXACT,
      { kind: 'wrong_token', deposits: 1, disposition: 'held_for_review' },
    ]);
    expect(facts.at(-1)).toMatchObject({ kind: 'wrong_token', token, amount: 7n });
  });

  test('is still found beside an escrow that is flooded, whose blocks are passed over and recorded as such', async () => {
    const token = await foreignToken();
    const [victim, other] = [await watched(), await watched()];
    const watcher = await started();
    const foreign = foreignTokenReader(deps());
    await foreign.look();
    await chain.control.mine({ blocks: 5 });
    await sendAll([pretended(victim.address, TOO_LONG_IN_PASSING), sent(token, other.address)]);
    await chain.control.mine({ blocks: 5 });
    await watcher.catchUp();
    // A node that is slow to make up so long an answer is asked again the next time.
    await until(
      'what is beside the flood',
      async () => {
        await foreign.look();
        return (await deposits(other)).length > 0;
      },
      150_000,
    );
    expect(await deposits(other)).toEqual([
      { kind: 'wrong_token', deposits: 1, disposition: 'held_for_review' },
    ]);
    expect(await deposits(victim)).toEqual([]);
    expect(await db.query(SYSTEM, readGaps, [])).toEqual([{ escrows: 1, deposits: 0 }]);
  }, 180_000);

  test('that comes again and again is kept twenty times, and the rest is counted', async () => {
    const watch = await watched();
    const watcher = await started();
    const foreign = foreignTokenReader(deps());
    await foreign.look();
    await sendAll([pretended(watch.address, 50)]);
    await watcher.catchUp();
    await foreign.look();
    expect(await deposits(watch)).toEqual([
      { kind: 'wrong_token', deposits: 20, disposition: 'held_for_review' },
    ]);
    expect(await db.query(SYSTEM, readGaps, [])).toEqual([{ escrows: 0, deposits: 30 }]);
  });

  test('is found where the node answers for a few blocks at a time only', async () => {
    const token = await foreignToken();
    const watch = await watched();
    const watcher = await started();
    const foreign = foreignTokenReader(deps());
    await foreign.look();
    await chain.control.mine({ blocks: 30 });
    await sendAll([sent(token, watch.address)]);
    await chain.control.mine({ blocks: 5 });
    await watcher.catchUp();
    proxy.intercept = ({ method, params }) => {
      if (method !== 'eth_getLogs') return undefined;
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: Hex; toBlock: Hex }];
      return BigInt(toBlock) - BigInt(fromBlock) < 8n ? undefined : 'drop';
    };
    for (let turns = 0; turns < 20; turns++) await foreign.look();
    expect(await deposits(watch)).toEqual([
      { kind: 'wrong_token', deposits: 1, disposition: 'held_for_review' },
    ]);
    expect(await db.query(SYSTEM, readGaps, [])).toEqual([]);
  });

  test('is looked for without a word where the node is gone, and the watcher does not wait', async () => {
    const watch = await watched();
    const watcher = await started();
    const foreign = foreignTokenReader(deps());
    await foreign.look();
    await sendAll([paid(watch.address)]);
    await watcher.catchUp();
    proxy.intercept = () => 'drop';
    await foreign.look();
    expect(await deposits(watch)).toEqual(EXACT);
  });
});
