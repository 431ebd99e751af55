import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './until.ts';

/** The program as people start it: a process of its own, seen only from outside. */
export interface GatewayProcess {
  readonly child: ChildProcess;
  /** Everything it has printed so far. */
  output(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  /** Until the banner says that it is ready; fails with its output when it ends first. */
  ready(): Promise<void>;
}

const MAIN = new URL('../../apps/gateway/src/main.ts', import.meta.url).pathname;

export function startProcess(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): GatewayProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH ?? '', METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
      await until('the sandbox to be ready', () => {
        if (ended) throw new Error(`it ended before it was ready:\n${output()}`);
        return output().includes('is ready.');
      });
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: read as its users read it.
export async function readSandboxFile(home: string): Promise<any> {
  return JSON.parse(await readFile(join(home, 'sandbox.json'), 'utf8'));
}
