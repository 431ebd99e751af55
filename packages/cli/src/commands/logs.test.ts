import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../../../test/harness/until.ts';
import { runCli } from '../cli.ts';

/** Answers the first request, the look at where the log ends, and then as it is told. */
let reply: 'nothing' | 'refused' | 'hangs up' = 'nothing';
const server = createServer((request, response) => {
  if (reply === 'hangs up') return void request.socket.destroy();
  const isRefused = reply === 'refused';
  response.writeHead(isRefused ? 503 : 200, { 'content-type': 'application/json' });
  const error = { code: 'SERVICE_UNAVAILABLE', message: 'Something is away.', details: {} };
  const data = { requests: [], pagination: { limit: 1, next_cursor: null } };
  response.end(JSON.stringify(isRefused ? { success: false, error } : { success: true, data }));
});
let baseUrl = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it.each<['refused' | 'hangs up', () => string]>([
  ['refused', () => 'SERVICE_UNAVAILABLE: Something is away. Next try in 1 s.'],
  ['hangs up', () => `CONNECTION_FAILED: the connection to ${baseUrl} failed. Next try in 1 s.`],
])('logs tail says once why it waits: %s', async (how, told) => {
  reply = 'nothing';
  const errors: string[] = [];
  const stop = new AbortController();
  const ended = runCli(['logs', 'tail'], {
    stdout: { write: () => true },
    stderr: { write: (text: string) => errors.push(text) },
    env: { CAUSEWAY_BASE_URL: baseUrl, CAUSEWAY_API_KEY: 'cw_test_1', CAUSEWAY_CONFIG_DIR: '/nonexistent' },
    folder: '/nonexistent',
    signal: stop.signal,
  });
  await until('the tail', () => errors.join('').includes('Waiting for requests'));
  reply = how;
  await until('the reason', () => errors.join('').includes('Next try'));
  stop.abort();
  expect(await ended).toBe(130);
  expect(errors.join('').split('\n')).toContain(told());
});
