import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/harness/until.ts';
import { callRpc } from './chain-rpc.ts';
import { type LocalServices, startLocalServices } from './local-services.ts';
import { clusterMarker } from './postgres-recovery.ts';
import { findProcessesByCommand, type RunningProcess, waitUntilGone } from './processes.ts';

const CHAINS = [
  { slug: 'base', chainId: 3_135_001 },
  { slug: 'bnb-chain', chainId: 3_135_002 },
];
const SENDER = '0x00000000000000000000000000000000000000aa';
const RECEIVER = '0x00000000000000000000000000000000000000bb';
const CONFIRMATIONS = 3;
const isRoot = process.getuid?.() === 0;

let base: string;
let home: string;
let notices: string[];
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'causeway local '));
  // A space in the name, because people have them.
  // mkdtemp makes it private to root, and one test is about exactly that.
  await chmod(base, 0o755);
  home = join(base, 'home');
  notices = [];
});

afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
  // A server that was killed may just have forked: the child sees it and ends a moment later.
  await expect.poll(() => findProcessesByCommand(base), { timeout: 5_000 }).toEqual([]);
  await rm(base, { recursive: true, force: true });
});

async function start(
  overrides: Partial<Parameters<typeof startLocalServices>[0]> = {},
): Promise<LocalServices> {
  const services = await startLocalServices({
    home,
    baseUrl: 'http://127.0.0.1:8080',
    chains: CHAINS,
    confirmations: CONFIRMATIONS,
    wantPostgres: true,
    wantChains: true,
    onProgress: () => undefined,
    onNotice: (text) => notices.push(text),
    onFailure: (error) => {
      throw error;
    },
    ...overrides,
  });
  running.push(services);
  return services;
}

async function query(databaseUrl: string | undefined, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function pay(rpcUrl: string): Promise<string> {
  await callRpc(rpcUrl, 'hardhat_setBalance', [SENDER, '0xde0b6b3a7640000']);
  await callRpc(rpcUrl, 'hardhat_impersonateAccount', [SENDER]);
  return String(await callRpc(rpcUrl, 'eth_sendTransaction', [{ from: SENDER, to: RECEIVER, value: '0x7' }]));
}

interface Written {
  readonly hashes: string[];
  readonly receipts: unknown[];
}

async function writeEverywhere(services: Pick<LocalServices, 'databaseUrl' | 'chains'>): Promise<Written> {
  await query(services.databaseUrl, 'create table kept (value text)');
  await query(services.databaseUrl, "insert into kept values ('row')");
  const hashes = await Promise.all(services.chains.map(({ rpcUrl }) => pay(rpcUrl)));
  const receipts = await Promise.all(
    services.chains.map(({ rpcUrl }, index) => callRpc(rpcUrl, 'eth_getTransactionReceipt', [hashes[index]])),
  );
  expect(receipts).not.toContain(null);
  return { hashes, receipts };
}

async function expectAllKept(
  services: Pick<LocalServices, 'databaseUrl' | 'chains'>,
  written: Written,
): Promise<void> {
  expect(await query(services.databaseUrl, 'select value from kept')).toEqual([{ value: 'row' }]);
  for (const [index, { rpcUrl }] of services.chains.entries()) {
    const receipt = await callRpc(rpcUrl, 'eth_getTransactionReceipt', [written.hashes[index]]);
    expect(receipt).toEqual(written.receipts[index]);
    expect(await callRpc(rpcUrl, 'eth_getBalance', [RECEIVER, 'latest'])).toBe('0x7');
  }
}

/** A sandbox in a process of its own, so that it can be killed like one. */
function launch(options: SpawnOptions = {}): { child: ChildProcess; output: Readable } {
  const script = `
    import { startLocalServices } from ${JSON.stringify(new URL('./local-services.ts', import.meta.url).href)};
    const services = await startLocalServices({
      home: ${JSON.stringify(home)}, chains: ${JSON.stringify(CHAINS)}, confirmations: ${CONFIRMATIONS},
      baseUrl: 'http://127.0.0.1:8080', wantPostgres: true, wantChains: true,
      onProgress() {}, onNotice() {}, onFailure() {},
    });
    process.once('SIGTERM', () => services.stop());
    console.log(JSON.stringify(services));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    ...options,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('No output to read.');
  return { child, output: child.stdout };
}

interface Elsewhere {
  readonly child: ChildProcess;
  readonly services: Pick<LocalServices, 'databaseUrl' | 'chains'>;
  stop(): Promise<void>;
}

async function startElsewhere(options: SpawnOptions = {}): Promise<Elsewhere> {
  const { child, output } = launch(options);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  running.push({ stop });
  for await (const line of createInterface({ input: output }))
    return { child, services: JSON.parse(line), stop };
  throw new Error('The sandbox ended before it was ready.');
}

async function killAndWait(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function databasesOf(home: string): Promise<RunningProcess[]> {
  return (await findProcessesByCommand(home)).filter(({ argv }) => argv[0]?.endsWith('postgres'));
}

describe('local services', () => {
  it('keep rows, blocks and receipts over a stop and a start, on the same ports', async () => {
    const first = await start();
    const written = await writeEverywhere(first);
    await first.stop();
    expect(await findProcessesByCommand(home)).toEqual([]);

    const second = await start();
    expect(second.databaseUrl).toBe(first.databaseUrl);
    expect(second.chains).toEqual(first.chains);
    await expectAllKept(second, written);
  });

  it('lose nothing when the sandbox is killed with -9, and its orphans are gone', async () => {
    const { child, services } = await startElsewhere();
    const written = await writeEverywhere(services);
    await killAndWait(child);
    const orphans = await databasesOf(home);
    expect(orphans).toHaveLength(1);

    const second = await start();
    await expectAllKept(second, written);
    expect(await waitUntilGone(orphans, 0)).toBe(true);
    expect(notices).toEqual(['Stopped a PostgreSQL left over from an earlier run']);
  });

  it('lose nothing when sandbox and database are both killed with -9', async () => {
    const { child, services } = await startElsewhere();
    const written = await writeEverywhere(services);
    const databases = await databasesOf(home);
    for (const { pid } of databases) process.kill(pid, 'SIGKILL');
    await killAndWait(child);
    expect(await waitUntilGone(databases, 2_000)).toBe(true);

    await expectAllKept(await start(), written);
  });

  it('recover from a busy backend that outlives its killed postmaster', async () => {
    const { child, services } = await startElsewhere();
    const written = await writeEverywhere(services);
    const busy = query(services.databaseUrl, 'select count(*) from generate_series(1, 1e12::bigint)').catch(
      () => 'cut off',
    );
    const marker = clusterMarker(join(home, 'postgres'));
    const backends = async () =>
      (await findProcessesByCommand(marker)).filter(({ argv }) => argv[0]?.includes('SELECT'));
    await expect.poll(backends, { timeout: 5_000 }).toHaveLength(1);
    for (const { pid } of await databasesOf(home)) process.kill(pid, 'SIGKILL');
    await killAndWait(child);
    expect(await backends()).toHaveLength(1);

    await expectAllKept(await start(), written);
    expect(await busy).toBe('cut off');
  });

  it('can be killed with -9 at any moment of their first start', async () => {
    for (const afterMs of [120, 200, 300, 450, 700, 1_000]) {
      const { child } = launch();
      await delay(afterMs);
      await killAndWait(child);
    }
    const services = await start();
    const written = await writeEverywhere(services);
    await expectAllKept(services, written);
  });

  it('keep the database running through a Ctrl-C at the terminal, so that the sandbox can stop it in order', async () => {
    const { child } = await startElsewhere({ detached: true });
    const ended = once(child, 'exit');
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await ended;
    // A process that the server is just starting has its command line for a moment.
    await until('one server', async () => (await databasesOf(home)).length === 1);
    await start();
  });

  it('are refused a second time in the same folder, with who holds it', async () => {
    const { child } = await startElsewhere();
    await expect(start()).rejects.toThrow(
      `A sandbox already runs in ${home} (pid ${child.pid}, http://127.0.0.1:8080). Stop it, or set CAUSEWAY_HOME to another folder.`,
    );
  });

  it('move to other ports, and say so, when theirs are taken', async () => {
    const first = await start();
    const written = await writeEverywhere(first);
    await first.stop();
    const ports = [first.databaseUrl ?? '', ...first.chains.map(({ rpcUrl }) => rpcUrl)].map((url) =>
      Number(new URL(url).port),
    );
    const otherServers = await Promise.all(
      ports.map(async (port) => {
        const server = createServer().listen(port, '127.0.0.1');
        await once(server, 'listening');
        return server;
      }),
    );
    try {
      const second = await start();
      await expectAllKept(second, written);
      expect(notices.filter((text) => text.includes('is taken'))).toHaveLength(3);
    } finally {
      for (const server of otherServers) server.close();
    }
  });

  it('report a database that dies by itself once', async () => {
    const failures: string[] = [];
    await start({ onFailure: (error) => failures.push(error.message) });
    for (const { pid } of await databasesOf(home)) process.kill(pid, 'SIGKILL');
    await expect.poll(() => failures, { timeout: 5_000 }).toHaveLength(1);
    expect(failures[0]).toMatch(/^PostgreSQL ended \(signal SIGKILL\)/);
  });

  it('stop what runs, and free the folder, when one of them cannot start', async () => {
    await expect(start({ chains: [...CHAINS, { slug: '../escape', chainId: 1 }] })).rejects.toThrow(
      'Not a chain slug',
    );
    expect(await findProcessesByCommand(home)).toEqual([]);
    await start();
  });

  it('stop what runs when the start is called off', async () => {
    const controller = new AbortController();
    const starting = start({ signal: controller.signal });
    controller.abort(new Error('Ctrl-C'));
    await expect(starting).rejects.toThrow('Ctrl-C');
    expect(await findProcessesByCommand(home)).toEqual([]);
  });

  it('start only what is wanted', async () => {
    const onlyChains = await start({ wantPostgres: false });
    expect(onlyChains.databaseUrl).toBeUndefined();
    expect(onlyChains.chains).toHaveLength(2);
    await onlyChains.stop();
    const onlyPostgres = await start({ wantChains: false });
    expect(onlyPostgres.chains).toEqual([]);
    expect(await query(onlyPostgres.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it.runIf(isRoot)('start as root in a folder that only root may enter', async () => {
    await chmod(base, 0o700);
    const services = await start({ wantChains: false });
    expect(await query(services.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
    const [server] = await databasesOf(home);
    expect((await stat(`/proc/${server?.pid}`)).uid).not.toBe(0);
  });

  it.runIf(isRoot)('start, and recover from kill -9, as an ordinary user', async () => {
    await mkdir(home);
    await chown(home, 65_534, 65_534);
    const first = await startElsewhere({ uid: 65_534, gid: 65_534 });
    const written = await writeEverywhere(first.services);
    await killAndWait(first.child);
    const second = await startElsewhere({ uid: 65_534, gid: 65_534 });
    await expectAllKept(second.services, written);
  });

  it.runIf(isRoot)('stay usable for an ordinary user after a start as root in between', async () => {
    await mkdir(home);
    await chown(home, 65_534, 65_534);
    const first = await startElsewhere({ uid: 65_534, gid: 65_534 });
    const written = await writeEverywhere(first.services);
    await first.stop();
    const asRoot = await start();
    await expectAllKept(asRoot, written);
    await asRoot.stop();
    await expectAllKept((await startElsewhere({ uid: 65_534, gid: 65_534 })).services, written);
  });
});
