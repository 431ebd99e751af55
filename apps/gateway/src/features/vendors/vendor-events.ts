import type { VendorEventSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, SYSTEM, vendorScope } from '../../db/database.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { readOrdersOfVendor } from '../orders/desk-reads.ts';
import {
  forgetVendorEvents,
  lockVendorEvents,
  numberVendorEvents,
  readPlacedEvents,
  type VendorEventRow,
  vendorEventState,
} from './vendor-event.store.ts';
import { vendorOrderView } from './vendor-order.view.ts';

export type VendorEvent = Static<typeof VendorEventSchema>;

const NUMBERED_AT_ONCE = 1_000;
/** A vendor that was away longer reads its orders instead: they say how things stand. */
const KEPT_DAYS = 30;
const FORGOTTEN_AT_ONCE = 5_000;

/** What happened to a vendor's orders after a cursor, oldest first, each with the order as it is now. */
export async function readVendorEvents(
  db: Database,
  vendorId: string,
  after: string,
  limit: number,
  responseSeconds: number | null,
): Promise<VendorEvent[]> {
  const rows = await placedEvents(db, vendorId, after, limit);
  if (rows.length === 0) return [];
  const orders = await readOrdersOfVendor(db, vendorId, [...new Set(rows.map((row) => row.order_id))]);
  return rows.map((row) => {
    const order = orders.get(row.order_id);
    return {
      cursor: row.cursor,
      event_type: row.event_type as VendorEvent['event_type'],
      order_id: row.order_id,
      status: row.status,
      at: row.at.toISOString(),
      order: order === undefined ? null : vendorOrderView(order, responseSeconds),
    };
  });
}

async function placedEvents(
  db: Database,
  vendorId: string,
  after: string,
  limit: number,
): Promise<VendorEventRow[]> {
  const scope = vendorScope(vendorId);
  const known = await db.query(scope, readPlacedEvents, [vendorId, after, limit]);
  if (known.length === limit) return known;
  const [state] = await db.query(scope, vendorEventState, [vendorId]);
  if (!state?.has_unplaced) return known;
  await placeEvents(db, vendorId);
  return db.query(scope, readPlacedEvents, [vendorId, after, limit]);
}

/** The cursor behind everything that has happened so far. */
export async function latestVendorCursor(db: Database, vendorId: string): Promise<string> {
  for (;;) {
    const [state] = await db.query(vendorScope(vendorId), vendorEventState, [vendorId]);
    if (!state?.has_unplaced) return state?.latest ?? '0';
    await placeEvents(db, vendorId);
  }
}

function placeEvents(db: Database, vendorId: string): Promise<void> {
  return db.transaction(vendorScope(vendorId), async (tx) => {
    tx.defer(lockVendorEvents, [vendorId]);
    tx.defer(numberVendorEvents, [vendorId, NUMBERED_AT_ONCE]);
  });
}

export async function forgetOldVendorEvents({ db, clock }: Pick<UnitTools, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now() - KEPT_DAYS * 24 * 60 * 60 * 1_000);
  await db.query(SYSTEM, forgetVendorEvents, [before, FORGOTTEN_AT_ONCE]);
}
