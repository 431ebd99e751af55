import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createTestEvent, type EventType, signBody } from '@causeway/sdk/webhooks';

/** As in the service's own deliveries (apps/gateway/src/features/webhooks/webhook-sender.ts); a test compares. */
const USER_AGENT = 'Causeway-Webhooks/1';
const MAX_ANSWER_BYTES = 64 * 1024;

export interface Delivery {
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: string;
}

export type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly ms: number }
  /** No connection: nothing is known about the receiver's conduct. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly ms: number }
  /** Connected, and no complete answer within the time. */
  | { readonly kind: 'timeout'; readonly status: number | undefined; readonly ms: number }
  /** Connected, and cut off before the answer was complete. */
  | { readonly kind: 'cut_off'; readonly status: number | undefined; readonly ms: number };

/** The harness could not look; that says nothing about the partner's code. */
export class HarnessFault extends Error {
  override readonly name = 'HarnessFault';
}

export interface Receiver {
  send(delivery: Delivery): Promise<Answer>;
}

/** Sends as the service does: one request, no redirects, all within the time. */
export function createReceiverClient(
  url: URL,
  {
    timeoutMs,
    signal,
    record,
  }: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly record: (delivery: Delivery, answer: Answer, text: string) => void;
  },
): Receiver {
  return {
    async send(delivery) {
      const { answer, text } = await exchange(url, delivery, timeoutMs, signal);
      record(delivery, answer, text);
      return answer;
    },
  };
}

function exchange(
  url: URL,
  { body, headers, method = 'POST' }: Delivery,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ answer: Answer; text: string }> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const began = performance.now();
  const ms = () => Math.round(performance.now() - began);
  // A certificate of this machine's own is good enough for its own receiver, as it is for a sandbox.
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    let isConnected = false;
    let status: number | undefined;
    let size = 0;
    const chunks: Buffer[] = [];
    const finish = (answer: Answer) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve({ answer, text: Buffer.concat(chunks).subarray(0, 4_096).toString('utf8') });
      outgoing.destroy();
    };
    const outgoing = send(url, {
      method,
      agent: false,
      ...(url.protocol === 'https:' ? { rejectUnauthorized: !isLoopback } : {}),
      headers: {
        'user-agent': USER_AGENT,
        ...headers,
        ...(method === 'GET' ? {} : { 'content-length': `${bytes.length}` }),
      },
    });
    const giveUp = () => finish({ kind: 'timeout', status, ms: ms() });
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp, { once: true });
    outgoing.on('socket', (socket) =>
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      }),
    );
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      finish(
        isConnected
          ? { kind: 'cut_off', status, ms: ms() }
          : { kind: 'unreachable', reason: error.code ?? error.message, ms: ms() },
      ),
    );
    outgoing.on('response', (incoming) => {
      status = incoming.statusCode ?? 0;
      const answered: Answer = { kind: 'answered', status, ms: 0 };
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        // The status has been said; the service does not read on either.
        if (size > MAX_ANSWER_BYTES) finish({ ...answered, ms: ms() });
      });
      incoming.on('end', () => finish({ ...answered, ms: ms() }));
      incoming.on('error', () => finish({ kind: 'cut_off', status, ms: ms() }));
      incoming.on('aborted', () => finish({ kind: 'cut_off', status, ms: ms() }));
    });
    outgoing.end(method === 'GET' ? undefined : bytes);
  });
}

export interface EventChoice {
  readonly type?: EventType;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly eventId?: string;
  readonly createdAt?: string;
}

/** An event of the SDK's, of an order and a customer that no other check has. */
export async function makeEvent({
  type = 'order.status.changed',
  data = {},
  eventId,
  createdAt,
}: EventChoice) {
  const own = { order_id: crypto.randomUUID(), user_id: crypto.randomUUID() };
  const sample = await createTestEvent(type, {}, { secret: 'unused' });
  const known = Object.keys(sample.event.data);
  const fresh = Object.fromEntries(Object.entries(own).filter(([name]) => known.includes(name)));
  const made = await createTestEvent(
    type,
    { ...fresh, ...data },
    {
      secret: 'unused',
      ...(eventId === undefined ? {} : { eventId }),
      ...(createdAt === undefined ? {} : { createdAt }),
    },
  );
  return made.event;
}

/** Signed as the service signs, with any text as the timestamp. */
export async function signed(
  body: string | Uint8Array,
  secret: string,
  { timestamp, previous }: { readonly timestamp?: number | string; readonly previous?: string } = {},
): Promise<Delivery> {
  const stamp = timestamp ?? Math.floor(Date.now() / 1_000);
  // `signBody` puts the stamp into a text, so that a garbled one is signed as faithfully as a good one.
  const headers = await signBody(body, {
    secret,
    timestamp: stamp as number,
    ...(previous === undefined ? {} : { previousSecret: previous }),
  });
  return { body, headers };
}
