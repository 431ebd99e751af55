import { LiquiditySchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type PreparedAnswer, prepareAnswer } from '../../http/prepared-answer.ts';
import { preparedRoute } from '../../http/supported-route.ts';
import type { Currencies, ReferenceSnapshot } from '../../upstream/currencies.port.ts';
import type { OfferBook, Offers } from '../../upstream/offers.port.ts';
import type { RateTable } from '../../upstream/rate-table.ts';
import { listLiquidity } from './list-liquidity.ts';

export interface LiquidityTools {
  readonly currencies: Currencies;
  readonly offers: Offers;
}

interface Prepared {
  readonly answer: PreparedAnswer;
  readonly book: OfferBook;
  readonly reference: ReferenceSnapshot;
  readonly rates: RateTable;
}

export function registerLiquidityRoutes(app: FastifyInstance, { currencies, offers }: LiquidityTools): void {
  let prepared: Prepared | undefined;

  preparedRoute(
    app,
    {
      url: '/api/v1/partner/liquidity',
      operationId: 'getLiquidity',
      tag: 'Liquidity and estimates',
      summary: 'What can be traded at present, without prices or vendors',
      description:
        'Offers that are authorized, of vendors that are active and online, with a live payment method. `trade_type` is the partner’s side: BUY is on-ramp, SELL is off-ramp.',
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
