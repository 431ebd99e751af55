import type { CausewayEvent } from '../events.ts';
import { requireNumber } from '../numbers.ts';
import {
  type ConstructOptions,
  constructEvent,
  limitsOf,
  type RawBody,
  WebhookError,
  type WebhookHeaders,
} from './construct-event.ts';

/**
 * Which events have been handled. Deliveries repeat for about 3.5 days, so ids are kept for at least 4. A claim is one atomic
 * step (`SET key NX`, `INSERT … ON CONFLICT DO NOTHING`), so that two deliveries at the same time are handled once.
 */
export interface DeduplicationStore {
  /** Takes the event for handling, unless it was handled or is taken; a claim that is not completed ends after the lease. */
  claim(eventId: string, leaseSeconds: number): Promise<'claimed' | 'handled' | 'in_progress'>;
  /** It was handled. */
  complete(eventId: string): Promise<void>;
  /** It was not: the next delivery may try. */
  release(eventId: string): Promise<void>;
}

export interface ReceiverOptions extends ConstructOptions {
  /** One or several; a function is asked for every delivery, so that a rotation needs no restart. */
  readonly secret:
    | string
    | readonly string[]
    | (() => string | readonly string[] | Promise<string | readonly string[]>);
  /**
   * Handles an event once. Keep it short, such as one write into a queue: what throws, or takes longer than `answerWithin`,
   * is answered with an error, and the service delivers it again.
   */
  readonly onEvent: (event: CausewayEvent) => unknown;
  /** In memory by default, which is enough for one process that may handle an event again after a restart. */
  readonly store?: DeduplicationStore;
  /** Milliseconds until the service is answered in any case; 5 000 by default (it waits for 10 000). */
  readonly answerWithin?: number;
  /** Sees refused deliveries (`WebhookError`) and whatever `onEvent` or the store threw. */
  readonly onError?: (error: unknown) => void;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly body: { readonly received: boolean; readonly reason?: string };
}

const ANSWER_WITHIN_MS = 5_000;
const LEASE_SECONDS = 300;

/**
 * A receiver of deliveries, for any framework: checks, de-duplicates, handles, and says what to answer.
 *
 * @example
 * const receive = createReceiver({ secret, onEvent: (event) => queue.add(event) });
 * const { status, body } = await receive(rawBody, request.headers);
 */
export function createReceiver(
  options: ReceiverOptions,
): (body: RawBody, headers: WebhookHeaders) => Promise<ReceiverAnswer> {
  const { store = memoryStore(), answerWithin = ANSWER_WITHIN_MS, onError = () => {} } = options;
  // A wrong option is told at the start, and not by refusing every delivery.
  limitsOf(options);
  requireNumber('answerWithin', answerWithin, { finite: true });

  async function handle(event: CausewayEvent): Promise<ReceiverAnswer> {
    const claim = await store.claim(event.event_id, LEASE_SECONDS);
    if (claim === 'handled') return accepted('duplicate');
    if (claim === 'in_progress') return refused(409, 'in_progress');
    try {
      await options.onEvent(event);
    } catch (error) {
      await store.release(event.event_id);
      throw error;
    }
    await store.complete(event.event_id);
    return accepted();
  }

  return async (body, headers) => {
    let event: CausewayEvent;
    try {
      const { secret } = options;
      event = await constructEvent(
        body,
        headers,
        typeof secret === 'function' ? await secret() : secret,
        options,
      );
    } catch (error) {
      onError(error);
      // Whoever sent a wrong signature is told no more than that; a mistake of ours is an error of ours.
      const isOurs =
        !(error instanceof WebhookError) || ['BODY_NOT_RAW', 'SECRET_MISSING'].includes(error.code);
      return isOurs ? refused(500, 'misconfigured') : refused(400, error.code.toLowerCase());
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<ReceiverAnswer>((resolve) => {
      timer = setTimeout(() => resolve(refused(503, 'still_working')), answerWithin);
    });
    const handled = handle(event).catch((error: unknown) => {
      onError(error);
      return refused(500, 'failed');
    });
    // Too late for this answer, the work goes on; the next delivery then finds it handled.
    return Promise.race([handled, late]).finally(() => clearTimeout(timer));
  };
}

function accepted(reason?: string): ReceiverAnswer {
  return { status: 200, body: { received: true, ...(reason === undefined ? {} : { reason }) } };
}

export function refused(status: number, reason: string): ReceiverAnswer {
  return { status, body: { received: false, reason } };
}

/**
 * For one process and for tests; forgets the oldest ids beyond `maxEntries`.
 *
 * @example createReceiver({ secret, onEvent, store: memoryStore({ maxEntries: 50_000 }) });
 */
export function memoryStore({
  maxEntries = 10_000,
}: {
  readonly maxEntries?: number;
} = {}): DeduplicationStore {
  requireNumber('maxEntries', maxEntries);
  const handled = new Set<string>();
  const claimed = new Map<string, number>();
  return {
    async claim(eventId, leaseSeconds) {
      if (handled.has(eventId)) return 'handled';
      const until = claimed.get(eventId);
      if (until !== undefined && until > performance.now()) return 'in_progress';
      claimed.set(eventId, performance.now() + leaseSeconds * 1_000);
      return 'claimed';
    },
    async complete(eventId) {
      claimed.delete(eventId);
      handled.add(eventId);
      const [oldest] = handled;
      if (handled.size > maxEntries && oldest !== undefined) handled.delete(oldest);
    },
    async release(eventId) {
      claimed.delete(eventId);
    },
  };
}
