import type { CurrenciesSnapshot } from '../../upstream/currencies.port.ts';
import { aggregateLiquidity, type LiquidityPair, type OfferBook } from '../../upstream/offers.port.ts';
import { railLookupOf } from '../../upstream/offers-rails.ts';

/** The aggregation of C4.3 over the offers that are eligible now. */
export function listLiquidity(
  book: OfferBook,
  { reference, rates }: CurrenciesSnapshot,
): { pairs: readonly LiquidityPair[] } {
  return {
    pairs: aggregateLiquidity(book, {
      rail: railLookupOf(reference.catalogue),
      // For reading only, so an old rate is better than none: nothing is priced on it.
      usdRate: (fiatCurrency) =>
        fiatCurrency === 'USD' ? '1' : (rates.rate(fiatCurrency, 'USD').rate ?? undefined),
    }),
  };
}
