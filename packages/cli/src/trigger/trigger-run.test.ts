import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Invocation } from '../command.ts';
import { createOutput } from '../output.ts';
import type { Profile } from '../profile.ts';
import { openSession, type Session } from './trigger-run.ts';

/** A stream of events in which nothing happens. */
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('id: 0\n: open\n\n');
});
let profile: Profile;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  profile = { name: 'test', baseUrl, keys: { partner: 'cw_test_1' } } as Profile;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function open(): Promise<{ session: Session; signal: AbortSignal }> {
  const { signal } = new AbortController();
  const output = createOutput(
    { stdout: { write: () => true }, stderr: { write: () => true }, env: {} },
    { json: false, quiet: true },
  );
  const session = await openSession({ signal, output } as Invocation, { profile, stepTimeoutMs: 1_000 });
  return { session, signal };
}

describe('the end of a session', () => {
  it('does all that was left for it, the last first', async () => {
    const { session, signal } = await open();
    const done: string[] = [];
    for (const name of ['first', 'second']) session.run.atEnd(async () => void done.push(name));
    await session.end();
    expect(done).toEqual(['second', 'first']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('puts back everything else where one thing cannot be, and tells the first failure', async () => {
    const { session } = await open();
    const done: string[] = [];
    session.run.atEnd(async () => void done.push('collection off'));
    session.run.atEnd(() => Promise.reject(new Error('the server is closed')));
    session.run.atEnd(async () => void done.push('between'));
    session.run.atEnd(() => Promise.reject(new Error('the endpoint is gone')));
    await expect(session.end()).rejects.toThrow('the endpoint is gone');
    expect(done).toEqual(['between', 'collection off']);
  });
});
