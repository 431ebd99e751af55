import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Contender, compare } from './compare.ts';
import { generateLoad } from './load.ts';
import { startServerProcess } from './server-process.ts';

const ok: RequestListener = (_, response) => response.end('ok');

function contender(listener: RequestListener, events: string[] = []): Contender {
  return {
    async start() {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await once(server, 'listening');
      events.push('started');
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        async stop() {
          server.close();
          server.closeAllConnections();
          events.push('stopped');
        },
      };
    },
  };
}

const quick = { connections: 4, durationSeconds: 0.4, rounds: 1 };

describe('compare', () => {
  test('a server that takes far longer for each request misses a target near one', async () => {
    const events: string[] = [];
    const slow: RequestListener = (_, response) => setTimeout(() => response.end('ok'), 20);
    const compared = await compare({
      name: 'slow',
      baseline: contender(ok, events),
      candidate: contender(slow, events),
      targetRatio: 0.8,
      ...quick,
    });
    expect(compared.passed).toBe(false);
    expect(compared.value).toBeLessThan(0.8);
    // 4 connections of at least 20 ms a request.
    expect(compared.details.candidateMedian).toBeLessThanOrEqual(4 * 50 * 1.1);
    expect(compared.details.candidateP50Ms).toBeGreaterThanOrEqual(19);
    expect(events).toEqual(['started', 'started', 'stopped', 'stopped']);
  });

  test('a server that fails requests is no figure but an error, and both servers are stopped', async () => {
    const events: string[] = [];
    const failing: RequestListener = (_, response) => response.writeHead(503).end();
    const compared = compare({
      name: 'failing',
      baseline: contender(ok, events),
      candidate: contender(failing, events),
      ...quick,
    });
    await expect(compared).rejects.toThrow(/candidate failed \d+ requests and served 0/);
    expect(events).toEqual(['started', 'started', 'stopped', 'stopped']);
  });
});

describe('generateLoad', () => {
  test('sends the request it was given', async () => {
    const seen = new Set<string>();
    const server = await contender((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        seen.add(`${request.method} ${request.url} ${request.headers['x-api-key']} ${body}`);
        response.end();
      });
    }).start();
    const result = await generateLoad({
      url: `${server.url}/quotes`,
      connections: 2,
      durationSeconds: 0.3,
      request: { method: 'POST', headers: { 'x-api-key': 'k' }, body: '{"a":1}' },
    });
    await server.stop();
    expect([...seen]).toEqual(['POST /quotes k {"a":1}']);
    expect(result.failed).toBe(0);
    expect(result.succeeded).toBeGreaterThan(0);
  });

  test('counts a server that is not there as failures', async () => {
    const server = await contender(ok).start();
    await server.stop();
    const result = await generateLoad({ url: server.url, connections: 1, durationSeconds: 0.3 });
    expect(result.succeeded).toBe(0);
    expect(result.failed).toBeGreaterThan(0);
  });
});

describe('startServerProcess', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-server-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function script(name: string, body: string): URL {
    const file = join(folder, name);
    writeFileSync(file, body);
    return pathToFileURL(file);
  }

  test('the server answers from a process of its own until it is stopped', async () => {
    const server = await startServerProcess({
      script: script(
        'server.mjs',
        `import { createServer } from 'node:http';
         const server = createServer((request, response) =>
           response.end([process.pid, process.argv[2], process.env.BENCH_GREETING].join(' ')));
         server.listen(0, '127.0.0.1', () => process.send({ url: 'http://127.0.0.1:' + server.address().port }));`,
      ),
      args: ['argument'],
      env: { BENCH_GREETING: 'hello' },
    });
    const answered = await (await fetch(server.url)).text();
    expect(answered).toMatch(/^[0-9]+ argument hello$/);
    expect(answered.split(' ')[0]).not.toBe(String(process.pid));
    await server.stop();
    await expect(fetch(server.url)).rejects.toThrow();
  });

  test('a script that ends before it is ready is an error, not a wait', async () => {
    const ending = startServerProcess({ script: script('ending.mjs', 'process.exit(3);') });
    await expect(ending).rejects.toThrow('ended early with code 3');
  });
});
