import { LiquiditySchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type PreparedAnswer, prepareAnswer } from '../../http/prepared-answer.ts';
import { preparedRoute } from '../../http/prepared-route.ts';
import type { Currencies, CurrenciesSnapshot, ReferenceSnapshot } from '../../ports/currencies.ts';
import { aggregateLiquidity, type LiquidityPair, type OfferBook, type Offers } from '../../ports/offers.ts';
import { railLookupOf } from '../../upstream/offers/offers-market.ts';
import type { RateTable } from '../../upstream/rates/rate-table.ts';

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

export interface LiquidityDeps {
  readonly currencies: Currencies;
  readonly offers: Offers;
}

interface Prepared {
  readonly answer: PreparedAnswer;
  readonly book: OfferBook;
  readonly reference: ReferenceSnapshot;
  readonly rates: RateTable;
}

export function registerLiquidityRoutes(app: FastifyInstance, { currencies, offers }: LiquidityDeps): void {
  let prepared: Prepared | undefined;

  preparedRoute(
    app,
    {
      envelope: 'partner',
      url: '/api/v1/partner/liquidity',
      operationId: 'getLiquidity',
      tag: 'Liquidity and estimates',
      summary: 'Get available liquidity by pair',
      description:
        'Without prices or vendors. Offers that are authorized, of vendors that are active and online, with a live payment method. `trade_type` is the partner’s side: BUY is on-ramp, SELL is off-ramp.',
      data: LiquiditySchema,
    },
    () => {
      const snapshot = currencies.current();
      const book = offers.book();
      const { reference, rates, ageSeconds } = snapshot;
      const isCurrent =
        prepared?.book === book && prepared.reference === reference && prepared.rates === rates;
      if (prepared === undefined || !isCurrent) {
        prepared = { answer: prepareAnswer(listLiquidity(book, snapshot)), book, reference, rates };
      }
      return { answer: prepared.answer, ageSeconds };
    },
  );
}
