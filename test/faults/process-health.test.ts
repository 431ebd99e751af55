import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DatabaseProxy, startDatabaseProxy } from '../deployment/database-proxy.ts';
import { call } from '../harness/call.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type GatewayProcess, startProcess } from '../harness/process.ts';
import { until } from '../harness/until.ts';

describe('a process seen by whatever runs it', () => {
  let ground: TestGateway;
  let database: DatabaseProxy;
  const started: GatewayProcess[] = [];

  beforeAll(async () => {
    ground = await startGateway({ chains: true, worker: false });
    database = await startDatabaseProxy(ground.databaseUrl);
  });
  afterAll(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await database?.close();
    await ground?.stop();
  });

  async function start(role: string): Promise<GatewayProcess> {
    const env = { ...ground.env, DATABASE_URL: database.url, METRICS_PORT: '0', LOG_FORMAT: 'json' };
    const gateway = startProcess(env, [role]);
    started.push(gateway);
    await gateway.ready();
    return gateway;
  }

  function addressOf(gateway: GatewayProcess, what: string): string {
    const [, address = ''] = new RegExp(`${what} +(http://[^/\\s]+)`).exec(gateway.output()) ?? [];
    return address;
  }

  // Proves D13.10.
  it('a worker answers /health and /ready on its metrics port, and follows its database', async () => {
    const worker = await start('worker');
    const metrics = addressOf(worker, 'Metrics');
    const ready = () => call(metrics, 'GET', '/ready');
    const yes = await until('the worker to have read its chains', async () => {
      const answer = await ready();
      return answer.status === 200 && answer;
    });
    expect(yes.body).toEqual({ success: true, data: { status: 'ok' } });

    database.onStatement = () => 'cut';
    const no = await until('the worker to say no', async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect(no.body.error).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { failing: [{ check: 'database', reason: expect.any(String) }] },
    });
    for (const secret of [new URL(database.url).port, 'postgres', 'causeway_', '127.0.0.1']) {
      expect(no.text).not.toContain(secret);
    }
    // Restarting it would not bring the database back.
    expect((await call(metrics, 'GET', '/health')).status).toBe(200);
    database.onStatement = () => 'pass';
    await until('the worker to say yes again', async () => (await ready()).status === 200);

    const figures = (await call(metrics, 'GET', '/metrics')).text;
    expect(figures).toMatch(/^worker_loop_age_seconds\{loop="carrying out intents"\} /m);
    expect(figures).toMatch(/^chain_watch_age_seconds\{chain="base-mainnet"\} /m);
    expect(figures).toMatch(/^rate_age_seconds\{source="simulated"\} /m);
    worker.child.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
  });

  it('an api writes the line of every request, also of one it was stopped right after', async () => {
    const api = await start('api');
    const address = addressOf(api, 'API').replace('localhost', '127.0.0.1');
    expect((await call(addressOf(api, 'Metrics'), 'GET', '/health')).status).toBe(200);
    const early = await call(address, 'GET', '/api/v1/partner/orders');
    await until('the line of the first', () =>
      api.output().includes(String(early.headers.get('x-request-id'))),
    );
    const late = await call(address, 'GET', '/api/v1/partner/orders', { key: ground.partners[0].apiKey });
    expect([early.status, late.status]).toEqual([401, 200]);
    api.child.kill('SIGTERM');
    expect(await api.exited).toBe(0);
    const lines = api
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes('"msg":"request"'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ request_id: early.headers.get('x-request-id'), status: 401, key_id: null }),
      expect.objectContaining({ request_id: late.headers.get('x-request-id'), status: 200 }),
    ]);
    expect(lines.join()).not.toContain(ground.partners[0].apiKey);
  });
});
