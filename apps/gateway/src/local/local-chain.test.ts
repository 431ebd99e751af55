import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRpc, callRpcForNumber } from './chain-rpc.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

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
  await rm(home, { recursive: true, force: true });
});

const folder = () => join(home, 'chains', `${CHAIN.slug}-${CHAIN.chainId}`);

async function start(confirmations = 0): Promise<LocalChain> {
  const chain = await startLocalChain({
    ...CHAIN,
    home,
    confirmations,
    onNotice: (text) => notices.push(text),
  });
  running.push(chain);
  return chain;
}

async function pay({ rpcUrl }: LocalChain): Promise<unknown> {
  await callRpc(rpcUrl, 'hardhat_setBalance', [SENDER, '0xde0b6b3a7640000']);
  await callRpc(rpcUrl, 'hardhat_impersonateAccount', [SENDER]);
  return callRpc(rpcUrl, 'eth_sendTransaction', [{ from: SENDER, to: RECEIVER, value: '0x1' }]);
}

const headOf = ({ rpcUrl }: LocalChain) => callRpcForNumber(rpcUrl, 'eth_blockNumber');
const latest = async ({ rpcUrl }: LocalChain) =>
  (await callRpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as Record<string, string>;

describe('local chain', () => {
  // Proves D11.2.
  it('has its own chain id and no account with a publicly known key', async () => {
    const { rpcUrl } = await start();
    expect(await callRpcForNumber(rpcUrl, 'eth_chainId')).toBe(CHAIN.chainId);
    expect(await callRpc(rpcUrl, 'eth_accounts')).toEqual([]);
    const wellKnown = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    expect(await callRpc(rpcUrl, 'eth_getBalance', [wellKnown, 'latest'])).toBe('0x0');
  });

  it('finishes the confirmations that a stop cut short', async () => {
    const first = await start(0);
    await pay(first);
    await first.stop();
    const second = await start(4);
    await expect.poll(() => headOf(second), { timeout: 5_000 }).toBe(5);
  });

  it('goes on from the same block on the same port, with what was changed without a block, and time does not run back', async () => {
    const first = await start();
    await pay(first);
    const before = await latest(first);
    await callRpc(first.rpcUrl, 'hardhat_setBalance', [RECEIVER, '0x1234']);
    await first.stop();
    const second = await start();
    expect(second.rpcUrl).toBe(first.rpcUrl);
    expect(await callRpc(second.rpcUrl, 'eth_getBalance', [RECEIVER, 'latest'])).toBe('0x1234');
    await pay(second);
    const after = await latest(second);
    expect(after.parentHash).toBe(before.hash);
    expect(Number(after.timestamp)).toBeGreaterThanOrEqual(Number(before.timestamp));
    expect(notices).toEqual([]);
  });

  it('keeps a journal and its port, and nothing else', async () => {
    const chain = await start();
    await pay(chain);
    await chain.stop();
    expect((await readdir(folder())).sort()).toEqual(['journal.jsonl', 'port']);
  });

  it('says that an unfinished line was dropped', async () => {
    await (await start()).stop();
    const journal = join(folder(), 'journal.jsonl');
    await writeFile(journal, `${await readFile(journal, 'utf8')}{"t":"blo`);
    await start();
    expect(notices).toEqual(['The journal of chain base ended in the middle of a line, which was dropped']);
  });

  it('refuses a damaged journal and the files of earlier versions, and names the way to start afresh', async () => {
    await mkdir(folder(), { recursive: true });
    const journal = join(folder(), 'journal.jsonl');
    await writeFile(journal, 'x\ny\nz\n');
    await expect(start()).rejects.toThrow(
      `Chain base cannot be brought back from ${journal}: Line 1 of ${journal} is damaged. Restore the file from a backup, or start afresh with \`npm run sandbox:reset\`.`,
    );
    await rm(journal);
    await writeFile(join(folder(), 'state.json.gz'), '');
    await expect(start()).rejects.toThrow(/earlier version.*npm run sandbox:reset/);
  });
});
