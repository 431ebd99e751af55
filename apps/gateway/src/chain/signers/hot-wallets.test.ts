import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { type Address, type Hex, tokenByCode } from '../chain-settings.ts';
import { createChainClient } from '../rpc/chain-client.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { tokenTransferCall } from '../token-reads.ts';
import { watchGasBalances } from '../transactions/hot-wallets.ts';
import { fillNonceGaps } from '../transactions/nonce-gaps.ts';
import { findTransaction } from '../transactions/transaction.store.ts';
import { createTransactor, type Transactor } from '../transactions/transactor.ts';
import type { Signer } from './keystore-signer.ts';

const AMOUNT = 1_000n;
const readFillers = statement<[sender: string], { nonce: string; status: string }>(
  'test.gap_fillers',
  `SELECT nonce::text, status FROM chain_transactions WHERE sender = $1 AND effect_key LIKE 'gap:%' ORDER BY nonce`,
);
const clock = createClock();
const logger = createLogger({ level: 'silent', format: 'json' });

let chain: TestChain;
let database: TestDatabase;

beforeAll(async () => {
  chain = await startTestChain(31_412);
  database = await openTestDatabase();
});
afterAll(async () => {
  await database?.close();
  await chain?.stop();
});

function transactorOf(wallets: readonly Signer[]): Transactor {
  return createTransactor({
    db: database.db,
    clock,
    ids: createIdGenerator(),
    chains: [chain],
    signers: [],
    hotWallets: wallets.map((signer) => ({ signer })),
  });
}

const payment = (to: Address) => async () => ({
  chainId: chain.settings.chainId,
  sender: 'hot-wallet' as const,
  call: tokenTransferCall({ token: tokenByCode(chain.settings, 'USDC').address, to, amount: AMOUNT }),
});

const fillersOf = ({ address }: TestWallet) => database.db.query(SYSTEM, readFillers, [address]);

const untilMined = (transactor: Transactor, key: string, to: Address) =>
  vi.waitFor(async () => expect((await transactor.advance(key, payment(to))).state).toBe('mined'), {
    interval: 10,
    timeout: 10_000,
  });

describe('several hot wallets', () => {
  test('share the work: what is stuck on one does not hold up the next', async () => {
    const wallets = [await chain.fundedWallet(), await chain.fundedWallet()];
    const transactor = transactorOf(wallets);
    await chain.control.setAutomine(false);
    const effects = Array.from({ length: 4 }, () => ({ key: randomUUID(), to: randomWallet().address }));
    for (const { key, to } of effects) await transactor.advance(key, payment(to));
    await chain.control.setAutomine(true);
    await chain.control.mine({ blocks: 1 });
    for (const { key, to } of effects) {
      await untilMined(transactor, key, to);
      expect(await chain.balanceOf('USDC', to)).toBe(AMOUNT);
    }
    for (const { address } of wallets) {
      expect(await chain.client.getTransactionCount({ address })).toBe(2);
    }
  });
});

describe('a hot wallet that is dry', () => {
  test('gets no more work while another has gas, and its own is done when it is filled', async () => {
    const [dry, rich] = [await chain.fundedWallet(), await chain.fundedWallet()];
    const transactor = transactorOf([dry, rich]);
    await chain.control.setBalance({ address: dry.address, value: 0n });
    await chain.control.setAutomine(false);
    const effects = Array.from({ length: 4 }, () => ({ key: randomUUID(), to: randomWallet().address }));
    for (const { key, to } of effects) await transactor.advance(key, payment(to));
    await chain.control.setAutomine(true);
    await chain.control.mine({ blocks: 1 });
    const [first, ...others] = effects as [Effect, ...Effect[]];
    for (const { key, to } of others) await untilMined(transactor, key, to);
    expect(await chain.balanceOf('USDC', first.to)).toBe(0n);
    await chain.control.setBalance({ address: dry.address, value: 10n ** 18n });
    await untilMined(transactor, first.key, first.to);
    expect(await chain.client.getTransactionCount({ address: dry.address })).toBe(1);
    expect(await chain.client.getTransactionCount({ address: rich.address })).toBe(3);
  });
});

describe('a nonce gap', () => {
  const gapDeps = (transactor: Transactor, wallets: readonly TestWallet[]) => ({
    db: database.db,
    clock,
    ids: createIdGenerator(),
    logger,
    transactor,
    hotWallets: wallets.map((signer) => ({ signer })),
  });
  const nonceOf = ({ address }: TestWallet) => chain.client.getTransactionCount({ address });

  /** Another program sends from the wallet, ours comes after it, and the other transactions are lost. */
  async function behindLost(wallet: TestWallet, others: number) {
    const transactor = transactorOf([wallet]);
    await chain.control.setAutomine(false);
    const lost: Hex[] = [];
    for (let nonce = 0; nonce < others; nonce++) lost.push(await sendAs(wallet, nonce));
    const effect = { key: randomUUID(), to: randomWallet().address };
    await transactor.advance(effect.key, payment(effect.to));
    for (const hash of lost) await chain.control.dropTransaction({ hash });
    await chain.control.setAutomine(true);
    await chain.control.mine({ blocks: 2 });
    expect((await transactor.advance(effect.key, payment(effect.to))).state).toBe('pending');
    expect(await nonceOf(wallet)).toBe(0);
    expect((await findTransaction(database.db, effect.key))?.nonce).toBe(others);
    return { transactor, effect };
  }

  async function sendAs(wallet: TestWallet, nonce: number): Promise<Hex> {
    const { maxFeePerGas, maxPriorityFeePerGas } = await chain.client.estimateFeesPerGas();
    const serializedTransaction = await privateKeyToAccount(wallet.privateKey).signTransaction({
      ...{ to: randomWallet().address, value: 1n, gas: 21_000n, nonce, chainId: chain.settings.chainId },
      ...{ type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas },
    });
    return chain.client.sendRawTransaction({ serializedTransaction });
  }

  test('for which nothing is stored is filled, once it has lasted, and what waits behind it is mined once', async () => {
    const wallet = await chain.fundedWallet();
    const { transactor, effect } = await behindLost(wallet, 2);
    const deps = gapDeps(transactor, [wallet]);
    await fillNonceGaps(deps, chain, 60_000);
    // Of a wallet that is not ours to fill, only the bytes that are stored are sent.
    await fillNonceGaps(gapDeps(transactor, []), chain, -1_000);
    expect(await nonceOf(wallet)).toBe(0);
    // Two processes at once fill each nonce once.
    await Promise.all([fillNonceGaps(deps, chain, -1_000), fillNonceGaps(deps, chain, -1_000)]);
    await untilMined(transactor, effect.key, effect.to);
    expect(await chain.balanceOf('USDC', effect.to)).toBe(AMOUNT);
    expect(await nonceOf(wallet)).toBe(3);
    await fillNonceGaps(deps, chain, -1_000);
    expect(await fillersOf(wallet)).toEqual([
      { nonce: '0', status: 'succeeded' },
      { nonce: '1', status: 'succeeded' },
    ]);
    await fillNonceGaps(deps, chain, -1_000);
    expect(await nonceOf(wallet)).toBe(3);
  });

  test('is left alone while a node has something before it, or where ours is only not signed yet', async () => {
    const wallet = await chain.fundedWallet();
    const { transactor, effect } = await behindLost(wallet, 2);
    const deps = gapDeps(transactor, [wallet]);
    await chain.control.setAutomine(false);
    await sendAs(wallet, 0);
    await fillNonceGaps(deps, chain, -1_000);
    expect(await fillersOf(wallet)).toEqual([]);
    await chain.control.setAutomine(true);
    await chain.control.mine({ blocks: 1 });
    await fillNonceGaps(deps, chain, -1_000);
    await untilMined(transactor, effect.key, effect.to);
    expect(await fillersOf(wallet)).toMatchObject([{ nonce: '1' }]);

    const unsigned = await chain.fundedWallet();
    const dying: Signer = { address: unsigned.address, signDigest: () => Promise.reject(new Error('died')) };
    const key = randomUUID();
    await expect(transactorOf([dying]).advance(key, payment(effect.to))).rejects.toThrow('died');
    await fillNonceGaps(gapDeps(transactorOf([unsigned]), [unsigned]), chain, -1_000);
    expect(await fillersOf(unsigned)).toEqual([]);
  });

  // Proves trap 16.
  test('left by a chain that lost its last blocks is closed with the bytes that were there, and all goes on', async () => {
    const wallet = await chain.fundedWallet();
    const transactor = transactorOf([wallet]);
    const snapshot = await chain.control.snapshot();
    const [lost, alsoLost, next] = Array.from({ length: 3 }, () => ({
      key: randomUUID(),
      to: randomWallet().address,
    })) as [Effect, Effect, Effect];
    await untilMined(transactor, lost.key, lost.to);
    await untilMined(transactor, alsoLost.key, alsoLost.to);
    await chain.control.revert({ id: snapshot });
    expect(await chain.balanceOf('USDC', lost.to)).toBe(0n);
    expect((await transactor.advance(next.key, payment(next.to))).state).toBe('pending');

    const deps = gapDeps(transactor, [wallet]);
    expect(await fillNonceGaps(deps, chain, 60_000)).toBe(0);
    expect(await fillNonceGaps(deps, chain, -1_000)).toBeGreaterThanOrEqual(2);
    await untilMined(transactor, next.key, next.to);
    for (const { to } of [lost, alsoLost, next]) expect(await chain.balanceOf('USDC', to)).toBe(AMOUNT);
    expect(await chain.client.getTransactionCount({ address: wallet.address })).toBe(3);
    expect(await fillNonceGaps(deps, chain, -1_000)).toBe(0);
  });
});
type Effect = { key: string; to: Address };

describe('gas balances', () => {
  test('are measured, and a wallet that runs dry is reported while another chain is out of reach', async () => {
    const [rich, poor] = [await chain.fundedWallet(), randomWallet()];
    const registry = new Registry();
    const gone = {
      settings: { ...chain.settings, slug: 'gone' },
      client: createChainClient({ ...chain.settings, rpcUrl: 'http://127.0.0.1:9' }),
    };
    const balances = watchGasBalances({
      chains: [gone, chain],
      wallets: [{ signer: rich }, { signer: poor }, { signer: randomWallet(), chains: ['another-chain'] }],
      logger,
      registry,
    });
    expect(await balances.check()).toEqual([{ chain: 'test-chain', wallet: poor.address, balanceWei: 0n }]);
    const text = await registry.metrics();
    expect(text).toContain(
      `hot_wallet_balance_gwei{chain="test-chain",wallet="${rich.address}"} 100000000000`,
    );
    expect(text).toContain(`hot_wallet_balance_low{chain="test-chain",wallet="${poor.address}"} 1`);
  });
});
