import { costExceedsBound } from '@causeway/protocol';
import type { Currencies } from '../../upstream/currencies.port.ts';
import type { OrderRow } from './order.types.ts';

/** `unknown`: there is a market, but its last rate is too old to judge by. */
export type CostVerdict = 'within' | 'beyond' | 'unknown';

/**
 * What the payout costs at the market's rate of this moment, by what was expected when the order was quoted. Only a
 * fiat-anchored order has a bound; a pair that no market quotes cannot move.
 */
export function settlementCost(
  currencies: Currencies,
  order: Pick<OrderRow, 'rate' | 'facts' | 'crypto_currency' | 'fiat_currency'>,
): CostVerdict {
  if (order.facts.anchor !== 'fiat') return 'within';
  const decision = currencies.current().rates.requireRate(order.crypto_currency, order.fiat_currency);
  if (decision.ok) return isBeyondBound(order.rate, decision.rate.rate) ? 'beyond' : 'within';
  return decision.refusal.code === 'RATE_MISSING' ? 'within' : 'unknown';
}

/**
 * The expected amount bought the payout at the order's rate; at the market's rate the same payout costs that much more
 * as the rates differ. Both rates are decimals, brought to whole numbers.
 */
export function isBeyondBound(orderRate: string, marketRate: string): boolean {
  const decimals = Math.max(decimalsOf(orderRate), decimalsOf(marketRate));
  return costExceedsBound(wholeOf(orderRate, decimals), wholeOf(marketRate, decimals));
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

function wholeOf(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
