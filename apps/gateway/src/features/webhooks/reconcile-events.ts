import { SYSTEM } from '../../db/database.ts';
import {
  type Difference,
  difference,
  type ReconciliationPart,
  secondLook,
} from '../../engine/reconciliation-part.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import {
  type RecordedEventRow,
  recordedEvent,
  recordedEvents,
  streamGaps,
} from './reconcile-events.store.ts';

/** The outbox against the deliveries and the stream that were written with it. */

const EVENTS = 5_000;
/** Of each partner, the newest numbers of its stream. */
const NUMBERS = 2_000;
const DAY_MS = 86_400_000;

export function eventPart(
  deps: Pick<UnitDeps, 'db' | 'clock'> & { readonly config: { readonly eventRetentionDays: number } },
): ReconciliationPart {
  /** What is about to be purged for its age may be gone between two looks. */
  const since = () => new Date(deps.clock.now() - (deps.config.eventRetentionDays - 0.5) * DAY_MS);
  return {
    name: 'events',
    kinds: ['delivery_missing', 'stream_gap'],
    async sweep(cursor) {
      const [events, gaps] = await Promise.all([
        deps.db.query(SYSTEM, recordedEvents, [cursor, since(), EVENTS]),
        deps.db.query(SYSTEM, streamGaps, [NUMBERS]),
      ]);
      return {
        checked: events.length,
        found: [...events.flatMap(differencesOf), ...gaps.map(ofGap)],
        unreachable: 0,
        next: events.length < EVENTS ? null : (events.at(-1)?.position ?? null),
      };
    },
    async again(subject, kind) {
      if (!subject.startsWith('evt_')) {
        return secondLook((await deps.db.query(SYSTEM, streamGaps, [NUMBERS])).map(ofGap), subject, kind);
      }
      const [event] = await deps.db.query(SYSTEM, recordedEvent, [subject, since()]);
      return secondLook(event === undefined ? [] : differencesOf(event), subject, kind);
    },
  };
}

function differencesOf(event: RecordedEventRow): Difference[] {
  const { event_id: id, event_type: type, order_id: orderId, deliveries, written, streamed } = event;
  const common = { orderId, about: `${id} ${type}` };
  return [
    ...(deliveries !== null && written < deliveries
      ? [
          difference('delivery_missing', id, {
            ...common,
            expected: `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}`,
            found: `${written}`,
          }),
        ]
      : []),
    ...(streamed
      ? []
      : [difference('stream_gap', id, { ...common, expected: 'a place in the stream', found: 'none' })]),
  ];
}

function ofGap({ partner_id, after, next }: { partner_id: string; after: string; next: string }): Difference {
  return difference('stream_gap', `stream:${partner_id}:${after}`, {
    about: `the stream of partner ${partner_id}`,
    expected: `${BigInt(after) + 1n} after ${after}`,
    found: next,
  });
}
