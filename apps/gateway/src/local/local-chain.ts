import { access, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalChain as Chain } from '@causeway/local-chain';
import { serveRpc } from '@causeway/local-chain/rpc';
import { giveToOwnerOf, writeFileAtomically } from './atomic-file.ts';

export interface LocalChain {
  readonly slug: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  stop(): Promise<void>;
}

export interface LocalChainOptions {
  /** A folder that this process has locked. */
  readonly home: string;
  readonly slug: string;
  readonly chainId: number;
  /** Blocks to put above each transaction; 0 for none. */
  readonly confirmations: number;
  /** False where nothing has to survive a power cut. */
  readonly durable?: boolean;
  readonly onProgress?: (text: string) => void;
  /** What a person should still read when the start is over. */
  readonly onNotice: (text: string) => void;
}

const START_AFRESH = 'Restore the file from a backup, or start afresh with `npm run sandbox:reset`.';

/** A chain in this process with its journal in `<home>/chains/<slug>-<chain id>`, answering on the port it had before. */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { home, slug, chainId, confirmations, durable = true, onProgress, onNotice } = options;
  if (!/^[a-z0-9][a-z0-9-]*$/.test(slug)) throw new Error(`Not a chain slug: ${slug}`);
  const folder = join(home, 'chains', `${slug}-${chainId}`);
  const journalFile = join(folder, 'journal.jsonl');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await refuseOldState(folder);
  const chain = await Chain.open({
    chainId,
    journalFile,
    durable,
    confirmations,
    onReplayed: (blocks, total) => onProgress?.(`Replaying chain ${slug}: block ${blocks} of ${total}`),
    onTornLine: () =>
      onNotice(`The journal of chain ${slug} ended in the middle of a line, which was dropped`),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Chain ${slug} cannot be brought back from ${journalFile}: ${reason} ${START_AFRESH}`);
  });
  try {
    await giveToOwnerOf(folder, journalFile);
    const server = await serveOnKnownPort(chain, join(folder, 'port'), slug, onNotice);
    return {
      slug,
      chainId,
      rpcUrl: server.url,
      async stop() {
        await server.close();
        await chain.close();
      },
    };
  } catch (error) {
    await chain.close();
    throw error;
  }
}

async function serveOnKnownPort(
  chain: Chain,
  portFile: string,
  slug: string,
  onNotice: (text: string) => void,
): Promise<Awaited<ReturnType<typeof serveRpc>>> {
  const known = Number(await readFile(portFile, 'utf8').catch(() => '')) || undefined;
  const server = await serveRpc(chain, { preferredPort: known });
  if (known !== undefined && server.port !== known) {
    onNotice(`Port ${known} is taken: chain ${slug} listens on ${server.port}`);
  }
  if (server.port !== known) await writeFileAtomically(portFile, `${server.port}\n`);
  return server;
}

/** Earlier versions kept dumps of another program, which nothing here can read; the database tells of those chains. */
async function refuseOldState(folder: string): Promise<void> {
  const old = join(folder, 'state.json.gz');
  const exists = await access(old).then(
    () => true,
    () => false,
  );
  if (exists) {
    throw new Error(
      `${old} was written by an earlier version, whose chains cannot be carried over. Start afresh with \`npm run sandbox:reset\`.`,
    );
  }
}
