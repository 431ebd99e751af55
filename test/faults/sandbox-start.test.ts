import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { call } from '../harness/gateway.ts';
import { type GatewayProcess, readSandboxFile, startProcess } from '../harness/process.ts';
import { until } from '../harness/until.ts';

const homes: string[] = [];
const running: GatewayProcess[] = [];

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-start-'));
  homes.push(home);
  return home;
}

function start(env: Record<string, string>, args: string[] = []): GatewayProcess {
  const gateway = startProcess(env, args);
  running.push(gateway);
  return gateway;
}

async function stop(gateway: GatewayProcess, signal: NodeJS.Signals = 'SIGINT'): Promise<number | string> {
  gateway.child.kill(signal);
  return gateway.exited;
}

/** Every process whose command line names the home: its database and chains. */
async function processesOf(home: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  for (const pid of pids) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(home)) found.push(Number(pid));
  }
  return found;
}

afterEach(async () => {
  for (const gateway of running.splice(0)) {
    if (gateway.child.exitCode === null && gateway.child.signalCode === null) await stop(gateway);
  }
  for (const home of homes.splice(0)) {
    for (const pid of await processesOf(home)) process.kill(pid, 'SIGKILL');
    await rm(home, { recursive: true, force: true });
  }
});

describe('npm start', () => {
  // Proves D11.1.
  it('runs the whole sandbox from nothing, refuses a second one in the same home, and stops everything it started', async () => {
    const home = await newHome();
    const gateway = start({ CAUSEWAY_HOME: home, PORT: '0' });
    await gateway.ready();
    const sandbox = await readSandboxFile(home);

    expect(sandbox.partners).toHaveLength(2);
    expect(
      sandbox.partners.map((partner: { fiat_accounts_enabled: boolean }) => partner.fiat_accounts_enabled),
    ).toEqual([true, false]);
    expect(sandbox.chains.map(({ slug }: { slug: string }) => slug)).toEqual([
      'base-mainnet',
      'arbitrum-one',
    ]);
    expect(gateway.output()).toContain(sandbox.partners[0].api_key);
    for (const path of ['/health', '/ready', '/api/v1/openapi.json', '/docs/']) {
      expect((await call(sandbox.base_url, 'GET', path)).status, path).toBe(200);
    }

    const second = start({ CAUSEWAY_HOME: home, PORT: '0' });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`already runs in ${home} (pid ${gateway.child.pid})`);
    expect(second.output()).toContain('CAUSEWAY_HOME');

    expect(await stop(gateway)).toBe(0);
    expect(await processesOf(home)).toEqual([]);
  });

  it('keeps keys and data through kill -9 of the program, and of everything at once', async () => {
    const home = await newHome();
    const first = start({ CAUSEWAY_HOME: home, PORT: '0' });
    await first.ready();
    const before = await readSandboxFile(home);
    const key = before.partners[0].api_key;
    const created = await call(before.base_url, 'POST', '/api/v1/partner/users', {
      key,
      body: { email: 'kept@example.com' },
    });
    const userPath = `/api/v1/partner/users/${created.body.data.id}`;
    await stop(first, 'SIGKILL');

    const second = start({ CAUSEWAY_HOME: home, PORT: '0' });
    await second.ready();
    const after = await readSandboxFile(home);
    expect({ ...after, base_url: '', chains: [] }).toEqual({ ...before, base_url: '', chains: [] });
    expect((await call(after.base_url, 'GET', userPath, { key })).status).toBe(200);
    second.child.kill('SIGKILL');
    for (const pid of await processesOf(home)) process.kill(pid, 'SIGKILL');
    await second.exited;

    const third = start({ CAUSEWAY_HOME: home, PORT: '0' });
    await third.ready();
    const again = await readSandboxFile(home);
    expect((await call(again.base_url, 'GET', userPath, { key })).status).toBe(200);
  });

  it('names the port that was asked for and is taken', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await until('the squatter to listen', () => squatter.listening);
    const { port } = squatter.address() as AddressInfo;
    const gateway = start({ CAUSEWAY_HOME: await newHome(), PORT: String(port) });
    expect(await gateway.exited).toBe(1);
    expect(gateway.output()).toContain(`Port ${port} is taken`);
    squatter.close();
  });

  it('refuses production with nothing configured, naming every variable at once', async () => {
    const gateway = start({ CAUSEWAY_ENV: 'production' });
    expect(await gateway.exited).toBe(1);
    for (const name of [
      'DATABASE_URL',
      'CHAINS_FILE',
      'SERVICE_SIGNER_KEY',
      'DATA_ENCRYPTION_KEY',
      'PUBLIC_BASE_URL',
      'OPERATOR_KEY',
    ]) {
      expect(gateway.output()).toContain(name);
    }
  });

  it('explains itself, and says which argument it does not know', async () => {
    const help = start({}, ['--help']);
    expect(await help.exited).toBe(0);
    expect(help.output()).toContain('Usage: npm start');
    const unknown = start({}, ['wroker']);
    expect(await unknown.exited).toBe(1);
    expect(unknown.output()).toContain('"wroker" is not an argument');
  });
});
