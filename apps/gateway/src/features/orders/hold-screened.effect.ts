import { SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { IntentHandler } from '../../engine/intent-worker.ts';
import { type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { OrderHosts } from './order.host.ts';
import { fundedOrdersOf, lockOrder } from './order.store.ts';

type Payload = { readonly subject_kind: string; readonly subject_key: string };

/**
 * Holds the funded orders of a recipient, an account holder or a wallet that is no longer clear. Not in the transaction
 * that decided it: that one holds the subject's lock, and orders are locked before those whom they pay.
 */
export function holdScreenedHandler(
  tools: UnitTools & { readonly orderHosts: OrderHosts },
): IntentHandler<Payload> {
  const hold: IntentHandler<Payload>['perform'] = async ({ payload }) => {
    const found = await tools.db.query(SYSTEM, fundedOrdersOf, [payload.subject_kind, payload.subject_key]);
    for (const { order_id: orderId } of found) {
      await unitOfWork(tools, SYSTEM, async (unit) => {
        const [order] = await unit.tx.query(lockOrder, [orderId]);
        if (order === undefined) return;
        // The table looks again: what was cleared meanwhile, or has been paid out, is not held.
        execute(unit, tools.orderHosts[order.direction], order, 'screening_lost', 'system');
      });
    }
    return { kind: 'confirmed', result: { orders: found.length } };
  };
  return {
    kind: 'screening.hold-orders',
    schedule: schedule([1, 5, 30], { maxAttempts: 1_000 }),
    perform: hold,
    reconcile: hold,
  };
}
