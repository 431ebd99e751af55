import type { SandboxClockResetSchema, SandboxClockSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, partnerScope, SYSTEM } from '../../db/database.ts';
import { type UnitDeps, unitOfWork } from '../../engine/unit-of-work.ts';
import type { OutsideWork } from '../../http/idempotency.ts';
import type { MovableClock } from '../../lib/clock.ts';
import {
  advanceClock,
  BRING_FORWARD,
  type ClockRow,
  eventsAhead,
  ordersAhead,
  quotesAhead,
  readClock,
  resetClock,
} from './sandbox.store.ts';

/** The deployment's business clock, which a sandbox may move. Every process hears of it and follows. */
export interface BusinessClockDeps {
  readonly db: Database;
  readonly clock: MovableClock;
}

type ClockView = Static<typeof SandboxClockSchema>;
type ResetView = Static<typeof SandboxClockResetSchema>;

export async function readBusinessClock(deps: BusinessClockDeps): Promise<ClockView> {
  const [row] = await deps.db.query(SYSTEM, readClock, []);
  return follow(deps, row);
}

export async function advanceBusinessClock(
  deps: BusinessClockDeps & UnitDeps,
  seconds: number,
  outside: OutsideWork,
): Promise<ClockView> {
  // A request whose answer was lost has moved it.
  if (outside.isWritten) return readBusinessClock(deps);
  const row = await unitOfWork(deps, SYSTEM, async (unit) => {
    const [moved] = await unit.tx.query(advanceClock, [seconds * 1_000]);
    outside.written(unit);
    return moved;
  });
  return follow(deps, row);
}

/** This process does not wait to be told. */
function follow({ clock }: BusinessClockDeps, row: ClockRow | undefined): ClockView {
  const offsetMs = Number(row?.offset_ms ?? 0);
  clock.follow({ offsetMs, resets: row?.resets ?? 0 });
  return { now: clock.date().toISOString(), offset_seconds: Math.floor(offsetMs / 1_000) };
}

/**
 * Puts the clock back to the machine's. Deadlines, retries and effects that wait keep the time they have left, or a sandbox
 * whose clock was a year ahead would stand still for a year. What has happened stays as it is, and the caller is told how
 * much of it lies ahead of the clock now.
 */
export async function resetBusinessClock(deps: BusinessClockDeps, partnerId: string): Promise<ResetView> {
  const { db, clock } = deps;
  const before = await db.transaction(SYSTEM, async (tx) => {
    const [row] = await tx.query(resetClock, []);
    if (row !== undefined) {
      for (const bringForward of BRING_FORWARD) tx.defer(bringForward, [row.offset_ms]);
    }
    return row;
  });
  const movedBackMs = Number(before?.offset_ms ?? 0);
  const view = follow(deps, before && { ...before, offset_ms: '0' });
  const scope = partnerScope(partnerId);
  const found = await Promise.all(
    REMAINS.map(async ({ what, ahead, message }) => {
      const [row] = await db.query(scope, ahead, [clock.date()]);
      const until = row?.latest?.toISOString() ?? null;
      return { what, count: Number(row?.count ?? 0), until, message };
    }),
  );
  return {
    ...view,
    moved_back_seconds: Math.floor(movedBackMs / 1_000),
    cannot_undo: found.filter(({ count }) => count > 0),
  };
}

const REMAINS = [
  {
    what: 'orders',
    ahead: ordersAhead,
    message:
      'They keep their status and their times: what expired stays cancelled, and lists by time show them first until then.',
  },
  {
    what: 'quotes',
    ahead: quotesAhead,
    message: 'They say when they were made and when they expire, and stay valid until then.',
  },
  {
    what: 'events',
    ahead: eventsAhead,
    message: 'They were sent with these times, by webhook and in the stream, and are not sent again.',
  },
] as const;
