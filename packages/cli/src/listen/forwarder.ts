import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, Receiver } from './receiver.ts';

/** An event on its way to the receiver. */
export interface Forwarded {
  readonly cursor: string;
  readonly body: string;
  /** What it is about: events of one subject are delivered one after the other. */
  readonly subject: string;
}

export interface AttemptReport {
  readonly attempt: number;
  readonly result: Exclude<Attempt, { kind: 'unreached' }>;
  readonly isAccepted: boolean;
  /** When it is sent again; absent where it is not. */
  readonly retryInMs?: number;
}

export interface ForwarderOptions<Item extends Forwarded> {
  readonly receiver: Receiver;
  /** How often a delivery that was not accepted is repeated; 0 means never. */
  readonly retries: number;
  readonly signal: AbortSignal;
  onAttempt(item: Item, report: AttemptReport): void;
  /** Told when nothing takes connections any more, and when something does again. */
  onReceiver(isUp: boolean, problem?: string): void;
  /** Everything up to here was accepted or given up. */
  onSettled(cursor: string): void;
}

export interface Forwarder<Item extends Forwarded> {
  /** Looks whether the receiver is there, before there is anything to send. */
  probe(): void;
  /** Resolves when there is room for another one. */
  take(item: Item): Promise<void>;
  /** An event that is not forwarded, as far as the cursor is concerned. */
  pass(cursor: string): void;
  /** Waits for requests that are under way. */
  stop(): Promise<void>;
}

const REQUESTS_AT_ONCE = 16;
/** Unsettled events that are kept; more are left in the stream. */
const MOST_UNSETTLED = 1_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
const PROBE_EVERY_MS = 500;
/** What a request that is under way at the end may still take. */
const GRACE_MS = 3_000;

export function createForwarder<Item extends Forwarded>(options: ForwarderOptions<Item>): Forwarder<Item> {
  const { receiver, retries, signal } = options;
  const lanes = new Map<string, Item[]>();
  const ledger = createLedger(options.onSettled);
  const slots = createSlots(REQUESTS_AT_ONCE);
  const underWay = new Set<Promise<unknown>>();
  const hardStop = new AbortController();
  let comeback: Promise<void> | undefined;
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  /** One probing for all: they wait for the same server. */
  function waitForReceiver(problem: string): Promise<void> {
    comeback ??= (async () => {
      options.onReceiver(false, problem);
      do await sleep(PROBE_EVERY_MS, undefined, { signal });
      while (!(await receiver.isUp()));
      comeback = undefined;
      options.onReceiver(true);
    })();
    return comeback;
  }

  async function send(item: Item): Promise<Attempt> {
    for (;;) {
      signal.throwIfAborted();
      await comeback;
      await slots.take();
      if (signal.aborted) {
        slots.give();
        signal.throwIfAborted();
      }
      const sending = receiver.deliver(item.body, hardStop.signal);
      underWay.add(sending);
      const result = await sending.finally(() => {
        underWay.delete(sending);
        slots.give();
      });
      // It was not sent, so that no attempt is used up: it waits.
      if (result.kind !== 'unreached') return result;
      await waitForReceiver(result.problem);
    }
  }

  async function forward(item: Item): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const result = await send(item);
      if (hardStop.signal.aborted || result.kind === 'unreached') return;
      const isAccepted = result.kind === 'answered' && result.status >= 200 && result.status <= 299;
      const isLast = isAccepted || attempt > retries;
      const retryInMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10));
      options.onAttempt(item, { attempt, result, isAccepted, ...(isLast ? {} : { retryInMs }) });
      if (isLast) return ledger.settle(item.cursor);
      await sleep(retryInMs, undefined, { signal });
    }
  }

  async function work(subject: string, lane: Item[]): Promise<void> {
    try {
      for (let item = lane[0]; item !== undefined; item = lane[0]) {
        await forward(item);
        lane.shift();
      }
      lanes.delete(subject);
    } catch (error) {
      // Stopped: what is unsettled comes again with the next start.
      if (!signal.aborted) throw error;
    }
  }

  return {
    probe() {
      const look = async () => {
        if (!(await receiver.isUp())) await waitForReceiver('nothing takes connections there');
      };
      look().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
    async take(item) {
      ledger.open(item.cursor);
      const lane = lanes.get(item.subject);
      if (lane !== undefined) lane.push(item);
      else {
        const begun = [item];
        lanes.set(item.subject, begun);
        void work(item.subject, begun);
      }
      while (ledger.size() >= MOST_UNSETTLED && !signal.aborted) {
        await Promise.race([ledger.moved(), stopped]);
      }
    },
    pass(cursor) {
      ledger.open(cursor);
      ledger.settle(cursor);
    },
    async stop() {
      const grace = setTimeout(() => hardStop.abort(), GRACE_MS);
      await Promise.allSettled(underWay);
      clearTimeout(grace);
      // Their outcomes are noted in the turns that follow.
      await sleep(0);
    },
  };
}

/** Which events are settled, in the stream's order: the cursor goes up to the first that is not. */
function createLedger(onSettled: (cursor: string) => void) {
  const unsettled = new Map<string, boolean>();
  let wake: (() => void) | undefined;
  return {
    size: () => unsettled.size,
    open: (cursor: string) => void unsettled.set(cursor, false),
    settle(cursor: string): void {
      unsettled.set(cursor, true);
      let reached: string | undefined;
      for (const [next, isSettled] of unsettled) {
        if (!isSettled) break;
        unsettled.delete(next);
        reached = next;
      }
      if (reached === undefined) return;
      onSettled(reached);
      wake?.();
    },
    moved: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
  };
}

function createSlots(count: number): { take(): Promise<void>; give(): void } {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    give() {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}
