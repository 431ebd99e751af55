import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createDatabase, type Database, SYSTEM } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { statement } from '../../db/statement.ts';
import { type Intent, prepareIntent } from '../../engine/intent.ts';
import type { Outcome } from '../../engine/intent-handler.ts';
import { createIntentWorker } from '../../engine/intent-worker.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { type LocalPostgres, startLocalPostgres } from '../../local/local-postgres.ts';
import { type Address, type Hex, tokenByCode } from '../chain-settings.ts';
import { createChainClient } from '../rpc/chain-client.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { type TransactionHandlerOptions, transactionHandler } from './transaction-handler.ts';
import { type ChainEffect, createTransactor } from './transactor.ts';

/** The handler in the real worker, on a real database and a real chain. */

type Payment = { to: Address; amount: string };
/** A kind that pays and has a transaction; what to pay is the test's, by the order in the payload. */
const KIND = 'escrow.release';
type PaymentIntent = Intent<typeof KIND>;
const payments = new Map<string, Payment>();

const readIntent = statement<
  [dedupeKey: string],
  { status: string; attempts: number; result: unknown; last_error: string | null }
>(
  'test.intent',
  `SELECT status, attempts, result, last_error FROM intents WHERE kind = '${KIND}' AND dedupe_key = $1`,
);
const writeFact = statement<[name: string, value: string, at: Date]>(
  'test.write_fact',
  'INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, $2::jsonb, $3)',
);
const readFact = statement<[name: string], { value: unknown }>(
  'test.read_fact',
  'SELECT value FROM deployment_facts WHERE name = $1',
);

const readStatuses = statement<[sender: string], { status: string }>(
  'test.transaction_statuses',
  'SELECT status FROM chain_transactions WHERE sender = $1 ORDER BY nonce',
);
const statusesFrom = async ({ address }: TestWallet) =>
  (await db.query(SYSTEM, readStatuses, [address])).map(({ status }) => status);

const deps = {
  clock: createClock(),
  ids: createIdGenerator(),
  logger: createLogger({ level: 'silent', format: 'json' }),
  metrics: createMetrics({ processMetrics: false }),
};

let home: string;
let postgres: LocalPostgres;
let db: Database;
let testChain: TestChain;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'causeway-handler-'));
  postgres = await startLocalPostgres({ home, onProgress: () => {}, onNotice: () => {} });
  await migrate(postgres.databaseUrl);
  db = createDatabase({ connectionString: postgres.databaseUrl, poolSize: 5 });
  testChain = await startTestChain(31_405);
});
afterAll(async () => {
  await testChain?.stop();
  await db?.close();
  await postgres?.stop();
  if (home !== undefined) await rm(home, { recursive: true, force: true });
});

function paymentEffect(wallet: TestWallet, { payload }: PaymentIntent): ChainEffect {
  const { to, amount } = payments.get(payload.order_id) as Payment;
  const args = [to, BigInt(amount)] as const;
  return {
    chainId: testChain.settings.chainId,
    sender: wallet.address,
    call: {
      to: tokenByCode(testChain.settings, 'USDC').address,
      value: 0n,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
    },
  };
}

/** Writes one payment intent, lets a worker carry it out and answers how the intent was settled. */
async function settled(
  wallet: TestWallet,
  payment: Payment,
  overrides: Partial<TransactionHandlerOptions<typeof KIND>> = {},
) {
  const transactor = createTransactor({
    db,
    clock: deps.clock,
    ids: deps.ids,
    chains: [testChain],
    signers: [wallet],
  });
  const handler = transactionHandler<typeof KIND>(transactor, {
    schedule: schedule([0.01], { maxAttempts: 3 }),
    pollMs: 20,
    logger: deps.logger,
    describe: async (intent) => paymentEffect(wallet, intent),
    conclude: async (intent, { txHash, receipt }): Promise<Outcome> =>
      receipt.status === 'success'
        ? {
            kind: 'confirmed',
            result: { tx_hash: txHash },
            followUp: async (unit) => unit.tx.defer(writeFact, [intent.intentId, `"${txHash}"`, unit.at]),
          }
        : { kind: 'failed', error: 'reverted' },
    ...overrides,
  });
  const worker = createIntentWorker({ ...deps, db }, { [KIND]: handler }, { concurrency: 4, pollMs: 10 });
  const dedupeKey = randomUUID();
  payments.set(dedupeKey, payment);
  await unitOfWork({ ...deps, db }, SYSTEM, async (unit) => {
    prepareIntent(unit, { kind: KIND, dedupeKey, partnerId: null, payload: { order_id: dedupeKey } });
  });
  worker.start();
  try {
    return await vi.waitFor(
      async () => {
        const [intent] = await db.query(SYSTEM, readIntent, [dedupeKey]);
        if (intent?.status !== 'confirmed' && intent?.status !== 'failed') {
          throw new Error(`still ${intent?.status}`);
        }
        return intent;
      },
      { interval: 10, timeout: 10_000 },
    );
  } finally {
    await worker.stop();
  }
}

describe('an intent carried out by a transaction', () => {
  test('is confirmed by its final receipt, and what follows is written with it', async () => {
    const wallet = await testChain.fundedWallet();
    const to = randomWallet().address;
    const ids: string[] = [];
    const intent = await settled(
      wallet,
      { to, amount: '42' },
      {
        describe: async (one) => {
          ids.push(one.intentId);
          return paymentEffect(wallet, one);
        },
      },
    );
    expect(intent).toMatchObject({
      status: 'confirmed',
      result: { tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    });
    expect(await testChain.balanceOf('USDC', to)).toBe(42n);
    const [fact] = await db.query(SYSTEM, readFact, [ids[0]!]);
    expect({ tx_hash: fact?.value }).toEqual(intent.result);
    expect(ids).toHaveLength(1);
  });

  test('that would revert is tried on its schedule, then failed, and nothing is sent', async () => {
    const wallet = await testChain.fundedWallet();
    const exhausted = vi.fn(async () => {});
    const intent = await settled(wallet, { to: randomWallet().address, amount: '1000000001' }, { exhausted });
    expect(intent).toMatchObject({ status: 'failed', attempts: 3 });
    expect(intent.last_error).toContain('reverted');
    expect(exhausted).toHaveBeenCalledOnce();
    expect(await testChain.client.getTransactionCount({ address: wallet.address })).toBe(0);
  });

  test('that waits because no node answers says what it waits for, for those who are told when it lasts', async () => {
    const wallet = await testChain.fundedWallet();
    const { settings } = testChain;
    const away = createChainClient({ ...settings, rpcUrl: 'http://127.0.0.1:9' });
    const transactor = createTransactor({
      ...deps,
      db,
      chains: [{ settings, client: away }],
      signers: [wallet],
    });
    const handler = transactionHandler<typeof KIND>(transactor, {
      schedule: schedule([1], { maxAttempts: 3 }),
      pollMs: 20,
      logger: deps.logger,
      describe: async (intent) => paymentEffect(wallet, intent),
      conclude: async () => 'describe again',
    });
    const orderId = randomUUID();
    payments.set(orderId, { to: randomWallet().address, amount: '42' });
    const intent = { intentId: randomUUID(), kind: KIND, payload: { order_id: orderId } } as PaymentIntent;
    const reason = expect.stringContaining('is unavailable (ECONNREFUSED)');
    expect(await handler.perform(intent)).toEqual({ kind: 'waiting', afterMs: 20, reason });
  });

  test('whose effect is already there is settled without a transaction', async () => {
    const wallet = await testChain.fundedWallet();
    const describeAsDone = async (): Promise<Outcome> => ({ kind: 'confirmed', result: 'found on chain' });
    const intent = await settled(
      wallet,
      { to: randomWallet().address, amount: '42' },
      { describe: describeAsDone },
    );
    expect(intent).toMatchObject({ status: 'confirmed', result: 'found on chain' });
    expect(await testChain.client.getTransactionCount({ address: wallet.address })).toBe(0);
  });

  test('that had no effect is described again and sent anew, four times at most', async () => {
    const wallet = await testChain.fundedWallet();
    const to = randomWallet().address;
    const intent = await settled(wallet, { to, amount: '42' }, { conclude: async () => 'describe again' });
    expect(intent).toMatchObject({ status: 'failed', last_error: 'reverted' });
    expect(await testChain.client.getTransactionCount({ address: wallet.address })).toBe(4);
  });

  // Proves trap 41.
  test('that had no effect, because somebody else had it first, is settled by what is described then', async () => {
    const wallet = await testChain.fundedWallet();
    let looks = 0;
    const intent = await settled(
      wallet,
      { to: randomWallet().address, amount: '42' },
      {
        describe: async (one) =>
          ++looks === 1 ? paymentEffect(wallet, one) : { kind: 'confirmed', result: 'found on chain' },
        conclude: async () => 'describe again',
      },
    );
    expect(intent).toMatchObject({ status: 'confirmed', result: 'found on chain' });
    expect(await testChain.client.getTransactionCount({ address: wallet.address })).toBe(1);
  });

  /** Sends something else from the wallet with the nonce that was taken, as a wallet app does that clears what is stuck. */
  function clearing(wallet: TestWallet, first: ChainEffect['call']) {
    let describes = 0;
    return {
      describe: async (one: PaymentIntent) => {
        describes += 1;
        return paymentEffect(wallet, one);
      },
      // Signed while the nonce was free; by the time that it is sent the nonce is used.
      signDigest: async (digest: Hex) => {
        if ((await testChain.client.getTransactionCount({ address: wallet.address })) === 0) {
          await testChain.send(wallet, first);
        }
        return wallet.signDigest(digest);
      },
      describes: () => describes,
    };
  }

  test('whose nonce something else has used is described again and sent anew, and paid once', async () => {
    const wallet = await testChain.fundedWallet();
    const to = randomWallet().address;
    const cleared = clearing(wallet, { to: wallet.address, value: 0n, data: '0x' });
    const intent = await settled(
      { ...wallet, signDigest: cleared.signDigest },
      { to, amount: '42' },
      { describe: cleared.describe },
    );
    expect(intent).toMatchObject({ status: 'confirmed' });
    expect(cleared.describes()).toBe(2);
    expect(await testChain.balanceOf('USDC', to)).toBe(42n);
    expect(await statusesFrom(wallet)).toEqual(['displaced', 'succeeded']);
  });

  test('whose nonce something else has used is settled by what is described then, and nothing is sent anew', async () => {
    const wallet = await testChain.fundedWallet();
    const to = randomWallet().address;
    const cleared = clearing(wallet, { to: wallet.address, value: 0n, data: '0x' });
    const intent = await settled(
      { ...wallet, signDigest: cleared.signDigest },
      { to, amount: '42' },
      {
        describe: async (one) => {
          const effect = await cleared.describe(one);
          return cleared.describes() === 1 ? effect : { kind: 'confirmed', result: 'done by hand' };
        },
      },
    );
    expect(intent).toMatchObject({ status: 'confirmed', result: 'done by hand' });
    expect(await testChain.balanceOf('USDC', to)).toBe(0n);
    expect(await statusesFrom(wallet)).toEqual(['displaced']);
  });

  test('whose nonce something else has used is not sent anew where the chain would admit it twice', async () => {
    const wallet = await testChain.fundedWallet();
    const to = randomWallet().address;
    const cleared = clearing(wallet, { to: wallet.address, value: 0n, data: '0x' });
    const intent = await settled(
      { ...wallet, signDigest: cleared.signDigest },
      { to, amount: '42' },
      { describe: cleared.describe, displaced: () => ({ kind: 'failed', error: 'displaced' }) },
    );
    expect(intent).toMatchObject({ status: 'failed', last_error: 'displaced' });
    expect(cleared.describes()).toBe(1);
    expect(await statusesFrom(wallet)).toEqual(['displaced']);
  });

  // Proves trap 41.
  test('that would revert, because somebody else had it first, is settled at once and not tried again', async () => {
    const wallet = await testChain.fundedWallet();
    let looks = 0;
    const intent = await settled(
      wallet,
      { to: randomWallet().address, amount: '1000000001' },
      {
        describe: async (one) =>
          ++looks === 1 ? paymentEffect(wallet, one) : { kind: 'confirmed', result: 'found on chain' },
      },
    );
    expect(intent).toMatchObject({ status: 'confirmed', result: 'found on chain', attempts: 1 });
  });
});
