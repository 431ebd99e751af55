/** The open server-sent event streams of this process, of one kind: each follows what one owner may see. */
export interface StreamHub {
  /** Null when the owner has as many as it may, or the process stops. Counted apart where that is said. */
  open(
    ownerId: string,
    credential: string,
    after: string | undefined,
    countedAs?: string,
  ): AsyncGenerator<string> | null;
  /** Something was written for this owner; without one, for any owner. */
  wake(ownerId?: string): void;
  close(): void;
}

export interface StreamMessage {
  /** Where the message stands; a client that comes back with it misses nothing. */
  readonly cursor: string;
  readonly event: string;
  /** One line of JSON, so that it is one `data` line. */
  readonly data: string;
}

export interface StreamSource {
  /** The cursor behind everything that has happened so far. */
  latest(ownerId: string): Promise<string>;
  /** What stands after the cursor, oldest first. */
  read(ownerId: string, after: string, limit: number): Promise<readonly StreamMessage[]>;
  /** Whether the key or the session that opened a stream still would. */
  isStillValid(ownerId: string, credential: string): Promise<boolean>;
}

export const STREAMS_AN_OWNER = 10;
const PAGE = 200;
/** Also how often the key is looked at again while nothing happens. */
const HEARTBEAT_MS = 10_000;
const RECONNECT_AFTER_MS = 2_000;

export function createStreamHub(source: StreamSource): StreamHub {
  const waiting = new Map<string, Set<() => void>>();
  const open = new Map<string, number>();
  let closed = false;

  function wake(ownerId: string): void {
    for (const go of waiting.get(ownerId) ?? []) go();
  }

  function wakeAll(): void {
    for (const ownerId of waiting.keys()) wake(ownerId);
  }

  /** Subscribed before reading, so that what is written in between is not slept through. */
  function subscribe(ownerId: string): { next(): Promise<void>; end(): void } {
    let signalled = false;
    let resume: (() => void) | undefined;
    const go = () => {
      signalled = true;
      resume?.();
    };
    const set = waiting.get(ownerId) ?? new Set();
    waiting.set(ownerId, set.add(go));
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
        if (set.size === 0) waiting.delete(ownerId);
      },
    };
  }

  async function* follow(
    ownerId: string,
    credential: string,
    after: string | undefined,
    countedAs: string,
  ): AsyncGenerator<string> {
    // Counted by the stream itself: one that is given up before it begins never gets here.
    open.set(countedAs, (open.get(countedAs) ?? 0) + 1);
    const subscription = subscribe(ownerId);
    try {
      let cursor = after ?? (await source.latest(ownerId));
      yield `retry: ${RECONNECT_AFTER_MS}\nid: ${cursor}\n: open\n\n`;
      while (!closed) {
        const messages = await source.read(ownerId, cursor, PAGE);
        // A revoked key gets nothing more, however long its stream has been open.
        if (!(await source.isStillValid(ownerId, credential))) return;
        cursor = messages.at(-1)?.cursor ?? cursor;
        yield messages.length > 0 ? messages.map(asText).join('') : ': nothing new\n\n';
        if (messages.length < PAGE && !closed) await subscription.next();
      }
    } finally {
      subscription.end();
      const left = (open.get(countedAs) ?? 1) - 1;
      if (left > 0) open.set(countedAs, left);
      else open.delete(countedAs);
    }
  }

  return {
    open(ownerId, credential, after, countedAs = ownerId) {
      const count = open.get(countedAs) ?? 0;
      if (closed || count >= STREAMS_AN_OWNER) return null;
      return follow(ownerId, credential, after, countedAs);
    },
    wake(ownerId) {
      if (ownerId === undefined) wakeAll();
      else wake(ownerId);
    },
    close() {
      closed = true;
      wakeAll();
    },
  };
}

function asText({ cursor, event, data }: StreamMessage): string {
  return `id: ${cursor}\nevent: ${event}\ndata: ${data}\n\n`;
}
