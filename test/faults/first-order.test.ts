import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pickPort } from '../../apps/gateway/src/local/free-port.ts';
import { startGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';

const EXAMPLE = new URL('../../examples/first-onramp.ts', import.meta.url).pathname;
let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'causeway-first-order-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

function run(): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH ?? '', CAUSEWAY_HOME: home };
    execFile(process.execPath, [EXAMPLE], { env }, (error, _stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stderr }),
    );
  });
}

function describeSandbox(baseUrl: string): Promise<void> {
  const sandbox = { base_url: baseUrl, partners: [{ api_key: 'cw_test_of_another_time' }], chains: [] };
  return writeFile(join(home, 'sandbox.json'), JSON.stringify(sandbox));
}

async function expectAdvice(what: string): Promise<void> {
  const { code, stderr } = await run();
  expect(stderr).toContain(what);
  expect(stderr).toContain('Start one with `npm start`');
  expect(stderr).not.toContain('    at ');
  expect(code).toBe(1);
}

/** What every example says where there is no sandbox; test/scenarios/examples.test.ts runs them all where there is one. */
describe('npm run first-order', () => {
  it('says what to do where no sandbox was ever started', () =>
    expectAdvice(`There is no sandbox in ${home}`));

  it('says what to do where the file was cut off', async () => {
    await writeFile(join(home, 'sandbox.json'), '{"base_url": "http');
    await expectAdvice(`There is no sandbox in ${home}`);
  });

  it('says what to do where the sandbox has ended since', async () => {
    await describeSandbox(`http://127.0.0.1:${await pickPort(undefined)}`);
    await expectAdvice('nothing answers at');
  });

  it('says what to do where another program has the port by now', async () => {
    const other = createServer((_request, response) => response.end('<html>')).listen(0, '127.0.0.1');
    await until('the other program to listen', () => other.listening);
    try {
      await describeSandbox(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
      await expectAdvice('is another program');
    } finally {
      other.close();
    }
  });

  it('says what to do where the sandbox of another folder has the port by now', async () => {
    const gateway = await startGateway();
    try {
      await describeSandbox(gateway.baseUrl);
      await expectAdvice('is another program');
    } finally {
      await gateway.stop();
    }
  });
});
