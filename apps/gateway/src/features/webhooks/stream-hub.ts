import type { Database } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { Principals } from '../../http/principals.ts';
import type { StreamedEvent } from './event-stream.store.ts';
import { latestCursor, readEvents } from './event-stream.ts';

/** The open event streams of this process. */
export interface StreamHub {
  /** Null when the partner has as many as it may. */
  open(partnerId: string, apiKey: string, after: string | undefined): AsyncGenerator<string> | null;
  close(): void;
}

const STREAMS_A_PARTNER = 10;
const PAGE = 200;
/** Also how often the key is looked at again while nothing happens. */
const HEARTBEAT_MS = 10_000;
const RECONNECT_AFTER_MS = 2_000;

export function createStreamHub(tools: {
  readonly db: Database;
  readonly listener: Listener;
  readonly principals: Principals;
}): StreamHub {
  const waiting = new Map<string, Set<() => void>>();
  const open = new Map<string, number>();
  let closed = false;
  tools.listener.on('events_written', wake);
  // Whatever was announced while nobody listened was missed.
  tools.listener.onConnected(() => {
    for (const partnerId of waiting.keys()) wake(partnerId);
  });

  function wake(partnerId: string): void {
    for (const go of waiting.get(partnerId) ?? []) go();
  }

  /** Subscribed before reading, so that what is written in between is not slept through. */
  function subscribe(partnerId: string): { next(): Promise<void>; end(): void } {
    let signalled = false;
    let resume: (() => void) | undefined;
    const go = () => {
      signalled = true;
      resume?.();
    };
    const set = waiting.get(partnerId) ?? new Set();
    waiting.set(partnerId, set.add(go));
    return {
      async next() {
        if (!signalled) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, HEARTBEAT_MS);
            resume = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        signalled = false;
        resume = undefined;
      },
      end() {
        set.delete(go);
        if (set.size === 0) waiting.delete(partnerId);
      },
    };
  }

  async function isStillValid(partnerId: string, apiKey: string): Promise<boolean> {
    const principal = await tools.principals.find(apiKey);
    return principal?.kind === 'partner' && principal.partnerId === partnerId;
  }

  async function* follow(
    partnerId: string,
    apiKey: string,
    after: string | undefined,
  ): AsyncGenerator<string> {
    // Counted by the stream itself: one that is given up before it begins never gets here.
    open.set(partnerId, (open.get(partnerId) ?? 0) + 1);
    const subscription = subscribe(partnerId);
    try {
      let cursor = after ?? (await latestCursor(tools.db, partnerId));
      yield `retry: ${RECONNECT_AFTER_MS}\nid: ${cursor}\n: open\n\n`;
      while (!closed) {
        const events = await readEvents(tools.db, partnerId, cursor, PAGE);
        // A revoked key gets nothing more, however long its stream has been open.
        if (!(await isStillValid(partnerId, apiKey))) return;
        cursor = events.at(-1)?.cursor ?? cursor;
        yield events.length > 0 ? events.map(asMessage).join('') : ': nothing new\n\n';
        if (events.length < PAGE && !closed) await subscription.next();
      }
    } finally {
      subscription.end();
      const left = (open.get(partnerId) ?? 1) - 1;
      if (left > 0) open.set(partnerId, left);
      else open.delete(partnerId);
    }
  }

  return {
    open(partnerId, apiKey, after) {
      const count = open.get(partnerId) ?? 0;
      if (closed || count >= STREAMS_A_PARTNER) return null;
      return follow(partnerId, apiKey, after);
    },
    close() {
      closed = true;
      for (const partnerId of waiting.keys()) wake(partnerId);
    },
  };
}

/** An event's text is one line of JSON, so it is one `data` line. */
function asMessage({ cursor, event_type, body }: StreamedEvent): string {
  return `id: ${cursor}\nevent: ${event_type}\ndata: ${body}\n\n`;
}
