import { execFile, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type GatewayProcess, readSandboxFile, startProcess } from '../harness/process.ts';
import { until } from '../harness/until.ts';

describe('roles in processes of their own, around one database', () => {
  let api: TestGateway;
  let worker: GatewayProcess;

  beforeAll(async () => {
    api = await startGateway({ chains: true, worker: false });
    worker = startProcess(api.env, ['worker']);
    await worker.ready();
  });
  afterAll(async () => {
    worker?.child.kill('SIGKILL');
    await api?.stop();
  });

  it('an order opened here is carried by the worker there, the clock moved here is seen there, SIGTERM drains', async () => {
    const { call } = api;
    const user = (await call('POST', '/api/v1/partner/users', { body: { email: 'two@example.com' } })).body
      .data.id;
    await call('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { body: { status: 'VERIFIED' } });
    const orderId = await open(user);
    await reaches(orderId, 'awaiting_fiat_transfer');

    await call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
    const stuck = await open(user);
    await call('POST', '/api/v1/sandbox/clock/advance', { body: { seconds: 901 } });
    await reaches(stuck, 'cancelled');

    worker.child.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
  });

  it('several of the API serve one port, one that dies is replaced, and all end with the first', async () => {
    const env: Record<string, string> = { ...api.env, API_PROCESSES: '2', METRICS_PORT: '0' };
    const several = startProcess(env, ['api']);
    try {
      await several.ready();
      const { base_url: baseUrl } = await readSandboxFile(env.CAUSEWAY_HOME ?? '');
      await until('both to answer', async () => (await servers(baseUrl)).size === 2);

      const before = await servers(baseUrl);
      const [victim] = await childrenOf(several.child.pid);
      process.kill(victim as number, 'SIGKILL');
      await until('another in its place', async () => {
        const now = await servers(baseUrl).catch(() => new Set<string>());
        return now.size === 2 && [...now].some((server) => !before.has(server));
      });

      const children = await childrenOf(several.child.pid);
      expect(children).toHaveLength(2);
      expect(children).not.toContain(victim);
      // The first process serves no request itself, and says all the same how it and the others are.
      const [, metrics = ''] = /Metrics +(http:\S+)/.exec(several.output()) ?? [];
      const figures = await (await fetch(metrics)).text();
      expect(figures).toMatch(/^ready 1$/m);
      expect(figures).toMatch(/^process_resident_memory_bytes /m);
      const ready = async () => (await fetch(new URL('/ready', metrics))).status;
      expect(await ready()).toBe(200);
      for (const pid of children) process.kill(pid, 'SIGKILL');
      await until('the first to say that none serves', async () => (await ready()) === 503);
      await until('another in its place', async () => (await ready()) === 200);
      const last = await childrenOf(several.child.pid);
      several.child.kill('SIGTERM');
      expect(await several.exited).toBe(0);
      for (const pid of last) expect(() => process.kill(pid, 0)).toThrow();
    } finally {
      several.child.kill('SIGKILL');
    }
  });

  // One core would have to be without it.
  it.skipIf(availableParallelism() === 1)(
    'one that shall go before all else does, or does not start and says why',
    async () => {
      const realtime = { ...api.env, API_SCHEDULING: 'realtime', METRICS_PORT: '0' };
      const cannot = startProcess({ ...realtime, PATH: '/nowhere' }, ['api']);
      expect(await cannot.exited).toBe(1);
      expect(cannot.output()).toContain('Causeway could not start: real-time scheduling (API_SCHEDULING)');
      expect(cannot.output()).toContain('there is no chrt');

      const process_ = startProcess(realtime, ['api']);
      try {
        if (spawnSync('chrt', ['--rr', '1', 'true']).status !== 0) {
          expect(await process_.exited).toBe(1);
          expect(process_.output()).toContain('is not to be had here');
          return;
        }
        await process_.ready();
        const { stdout } = await promisify(execFile)('chrt', ['--pid', String(process_.child.pid)]);
        expect(stdout).toContain('SCHED_RR|SCHED_RESET_ON_FORK');
      } finally {
        process_.child.kill('SIGKILL');
      }
    },
  );

  /** Which processes answer: ids of requests begin with one of their process. */
  async function servers(baseUrl: string): Promise<Set<string>> {
    const seen = new Set<string>();
    for (let n = 0; n < 8; n++) {
      // A connection that was handed to a process in the instant of its death is answered by none.
      const signal = AbortSignal.timeout(5_000);
      const { headers } = await fetch(`${baseUrl}/health`, { headers: { connection: 'close' }, signal });
      seen.add(headers.get('x-request-id')?.replace(/-\d+$/, '') ?? '');
    }
    return seen;
  }

  /** Processes of ours; the database's are not among them. */
  async function childrenOf(parent: number | undefined): Promise<number[]> {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']);
    return stdout.split('\n').flatMap((line) => {
      const [pid, ppid] = line.trim().split(/\s+/).map(Number);
      return ppid === parent && line.includes('main.ts') && pid !== undefined ? [pid] : [];
    });
  }

  async function open(user: string): Promise<string> {
    const quote = await api.call('POST', '/api/v1/partner/onramp/quote', {
      body: { user_uuid: user, crypto_currency: 'USDT', fiat_currency: 'EUR', fiat_amount: '50.00' },
    });
    const order = await api.call('POST', '/api/v1/partner/onramp/initiate', {
      body: { quote_id: quote.body.data.quote_id },
    });
    return order.body.data.order_id;
  }

  function reaches(orderId: string, status: string) {
    return until(`${orderId} in ${status}`, async () => {
      const { body } = await api.call('GET', `/api/v1/partner/orders/${orderId}`);
      return body.data.status === status && body.data;
    });
  }
});
