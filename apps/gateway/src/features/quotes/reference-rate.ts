import type { RateTable } from '../../upstream/rate-table.ts';

const known = new WeakMap<RateTable, Map<string, string | undefined>>();

/**
 * The market's rate, fiat per 1 crypto; undefined where there is none that may be priced on. Crossing currencies takes
 * longer than a match, so each pair is worked out once for each publication.
 */
export function referenceRateOf(rates: RateTable, crypto: string, fiat: string): string | undefined {
  let pairs = known.get(rates);
  if (pairs === undefined) {
    pairs = new Map();
    known.set(rates, pairs);
  }
  const key = `${crypto}/${fiat}`;
  if (pairs.has(key)) return pairs.get(key);
  const decision = rates.requireRate(crypto, fiat);
  const rate = decision.ok ? decision.rate.rate : undefined;
  pairs.set(key, rate);
  return rate;
}
