import { SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import type { OrderHosts } from './order.host.ts';
import { lockOrder } from './order.store.ts';
import { readOrder } from './read-order.ts';
import { settlementCost } from './settlement-cost.ts';

const RATE_WAIT_MS = 5_000;

/**
 * Before the buyer is asked to pay, a fiat-anchored order is priced once more: where the market has moved so far that
 * the payout would cost more than 1.20 times what was expected, the order stops and the deposit goes back. Vendors
 * read what they are to pay from the order itself, where it is priced a last time.
 */
export function requestPaymentHandler(
  tools: UnitTools & { readonly orderHosts: OrderHosts; readonly currencies: Currencies },
): IntentHandler<{ readonly order_id: string }> {
  const request: IntentHandler<{ readonly order_id: string }>['perform'] = async ({ payload }) => {
    const order = await readOrder(tools.db, SYSTEM, payload.order_id);
    if (order === undefined) return { kind: 'failed', error: 'there is no such order' };
    const cost = settlementCost(tools.currencies, order);
    if (cost === 'unknown') return { kind: 'waiting', afterMs: RATE_WAIT_MS };
    const outcome: Outcome = { kind: 'confirmed', result: { cost } };
    if (cost === 'within') return outcome;
    return {
      ...outcome,
      followUp: async (unit) => {
        const [locked] = await unit.tx.query(lockOrder, [order.order_id]);
        if (locked === undefined) return;
        execute(unit, tools.orderHosts[locked.direction], locked, 'cost_bound_exceeded', 'system');
      },
    };
  };
  return {
    kind: 'vendor.request-fiat-payment',
    schedule: schedule([5], { maxAttempts: 100 }),
    perform: request,
    reconcile: request,
  };
}
