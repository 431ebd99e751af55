import { copyFile, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRpc, callRpcForNumber } from './chain-rpc.ts';
import { chainStateFiles } from './chain-state-file.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';
import { findProcessesByCommand } from './processes.ts';

const CHAIN = { slug: 'base', chainId: 3_135_011 };
const SENDER = '0x00000000000000000000000000000000000000aa';
const RECEIVER = '0x00000000000000000000000000000000000000bb';

let home: string;
let notices: string[];
const running: LocalChain[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'causeway-chain-'));
  notices = [];
});

afterEach(async () => {
  for (const chain of running.splice(0)) await chain.stop();
  expect(await findProcessesByCommand(home)).toEqual([]);
  await rm(home, { recursive: true, force: true });
});

const files = () => chainStateFiles(join(home, 'chains', `${CHAIN.slug}-${CHAIN.chainId}`));

async function start(confirmations = 0): Promise<LocalChain> {
  const chain = await startLocalChain({
    ...CHAIN,
    home,
    confirmations,
    onNotice: (text) => notices.push(text),
    onTrouble: (error) => notices.push(error.message),
  });
  running.push(chain);
  return chain;
}

async function pay({ rpcUrl }: LocalChain): Promise<unknown> {
  await callRpc(rpcUrl, 'anvil_setBalance', [SENDER, '0xde0b6b3a7640000']);
  await callRpc(rpcUrl, 'anvil_impersonateAccount', [SENDER]);
  const hash = await callRpc(rpcUrl, 'eth_sendTransaction', [{ from: SENDER, to: RECEIVER, value: '0x1' }]);
  // The node answers with the hash before it has mined.
  await expect
    .poll(() => callRpc(rpcUrl, 'eth_getTransactionReceipt', [hash]), { timeout: 5_000 })
    .not.toBeNull();
  return hash;
}

const headOf = ({ rpcUrl }: LocalChain) => callRpcForNumber(rpcUrl, 'eth_blockNumber');

describe('local chain', () => {
  it('has its own chain id and no account that anybody knows the key of', async () => {
    const { rpcUrl } = await start();
    expect(await callRpcForNumber(rpcUrl, 'eth_chainId')).toBe(CHAIN.chainId);
    expect(await callRpc(rpcUrl, 'eth_accounts')).toEqual([]);
    const wellKnown = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    expect(await callRpc(rpcUrl, 'eth_getBalance', [wellKnown, 'latest'])).toBe('0x0');
  });

  it('brings each transaction to its confirmations and then rests', async () => {
    const chain = await start(5);
    await pay(chain);
    await expect.poll(() => headOf(chain), { timeout: 5_000 }).toBe(6);
    await pay(chain);
    await expect.poll(() => headOf(chain), { timeout: 5_000 }).toBe(12);
    // Several looks of the keeper: it must not confirm its own empty blocks.
    await delay(1_000);
    expect(await headOf(chain)).toBe(12);
  });

  it('finishes the confirmations that a stop cut short', async () => {
    const first = await start(0);
    await pay(first);
    await first.stop();
    const second = await start(4);
    await expect.poll(() => headOf(second), { timeout: 5_000 }).toBe(5);
  });

  it('goes on from the same block, with its hash, and time does not run back', async () => {
    const first = await start(2);
    await pay(first);
    await expect.poll(() => headOf(first), { timeout: 5_000 }).toBe(3);
    const before = (await callRpc(first.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as Record<
      string,
      string
    >;
    await first.stop();
    const second = await start(2);
    await pay(second);
    const after = (await callRpc(second.rpcUrl, 'eth_getBlockByNumber', ['0x4', false])) as Record<
      string,
      string
    >;
    expect(after.parentHash).toBe(before.hash);
    expect(Number(after.timestamp)).toBeGreaterThanOrEqual(Number(before.timestamp));
  });

  it('keeps on request what was changed without a block', async () => {
    const first = await start();
    await callRpc(first.rpcUrl, 'anvil_setBalance', [RECEIVER, '0x1234']);
    await first.save();
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await start();
    expect(await callRpc(second.rpcUrl, 'eth_getBalance', [RECEIVER, 'latest'])).toBe('0x1234');
  });

  it.each([
    ['cut short', (path: string) => truncate(path, 200)],
    ['empty', (path: string) => truncate(path, 0)],
    ['overwritten', (path: string) => writeFile(path, 'not a state')],
  ])('falls back on the previous save when the newest is %s, and says so', async (_case, damage) => {
    const first = await start();
    const hash = await pay(first);
    await first.save();
    await first.stop();
    await damage(files().newest);

    const second = await start();
    expect(notices).toEqual([
      'The newest saved state of chain base is damaged: continuing from the one before it',
    ]);
    expect(await callRpc(second.rpcUrl, 'eth_getTransactionReceipt', [hash])).not.toBeNull();
    await second.stop();
    // The damaged file must not have become the one to fall back on.
    await copyFile(files().previous, files().newest);
    notices = [];
    await start();
    expect(notices).toEqual([]);
  });

  it('refuses to start empty when both saves are damaged', async () => {
    const first = await start();
    await first.stop();
    await writeFile(files().newest, 'x');
    await writeFile(files().previous, 'x');
    await expect(start()).rejects.toThrow(/cannot be read .* delete the sandbox folder to start afresh/);
  });

  it('leaves no part of a save behind and stays quiet in its log', async () => {
    const chain = await start(1);
    await pay(chain);
    await expect.poll(() => headOf(chain), { timeout: 5_000 }).toBe(2);
    await chain.stop();
    const names = await readdir(join(home, 'chains', `${CHAIN.slug}-${CHAIN.chainId}`));
    expect(names.sort()).toEqual(['anvil.log', 'port', 'state.json.gz', 'state.previous.json.gz']);
  });

  it('reports a home that it cannot write to once, not with every look', async () => {
    const chain = await start();
    // The keeper may be writing just now.
    await rm(join(home, 'chains'), { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
    await pay(chain);
    await expect.poll(() => notices, { timeout: 5_000 }).toHaveLength(1);
    await delay(700);
    expect(notices).toHaveLength(1);
    await expect(chain.stop()).rejects.toThrow('ENOENT');
    running.pop();
  });
});
