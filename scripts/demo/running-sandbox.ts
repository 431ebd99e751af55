import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Causeway } from '@causeway/sdk';
import type { SandboxFile } from '@causeway/sdk/signing';

/** `sandbox.json`, as far as the demo needs it. */
export interface DemoSandbox extends SandboxFile {
  readonly base_url: string;
  readonly operator_key: string;
  readonly partners: readonly {
    readonly name: string;
    readonly api_key: string;
    readonly widget_key: string;
    readonly wallet_address: string;
    readonly wallet_private_key: string;
  }[];
  readonly vendors: readonly { readonly name: string; readonly api_key: string }[];
  readonly chains: readonly (SandboxFile['chains'][number] & { readonly rpc_url: string })[];
}

export interface StartedSandbox {
  readonly home: string;
  readonly sandbox: DemoSandbox;
}

const REPOSITORY = new URL('../..', import.meta.url).pathname;
const MAIN = join(REPOSITORY, 'apps/gateway/src/main.ts');
/** As `npm start` has it. */
const COMPILED = join(REPOSITORY, 'node_modules/.cache/causeway');

/** The sandbox of a folder, if it runs: the file outlives it, and its port may be another program's by now. */
export async function findSandbox(home: string): Promise<DemoSandbox | undefined> {
  const sandbox = await readSandbox(home).catch(() => undefined);
  const apiKey = sandbox?.partners[0]?.api_key;
  if (sandbox === undefined || apiKey === undefined) return undefined;
  const causeway = new Causeway({ baseUrl: sandbox.base_url, apiKey, maxRetries: 0 });
  const isRunning = await causeway.orders.list({ limit: 1 }).then(
    () => true,
    () => false,
  );
  return isRunning ? sandbox : undefined;
}

/** One of its own in a new folder, at free ports. What ends it and removes the folder is added to the endings at once. */
export async function startSandbox(endings: (() => Promise<void>)[]): Promise<StartedSandbox> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-demo-'));
  const { DATABASE_URL: _, ...rest } = process.env;
  const own = { CAUSEWAY_HOME: home, CAUSEWAY_ENV: 'sandbox', PORT: '0', METRICS_PORT: '0' };
  const env = { ...rest, ...own, NODE_COMPILE_CACHE: COMPILED };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let output = '';
  const ready = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('is ready.')) ready.resolve();
    });
  }
  child.once('exit', () => ready.reject(new Error(`The sandbox did not start:\n${output}`)));
  endings.push(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exited;
    await rm(home, { recursive: true, force: true });
  });
  await ready.promise;
  return { home, sandbox: await readSandbox(home) };
}

async function readSandbox(home: string): Promise<DemoSandbox> {
  return JSON.parse(await readFile(join(home, 'sandbox.json'), 'utf8'));
}
