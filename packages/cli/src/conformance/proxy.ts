import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Trace } from './trace.ts';

/** One call of the partner's code, as it was sent, and what it was answered. */
export interface RecordedCall {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
  /** Milliseconds of the run when it came, and when it was answered. */
  readonly at: number;
  answeredAt?: number;
  /** What the driver was told; `dropped` where the connection was cut instead. */
  status?: number | 'dropped';
  answer?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

/** Answers a call, mostly by passing it on; `drop` cuts the connection instead. */
export type Rule = (call: RecordedCall, pass: () => Promise<Reply>) => Promise<Reply | 'drop'>;

export interface RecordingProxy {
  readonly url: string;
  readonly calls: readonly RecordedCall[];
  /** Resolves with the first call, past or to come, that was answered and fits. */
  answered(fits: (call: RecordedCall) => boolean, signal: AbortSignal): Promise<RecordedCall>;
  close(): Promise<void>;
}

export const passOn: Rule = (_call, pass) => pass();

const HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'host',
]);

/** Stands between the partner's code and the sandbox: what was really sent is what is judged. */
export async function startProxy(target: string, rule: Rule, trace: Trace): Promise<RecordingProxy> {
  const base = new URL(target);
  const calls: RecordedCall[] = [];
  const waiting = new Set<() => void>();
  const open = new Set<{ destroy(): unknown }>();

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readText(incoming);
    const key = incoming.headers['idempotency-key'];
    const call: RecordedCall = {
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      idempotencyKey: typeof key === 'string' ? key : undefined,
      body,
      at: performance.now(),
    };
    calls.push(call);
    if (`${incoming.headers.accept}`.includes('text/event-stream')) {
      stream(base, incoming, outgoing, open);
      return;
    }
    const reply = await rule(call, () => forward(base, incoming, body));
    call.answeredAt = performance.now();
    call.status = reply === 'drop' ? 'dropped' : reply.status;
    call.answer = reply === 'drop' ? '' : reply.body;
    trace.call({
      ...{ method: call.method, path: call.path, headers: plainHeaders(incoming), body },
      ...{ status: call.status, answer: call.answer, ms: Math.round(call.answeredAt - call.at) },
    });
    if (reply === 'drop') incoming.socket.destroy();
    else outgoing.writeHead(reply.status, { ...reply.headers, connection: 'close' }).end(reply.body);
    for (const wake of [...waiting]) wake();
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: Error) => {
      // The sandbox is gone: the driver sees what it would see then.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502, { 'content-type': 'text/plain' }).end(`the sandbox: ${error.message}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    answered: (fits, signal) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = calls.find((call) => call.status !== undefined && fits(call));
          if (found === undefined && !signal.aborted) return;
          waiting.delete(look);
          signal.removeEventListener('abort', look);
          if (found === undefined) reject(signal.reason);
          else resolve(found);
        };
        waiting.add(look);
        signal.addEventListener('abort', look);
        look();
      }),
    async close() {
      for (const one of open) one.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function requestTo(base: URL, { method, url, headers }: IncomingMessage) {
  const send = base.protocol === 'https:' ? httpsRequest : httpRequest;
  const { 'accept-encoding': _plainly, ...rest } = headers;
  return send(new URL(`${base.pathname.replace(/\/+$/, '')}${url}`, base), {
    ...(method === undefined ? {} : { method }),
    agent: false,
    headers: { ...rest, host: base.host, connection: 'close' },
  });
}

function forward(base: URL, incoming: IncomingMessage, body: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = requestTo(base, incoming);
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      readText(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 502, headers: headersOf(answer), body: text }),
        reject,
      );
    });
    outgoing.end(body);
  });
}

/** The event stream passes as it comes. */
function stream(
  base: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  open: Set<{ destroy(): unknown }>,
) {
  const upstream = requestTo(base, incoming);
  open.add(upstream);
  upstream.on('error', () => outgoing.destroy());
  outgoing.on('close', () => upstream.destroy());
  upstream.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, headersOf(answer));
    answer.on('error', () => outgoing.destroy());
    answer.pipe(outgoing);
  });
  upstream.end();
}

function headersOf({ headers }: IncomingMessage): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !HOP_HEADERS.has(name),
  );
  return Object.fromEntries(kept) as Record<string, string | string[]>;
}

function plainHeaders(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headersOf(incoming)).map(([name, value]) => [name, `${value}`]));
}

async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
