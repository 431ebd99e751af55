import { SYSTEM } from '../../db/database.ts';
import type { IntentHandler } from '../../engine/intent-worker.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import { readOrder } from './read-order.ts';

/**
 * Offers a new order to its vendor. Vendors read what they are offered from the order itself, so offering is making
 * sure that there is a vendor to read it; finding the next one is the offers backend's part.
 */
export function offerOrderHandler(tools: UnitTools): IntentHandler<{ readonly order_id: string }> {
  const offer: IntentHandler<{ readonly order_id: string }>['perform'] = async ({ payload }) => {
    const order = await readOrder(tools.db, SYSTEM, payload.order_id);
    if (order?.vendor_id == null) return { kind: 'failed', error: 'no vendor can be offered the order' };
    return { kind: 'confirmed', result: { vendor_id: order.vendor_id } };
  };
  return {
    kind: 'vendor.offer-order',
    schedule: schedule([5], { maxAttempts: 10 }),
    perform: offer,
    reconcile: offer,
  };
}
