import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeFileAtomically } from './atomic-file.ts';
import { keepChain } from './chain-keeper.ts';
import { callRpc, callRpcForNumber } from './chain-rpc.ts';
import { type ChainStateFiles, chainStateFiles, loadChainState, saveChainState } from './chain-state-file.ts';
import { type Child, lastLogLines, startChild } from './child.ts';
import { pickPort } from './free-port.ts';
import { findProcessesByCommand, type RunningProcess, signalProcess, waitUntilGone } from './processes.ts';

const require = createRequire(import.meta.url);

export interface LocalChain {
  readonly slug: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly pid: number;
  /** Resolves when the node has ended, whoever ended it. */
  readonly exited: Promise<string>;
  /** Makes what happened without a block durable too (balances set by hand). */
  save(): Promise<void>;
  stop(): Promise<void>;
}

export interface LocalChainOptions {
  /** A folder that this process has locked. */
  readonly home: string;
  readonly slug: string;
  readonly chainId: number;
  /** Blocks to put above each transaction; 0 for none. */
  readonly confirmations: number;
  /** What a person should still read when the start is over. */
  readonly onNotice: (text: string) => void;
  readonly onTrouble: (error: Error) => void;
}

const PORT_ATTEMPTS = 5;
const READY_POLL_MS = 15;
const READY_TIMEOUT_MS = 60_000;
/** Old states serve calls at old blocks; blocks, receipts and logs are kept for ever regardless. */
const KEPT_STATES = 256;

const STOP_LADDER = [
  { signal: 'SIGINT', patienceMs: 3_000 },
  { signal: 'SIGKILL', patienceMs: 2_000 },
] as const;

/** An anvil node with its state in `<home>/chains/<slug>-<chain id>`, taken over from whatever the last run left. */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { home, slug, chainId, confirmations, onNotice, onTrouble } = options;
  if (!/^[a-z0-9][a-z0-9-]*$/.test(slug)) throw new Error(`Not a chain slug: ${slug}`);
  const folder = join(home, 'chains', `${slug}-${chainId}`);
  const files = chainStateFiles(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await takeOverOrphans(folder, files, options);
  const state = await loadChainState(files);
  if (state?.fromPrevious) {
    onNotice(`The newest saved state of chain ${slug} is damaged: continuing from the one before it`);
  }
  const { child, rpcUrl } = await startOnFreePort(folder, state?.json, options);
  const keeper = keepChain({ rpcUrl, files, confirmations, isAlive: () => !child.hasExited(), onTrouble });
  return {
    slug,
    chainId,
    rpcUrl,
    pid: child.pid,
    exited: child.exited,
    save: () => keeper.save(),
    async stop() {
      try {
        await keeper.stop();
      } catch (error) {
        // A node that has died cannot be asked any more; the last saved state stands.
        if (!child.hasExited()) throw error;
      } finally {
        await child.stop(STOP_LADDER);
      }
    },
  };
}

/** The node itself, without the package's script around it, which would be one more Node process per chain. */
function resolveAnvil(): string {
  const manifest = require.resolve('@foundry-rs/anvil/package.json');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const program = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  const packageName = `@foundry-rs/anvil-${process.platform}-${arch}`;
  try {
    return createRequire(manifest).resolve(`${packageName}/bin/${program}`);
  } catch {
    throw new Error(
      `No local chain for ${process.platform}-${arch} (${packageName} is not installed). Configure the chains' RPC addresses.`,
    );
  }
}

/** Named on the node's command line, which is how a node of this folder is recognised after a crash. */
function cacheFolder(folder: string): string {
  return join(folder, 'cache');
}

/** A kill -9 of the sandbox leaves its nodes running, and they know more than the last save. */
async function takeOverOrphans(
  folder: string,
  files: ChainStateFiles,
  { slug, chainId, onNotice }: LocalChainOptions,
): Promise<void> {
  const orphans = (await findProcessesByCommand(cacheFolder(folder))).filter(({ argv }) =>
    /(^|\/)anvil(\s|$)/.test(argv[0] ?? ''),
  );
  for (const orphan of orphans) {
    const port = /--port[= ](\d+)/.exec(orphan.argv.join(' '))?.[1];
    const rpcUrl = `http://127.0.0.1:${port}`;
    try {
      if ((await callRpcForNumber(rpcUrl, 'eth_chainId')) !== chainId)
        throw new Error('another chain answers');
      await saveChainState(rpcUrl, files);
      onNotice(`Took over chain ${slug} from an earlier run`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      onNotice(
        `Chain ${slug} left over from an earlier run does not answer (${reason}): using its last save`,
      );
    }
    await endOrphan(orphan, slug);
  }
}

async function endOrphan(orphan: RunningProcess, slug: string): Promise<void> {
  for (const { signal, patienceMs } of STOP_LADDER) {
    await signalProcess(orphan, signal);
    if (await waitUntilGone([orphan], patienceMs)) return;
  }
  throw new Error(`Chain ${slug} left over from an earlier run (pid ${orphan.pid}) does not stop.`);
}

async function startOnFreePort(
  folder: string,
  state: Buffer | undefined,
  { slug, chainId, onNotice }: LocalChainOptions,
): Promise<{ child: Child; rpcUrl: string }> {
  const program = resolveAnvil();
  const portFile = join(folder, 'port');
  const stateToLoad = join(folder, 'loading.json');
  const remembered = Number(await readFile(portFile, 'utf8').catch(() => '')) || undefined;
  let preferred = remembered;
  if (state !== undefined) await writeFile(stateToLoad, state, { mode: 0o600 });
  try {
    for (let attempt = 1; ; attempt += 1) {
      const port = await pickPort(preferred);
      const args = [...nodeArguments(folder, port, chainId), ...(state ? ['--load-state', stateToLoad] : [])];
      const child = await startChild({
        name: `The local chain ${slug}`,
        command: program,
        args,
        env: { HOME: folder, LC_ALL: 'C' },
        cwd: folder,
        logFile: join(folder, 'anvil.log'),
      });
      if (await waitUntilListening(child, port)) {
        const rpcUrl = `http://127.0.0.1:${port}`;
        // The node logs every call; from here on only its own trouble is of interest.
        await callRpc(rpcUrl, 'anvil_setLoggingEnabled', [false]);
        if (remembered !== undefined && port !== remembered) {
          onNotice(`Port ${remembered} is taken: chain ${slug} listens on ${port}`);
        }
        if (port !== remembered) await writeFileAtomically(portFile, `${port}\n`);
        return { child, rpcUrl };
      }
      const log = await lastLogLines(child.logFile);
      if (!log.includes('Address already in use') || attempt === PORT_ATTEMPTS) {
        throw new Error(`Chain ${slug} did not start. Its log (${child.logFile}) ends with:\n${log}`);
      }
      preferred = undefined;
    }
  } finally {
    await rm(stateToLoad, { force: true });
  }
}

function nodeArguments(folder: string, port: number, chainId: number): string[] {
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)],
    // The usual development accounts have keys that everybody knows.
    ...['--accounts', '0'],
    // Web pages have no business with the node.
    '--no-cors',
    ...['--prune-history', String(KEPT_STATES), '--cache-path', cacheFolder(folder), '--color', 'never'],
  ];
}

/** Judged by the node's own words, not by an answer on the port, which might be somebody else's. */
async function waitUntilListening(child: Child, port: number): Promise<boolean> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!child.hasExited()) {
    const log = await readFile(child.logFile, 'utf8').catch(() => '');
    if (log.includes(`Listening on 127.0.0.1:${port}`)) return true;
    if (performance.now() >= deadline) {
      await child.stop(STOP_LADDER);
      return false;
    }
    await delay(READY_POLL_MS);
  }
  return false;
}
