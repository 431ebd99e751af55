import {
  type Asset,
  CausewayError,
  ConversionSchema,
  ConvertQuery,
  formatAmount,
  OPERATOR_TAG,
  OperatorRateListSchema,
  parseAmount,
  RateHistoryQuery,
  RateHistorySchema,
  RateListSchema,
  RateQuery,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { invalidRequest } from '../../http/errors.ts';
import { prepareAnswer } from '../../http/prepared-answer.ts';
import { preparedRoute } from '../../http/prepared-route.ts';
import { route } from '../../http/route.ts';
import { upperCode } from '../../lib/iso-codes.ts';
import { type Catalogue, type Currencies, convertAtomic } from '../../ports/currencies.ts';
import { DEFAULT_MAX_RATE_AGE_MS } from '../../upstream/currencies/currencies-in-process.ts';
import { type RateHistory, readRateHistory } from '../../upstream/rates/rate.store.ts';
import type { RateReading, RateTable } from '../../upstream/rates/rate-table.ts';
import { AnswerMemory } from './answer-memory.ts';

/** What the rates endpoints answer, from a catalogue and a table of rates. */
export interface RateView {
  readonly base: string;
  readonly quote: string;
  readonly rate: string | null;
  readonly status: string;
  readonly as_of: string | null;
}

/** The asset behind a code as it is written in a query; a code that is not served is the caller's mistake. */
export function assetOf(catalogue: Catalogue, code: string, field: string): Asset {
  const upper = upperCode(code);
  const fiat = catalogue.fiatCurrency(upper);
  if (fiat !== undefined) return { code: fiat.code, decimals: fiat.minorUnits };
  const crypto = catalogue.cryptoCurrencies().find((candidate) => candidate.code === upper);
  if (crypto !== undefined) return { code: crypto.code, decimals: crypto.decimals };
  throw invalidRequest(field, 'is not a currency that is served');
}

/**
 * Both codes: that pair. One code: it against every currency. None: the pairs that are really quoted, from which all
 * others follow.
 */
export function listRates(
  catalogue: Catalogue,
  rates: RateTable,
  base: string | undefined,
  quote: string | undefined,
): { rates: RateView[]; updated_at: string } {
  if (rates.legs.length === 0) throw new CausewayError('SERVICE_UNAVAILABLE');
  return {
    rates: readings(catalogue, rates, base, quote).map(viewOf),
    updated_at: new Date(rates.publishedAt).toISOString(),
  };
}

function readings(
  catalogue: Catalogue,
  rates: RateTable,
  base: string | undefined,
  quote: string | undefined,
): readonly RateReading[] {
  const from = base === undefined ? undefined : assetOf(catalogue, base, 'base').code;
  const to = quote === undefined ? undefined : assetOf(catalogue, quote, 'quote').code;
  if (from !== undefined && to !== undefined) return [rates.rate(from, to)];
  if (from === undefined && to === undefined) return rates.legs;
  const codes = [
    ...catalogue.cryptoCurrencies().map(({ code }) => code),
    ...catalogue.currencies().map(({ code }) => code),
  ].filter((code) => code !== from && code !== to);
  return codes.map((code) => rates.rate(from ?? code, to ?? code));
}

function viewOf({ base, quote, rate, status, asOf }: RateReading): RateView {
  return { base, quote, rate, status, as_of: asOf === null ? null : new Date(asOf).toISOString() };
}

/** What an amount is worth at the market's rate. A rate that may not be priced on converts nothing. */
export function convertAmount(
  catalogue: Catalogue,
  rates: RateTable,
  request: { readonly from: string; readonly to: string; readonly amount: string },
): object {
  const from = assetOf(catalogue, request.from, 'from');
  const to = assetOf(catalogue, request.to, 'to');
  const amount = parseAmount(request.amount, from);
  if (!amount.ok) {
    throw invalidRequest('amount', `must be a decimal string with at most ${from.decimals} decimals`);
  }
  const decision = rates.requireRate(from.code, to.code);
  if (!decision.ok) throw new CausewayError('SERVICE_UNAVAILABLE', { cause: decision.refusal });
  const { rate, asOf } = decision.rate;
  const atomic = convertAtomic(amount.value, to.decimals, rate, 'floor');
  return {
    from: from.code,
    to: to.code,
    amount: formatAmount(amount.value),
    converted_amount: formatAmount({ atomic, asset: to }),
    rate,
    as_of: new Date(asOf).toISOString(),
  };
}

export interface RatesDeps {
  readonly currencies: Currencies;
  readonly history: RateHistory;
  /** Machine time: rates are observed in it. */
  readonly wall: () => number;
  /** Until when an observation of these sources may be priced on, where this deployment decides that. */
  readonly freshUntil: (sources: readonly string[], observedAt: number) => number | undefined;
}

const TAG = 'Gateway';
const DAY_MS = 86_400_000;

export function registerRatesRoutes(app: FastifyInstance, deps: RatesDeps): void {
  const { currencies } = deps;
  const memory = new AnswerMemory({ maxAnswers: 500 });

  preparedRoute(
    app,
    {
      envelope: 'partner',
      url: '/api/v1/rates',
      operationId: 'listRates',
      tag: TAG,
      summary: 'List market rates, without spread or fees',
      description:
        'Without parameters the pairs that are quoted; with base or quote that currency against every other; with both that pair.',
      query: RateQuery,
      data: RateListSchema,
    },
    (request) => {
      const { base, quote } = request.query as Static<typeof RateQuery>;
      const { reference, rates, ageSeconds } = currencies.current();
      const key = `${base?.toUpperCase() ?? ''}/${quote?.toUpperCase() ?? ''}`;
      const answer = memory.recall(rates, key, () => listRates(reference.catalogue, rates, base, quote));
      return { answer, ageSeconds };
    },
  );

  preparedRoute(
    app,
    {
      envelope: 'partner',
      url: '/api/v1/currency/convert',
      operationId: 'convertCurrency',
      tag: TAG,
      summary: 'Convert an amount at the market rate',
      description: 'Indicative: no spread, no fees. 503 while there is no current rate.',
      query: ConvertQuery,
      data: ConversionSchema,
    },
    (request) => {
      const { reference, rates, ageSeconds } = currencies.current();
      const query = request.query as Static<typeof ConvertQuery>;
      return { answer: prepareAnswer(convertAmount(reference.catalogue, rates, query)), ageSeconds };
    },
  );

  registerHistory(app, deps);
  registerOperatorRates(app, deps);
}

const secondsBetween = (from: number, to: number) => Math.max(0, Math.round((to - from) / 1_000));

/** The quoted pairs with what decides whether they may be priced on. */
function registerOperatorRates(app: FastifyInstance, { currencies, wall, freshUntil }: RatesDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/rates',
    operationId: 'listOperatorRates',
    tag: OPERATOR_TAG,
    summary: 'List the quoted pairs with source, age and limit',
    description:
      'All other pairs follow from these. A pair that is stale, missing or guarded is not priced on; guarded means that a jump waits for its confirmation.',
    data: OperatorRateListSchema,
    errors: ['SERVICE_UNAVAILABLE'],
    handle: async () => {
      const { rates } = currencies.current();
      const now = wall();
      return {
        rates: rates.legs.map((leg) => {
          const until = leg.asOf === null ? undefined : freshUntil(leg.sources, leg.asOf);
          return {
            ...viewOf(leg),
            status: leg.status,
            sources: [...leg.sources],
            age_seconds: leg.asOf === null ? null : secondsBetween(leg.asOf, now),
            stale_after_seconds:
              leg.asOf === null || until === undefined ? null : secondsBetween(leg.asOf, until),
          };
        }),
        updated_at: new Date(rates.publishedAt).toISOString(),
        publication_age_seconds: secondsBetween(rates.publishedAt, now),
        publication_stale_after_seconds: DEFAULT_MAX_RATE_AGE_MS / 1_000,
      };
    },
  });
}

function registerHistory(app: FastifyInstance, { currencies, history, wall }: RatesDeps): void {
  preparedRoute(
    app,
    {
      envelope: 'partner',
      url: '/api/v1/rates/history',
      operationId: 'listRateHistory',
      tag: TAG,
      summary: 'List past market rates of a pair',
      query: RateHistoryQuery,
      data: RateHistorySchema,
    },
    async (request) => {
      const query = request.query as Static<typeof RateHistoryQuery>;
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
