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

const EXAMPLE = new URL('../../examples/first-order.ts', import.meta.url).pathname;
let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'causeway-first-order-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

function run(): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [EXAMPLE, home], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

function describeSandbox(baseUrl: string, apiKey = 'cw_test_of_another_time', rpcUrl = ''): Promise<void> {
  const sandbox = {
    base_url: baseUrl,
    partners: [{ api_key: apiKey }],
    chains: [{ slug: 'base-mainnet', rpc_url: rpcUrl }],
  };
  return writeFile(join(home, 'sandbox.json'), JSON.stringify(sandbox));
}

async function expectAdvice(what: string): Promise<void> {
  const { code, stderr } = await run();
  expect(stderr).toContain(what);
  expect(stderr).toContain('Start one with `npm start`');
  expect(stderr).not.toContain('    at ');
  expect(code).toBe(1);
}

describe('npm run first-order', () => {
  it('takes a first order to its end on a running sandbox', async () => {
    const gateway = await startGateway({ chains: true });
    try {
      await describeSandbox(gateway.baseUrl, gateway.partners[0].apiKey, gateway.sandbox.chains[0]?.rpcUrl);
      const { code, stdout, stderr } = await run();
      expect(stderr).toBe('');
      expect(stdout).toMatch(/on chain +0x[0-9a-f]{64} on base-mainnet/);
      expect(code).toBe(0);
    } finally {
      await gateway.stop();
    }
  });

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
