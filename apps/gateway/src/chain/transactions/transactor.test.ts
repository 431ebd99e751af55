import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BaseError, encodeFunctionData, erc20Abi, parseTransaction } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createDatabase, type Database, SYSTEM } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { statement } from '../../db/statement.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { type LocalPostgres, startLocalPostgres } from '../../local/local-postgres.ts';
import { type Address, type ContractCall, tokenByCode } from '../chain-settings.ts';
import { type ChainClient, createChainClient } from '../rpc/chain-client.ts';
import { localSigner, type Signer } from '../signers/keystore-signer.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { findTransaction } from './transaction.store.ts';
import type { FeeLimits } from './transaction-fees.ts';
import { createTransactor, type TransactionProgress, type TransactorDeps } from './transactor.ts';

/**
 * The effects here are plain token transfers, which a chain would happily carry out twice: if the transactor ever
 * signed one at a second nonce, a balance would show it.
 */

const amount = 1_234_567n;
const walletTokens = 1_000_000_000n;

const readNextNonce = statement<[sender: string], { next_nonce: string }>(
  'test.next_nonce',
  'SELECT next_nonce::text FROM chain_nonces WHERE sender = $1',
);
const readTransaction = statement<
  [effectKey: string],
  { status: string; mined_hash: string | null; block_hash: string | null }
>('test.transaction', 'SELECT status, mined_hash, block_hash FROM chain_transactions WHERE effect_key = $1');

let home: string;
let postgres: LocalPostgres;
let db: Database;
let testChain: TestChain;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'causeway-transactor-'));
  postgres = await startLocalPostgres({ home, onProgress: () => {}, onNotice: () => {} });
  await migrate(postgres.databaseUrl);
  db = createDatabase({ connectionString: postgres.databaseUrl, poolSize: 10 });
  testChain = await startTestChain(31_404);
});
afterEach(() => testChain.control.setAutomine(true));
afterAll(async () => {
  await testChain?.stop();
  await db?.close();
  await postgres?.stop();
  if (home !== undefined) await rm(home, { recursive: true, force: true });
});

interface Overrides extends Partial<Omit<TransactorDeps, 'chains'>> {
  client?: ChainClient;
  confirmations?: number;
  fees?: FeeLimits;
}

function transactorOf(wallet: Signer, { client, confirmations = 1, fees, ...others }: Overrides = {}) {
  return createTransactor({
    db,
    clock: createClock(),
    ids: createIdGenerator(),
    signers: [wallet],
    chains: [
      {
        settings: { ...testChain.settings, confirmations, ...(fees ? { fees } : {}) },
        client: client ?? testChain.client,
      },
    ],
    ...others,
  });
}

function transferCall(to: Address, atomic = amount): ContractCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, atomic] });
  return { to: tokenByCode(testChain.settings, 'USDC').address, value: 0n, data };
}

function payment(wallet: Signer, to: Address, atomic = amount) {
  const effect = {
    chainId: testChain.settings.chainId,
    sender: wallet.address,
    call: transferCall(to, atomic),
  };
  return async () => effect;
}

const usdcOf = (account: Address) => testChain.balanceOf('USDC', account);
const chainNonce = (account: Address) => testChain.client.getTransactionCount({ address: account });
const storedNextNonce = async (account: Address) =>
  Number((await db.query(SYSTEM, readNextNonce, [account]))[0]?.next_nonce ?? 0);
const statusOf = async (key: string) => (await db.query(SYSTEM, readTransaction, [key]))[0];
const mine = (blocks = 1) => testChain.control.mine({ blocks });

function expectMined(progress: TransactionProgress) {
  if (progress.state !== 'mined') throw new Error(`not mined but ${JSON.stringify(progress)}`);
  return progress;
}

/** Looks again until it is mined, as a worker does: a node that mines at once still answers the sender first. */
function untilMined(advance: () => Promise<TransactionProgress>) {
  return vi.waitFor(async () => expectMined(await advance()), { interval: 10, timeout: 10_000 });
}

/** The one thing that must hold after whatever happened: paid once, with one nonce, and no nonce left open. */
async function expectPaidOnce(wallet: TestWallet, recipient: Address) {
  expect(await usdcOf(recipient)).toBe(amount);
  expect(await usdcOf(wallet.address)).toBe(walletTokens - amount);
  expect(await chainNonce(wallet.address)).toBe(1);
  expect(await storedNextNonce(wallet.address)).toBe(1);
}

describe('an effect', () => {
  // Proves D7.6.
  test('is carried out once, however often it is advanced, and its outcome is recorded', async () => {
    const wallet = await testChain.fundedWallet();
    const [key, recipient] = [randomUUID(), randomWallet().address];
    const transactor = transactorOf(wallet);
    const first = await untilMined(() => transactor.advance(key, payment(wallet, recipient)));
    const again = await untilMined(() => transactor.advance(key, payment(wallet, recipient)));

    expect(again.txHash).toBe(first.txHash);
    expect(first.receipt.status).toBe('success');
    await expectPaidOnce(wallet, recipient);
    expect(await db.query(SYSTEM, readTransaction, [key])).toEqual([
      { status: 'succeeded', mined_hash: first.txHash, block_hash: first.receipt.blockHash },
    ]);
  });

  test('that was described once is not described again, whatever the second description says', async () => {
    const wallet = await testChain.fundedWallet();
    const [key, recipient, other] = [randomUUID(), randomWallet().address, randomWallet().address];
    await transactorOf(wallet).advance(key, payment(wallet, recipient));
    await transactorOf(wallet).advance(key, payment(wallet, other));
    expect(await usdcOf(other)).toBe(0n);
    await expectPaidOnce(wallet, recipient);
  });

  // Proves D7.6, trap 16.
  test('advanced by ten processes at once is carried out once', async () => {
    const wallet = await testChain.fundedWallet();
    const [key, recipient] = [randomUUID(), randomWallet().address];
    // None goes on before all have found that nothing is there yet.
    const allArrived = Promise.withResolvers<void>();
    let arrived = 0;
    const describeTogether = async () => {
      arrived += 1;
      if (arrived === 10) allArrived.resolve();
      await allArrived.promise;
      return payment(wallet, recipient)();
    };
    await Promise.all(Array.from({ length: 10 }, () => transactorOf(wallet).advance(key, describeTogether)));
    await untilMined(() => transactorOf(wallet).advance(key, payment(wallet, recipient)));
    await expectPaidOnce(wallet, recipient);
  });

  test('that would revert is refused and takes no nonce', async () => {
    const wallet = await testChain.fundedWallet();
    const key = randomUUID();
    const tooMuch = payment(wallet, randomWallet().address, walletTokens + 1n);
    expect(await transactorOf(wallet).advance(key, tooMuch)).toMatchObject({ state: 'refused' });
    expect(await findTransaction(db, key)).toBeUndefined();
    expect(await storedNextNonce(wallet.address)).toBe(0);
  });

  test('that reverts when it is mined is final and recorded as reverted', async () => {
    const wallet = await testChain.fundedWallet();
    const transactor = transactorOf(wallet);
    const [first, second] = [randomUUID(), randomUUID()];
    const most = payment(wallet, randomWallet().address, walletTokens - 1n);
    await testChain.control.setAutomine(false);
    await transactor.advance(first, most);
    // While the node does not know the first, the second still looks as if it could be paid.
    await testChain.control.dropTransaction({
      hash: (await findTransaction(db, first))!.versions[0]!.txHash,
    });
    await transactor.advance(second, most);
    await transactor.advance(first, most);
    await mine();
    expect((await untilMined(() => transactor.advance(first, most))).receipt.status).toBe('success');
    expect((await untilMined(() => transactor.advance(second, most))).receipt.status).toBe('reverted');
    expect(await db.query(SYSTEM, readTransaction, [second])).toMatchObject([{ status: 'reverted' }]);
  });

  test('that turns out not to be needed sends nothing', async () => {
    const wallet = await testChain.fundedWallet();
    expect(await transactorOf(wallet).advance(randomUUID(), async () => undefined)).toEqual({
      state: 'unneeded',
    });
    expect(await storedNextNonce(wallet.address)).toBe(0);
  });
});

// Proves trap 16.
test('100 effects at once over one wallet are all mined, without a gap or a duplicate', async () => {
  const wallet = await testChain.fundedWallet();
  const transactor = transactorOf(wallet);
  const effects = Array.from({ length: 100 }, () => ({
    key: randomUUID(),
    recipient: randomWallet().address,
  }));
  await Promise.all(effects.map(({ key, recipient }) => transactor.advance(key, payment(wallet, recipient))));
  // A transaction that reached the node before its predecessor waits there for the next block, which on a chain that mines
  // on demand must not be asked for.
  for (const { key, recipient } of effects) {
    await untilMined(async () => {
      const progress = await transactor.advance(key, payment(wallet, recipient));
      if (progress.state !== 'mined') await mine();
      return progress;
    });
    expect(await usdcOf(recipient)).toBe(amount);
  }
  expect(await chainNonce(wallet.address)).toBe(100);
  expect(await storedNextNonce(wallet.address)).toBe(100);
  expect(await usdcOf(wallet.address)).toBe(walletTokens - 100n * amount);
}, 60_000);

describe('a process that dies', () => {
  class Crash extends Error {}

  /** Counts every step that leaves the process (statement, transaction, node call, signature) and dies at one. */
  function mortal(wallet: Signer, fatalStep: number, when: 'before' | 'after') {
    let step = 0;
    const survive = async <T>(work: () => Promise<T>): Promise<T> => {
      step += 1;
      if (step !== fatalStep) return work();
      if (when === 'after') await work().catch(() => {});
      throw new Crash();
    };
    const mortalDb: Database = {
      ...db,
      query: (scope, declared, params) => survive(() => db.query(scope, declared, params)),
      transaction: (scope, work) => survive(() => db.transaction(scope, work)),
    };
    const client = new Proxy(testChain.client, {
      get(target, name, receiver) {
        const member = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => survive(async () => member(...args));
      },
    });
    const signer: Signer = {
      address: wallet.address,
      signDigest: (digest) => survive(() => wallet.signDigest(digest)),
    };
    return transactorOf(signer, { db: mortalDb, client });
  }

  describe.each(['before', 'after'] as const)('%s any of its steps', (when) => {
    // Proves trap 15, D7.6.
    test.each([
      ['on a chain that mines at once', true],
      ['on a chain that mines later', false],
    ])(
      'leaves exactly one effect after a restart, %s',
      async (_chain, automine) => {
        let survived = false;
        let fatalStep = 0;
        while (!survived) {
          fatalStep += 1;
          await testChain.control.setAutomine(true);
          const wallet = await testChain.fundedWallet();
          const [key, recipient] = [randomUUID(), randomWallet().address];
          await testChain.control.setAutomine(automine);
          survived = await mortal(wallet, fatalStep, when)
            .advance(key, payment(wallet, recipient))
            .then(
              () => true,
              (error: unknown) => {
                if (!(error instanceof Crash)) throw error;
                return false;
              },
            );
          const restarted = transactorOf(wallet);
          if (!automine) {
            expect(await restarted.advance(key, payment(wallet, recipient))).toEqual({ state: 'pending' });
            await mine();
          }
          await untilMined(() => restarted.advance(key, payment(wallet, recipient)));
          await expectPaidOnce(wallet, recipient);
        }
        // Find, estimate, nonce, allocate, fees (2), sign, store, send and the look afterwards: fewer were not counted.
        expect(fatalStep).toBeGreaterThan(10);
      },
      60_000,
    );
  });
});

describe('a transaction on its way', () => {
  async function sentUnmined(overrides: Overrides = {}) {
    const wallet = await testChain.fundedWallet();
    const [key, recipient] = [randomUUID(), randomWallet().address];
    const transactor = transactorOf(wallet, overrides);
    await testChain.control.setAutomine(false);
    const advance = () => transactor.advance(key, payment(wallet, recipient));
    expect(await advance()).toEqual({ state: 'pending' });
    const versions = async () => (await findTransaction(db, key))!.versions;
    return { wallet, recipient, key, advance, versions };
  }

  // Proves trap 15.
  test('that the node forgot is sent again, the same bytes', async () => {
    const { wallet, recipient, advance, versions } = await sentUnmined();
    const { txHash } = (await versions())[0]!;
    await testChain.control.dropTransaction({ hash: txHash });
    expect(await advance()).toEqual({ state: 'pending' });
    await mine();
    expect((await untilMined(advance)).txHash).toBe(txHash);
    await expectPaidOnce(wallet, recipient);
  });

  test('is not final before the configured depth', async () => {
    const { wallet, recipient, advance } = await sentUnmined({ confirmations: 3 });
    await mine();
    expect(await advance()).toEqual({ state: 'pending' });
    await mine();
    expect(await advance()).toEqual({ state: 'pending' });
    await mine();
    await untilMined(advance);
    await expectPaidOnce(wallet, recipient);
  });

  test.each([1, 2])(
    'that a reorganisation %i deep throws out is not final, and is sent again',
    async (depth) => {
      const { wallet, recipient, advance, versions } = await sentUnmined({ confirmations: 3 });
      await mine(depth);
      expect(await advance()).toEqual({ state: 'pending' });
      await testChain.reorganise(depth);
      expect(await usdcOf(recipient)).toBe(0n);
      expect(await advance()).toEqual({ state: 'pending' });
      await mine(3);
      expect((await untilMined(advance)).txHash).toBe((await versions())[0]?.txHash);
      await expectPaidOnce(wallet, recipient);
    },
  );

  // Proves trap 15.
  test('that stays too long is paid better at the same nonce, and only one version is mined', async () => {
    let now = 1_800_000_000_000;
    const clock = createClock(() => now);
    const { wallet, recipient, advance, versions } = await sentUnmined({
      clock,
      limits: { bumpAfterMs: 60_000 },
    });
    now += 59_999;
    await advance();
    expect(await versions()).toHaveLength(1);
    now += 1;
    expect(await advance()).toEqual({ state: 'pending' });
    const [first, second] = (await versions()).map(({ raw }) => parseTransaction(raw));
    expect(second?.nonce).toBe(first?.nonce);
    expect(second?.data).toBe(first?.data);
    expect(second!.maxFeePerGas! * 10n).toBeGreaterThan(first!.maxFeePerGas! * 11n);
    await mine();
    await untilMined(advance);
    await expectPaidOnce(wallet, recipient);
  });

  test('is never paid better than its chain’s limit allows', async () => {
    let now = 1_800_000_000_000;
    const clock = createClock(() => now);
    const { baseFeePerGas } = await testChain.client.getBlock();
    const maxFeePerGas = baseFeePerGas! + 1n;
    const fees = { maxFeePerGas, minPriorityFeePerGas: 0n, maxPriorityFeePerGas: maxFeePerGas };
    const { advance, versions } = await sentUnmined({ clock, fees, limits: { bumpAfterMs: 1_000 } });
    expect(parseTransaction((await versions())[0]!.raw).maxFeePerGas).toBe(maxFeePerGas);
    now += 1_000;
    await advance();
    expect(await versions()).toHaveLength(1);
    await mine();
    await untilMined(advance);
  });

  test('is not paid a higher tip than its chain’s limit allows, and is sent again as it is', async () => {
    let now = 1_800_000_000_000;
    const clock = createClock(() => now);
    const fees = {
      maxFeePerGas: 10n ** 12n,
      minPriorityFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 13n * 10n ** 8n,
    };
    const { wallet, recipient, advance, versions } = await sentUnmined({
      clock,
      fees,
      limits: { bumpAfterMs: 1_000 },
    });
    for (let turn = 0; turn < 10; turn++) {
      now += 1_000;
      expect(await advance()).toEqual({ state: 'pending' });
    }
    const tips = (await versions()).map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas);
    expect(tips).toEqual([1_000_000_000n, 1_125_000_001n, 1_265_625_002n]);
    await testChain.control.dropTransaction({ hash: (await versions()).at(-1)!.txHash });
    await advance();
    await mine();
    await untilMined(advance);
    await expectPaidOnce(wallet, recipient);
  });

  test('whose nonce another transaction used for good is settled as displaced, and not signed again', async () => {
    const { wallet, recipient, key, advance, versions } = await sentUnmined({ confirmations: 3 });
    await testChain.control.dropTransaction({ hash: (await versions())[0]!.txHash });
    await testChain.control.setAutomine(true);
    await testChain.send(wallet, transferCall(randomWallet().address));
    // Until its block is final a reorganisation could throw it out, and ours would be next again.
    expect(await advance()).toEqual({ state: 'pending' });
    expect(await statusOf(key)).toMatchObject({ status: 'open' });
    await mine(2);
    expect(await advance()).toEqual({ state: 'displaced', nonce: 0, isNews: true });
    expect(await advance()).toEqual({ state: 'displaced', nonce: 0, isNews: false });
    expect(await statusOf(key)).toEqual({ status: 'displaced', mined_hash: null, block_hash: null });
    expect(await usdcOf(recipient)).toBe(0n);
    expect(await versions()).toHaveLength(1);
  });

  test('whose older version was mined is not displaced by its newer one', async () => {
    let now = 1_800_000_000_000;
    const clock = createClock(() => now);
    const { wallet, recipient, advance, versions } = await sentUnmined({ clock });
    now += 60_000;
    await advance();
    const [older, newer] = await versions();
    await testChain.control.dropTransaction({ hash: newer!.txHash });
    await testChain.client.sendRawTransaction({ serializedTransaction: older!.raw });
    await mine();
    expect((await untilMined(advance)).txHash).toBe(older!.txHash);
    await expectPaidOnce(wallet, recipient);
  });
});

describe('a nonce', () => {
  test('follows the chain where the wallet was used elsewhere before', async () => {
    const wallet = await testChain.fundedWallet();
    const transactor = transactorOf(wallet);
    for (const key of [randomUUID(), randomUUID()]) {
      await testChain.send(wallet, transferCall(randomWallet().address));
      await untilMined(() => transactor.advance(key, payment(wallet, randomWallet().address)));
    }
    expect(await chainNonce(wallet.address)).toBe(4);
  });
});

describe('a fault around it', () => {
  test('an unreachable node means waiting, and its address with the provider’s key is not repeated', async () => {
    const wallet = await testChain.fundedWallet();
    const client = createChainClient({
      slug: 'gone',
      chainId: testChain.settings.chainId,
      rpcUrl: 'http://127.0.0.1:9/s3cret',
    });
    const progress = await transactorOf(wallet, { client }).advance(
      randomUUID(),
      payment(wallet, wallet.address),
    );
    expect(progress).toMatchObject({
      state: 'pending',
      reason: expect.stringContaining('unavailable (ECONNREFUSED)'),
    });
    expect(JSON.stringify(progress)).not.toContain('s3cret');
  });

  test('an empty gas wallet means waiting, and the effect happens once it is filled', async () => {
    const wallet = await testChain.fundedWallet();
    const [key, recipient] = [randomUUID(), randomWallet().address];
    await testChain.control.setBalance({ address: wallet.address, value: 0n });
    const before = await transactorOf(wallet).advance(key, payment(wallet, recipient));
    expect(before.state).toBe('pending');
    await testChain.control.setBalance({ address: wallet.address, value: 10n ** 18n });
    await untilMined(() => transactorOf(wallet).advance(key, payment(wallet, recipient)));
    await expectPaidOnce(wallet, recipient);
  });

  test('an empty gas wallet is not helped by a better price: what was signed first is what is paid', async () => {
    let now = 1_800_000_000_000;
    const clock = createClock(() => now);
    const wallet = await testChain.fundedWallet();
    const [key, recipient] = [randomUUID(), randomWallet().address];
    const transactor = transactorOf(wallet, { clock });
    const advance = () => transactor.advance(key, payment(wallet, recipient));
    await testChain.control.setBalance({ address: wallet.address, value: 0n });
    for (let minutes = 0; minutes < 60; minutes++) {
      expect(await advance()).toMatchObject({ state: 'pending', reason: expect.stringContaining('funds') });
      now += 60_000;
    }
    expect((await findTransaction(db, key))!.versions).toHaveLength(1);
    await testChain.control.setBalance({ address: wallet.address, value: 10n ** 18n });
    const { txHash } = await untilMined(advance);
    expect(txHash).toBe((await findTransaction(db, key))!.versions[0]!.txHash);
    await expectPaidOnce(wallet, recipient);
  });

  test('a node that finds it too cheap gets a better paid version, taken or not', async () => {
    let now = 1_800_000_000_000;
    const clock = createClock(() => now);
    const wallet = await testChain.fundedWallet();
    const [key, recipient] = [randomUUID(), randomWallet().address];
    const refusing: ChainClient = {
      ...testChain.client,
      sendRawTransaction: async () => {
        throw new BaseError('refused', {
          details: 'max fee per gas less than block base fee: maxFeePerGas: 1',
        });
      },
    };
    const advance = (client: ChainClient) =>
      transactorOf(wallet, { clock, client }).advance(key, payment(wallet, recipient));
    expect(await advance(refusing)).toMatchObject({ state: 'pending', reason: expect.any(String) });
    now += 60_000;
    expect(await advance(refusing)).toMatchObject({ state: 'pending', reason: expect.any(String) });
    const { versions } = (await findTransaction(db, key))!;
    expect(versions).toHaveLength(2);
    expect((await untilMined(() => advance(testChain.client))).txHash).toBe(versions[1]!.txHash);
    await expectPaidOnce(wallet, recipient);
  });

  test('a signer that signs with another key sends nothing', async () => {
    const wallet = await testChain.fundedWallet();
    const impostor: Signer = {
      address: wallet.address,
      signDigest: localSigner(randomWallet().privateKey).signDigest,
    };
    const [key, recipient] = [randomUUID(), randomWallet().address];
    await expect(transactorOf(impostor).advance(key, payment(wallet, recipient))).rejects.toThrow(
      'another key',
    );
    await untilMined(() => transactorOf(wallet).advance(key, payment(wallet, recipient)));
    await expectPaidOnce(wallet, recipient);
  });

  test('a sender without a signer, or an unknown chain, is a fault before a nonce is taken', async () => {
    const [wallet, other] = [await testChain.fundedWallet(), randomWallet()];
    const transactor = transactorOf(other);
    await expect(transactor.advance(randomUUID(), payment(wallet, wallet.address))).rejects.toThrow(
      'no signer',
    );
    const elsewhere = { ...(await payment(other, wallet.address)()), chainId: 1 };
    await expect(transactor.advance(randomUUID(), async () => elsewhere)).rejects.toThrow('not configured');
    expect(await storedNextNonce(wallet.address)).toBe(0);
  });
});
