import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Entry, LocalChain, type LocalChainOptions } from './local-chain.ts';

const CHAIN_ID = 3_135_021;
const ALICE = '0x00000000000000000000000000000000000000aa';
const BOB = '0x00000000000000000000000000000000000000bb';
const ETHER = '0xde0b6b3a7640000';

interface Block {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly transactions: readonly string[];
}

let folder: string;
let seconds: number;
const open: LocalChain[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-evm-'));
  seconds = 1_800_000_000;
});

afterEach(async () => {
  for (const chain of open.splice(0)) await chain.close();
  await rm(folder, { recursive: true, force: true });
});

const journalFile = () => join(folder, 'journal.jsonl');

async function start(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const chain = await LocalChain.open({
    chainId: CHAIN_ID,
    durable: false,
    machineTime: () => seconds * 1_000,
    ...options,
  });
  open.push(chain);
  return chain;
}

const startOnFile = (options: Partial<LocalChainOptions> = {}) =>
  start({ journalFile: journalFile(), ...options });

async function fund(chain: LocalChain, account = ALICE): Promise<void> {
  await chain.request('hardhat_setBalance', [account, ETHER]);
  await chain.request('hardhat_impersonateAccount', [account]);
}

const pay = (chain: LocalChain, fields: Record<string, unknown> = {}) =>
  chain.request('eth_sendTransaction', [
    { from: ALICE, to: BOB, value: '0x1', gas: '0x5208', ...fields },
  ]) as Promise<string>;
const receiptOf = (chain: LocalChain, hash: string) => chain.request('eth_getTransactionReceipt', [hash]);
const balanceOf = (chain: LocalChain, account: string) =>
  chain.request('eth_getBalance', [account, 'latest']);
const block = async (chain: LocalChain, at: string | number = 'latest') =>
  (await chain.request('eth_getBlockByNumber', [
    typeof at === 'number' ? `0x${at.toString(16)}` : at,
    false,
  ])) as Block;
const head = async (chain: LocalChain) => Number((await block(chain)).number);

describe('mining', () => {
  it('answers a transaction when it is in a block', async () => {
    const chain = await start();
    await fund(chain);
    expect(await receiptOf(chain, await pay(chain))).toMatchObject({ status: '0x1', blockNumber: '0x1' });
  });

  it('keeps a nonce that is ahead of its turn and mines it when the gap is filled', async () => {
    const chain = await start();
    await fund(chain);
    const second = await pay(chain, { nonce: '0x1' });
    expect(await receiptOf(chain, second)).toBeNull();
    const first = await pay(chain, { nonce: '0x0' });
    expect(await receiptOf(chain, first)).toMatchObject({ blockNumber: '0x1' });
    expect(await receiptOf(chain, second)).toMatchObject({ blockNumber: '0x1' });
  });

  it('mines nothing while automine is off, and all that waits with the next block', async () => {
    const chain = await start();
    await fund(chain);
    await chain.request('evm_setAutomine', [false]);
    const hashes = [await pay(chain), await pay(chain)];
    expect(await head(chain)).toBe(0);
    await chain.request('hardhat_mine');
    expect((await block(chain)).transactions).toEqual(hashes);
  });

  it('refuses a fee below the base fee and drops the transaction', async () => {
    const chain = await start();
    await fund(chain);
    const cheap = { maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x0' };
    await expect(pay(chain, cheap)).rejects.toThrow('max fee per gas less than block base fee');
    await pay(chain);
    expect((await block(chain)).transactions).toHaveLength(1);
  });

  it('puts the confirmations above each transaction and then rests', async () => {
    const chain = await start({ confirmations: 3 });
    await fund(chain);
    await pay(chain);
    await expect.poll(() => head(chain), { timeout: 5_000 }).toBe(4);
    await pay(chain);
    await expect.poll(() => head(chain), { timeout: 5_000 }).toBe(8);
    expect((await block(chain, 8)).transactions).toEqual([]);
  });

  it('adds no confirmations while automine is off', async () => {
    const chain = await start({ confirmations: 2 });
    await fund(chain);
    await chain.request('evm_setAutomine', [false]);
    await pay(chain);
    await chain.request('hardhat_mine');
    expect(await head(chain)).toBe(1);
    await chain.request('evm_setAutomine', [true]);
    await expect.poll(() => head(chain), { timeout: 5_000 }).toBe(3);
  });
});

describe('errors say what nodes say', () => {
  it('a repeated transaction is already known, one without money has insufficient funds', async () => {
    const chain = await start();
    await fund(chain);
    await chain.request('evm_setAutomine', [false]);
    const same = { nonce: '0x0', maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' };
    await pay(chain, same);
    await expect(pay(chain, same)).rejects.toThrow('already known');
    await chain.request('hardhat_impersonateAccount', [BOB]);
    await expect(pay(chain, { from: BOB })).rejects.toThrow('insufficient funds');
  });

  it('a revert has code 3 and its data', async () => {
    const chain = await start();
    // PUSH1 1, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, REVERT
    await chain.request('hardhat_setCode', [BOB, '0x600160005260206000fd']);
    await expect(chain.request('eth_call', [{ to: BOB }, 'latest'])).rejects.toMatchObject({
      code: 3,
      data: `0x${'1'.padStart(64, '0')}`,
    });
  });

  it('refuses what it cannot write down, so that nothing bypasses the journal', async () => {
    const chain = await start();
    for (const method of [
      'hardhat_reset',
      'hardhat_setMinGasPrice',
      'eth_subscribe',
      'anvil_mine',
      'nonsense',
    ]) {
      await expect(chain.request(method), method).rejects.toMatchObject({ code: -32_601 });
    }
    await expect(chain.request('hardhat_mine', ['many'])).rejects.toMatchObject({ code: -32_602 });
    await expect(chain.request('hardhat_mine', [1_000_000])).rejects.toThrow('at most 10000 blocks');
  });
});

describe('time', () => {
  it('is the machine’s plus what was added, and a later start keeps it', async () => {
    const first = await startOnFile();
    await first.request('evm_increaseTime', [3_600]);
    await first.request('evm_mine');
    expect(Number((await block(first)).timestamp)).toBe(seconds + 3_600);
    await first.close();
    seconds += 10;
    const second = await startOnFile();
    expect(Number((await block(second, 'pending')).timestamp)).toBeGreaterThanOrEqual(seconds + 3_600);
    await second.request('evm_mine');
    expect(Number((await block(second)).timestamp)).toBe(seconds + 3_600);
  });

  it('goes on from a time that was set, and never back', async () => {
    const chain = await start();
    await chain.request('evm_setNextBlockTimestamp', [seconds + 100]);
    await chain.request('hardhat_mine', ['0x3', '0x5']);
    expect(Number((await block(chain)).timestamp)).toBe(seconds + 110);
    seconds += 1;
    await chain.request('evm_mine');
    expect(Number((await block(chain)).timestamp)).toBe(seconds + 110);
    await expect(chain.request('evm_setNextBlockTimestamp', [seconds])).rejects.toThrow('later than');
    seconds -= 1_000;
    await chain.request('evm_mine');
    expect(Number((await block(chain)).timestamp)).toBe(seconds + 1_110);
  });
});

describe('going back', () => {
  it('a snapshot restores balances, blocks and what waited in the pool', async () => {
    const chain = await start();
    await fund(chain);
    await chain.request('evm_setAutomine', [false]);
    const waiting = await pay(chain);
    const id = await chain.request('evm_snapshot');
    await chain.request('hardhat_mine', ['0x2']);
    expect(await balanceOf(chain, BOB)).toBe('0x1');
    expect(await chain.request('evm_revert', [id])).toBe(true);
    expect(await balanceOf(chain, BOB)).toBe('0x0');
    expect(await head(chain)).toBe(0);
    await chain.request('evm_mine');
    expect((await block(chain)).transactions).toEqual([waiting]);
    expect(await chain.request('evm_revert', [id])).toBe(false);
  });

  it.each([1, 2, 3, 4, 5])(
    'a reorganisation of %i blocks replaces just these, and their transactions are gone',
    async (depth) => {
      const chain = await startOnFile();
      await fund(chain);
      const hashes: string[] = [];
      for (let sent = 0; sent < 5; sent += 1) hashes.push(await pay(chain));
      const before = await Promise.all([1, 2, 3, 4, 5].map((number) => block(chain, number)));
      await chain.request('causeway_reorg', [depth]);
      const after = await Promise.all([1, 2, 3, 4, 5].map((number) => block(chain, number)));
      for (const [index, was] of before.entries()) {
        const isReplaced = index >= 5 - depth;
        expect(after[index]!.hash === was.hash).toBe(!isReplaced);
        expect(after[index]!.timestamp).toBe(was.timestamp);
        expect((await receiptOf(chain, hashes[index]!)) === null).toBe(isReplaced);
      }
      expect(await balanceOf(chain, BOB)).toBe(`0x${5 - depth}`);
      // The nonce is free again, and the new branch survives a restart.
      await fund(chain);
      await pay(chain);
      const tip = await block(chain);
      await chain.close();
      expect(await block(await startOnFile())).toEqual(tip);
    },
  );

  it('a reorganisation keeps what is still waiting, and refuses more blocks than there are', async () => {
    const chain = await start();
    await fund(chain);
    await pay(chain);
    await chain.request('hardhat_setBalance', [BOB, ETHER]);
    const ahead = await pay(chain, { nonce: '0x2' });
    await chain.request('causeway_reorg', [1]);
    await expect(chain.request('causeway_reorg', [2])).rejects.toThrow('no 2 blocks');
    await fund(chain);
    await pay(chain, { nonce: '0x0' });
    await pay(chain, { nonce: '0x1' });
    // It was built on money that is gone with the block before it, or it is mined now; it is never half there.
    const receipt = await receiptOf(chain, ahead);
    expect(receipt === null || (receipt as { status: string }).status === '0x1').toBe(true);
  });
});

describe('the journal', () => {
  it('brings back a chain with every block’s hash, whatever was done to it', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('pay' as const), nonceAhead: fc.integer({ min: 0, max: 1 }) }),
      fc.record({ do: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ do: fc.constant('time' as const), seconds: fc.integer({ min: 0, max: 5_000 }) }),
      fc.record({ do: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ do: fc.constant('balance' as const), wei: fc.integer({ min: 0, max: 1_000 }) }),
      fc.record({ do: fc.constant('automine' as const), on: fc.boolean() }),
      fc.record({ do: fc.constant('snapshot' as const) }),
      fc.record({ do: fc.constant('revert' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
        await rm(journalFile(), { force: true });
        const chain = await startOnFile();
        await fund(chain);
        let snapshot: unknown = '0x0';
        for (const each of steps) {
          if (each.do === 'pay') {
            const count = Number(await chain.request('eth_getTransactionCount', [ALICE, 'pending']));
            await pay(chain, { nonce: `0x${(count + each.nonceAhead).toString(16)}` }).catch(() => undefined);
          }
          if (each.do === 'mine') await chain.request('hardhat_mine', [each.blocks]);
          if (each.do === 'time') await chain.request('evm_increaseTime', [each.seconds]);
          if (each.do === 'reorg') await chain.request('causeway_reorg', [each.depth]).catch(() => undefined);
          if (each.do === 'balance') {
            await chain.request('hardhat_setBalance', [BOB, `0x${each.wei.toString(16)}`]);
          }
          if (each.do === 'automine') await chain.request('evm_setAutomine', [each.on]);
          if (each.do === 'snapshot') snapshot = await chain.request('evm_snapshot');
          if (each.do === 'revert') await chain.request('evm_revert', [snapshot]);
          // A reorganisation may have undone what lets ALICE pay.
          await fund(chain);
        }
        const tip = await block(chain);
        const balances = [await balanceOf(chain, ALICE), await balanceOf(chain, BOB)];
        const history = await chain.history();
        await chain.close();

        const again = await startOnFile();
        // What waited in the pool may be mined by the start; the blocks up to here are the same.
        expect(await block(again, Number(tip.number))).toEqual(tip);
        const kept = (await again.history()).slice(0, history.length);
        expect(kept).toEqual(history);
        if ((await again.history()).length === history.length) {
          expect([await balanceOf(again, ALICE), await balanceOf(again, BOB)]).toEqual(balances);
        }
        await again.close();
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  it('has a change on file before it is answered', async () => {
    const chain = await startOnFile();
    await fund(chain);
    const hash = await pay(chain);
    const { blockHash } = (await receiptOf(chain, hash)) as { blockHash: string };
    const lines = (await readFile(journalFile(), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Entry).t)).toEqual([
      'genesis',
      'set',
      'set',
      'tx',
      'block',
    ]);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ t: 'block', number: 1, hash: blockHash });
  });

  it('shows how far a replay is', async () => {
    const first = await startOnFile();
    await first.request('hardhat_mine', [250]);
    await first.close();
    const seen: [number, number][] = [];
    await startOnFile({ onReplayed: (blocks, total) => seen.push([blocks, total]) });
    expect(seen).toEqual([
      [100, 250],
      [200, 250],
      [250, 250],
    ]);
  });

  it('begins another chain with the history of this one, after which each goes its own way', async () => {
    const original = await start();
    await fund(original);
    await pay(original);
    const copy = await start({ history: await original.history() });
    expect(await block(copy)).toEqual(await block(original));
    await pay(original);
    expect(await head(copy)).toBe(1);
  });
});
