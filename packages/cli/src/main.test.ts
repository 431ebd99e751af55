import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, 'main.ts');
const UNKNOWN_ID = '0199aa9f-0000-7c41-9d0e-6b1f5a3c2d10';
/** Of the attempts that a call would otherwise make: 30 seconds each, three times. */
const PROMPTLY_MS = 15_000;

describe('the program', () => {
  let silent: Server;
  let address: string;
  const started: ChildProcess[] = [];

  /** Takes every request, and answers none. */
  beforeAll(async () => {
    silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  });
  // One that did not end is no more than a failed test.
  afterEach(() => {
    for (const program of started.splice(0)) program.kill('SIGKILL');
  });
  afterAll(() => {
    silent.closeAllConnections();
    silent.close();
  });

  function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const program = spawn(process.execPath, [MAIN, ...argv], {
      env: {
        PATH: process.env.PATH,
        CAUSEWAY_CONFIG_DIR: '/nonexistent',
        CAUSEWAY_HOME: '/nonexistent',
        ...env,
      },
    });
    started.push(program);
    return program;
  }
  const codeOf = async (program: ChildProcess) => (await once(program, 'exit'))[0] as number | null;
  const environment = () => ({ CAUSEWAY_BASE_URL: address, CAUSEWAY_API_KEY: 'cw_test_1' });

  it.each([
    [['clock'], 'SIGINT'],
    [['clock', 'advance', '10m'], 'SIGTERM'],
    [['doctor'], 'SIGINT'],
    [['webhooks', 'show', UNKNOWN_ID], 'SIGINT'],
    [['webhooks', 'replay', UNKNOWN_ID, '--endpoint', '1'], 'SIGINT'],
    [['login'], 'SIGINT'],
    [['trigger', 'webhook.test'], 'SIGINT'],
  ] as const)(
    'ends with 130 at the first signal while the service says nothing: %j, %s',
    async (argv, signal) => {
      const asked = once(silent, 'request');
      const program = start(argv, environment());
      const ended = codeOf(program);
      await asked;
      program.kill(signal);
      expect(await ended).toBe(130);
    },
    PROMPTLY_MS,
  );

  it(
    'ends with 130 at the first signal while it waits for a key that is piped in',
    async () => {
      const program = start(['login', '--base-url', address, '--key-stdin']);
      const ended = codeOf(program);
      // Taken once it reads: a pipe has no other way to say so.
      await new Promise((resolve) => program.stdin?.write('x'.repeat(1024 * 1024), resolve));
      program.kill('SIGINT');
      expect(await ended).toBe(130);
    },
    PROMPTLY_MS,
  );

  it('goes on when its remarks are read by nobody: the result and the exit code are as ever', async () => {
    const failing = start(['orders', 'list']);
    failing.stderr?.destroy();
    expect(await codeOf(failing)).toBe(3);
    const working = start(['completion', 'bash']);
    working.stderr?.destroy();
    expect(await codeOf(working)).toBe(0);
  });
});
