import { Agent, request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics, type MetricsServer, publishReadiness, startMetricsServer } from './metrics.ts';

const servers: MetricsServer[] = [];
let status = 503;
const ready = async () => ({ status, body: { success: false } });
afterEach(async () => {
  status = 503;
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(metrics = createMetrics({ processMetrics: false })) {
  const server = await startMetricsServer({ host: '127.0.0.1', port: 0, registry: metrics.registry, ready });
  servers.push(server);
  return { metrics, server, url: `http://127.0.0.1:${server.port}` };
}

describe('metrics', () => {
  it('publish every figure with its labels in Prometheus text', async () => {
    const { metrics, url } = await serve();
    metrics.httpRequestDurationSeconds
      .series({ method: 'GET', route: '/health', status: '200' })
      .observe(0.003);
    metrics.httpRequests.inFlight++;
    metrics.dbRoundTripsTotal.inc(3);
    metrics.dbQueryErrorsTotal.inc();
    metrics.intentsTotal.inc({ kind: 'webhook', outcome: 'confirmed' });
    metrics.intentDurationSeconds.observe({ kind: 'webhook' }, 0.2);
    metrics.intentsPending.set({ kind: 'chain' }, 7);
    metrics.intentOldestSeconds.set(12.5);
    metrics.webhookDeliveriesTotal.inc({ outcome: 'timeout' });

    const answer = await fetch(`${url}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const lines = (await answer.text()).split('\n');
    for (const line of [
      'http_request_duration_seconds_bucket{le="0.0025",method="GET",route="/health",status="200"} 0',
      'http_request_duration_seconds_bucket{le="0.005",method="GET",route="/health",status="200"} 1',
      'http_request_duration_seconds_count{method="GET",route="/health",status="200"} 1',
      'http_requests_in_flight 1',
      'db_round_trips_total 3',
      'db_query_errors_total 1',
      'intents_total{kind="webhook",outcome="confirmed"} 1',
      'intent_duration_seconds_sum{kind="webhook"} 0.2',
      'intents_pending{kind="chain"} 7',
      'intent_oldest_seconds 12.5',
      'webhook_deliveries_total{outcome="timeout"} 1',
    ]) {
      expect(lines).toContain(line);
    }
  });

  it('include the process itself unless switched off', async () => {
    expect(await createMetrics().registry.metrics()).toContain('process_resident_memory_bytes ');
    expect(await createMetrics({ processMetrics: false }).registry.metrics()).not.toContain('process_');
  });

  it('of two gateways in one process are kept apart', async () => {
    const [first, second] = [createMetrics(), createMetrics()];
    first.dbRoundTripsTotal.inc(5);
    expect(await second.registry.metrics()).toContain('db_round_trips_total 0');
  });
});

describe('metrics server', () => {
  it('publishes what /ready says, so that an alert can ask for it', async () => {
    const { url, metrics } = await serve();
    publishReadiness({ registry: metrics.registry, ready });
    const figure = async () => /^ready (\d)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    expect(await figure()).toBe('0');
    status = 200;
    expect(await figure()).toBe('1');
  });

  it('answers nothing but /metrics, /health and /ready, and only to be read', async () => {
    const { url } = await serve();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const answer = await fetch(`${url}/ready`);
    expect([answer.status, answer.headers.get('cache-control'), await answer.json()]).toEqual([
      503,
      'no-store',
      { success: false },
    ]);
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metricsx`)).status).toBe(404);
    expect((await fetch(`${url}/metrics?x=1`)).status).toBe(200);
    const posted = await fetch(`${url}/metrics`, { method: 'POST', body: 'x' });
    expect(posted.status).toBe(405);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });

  it('answers 500 without the reason when a figure cannot be collected', async () => {
    const { metrics, url } = await serve();
    metrics.registry.metrics = () => Promise.reject(new Error('postgres://user:secret@host'));
    const answer = await fetch(`${url}/metrics`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('secret');
  });

  it('says which port is taken instead of starting without metrics', async () => {
    const { metrics, server } = await serve();
    await expect(
      startMetricsServer({ host: '127.0.0.1', port: server.port, registry: metrics.registry, ready }),
    ).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('closes although a scraper keeps its connection open, and frees the port', async () => {
    const metrics = createMetrics({ processMetrics: false });
    const server = await startMetricsServer({
      host: '127.0.0.1',
      port: 0,
      registry: metrics.registry,
      ready,
    });
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve, reject) => {
      request({ host: '127.0.0.1', port: server.port, path: '/metrics', agent }, (answer) => {
        answer.resume().on('end', resolve);
      })
        .on('error', reject)
        .end();
    });
    await server.close();
    agent.destroy();
    servers.push(
      await startMetricsServer({ host: '127.0.0.1', port: server.port, registry: metrics.registry, ready }),
    );
  });
});
