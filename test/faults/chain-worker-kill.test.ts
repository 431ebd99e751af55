import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenByCode } from '../../apps/gateway/src/chain/chain-settings.ts';
import {
  randomWallet,
  startTestChain,
  type TestChain,
  type TestWallet,
} from '../../apps/gateway/src/chain/testing/local-chain.ts';
import { type RpcProxy, startRpcProxy } from '../../apps/gateway/src/chain/testing/rpc-proxy.ts';
import { tokenTransferCall } from '../../apps/gateway/src/chain/token-reads.ts';
import { watchEscrow } from '../../apps/gateway/src/chain/watcher/watch.store.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../deployment/database-proxy.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { COMPILED } from '../harness/process.ts';
import { until } from '../harness/until.ts';
import { type ChainWorkerTask, recipientOf } from './chain-worker.ts';

/**
 * A worker process is killed with SIGKILL at a named point of carrying one effect to the chain: before or after a question
 * to the node, before or after a statement reaches the database. Another worker then goes on. Whatever the point, the
 * deposit was seen once and the payment made once, with one nonce and no gap.
 */
const AMOUNT = 1_000n;
const CONFIRMATIONS = 2;

const RPC_POINTS = [
  'eth_blockNumber',
  'eth_getLogs',
  'eth_estimateGas',
  'eth_getTransactionCount',
  'eth_maxPriorityFeePerGas',
  'eth_sendRawTransaction',
  'eth_getTransactionReceipt',
];
const STATEMENT_POINTS = [
  'chain.move_cursor',
  'chain.insert_transaction',
  'chain.insert_signed_version',
  'chain.settle_transaction',
  'intents.settle',
];
const POINTS = [
  ...RPC_POINTS.map((name) => ({ kind: 'rpc', name }) as const),
  ...STATEMENT_POINTS.map((name) => ({ kind: 'statement', name }) as const),
].flatMap((point) => (['before', 'after'] as const).map((moment) => ({ ...point, moment })));
type Point = (typeof POINTS)[number];

let chain: TestChain;
let database: TestDatabase;
let rpc: RpcProxy;
let wire: DatabaseProxy;
let payer: TestWallet;
let depositor: TestWallet;
let running: ChildProcess;
let standby: Promise<ChildProcess>;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  [chain, database] = await Promise.all([startTestChain(31_420), openTestDatabase()]);
  rpc = await startRpcProxy(chain.settings.rpcUrl);
  wire = await startDatabaseProxy(database.url);
  payer = await chain.fundedWallet();
  depositor = await chain.fundedWallet();
  running = await prepareWorker();
  standby = prepareWorker();
  setToWork(running);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rpc?.close();
  await wire?.close();
  await database?.close();
  await chain?.stop();
});

/** Loaded and waiting: a start takes longer than everything that is tested. */
async function prepareWorker(): Promise<ChildProcess> {
  const child = fork(new URL('./chain-worker.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  await once(child, 'message');
  return child;
}

function setToWork(child: ChildProcess): void {
  const task: ChainWorkerTask = {
    databaseUrl: wire.url,
    settings: { ...chain.settings, rpcUrl: rpc.url, confirmations: CONFIRMATIONS },
    signerKey: payer.privateKey,
  };
  child.send(task);
}

/** The worker waits for its node, so that a deposit cannot be handled before the point is set. */
function holdNode(): () => void {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  rpc.intercept = () => promise;
  return () => resolve(undefined);
}

/** Kills the worker when it comes to this point, once. Resolves when it is dead. */
function killAt({ kind, name, moment }: Point, victim: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    let isDone = false;
    const strike = () => {
      isDone = true;
      victim.once('exit', () => resolve());
      victim.kill('SIGKILL');
    };
    if (kind === 'rpc') {
      rpc.intercept = async ({ method, passOn }) => {
        if (isDone || method !== name) return undefined;
        if (moment === 'after') await passOn();
        strike();
        return 'drop';
      };
    } else {
      rpc.intercept = () => undefined;
      wire.onStatement = (text, at) => {
        if (isDone || at !== moment || !text.includes(name)) return 'pass';
        strike();
        return 'cut';
      };
    }
  });
}

async function deposit(): Promise<string> {
  const orderId = randomUUID();
  const escrow = randomWallet().address;
  const token = tokenByCode(chain.settings, 'USDC').address;
  const deps = { db: database.db, clock: createClock(), ids: createIdGenerator() };
  await unitOfWork(deps, SYSTEM, async (unit) =>
    watchEscrow(unit, chain.settings.chainId, {
      address: escrow,
      orderId,
      partnerId: randomUUID(),
      token,
      expectedAmount: AMOUNT,
      expectedSender: depositor.address,
    }),
  );
  await chain.send(depositor, tokenTransferCall({ token, to: escrow, amount: AMOUNT }));
  await chain.control.mine({ blocks: CONFIRMATIONS });
  return orderId;
}

async function intentStatus(orderId: string): Promise<string | undefined> {
  const { rows } = await database.owner.query('SELECT status FROM intents WHERE dedupe_key = $1', [orderId]);
  return rows[0]?.status;
}

/** A block now and then, as on a living chain: what is sent becomes final. */
async function untilPaid(orderId: string): Promise<void> {
  await until(
    `payment of ${orderId}`,
    async () => {
      await chain.control.mine({ blocks: 1 });
      return (await intentStatus(orderId)) === 'confirmed';
    },
    15_000,
  );
}

describe('a worker killed with SIGKILL', () => {
  let paid = 0;

  // Proves trap 15.
  test.each(POINTS)('$moment $name leaves exactly one effect once another has gone on', async (point) => {
    const release = holdNode();
    const orderId = await deposit();
    const dead = killAt(point, running);
    release();
    // What was sent must become final for the later points to be reached.
    const mining = setInterval(() => void chain.control.mine({ blocks: 1 }), 100);
    await dead;
    clearInterval(mining);
    rpc.intercept = () => undefined;
    wire.onStatement = () => 'pass';

    running = await standby;
    setToWork(running);
    standby = prepareWorker();
    await untilPaid(orderId);

    paid += 1;
    expect(await chain.balanceOf('USDC', recipientOf(orderId))).toBe(AMOUNT);
    const { rows } = await database.owner.query('SELECT kind FROM deposit_observations WHERE order_id = $1', [
      orderId,
    ]);
    expect(rows).toEqual([{ kind: 'exact' }]);
    expect(await chain.client.getTransactionCount({ address: payer.address })).toBe(paid);
    const nonces = await database.owner.query('SELECT next_nonce::int FROM chain_nonces');
    expect(nonces.rows).toEqual([{ next_nonce: paid }]);
  });
});
