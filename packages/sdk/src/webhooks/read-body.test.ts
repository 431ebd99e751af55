import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  constructEvent,
  constructEventFromRequest,
  createTestEvent,
  expressHandler,
  fetchHandler,
  nodeHandler,
  signBody,
} from './index.ts';

const secret = 'whsec_current';
const MiB = 1024 * 1024;
const handled: string[] = [];
const options = { secret, onEvent: ({ event_id: id }: { event_id: string }) => handled.push(id) };

/** An event with so many bytes, and its signature. */
async function eventOf(bytes: number) {
  const { event } = await createTestEvent('webhook.test', {}, { secret, eventId: `evt_${bytes}` });
  const bare = JSON.stringify({ ...event, padding: '' });
  const body = JSON.stringify({ ...event, padding: 'x'.repeat(bytes - bare.length) });
  expect(Buffer.byteLength(body)).toBe(bytes);
  return { body, headers: await signBody(body, { secret }) };
}

/** A stream of these bytes that does not say how many there are, and how many were taken of it. */
function streamOf(bytes: Uint8Array, pieces = 64 * 1024) {
  let at = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at + pieces));
        at += pieces;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, taken: () => at };
}
function chunked(body: string | Uint8Array, headers: Record<string, string> = {}) {
  const { stream, taken } = streamOf(Buffer.from(body));
  const init = { method: 'POST', body: stream, headers, duplex: 'half' };
  return { request: new Request('http://x/hooks', init as RequestInit), taken };
}

describe('the body of a Request', () => {
  it('may have 1 MiB, in chunks or whole', async () => {
    const { body, headers } = await eventOf(MiB);
    for (const { request } of [chunked(body, headers), { request: whole(body, headers) }]) {
      expect((await constructEventFromRequest(request, secret)).event_id).toBe(`evt_${MiB}`);
    }
    const handle = fetchHandler(options);
    expect((await handle(chunked(body, headers).request)).status).toBe(200);
  });

  it('is not read any further than that, whatever it says of its length', async () => {
    const { body, headers } = await eventOf(MiB + 1);
    const handle = fetchHandler(options);
    const large = new Uint8Array(8 * MiB);
    for (const length of [undefined, '5', 'many']) {
      const told = { ...headers, ...(length === undefined ? {} : { 'content-length': length }) };
      const answer = await handle(chunked(body, told).request);
      expect([answer.status, await answer.json()]).toEqual([413, { received: false, reason: 'too_large' }]);
      const { request, taken } = chunked(large, told);
      await expect(constructEventFromRequest(request, secret)).rejects.toMatchObject({
        name: 'WebhookError',
        code: 'BODY_TOO_LARGE',
      });
      expect(taken()).toBeLessThanOrEqual(2 * MiB);
    }
    expect((await handle(whole(body, headers))).status).toBe(413);
    expect(handled).not.toContain(`evt_${MiB + 1}`);
  });

  it('is not begun where it says itself that it is larger', async () => {
    const { request, taken } = chunked('{}', { 'content-length': `${MiB + 1}` });
    expect((await fetchHandler(options)(request)).status).toBe(413);
    expect(taken()).toBe(0);
  });

  it('may be absent, or without a stream', async () => {
    const absent = new Request('http://x/hooks', { method: 'POST' });
    await expect(constructEventFromRequest(absent, secret)).rejects.toMatchObject({
      code: 'TIMESTAMP_MISSING',
    });
    const { body, headers } = await eventOf(300);
    const plain = whole(body, headers);
    // As in runtimes that have none.
    Object.defineProperty(plain, 'body', { value: undefined });
    expect((await constructEventFromRequest(plain, secret)).event_id).toBe('evt_300');
  });

  function whole(body: string, headers: Record<string, string>) {
    return new Request('http://x/hooks', { method: 'POST', body, headers });
  }
});

it('constructEvent itself takes what it is given', async () => {
  const { body, headers } = await eventOf(MiB + 1);
  expect((await constructEvent(body, headers, secret)).event_id).toBe(`evt_${MiB + 1}`);
});

describe.each([
  ['node:http', nodeHandler(options)],
  ['express without a parser', expressHandler(options)],
])('over a socket, with the handler of %s', (_name, handle) => {
  const server = createServer((request, response) => void handle(request, response));
  let port = 0;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** In chunks, because no length is said. */
  async function post(body: Uint8Array | string, headers: Record<string, string> = {}) {
    const outgoing = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    // All of it can be sent, whenever the answer comes.
    const sent = once(outgoing, 'finish');
    outgoing.setHeader('transfer-encoding', 'chunked');
    outgoing.end(body);
    const [[answer]] = await Promise.all([answered, sent]);
    return [answer.statusCode, JSON.parse(Buffer.concat(await answer.toArray()).toString())];
  }

  it('answers 413 to whoever sends more than 1 MiB, and takes exactly that', async () => {
    const refusal = [413, { received: false, reason: 'too_large' }];
    for (const size of [MiB + 1, 2 * MiB, 32 * MiB]) {
      expect(await post(new Uint8Array(size)), `${size}`).toEqual(refusal);
    }
    handled.length = 0;
    const { body, headers } = await eventOf(MiB);
    expect(await post(body, headers)).toEqual([200, { received: true }]);
    expect(handled).toEqual([`evt_${MiB}`]);
  });

  it('answers while the body is still coming, and the connection serves the next delivery', async () => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const said = async (words: string) => {
      while (!text.includes(words)) await once(socket, 'data');
    };
    const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
    const head = 'POST /hooks HTTP/1.1\r\nhost: x\r\n';
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n${chunk(MiB)}${chunk(1)}`);
    await said('"too_large"');
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    socket.write(`${chunk(3 * MiB)}0\r\n\r\n${head}content-length: 2\r\n\r\n{}`);
    await said('"timestamp_missing"');
    expect(text).toContain('HTTP/1.1 400 ');
    socket.destroy();
  });
});
