import { errorOf, isCausewayError } from './errors.ts';
import { pause, timeoutSignal } from './timing.ts';
import { LONGEST_RETRY_AFTER_SECONDS, type Transport } from './transport.ts';

export interface StreamOptions {
  /** The cursor of the last event you have; `0` begins with the oldest that is kept, none begins now. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Told whenever the connection stands, also after a break. */
  readonly onOpen?: (cursor: string) => void;
  /** Told whenever it broke, or could not be opened, with how long it waits before it tries again. */
  readonly onBreak?: (error: unknown, retryInMs: number) => void;
}

/** An event of a stream and its place there. */
export interface Streamed<Event> {
  /** Give it as `after` to go on behind this event. */
  readonly cursor: string;
  readonly event: Event;
  /** Its text as it was sent: of a partner’s event to the byte what the webhook carries. */
  readonly body: string;
}

interface Message {
  readonly id?: string;
  readonly data?: string;
  readonly retry?: number;
}

const RECONNECT_MS = 2_000;
const LONGEST_RECONNECT_MS = 30_000;
/** The service says something every 10 seconds: a connection that is silent for longer is dead. */
const SILENCE_MS = 35_000;
const OPEN_MS = 30_000;

/**
 * Events as they happen. A broken connection is opened again behind the last event that was taken, so that none is missed;
 * what cannot get better by itself (a revoked key, a cursor that is too old) is thrown.
 */
export async function* streamEvents<Event>(
  transport: Transport,
  path: string,
  { after, signal, onOpen, onBreak }: StreamOptions,
): AsyncGenerator<Streamed<Event>, void, void> {
  let cursor = after;
  let reconnectMs = RECONNECT_MS;
  let failures = 0;
  for (;;) {
    signal?.throwIfAborted();
    let problem: unknown;
    try {
      for await (const message of connection(transport, path, cursor, signal)) {
        if (message.retry !== undefined) reconnectMs = message.retry;
        if (message.data === undefined) {
          cursor = message.id ?? cursor;
          failures = 0;
          onOpen?.(cursor ?? '0');
          continue;
        }
        const event = JSON.parse(message.data) as Event;
        yield { cursor: message.id ?? '', event, body: message.data };
        // Behind what was taken: an event whose handler threw is not behind us.
        cursor = message.id ?? cursor;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (isCausewayError(error) && !error.retryable) throw error;
      problem = error;
    }
    const longestMs = Math.min(LONGEST_RECONNECT_MS, reconnectMs * 2 ** Math.min(failures++, 5));
    // Never sooner than the service asked for, and spread behind it: others were told the same.
    const waitMs = askedMs(problem) + longestMs * (0.5 + Math.random() / 2);
    onBreak?.(problem, waitMs);
    await pause(waitMs, signal);
  }
}

/** What `Retry-After` of a refusal asks for. Of a longer wait the stream would seem dead. */
function askedMs(problem: unknown): number {
  const seconds = isCausewayError(problem) ? (problem.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS) * 1_000;
}

async function* connection(
  transport: Transport,
  path: string,
  cursor: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Message, void, void> {
  const whole = new AbortController();
  const give = () => whole.abort(signal?.reason);
  signal?.addEventListener('abort', give, { once: true });
  if (signal?.aborted) give();
  const opening = timeoutSignal(OPEN_MS, whole.signal);
  let silence: ReturnType<typeof setTimeout> | undefined;
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(() => whole.abort(), SILENCE_MS);
  };
  try {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (cursor !== undefined) headers['last-event-id'] = cursor;
    const query = cursor === undefined ? '' : `?after=${encodeURIComponent(cursor)}`;
    const abort = new AbortController();
    opening.signal.addEventListener('abort', () => abort.abort(), { once: true });
    whole.signal.addEventListener('abort', () => abort.abort(), { once: true });
    const response = await transport.open(path + query, { headers, signal: abort.signal });
    opening.clear();
    if (!response.ok || response.body === null) throw await errorOf(response, undefined);
    listen();
    yield* messagesOf(response.body, listen);
  } finally {
    clearTimeout(silence);
    opening.clear();
    signal?.removeEventListener('abort', give);
    // Closes the connection where the reader has stopped.
    whole.abort();
  }
}

async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<Message, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    text += decoder.decode(value, { stream: true });
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const message = messageOf(block);
      if (message.id !== undefined || message.data !== undefined) yield message;
    }
  }
}

function messageOf(block: string): Message {
  const data: string[] = [];
  const message: { id?: string; data?: string; retry?: number } = {};
  for (const line of block.split(/\r?\n/)) {
    // `s`, because JSON leaves U+2028 and U+2029 as they are, and `.` would end at them.
    const [, name, value = ''] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
    if (name === 'id') message.id = value;
    // Anything but digits is no time, and a stream of events has it ignored.
    if (name === 'retry' && /^\d+$/.test(value)) message.retry = Number(value);
    if (name === 'data') data.push(value);
  }
  if (data.length > 0) message.data = data.join('\n');
  return message;
}
