import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { writeFileAtomically } from './atomic-file.ts';
import { callRpc } from './chain-rpc.ts';

const unzip = promisify(gunzip);
const DUMP_TIMEOUT_MS = 60_000;

/** The newest state of a chain and the one before it, as the node dumps them: gzip, whose checksum tells damage. */
export interface ChainStateFiles {
  readonly newest: string;
  readonly previous: string;
}

export function chainStateFiles(folder: string): ChainStateFiles {
  return { newest: join(folder, 'state.json.gz'), previous: join(folder, 'state.previous.json.gz') };
}

/** Asks the node for everything (accounts, blocks, transactions, receipts) and keeps it, the last one as well. */
export async function saveChainState(rpcUrl: string, files: ChainStateFiles): Promise<void> {
  const dump = await callRpc(rpcUrl, 'anvil_dumpState', [], DUMP_TIMEOUT_MS);
  if (typeof dump !== 'string' || !dump.startsWith('0x1f8b')) throw new Error('anvil_dumpState: not a state');
  await writeFileAtomically(files.newest, Buffer.from(dump.slice(2), 'hex'), async () => {
    await rm(files.previous, { force: true });
    await link(files.newest, files.previous).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  });
}

export interface LoadedChainState {
  /** What `--load-state` reads. */
  readonly json: Buffer;
  readonly fromPrevious: boolean;
}

/** Undefined for a chain that never ran. Damage to the newest is survived by the previous; damage to both is an error. */
export async function loadChainState(files: ChainStateFiles): Promise<LoadedChainState | undefined> {
  const newest = await readState(files.newest);
  if (newest instanceof Buffer) return { json: newest, fromPrevious: false };
  const previous = await readState(files.previous);
  if (previous instanceof Buffer) {
    // Put aside, or the next save would make the damaged file the one to fall back on.
    if (newest === 'damaged') await rename(files.newest, `${files.newest}.damaged`);
    return { json: previous, fromPrevious: true };
  }
  if (newest === 'absent' && previous === 'absent') return undefined;
  throw new Error(
    `The saved state of a local chain cannot be read (${files.newest}, ${files.previous}). ` +
      'Restore one of them from a backup, or delete the sandbox folder to start afresh.',
  );
}

async function readState(path: string): Promise<Buffer | 'absent' | 'damaged'> {
  let packed: Buffer;
  try {
    packed = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'absent';
    throw error;
  }
  try {
    const json = await unzip(packed);
    return json[0] === '{'.charCodeAt(0) ? json : 'damaged';
  } catch {
    return 'damaged';
  }
}
