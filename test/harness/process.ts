import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { until } from './until.ts';

/** The program as it is started by hand: a process of its own, seen only from outside. */
export interface GatewayProcess {
  readonly child: ChildProcess;
  /** Everything it has printed so far. */
  output(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  /** Until the banner says that it is ready; fails with its output when it ends first. */
  ready(): Promise<void>;
}

const REPOSITORY = new URL('../..', import.meta.url).pathname;
const MAIN = join(REPOSITORY, 'apps/gateway/src/main.ts');
/** As `npm start` has it. */
export const COMPILED = join(REPOSITORY, 'node_modules/.cache/causeway');

/** The settings and flags of Node with which `npm start` of a checkout starts the program: what is measured is what runs. */
export function npmStartOf(folder: string) {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const words = String(scripts.start).split(' ');
  const node = words.indexOf('node');
  const settings = words.slice(0, node).filter((word) => word.includes('='));
  return {
    env: Object.fromEntries(settings.map((word) => word.split('=') as [string, string])),
    flags: words.slice(node + 1).filter((word) => word.startsWith('--')),
  };
}

export const START = npmStartOf(REPOSITORY);

export function startProcess(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): GatewayProcess {
  return watched(
    spawn(process.execPath, [...START.flags, MAIN, ...args], {
      env: {
        ...{ PATH: process.env.PATH ?? '', ...START.env, NODE_COMPILE_CACHE: COMPILED, METRICS_PORT: '0' },
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** `npm start` itself, in a process group of its own as a terminal gives it one. */
export function startWithNpm(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): GatewayProcess {
  const { PATH = '', HOME = '' } = process.env;
  return watched(
    spawn('npm', ['start', '--', ...args], {
      cwd: REPOSITORY,
      env: { PATH, HOME, METRICS_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }),
  );
}

function watched(child: ChildProcessByStdio<null, Readable, Readable>): GatewayProcess {
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  const output = () => chunks.join('');
  return {
    child,
    output,
    exited,
    async ready() {
      const isReady = () => {
        if (ended) throw new Error(`it ended before it was ready:\n${output()}`);
        return output().includes('is ready.');
      };
      await until('the sandbox to be ready', isReady, 90_000);
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: read as its users read it.
export async function readSandboxFile(home: string): Promise<any> {
  return JSON.parse(await readFile(join(home, 'sandbox.json'), 'utf8'));
}
