import { costExceedsBound } from '@causeway/protocol';
import { SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import { referenceRateOf } from '../quotes/reference-rate.ts';
import type { OrderHosts } from './order.host.ts';
import { lockOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { readOrder } from './read-order.ts';

/**
 * Before the buyer is asked to pay, a fiat-anchored order is priced once more: where the market has moved so far that
 * the payout would cost more than 1.20 times what was expected, the order stops and the deposit goes back. Vendors
 * read what they are to pay from the order itself.
 */
export function requestPaymentHandler(
  tools: UnitTools & { readonly orderHosts: OrderHosts; readonly currencies: Currencies },
): IntentHandler<{ readonly order_id: string }> {
  const request: IntentHandler<{ readonly order_id: string }>['perform'] = async ({ payload }) => {
    const order = await readOrder(tools.db, SYSTEM, payload.order_id);
    if (order === undefined) return { kind: 'failed', error: 'there is no such order' };
    const { rates } = tools.currencies.current();
    const marketRate = referenceRateOf(rates, order.crypto_currency, order.fiat_currency);
    const outcome: Outcome = { kind: 'confirmed', result: { market_rate: marketRate ?? null } };
    if (marketRate === undefined || !isBeyondBound(order, marketRate)) return outcome;
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

/**
 * The expected amount bought the payout at the order's rate; at the market's rate the same payout costs that much more
 * as the rates differ. Both rates are decimals, brought to whole numbers.
 */
export function isBeyondBound(order: Pick<OrderRow, 'rate' | 'facts'>, marketRate: string): boolean {
  if (order.facts.anchor !== 'fiat') return false;
  const decimals = Math.max(decimalsOf(order.rate), decimalsOf(marketRate));
  return costExceedsBound(wholeOf(order.rate, decimals), wholeOf(marketRate, decimals));
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

function wholeOf(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
