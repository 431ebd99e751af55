import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { invalidRequest } from '../../http/errors.ts';
import { prepareAnswer } from '../../http/prepared-answer.ts';
import { preparedRoute } from '../../http/supported-route.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import { type RateHistory, readRateHistory } from '../../upstream/rate.store.ts';
import { AnswerMemory } from './answer-memory.ts';
import * as schemas from './rates.schemas.ts';
import { assetOf, convertAmount, listRates } from './rates.ts';

export interface RatesDeps {
  readonly currencies: Currencies;
  readonly history: RateHistory;
  /** Machine time: rates are observed in it. */
  readonly wall: () => number;
}

const TAG = 'Gateway';
const DAY_MS = 86_400_000;

export function registerRatesRoutes(app: FastifyInstance, deps: RatesDeps): void {
  const { currencies } = deps;
  const memory = new AnswerMemory({ maxAnswers: 500 });

  preparedRoute(
    app,
    {
      url: '/api/v1/rates',
      operationId: 'listRates',
      tag: TAG,
      summary: 'Market rates, without spread or fees',
      description:
        'Without parameters the pairs that are quoted; with base or quote that currency against every other; with both that pair.',
      query: schemas.RatesQuery,
      data: schemas.Rates,
    },
    (request) => {
      const { base, quote } = request.query as Static<typeof schemas.RatesQuery>;
      const { reference, rates, ageSeconds } = currencies.current();
      const key = `${base?.toUpperCase() ?? ''}/${quote?.toUpperCase() ?? ''}`;
      const answer = memory.recall(rates, key, () => listRates(reference.catalogue, rates, base, quote));
      return { answer, ageSeconds };
    },
  );

  preparedRoute(
    app,
    {
      url: '/api/v1/currency/convert',
      operationId: 'convertCurrency',
      tag: TAG,
      summary: 'What an amount is worth at the market’s rate',
      description: 'Indicative: no spread, no fees. 503 while there is no current rate.',
      query: schemas.ConvertQuery,
      data: schemas.Conversion,
    },
    (request) => {
      const { reference, rates, ageSeconds } = currencies.current();
      const query = request.query as Static<typeof schemas.ConvertQuery>;
      return { answer: prepareAnswer(convertAmount(reference.catalogue, rates, query)), ageSeconds };
    },
  );

  registerHistory(app, deps);
}

function registerHistory(app: FastifyInstance, { currencies, history, wall }: RatesDeps): void {
  preparedRoute(
    app,
    {
      url: '/api/v1/rates/history',
      operationId: 'listRateHistory',
      tag: TAG,
      summary: 'Past market rates of a pair',
      query: schemas.RateHistoryQuery,
      data: schemas.RateHistory,
    },
    async (request) => {
      const query = request.query as Static<typeof schemas.RateHistoryQuery>;
      const { catalogue } = currencies.current().reference;
      const base = assetOf(catalogue, query.base, 'base').code;
      const quote = assetOf(catalogue, query.quote, 'quote').code;
      const to = query.to === undefined ? wall() : Date.parse(query.to);
      const from = query.from === undefined ? to - DAY_MS : Date.parse(query.from);
      if (from > to) throw invalidRequest('from', 'must not be later than to');
      const points = await readRateHistory(history, base, quote, from, to, query.limit);
      const answer = prepareAnswer({
        base,
        quote,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        points: points.map(({ at, rate }) => ({ at: new Date(at).toISOString(), rate })),
      });
      return { answer, ageSeconds: 0 };
    },
  );
}
