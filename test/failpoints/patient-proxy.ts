import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Supervisor } from './supervisor.ts';

/**
 * Stands before a gateway that dies now and then, and does what a careful client does: where no answer came, or one that
 * says that it may be tried again, it sends the same request with the same Idempotency-Key. Once a request that had to be
 * repeated is answered, it is sent once more: the answer must be the same.
 */
export interface PatientProxy {
  readonly url: string;
  /** Requests that were answered differently when they were repeated. */
  readonly contradictions: readonly string[];
  readonly repeated: number;
  close(): Promise<void>;
}

type Server = Pick<Supervisor, 'ready' | 'letKeysRunOut'>;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const PAUSE_MS = 50;
/** What a service that says it is away asks for: rates, say, that a broken connection kept from coming. */
const AWAY_PAUSE_MS = 1_000;
/** A request that fails so often fails for good. */
const MOST_ATTEMPTS = 400;
const MOST_FAILURES = 12;

export async function startPatientProxy(
  port: number,
  supervisor: Server,
  isAnsweredOnce: (method: string, path: string) => boolean,
): Promise<PatientProxy> {
  const contradictions: string[] = [];
  let repeated = 0;

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = Buffer.concat(await incoming.toArray());
    const { method = 'GET', url: path = '/', headers } = incoming;
    const key = method === 'GET' || !('x-api-key' in headers) ? {} : { 'idempotency-key': randomUUID() };
    const sent: Sent = { method, path, headers: { ...key, ...headers }, body };
    const { received, attempts } = await sendUntilAnswered(sent, supervisor, port);
    if (attempts > 1) {
      repeated++;
      await compare(sent, received);
    }
    outgoing.writeHead(received.status, endToEnd(received.headers)).end(received.body);
  }

  async function compare(sent: Sent, first: Received): Promise<void> {
    if (!('idempotency-key' in sent.headers) || !isAnsweredOnce(sent.method, sent.path)) return;
    const { received: again } = await sendUntilAnswered(sent, supervisor, port);
    if (again.status === first.status && again.body.equals(first.body)) return;
    const shown = [first, again].map(({ status, body }) => `${status} ${body.toString().slice(0, 300)}`);
    contradictions.push(`${sent.method} ${sent.path}: ${shown.join(' | ')}`);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: Error) => outgoing.writeHead(599).end(error.message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    contradictions,
    get repeated() {
      return repeated;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function sendUntilAnswered(sent: Sent, supervisor: Server, port: number) {
  let failures = 0;
  for (let attempts = 1; ; attempts++) {
    await supervisor.ready();
    const received = await send(sent, port).catch(() => undefined);
    if (received !== undefined && received.status >= 500) failures++;
    const isFinal = received !== undefined && (!mayBeRepeated(received) || failures >= MOST_FAILURES);
    if (isFinal) return { received, attempts };
    if (attempts >= MOST_ATTEMPTS) throw new Error(`${sent.method} ${sent.path} was never answered`);
    // It was sent once at a time: what the key waits for has failed.
    if (received?.status === 409) await supervisor.letKeysRunOut();
    await sleep(received?.status === 503 ? AWAY_PAUSE_MS : PAUSE_MS);
  }
}

function mayBeRepeated({ status, body }: Received): boolean {
  return status >= 500 || (status === 409 && body.includes('IDEMPOTENCY_IN_PROGRESS'));
}

function send({ method, path, headers, body }: Sent, port: number): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const call = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { ...headers, connection: 'close' },
  });
  call.once('error', reject);
  call.once('response', (response) => {
    response.toArray().then(
      (chunks) =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      reject,
    );
  });
  call.end(body);
  return promise;
}

function endToEnd({
  connection: _hop,
  'keep-alive': _kept,
  'transfer-encoding': _coded,
  ...headers
}: IncomingMessage['headers']) {
  return headers;
}
