import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type GatewayProcess, readSandboxFile, startWithNpm } from '../harness/process.ts';
import { until } from '../harness/until.ts';

const SEVERAL_STARTS_MS = 300_000;
const folders: string[] = [];

/** A folder whose name tells the processes of one test apart: it is in their command line or their environment. */
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-shutdown-'));
  folders.push(folder);
  return folder;
}

async function processesOf(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const named = await Promise.all(
    pids.map(async (pid) => {
      const files = [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`];
      const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
      return texts.some((text) => text.includes(folder)) ? [Number(pid)] : [];
    }),
  );
  return named.flat();
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { method: 'POST', body: '{}' }).then(
    () => true,
    () => false,
  );
}

/** The addresses at which this sandbox can be reached from outside. */
async function addressesOf(home: string): Promise<string[]> {
  const { base_url, chains } = await readSandboxFile(home);
  return [base_url, ...chains.map(({ rpc_url }: { rpc_url: string }) => rpc_url)];
}

async function expectNothingLeft(home: string, addresses: readonly string[]): Promise<void> {
  expect(await processesOf(home)).toEqual([]);
  for (const address of addresses) expect(await answers(address), address).toBe(false);
}

afterEach(async () => {
  for (const folder of folders.splice(0)) {
    for (const pid of await processesOf(folder)) process.kill(pid, 'SIGKILL');
    await until('the killed to be gone', async () => (await processesOf(folder)).length === 0);
    await rm(folder, { recursive: true, force: true });
  }
});

describe('the pid of npm start', () => {
  // Proves trap 49.
  it(
    'stops the whole sandbox on SIGTERM, on SIGINT, on Ctrl-C and, killed, within seconds; each next start is clean',
    async () => {
      const home = await newFolder();
      const start = async () => {
        const npm = startWithNpm({ CAUSEWAY_HOME: home, PORT: '0' });
        await npm.ready();
        const addresses = await addressesOf(home);
        for (const address of addresses) expect(await answers(address), address).toBe(true);
        return { npm, addresses };
      };
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        const { npm, addresses } = await start();
        npm.child.kill(signal);
        expect(await npm.exited, signal).toBe(0);
        await expectNothingLeft(home, addresses);
      }

      const atTerminal = await start();
      // A terminal sends it to the whole group, and npm passes its own on: the program gets it twice.
      process.kill(-pidOf(atTerminal.npm), 'SIGINT');
      expect(await atTerminal.npm.exited).toBe(0);
      await expectNothingLeft(home, atTerminal.addresses);

      const killed = await start();
      killed.npm.child.kill('SIGKILL');
      expect(await killed.npm.exited).toBe('SIGKILL');
      await until('the orphan to end by itself', async () => (await processesOf(home)).length === 0);
      await expectNothingLeft(home, killed.addresses);
    },
    SEVERAL_STARTS_MS,
  );

  it(
    'stops a start that is still under way, and leaves nothing of it',
    async () => {
      const home = await newFolder();
      for (const moment of ['Starting PostgreSQL', 'Preparing the database', 'Starting the API']) {
        const npm = startWithNpm({ CAUSEWAY_HOME: home, PORT: '0' });
        await until(moment, () => npm.output().includes(moment));
        npm.child.kill('SIGTERM');
        expect(await npm.exited, moment).toBe(0);
        expect(await processesOf(home), moment).toEqual([]);
      }
    },
    SEVERAL_STARTS_MS,
  );

  describe('with a role', () => {
    let ground: TestGateway;
    beforeAll(async () => {
      ground = await startGateway({ chains: true, worker: false });
    });
    afterAll(() => ground?.stop());

    // Proves trap 49.
    it.each([
      { role: 'api', signal: 'SIGTERM' },
      { role: 'api', signal: 'SIGKILL' },
      { role: 'worker', signal: 'SIGINT' },
      { role: 'worker', signal: 'SIGKILL' },
    ] as const)('ends the $role on $signal', async ({ role, signal }) => {
      // The home is the ground's, so a folder of no other use marks what is started here.
      const mark = await newFolder();
      const npm = startWithNpm({ ...ground.env, MARK: mark }, [role]);
      await npm.ready();
      npm.child.kill(signal);
      expect(await npm.exited).toBe(signal === 'SIGKILL' ? signal : 0);
      if (signal === 'SIGKILL') {
        await until('the orphan to end by itself', async () => (await processesOf(mark)).length === 0);
      }
      expect(await processesOf(mark)).toEqual([]);
    });
  });
});

function pidOf({ child }: GatewayProcess): number {
  if (child.pid === undefined) throw new Error('npm did not start');
  return child.pid;
}
