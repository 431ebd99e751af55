import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LocalChain } from './local-chain.ts';

/** Crashes, torn lines and full disks, on real files and with real processes. */

const CHAIN_ID = 3_135_022;
const ALICE = '0x00000000000000000000000000000000000000aa';
const BOB = '0x00000000000000000000000000000000000000bb';
const PROGRAM = fileURLToPath(new URL('./testing/chain-process.ts', import.meta.url));

let folder: string;
let file: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-journal-'));
  file = join(folder, 'journal.jsonl');
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function withChain<T>(
  work: (chain: LocalChain) => Promise<T>,
  onTornLine?: (bytes: number) => void,
): Promise<T> {
  const chain = await LocalChain.open({
    chainId: CHAIN_ID,
    journalFile: file,
    ...(onTornLine === undefined ? {} : { onTornLine }),
  });
  try {
    return await work(chain);
  } finally {
    await chain.close();
  }
}

const paymentBy = (index: number) => ({
  from: ALICE,
  to: BOB,
  value: '0x1',
  gas: '0x5208',
  nonce: `0x${index.toString(16)}`,
});

async function fundAndPay(chain: LocalChain, count: number): Promise<string[]> {
  await chain.request('hardhat_setBalance', [ALICE, '0xde0b6b3a7640000']);
  await chain.request('hardhat_impersonateAccount', [ALICE]);
  const hashes: string[] = [];
  for (let index = 0; index < count; index += 1) {
    hashes.push(String(await chain.request('eth_sendTransaction', [paymentBy(index)])));
  }
  return hashes;
}

const receipts = (chain: LocalChain, hashes: readonly string[]) =>
  Promise.all(hashes.map((hash) => chain.request('eth_getTransactionReceipt', [hash])));

/** A chain as a process, at most so many kilobytes of file. */
async function startProcess(limitKilobytes?: number): Promise<{ child: ChildProcess; url: string }> {
  // In units of 512 bytes, as POSIX has it.
  const limit = limitKilobytes === undefined ? '' : `ulimit -f ${limitKilobytes * 2}; `;
  const child = spawn(
    'sh',
    ['-c', `${limit}exec "$0" "$@"`, process.execPath, PROGRAM, String(CHAIN_ID), file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  children.push(child);
  for await (const url of createInterface({ input: child.stdout! })) return { child, url };
  throw new Error('the chain did not start');
}

async function call(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<{ result?: unknown; error?: { message: string } }> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as { result?: unknown; error?: { message: string } };
}

describe('a journal', () => {
  it.each([
    ['half a line', (line: string) => line.slice(0, line.length / 2)],
    ['a line without its end', (line: string) => line],
    ['zeroes, as a power cut leaves them', () => '\0'.repeat(40)],
    ['a line of zeroes', () => `${'\0'.repeat(40)}\n`],
  ])('that ends with %s loses that line only, says so, and goes on', async (_case, torn) => {
    const hashes = await withChain((chain) => fundAndPay(chain, 2));
    const whole = await readFile(file, 'utf8');
    await appendFile(file, torn('{"t":"set","method":"hardhat_setBalance","params":["0x0","0x1"]}'));
    const notices: number[] = [];
    await withChain(
      async (chain) => {
        expect(await receipts(chain, hashes)).not.toContain(null);
        await chain.request('evm_mine');
      },
      (bytes) => notices.push(bytes),
    );
    expect(notices).toHaveLength(1);
    expect(await readFile(file, 'utf8')).toMatch(whole);
    await withChain(async (chain) => expect(await chain.request('eth_blockNumber')).toBe('0x3'));
  });

  it('that is damaged in the middle is refused, naming the line', async () => {
    await withChain((chain) => fundAndPay(chain, 1));
    const lines = (await readFile(file, 'utf8')).split('\n');
    lines[2] = lines[2]!.slice(3);
    await writeFile(file, lines.join('\n'));
    await expect(withChain(async () => {})).rejects.toThrow(`Line 3 of ${file} is damaged.`);
  });

  it('whose past was altered is refused, because the block has another hash', async () => {
    await withChain((chain) => fundAndPay(chain, 2));
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('0xde0b6b3a7640000', '0xde0b6b3a7640001'));
    await expect(withChain(async () => {})).rejects.toThrow(/^Block 1 came out as 0x.*; the journal has 0x/);
  });

  it('of another chain or another version is refused', async () => {
    await withChain(async () => {});
    await expect(LocalChain.open({ chainId: 1, journalFile: file })).rejects.toThrow('not that of chain 1');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"version":1', '"version":99'));
    await expect(withChain(async () => {})).rejects.toThrow('another version');
  });

  it('keeps a transaction whose block a crash prevented, and mines it at the next start', async () => {
    const [hash] = await withChain((chain) => fundAndPay(chain, 1));
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    await writeFile(file, `${lines.slice(0, -1).join('\n')}\n`);
    await withChain(async (chain) => expect(await receipts(chain, [hash!])).not.toContain(null));
  });

  it('loses nothing that was answered when the process is killed with -9 under load', async () => {
    const answered: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { child, url } = await startProcess();
      await call(url, 'hardhat_setBalance', [ALICE, '0xde0b6b3a7640000']);
      await call(url, 'hardhat_impersonateAccount', [ALICE]);
      const ended = once(child, 'exit');
      // Killed in the middle of a call, after some were answered.
      const sending = (async () => {
        for (let sent = 0; ; sent += 1) {
          const nonce = String((await call(url, 'eth_getTransactionCount', [ALICE, 'latest'])).result);
          const { result } = await call(url, 'eth_sendTransaction', [{ ...paymentBy(0), nonce }]);
          answered.push(String(result));
          if (sent === 20) setImmediate(() => child.kill('SIGKILL'));
        }
      })();
      await expect(sending).rejects.toThrow();
      await ended;
    }
    expect(answered.length).toBeGreaterThanOrEqual(60);
    await withChain(async (chain) => {
      expect(await receipts(chain, answered)).not.toContain(null);
      expect(Number(await chain.request('eth_getBalance', [BOB, 'latest']))).toBeGreaterThanOrEqual(
        answered.length,
      );
    });
  }, 60_000);

  it('that the disk has no room for refuses the change, keeps what was answered, and goes on when there is room', async () => {
    const { child, url } = await startProcess(8);
    await call(url, 'hardhat_setBalance', [ALICE, '0xde0b6b3a7640000']);
    await call(url, 'hardhat_impersonateAccount', [ALICE]);
    const answered: string[] = [];
    let refusal: string | undefined;
    for (let index = 0; refusal === undefined && index < 100; index += 1) {
      const { result, error } = await call(url, 'eth_sendTransaction', [paymentBy(index)]);
      if (error === undefined) answered.push(String(result));
      else refusal = error.message;
    }
    expect(refusal).toContain('could not write this down, so it did not happen');
    // What clients read is what is on file: the refused payment is nowhere.
    expect((await call(url, 'eth_getBalance', [BOB, 'latest'])).result).toBe(
      `0x${answered.length.toString(16)}`,
    );
    expect((await call(url, 'eth_blockNumber', [])).result).toBe(`0x${answered.length.toString(16)}`);
    child.kill('SIGKILL');
    await once(child, 'exit');

    await withChain(async (chain) => {
      expect(await receipts(chain, answered)).not.toContain(null);
      expect(Number(await chain.request('eth_blockNumber'))).toBe(answered.length);
      const { hash } = {
        hash: String(await chain.request('eth_sendTransaction', [paymentBy(answered.length)])),
      };
      expect(await receipts(chain, [hash])).not.toContain(null);
    });
  }, 60_000);
});
