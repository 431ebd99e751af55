import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { createClock } from '../../lib/clock.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { createLogger } from '../../lib/logger.ts';
import { type Address, tokenByCode } from '../chain-settings.ts';
import { createChainClient } from '../rpc/chain-client.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { tokenTransferCall } from '../token-reads.ts';
import { fillNonceGaps, watchGasBalances } from '../transactions/hot-wallets.ts';
import { createTransactor, type Transactor } from '../transactions/transactor.ts';

const AMOUNT = 1_000n;
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

function transactorOf(wallets: readonly TestWallet[]): Transactor {
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

    const deps = { db: database.db, clock, logger };
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
