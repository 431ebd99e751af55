import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { startTracing, withSpan } from './tracing.ts';

interface ExportedSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceId: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ExportedSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** An OTLP/HTTP collector that keeps what it was sent. */
async function startCollector(answerStatus = 200) {
  const received: { path: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ path: request.url, body });
    response.writeHead(answerStatus, { 'content-type': 'application/json' }).end('{}');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests = () => received.map(({ body }) => JSON.parse(body) as ExportRequest);
  const spans = () =>
    requests().flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  return { endpoint, received, requests, spans };
}

describe('tracing', () => {
  it('exports spans to the collector, children under their parent across awaits', async () => {
    const collector = await startCollector();
    const tracing = await startTracing({ endpoint: `${collector.endpoint}/`, serviceName: 'causeway-test' });
    const answer = await withSpan('outer', { 'causeway.kind': 'quote' }, async () => {
      await Promise.resolve();
      return withSpan('inner', {}, () => 42);
    });
    await tracing.shutdown();

    expect(answer).toBe(42);
    expect(collector.received[0]?.path).toBe('/v1/traces');
    const [outer, inner] = ['outer', 'inner'].map((name) =>
      collector.spans().find((span) => span.name === name),
    );
    expect(outer?.attributes).toContainEqual({ key: 'causeway.kind', value: { stringValue: 'quote' } });
    expect(inner?.parentSpanId).toBe(outer?.spanId);
    expect(inner?.traceId).toBe(outer?.traceId);
    expect(collector.requests()[0]?.resourceSpans[0]?.resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'causeway-test' },
    });
  });

  it('marks failed spans, passes the error on and sends only its type', async () => {
    const collector = await startCollector();
    const tracing = await startTracing({ endpoint: collector.endpoint, serviceName: 'causeway-test' });
    const failure = new TypeError('key cw_test_secret was refused');
    await expect(withSpan('rejects', {}, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(() =>
      withSpan('throws', {}, () => {
        throw failure;
      }),
    ).toThrow(failure);
    await tracing.shutdown();

    expect(collector.spans().map(({ name, status }) => [name, status.code, status.message])).toEqual([
      ['rejects', 2, 'TypeError'],
      ['throws', 2, 'TypeError'],
    ]);
    expect(collector.received.map(({ body }) => body).join()).not.toContain('secret');
  });

  it('refuses to start twice in one process', async () => {
    const { endpoint } = await startCollector();
    const tracing = await startTracing({ endpoint, serviceName: 'first' });
    await expect(startTracing({ endpoint, serviceName: 'second' })).rejects.toThrow('already started');
    await tracing.shutdown();
  });

  it('shuts down without an error when the collector refuses or is gone', async () => {
    const refusing = await startCollector(400);
    for (const endpoint of [refusing.endpoint, 'http://127.0.0.1:9']) {
      const tracing = await startTracing({ endpoint, serviceName: 'causeway-test' });
      withSpan('lost', {}, () => undefined);
      await expect(tracing.shutdown()).resolves.toBeUndefined();
    }
    expect(refusing.spans().map(({ name }) => name)).toEqual(['lost']);
  });

  it('without an endpoint runs the function, passes errors on and loads no SDK', async () => {
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ resolve: (name, about, next) => { loaded.push(name); return next(name, about); } });
      const { startTracing, withSpan } = await import(${JSON.stringify(new URL('./tracing.ts', import.meta.url).href)});
      const tracing = await startTracing({ endpoint: undefined, serviceName: 'x' });
      const answers = [withSpan('a', {}, () => 1), await withSpan('b', {}, async () => 2)];
      try { withSpan('c', {}, () => { throw new Error('through'); }); } catch (error) { answers.push(error.message); }
      await tracing.shutdown();
      console.log(JSON.stringify({ answers, sdk: loaded.filter((name) => /^@opentelemetry\\/(?!api$)/.test(name)), loaded: loaded.length }));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const seen = JSON.parse(stdout) as { answers: unknown[]; sdk: string[]; loaded: number };
    expect(seen.answers).toEqual([1, 2, 'through']);
    expect(seen.loaded).toBeGreaterThan(1);
    expect(seen.sdk).toEqual([]);
  });
});
