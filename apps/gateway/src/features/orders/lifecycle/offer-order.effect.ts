import type { Actor } from '@causeway/protocol';
import { SYSTEM } from '../../../db/database.ts';
import { execute } from '../../../engine/execute.ts';
import type { Intent } from '../../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../../engine/intent-handler.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import { schedule } from '../../../lib/backoff.ts';
import { type FillDeps, reassignVendor, servingOffer, withNextVendor } from '../../quotes/fill-quote.ts';
import { moveOrder } from './act-on-order.ts';
import type { OrderAdapters } from './order.adapter.ts';
import {
  assignVendor,
  declineByVendor,
  declinedOffersOf,
  findOrder,
  fundedOrdersOf,
  isUnanswered,
  lockOrder,
  releaseVendor,
  unansweredOffers,
} from './order.store.ts';
import { awaitsVendor, type OrderRow } from './order.ts';

export interface OfferDeps extends UnitDeps, FillDeps {
  readonly orderAdapters: OrderAdapters;
  /** A sandbox lets the simulated vendor know. */
  readonly onOffered?: (unit: UnitOfWork, order: OrderRow) => void;
}

const RETRY_SECONDS = 5;
const BATCH = 100;

/** Takes the order from its vendor; the table then has it offered to the next. */
export async function passOver(
  deps: { readonly orderAdapters: OrderAdapters },
  unit: UnitOfWork,
  order: OrderRow,
  actor: Actor,
): Promise<OrderRow> {
  const declined = moveOrder(
    unit,
    deps.orderAdapters,
    { ...order, vendor_id: null },
    'vendor_declined',
    actor,
  );
  // A vendor's own scope ends with the order that it gives away.
  const release = actor === 'vendor' ? declineByVendor : releaseVendor;
  unit.tx.defer(release, [order.order_id, await servingOffer(unit, order.quote_id)]);
  return declined;
}

/** A vendor that does not answer in time has declined. */
export async function passOverSilentVendors(
  deps: UnitDeps & { readonly orderAdapters: OrderAdapters },
  responseSeconds: number,
): Promise<number> {
  const askedBefore = new Date(deps.clock.now() - responseSeconds * 1_000);
  const listed = await deps.db.query(SYSTEM, unansweredOffers, [askedBefore, BATCH]);
  for (const { order_id: orderId } of listed) {
    await unitOfWork(deps, SYSTEM, async (unit) => {
      const [order] = await unit.tx.query(lockOrder, [orderId]);
      if (order === undefined || !awaitsVendor(order)) return;
      // Another vendor may have been asked since the list was read, and has its own time.
      const [silent] = await unit.tx.query(isUnanswered, [orderId, askedBefore]);
      if (silent === undefined) return;
      await passOver(deps, unit, order, 'clock');
    });
  }
  return listed.length;
}

const NO_LONGER: Outcome = { kind: 'confirmed', result: 'no longer' };
const LATER: Outcome = { kind: 'waiting', afterMs: RETRY_SECONDS * 1_000 };

/** Undefined while a vendor has to be found. */
function answerOf(order: OrderRow): Outcome | undefined {
  if (!awaitsVendor(order)) return NO_LONGER;
  const { vendor_id } = order;
  return vendor_id === null ? undefined : { kind: 'confirmed', result: { vendor_id } };
}

/**
 * Offers an order that has no vendor to the next one that can serve it. Vendors read what they are offered from the order
 * itself. Where no vendor can, it is tried again until the order's own time is up.
 */
export function offerOrderHandler(deps: OfferDeps): IntentHandler<'vendor.offer-order'> {
  async function offer({ payload }: Intent<'vendor.offer-order'>): Promise<Outcome> {
    const [known] = await deps.db.query(SYSTEM, findOrder, [payload.order_id]);
    const settled = known === undefined ? NO_LONGER : answerOf(known);
    if (known === undefined || settled !== undefined) return settled ?? NO_LONGER;
    const [told] = await deps.db.query(SYSTEM, declinedOffersOf, [known.order_id]);
    const declined = told?.declined_offer_ids ?? [];
    return withNextVendor(deps, known.quote_id, declined, (next) =>
      unitOfWork(deps, SYSTEM, async (unit) => {
        const [order] = await unit.tx.query(lockOrder, [known.order_id]);
        const meanwhile = order === undefined ? NO_LONGER : answerOf(order);
        if (order === undefined || meanwhile !== undefined) {
          return { value: meanwhile ?? NO_LONGER, reassigned: false };
        }
        if (next === undefined) return { value: LATER, reassigned: false };
        await reassignVendor(unit, order.quote_id, order.direction, next);
        unit.tx.defer(assignVendor, [order.order_id, next.vendorId, next.provider, unit.at]);
        deps.onOffered?.(unit, { ...order, vendor_id: next.vendorId, revision: order.revision + 1 });
        return { value: { kind: 'confirmed', result: { vendor_id: next.vendorId } }, reassigned: true };
      }),
    );
  }
  return {
    schedule: schedule([RETRY_SECONDS], { maxAttempts: 1_000 }),
    perform: offer,
  };
}

/**
 * Holds the funded orders of a recipient, an account holder or a wallet that is no longer clear. Not in the transaction
 * that decided it: that one holds the subject's lock, and orders are locked before those whom they pay.
 */
export function holdScreenedHandler(
  deps: UnitDeps & { readonly orderAdapters: OrderAdapters },
): IntentHandler<'screening.hold-orders'> {
  const hold: IntentHandler<'screening.hold-orders'>['perform'] = async ({ payload }) => {
    const found = await deps.db.query(SYSTEM, fundedOrdersOf, [payload.subject_kind, payload.subject_key]);
    for (const { order_id: orderId } of found) {
      await unitOfWork(deps, SYSTEM, async (unit) => {
        const [order] = await unit.tx.query(lockOrder, [orderId]);
        if (order === undefined) return;
        // The table looks again: what was cleared meanwhile, or has been paid out, is not held.
        execute(unit, deps.orderAdapters[order.direction], order, 'screening_lost', 'system');
      });
    }
    return { kind: 'confirmed', result: { orders: found.length } };
  };
  return {
    schedule: schedule([1, 5, 30], { maxAttempts: 1_000 }),
    perform: hold,
  };
}
