import {
  BlockchainListSchema,
  CorridorListSchema,
  CryptoCurrencyListSchema,
  FiatCurrencyListSchema,
  InstitutionListSchema,
  InstitutionQuery,
  PaymentRailsSchema,
  RailQuery,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { PreparedReading } from '../../http/prepared-answer.ts';
import { preparedRoute } from '../../http/prepared-route.ts';
import type { Currencies, CurrenciesSnapshot } from '../../ports/currencies.ts';
import type { Offers } from '../../ports/offers.ts';
import { AnswerMemory } from './answer-memory.ts';
import { createCorridorAnswer } from './corridor-answer.ts';
import { createLiquidityMarks } from './rail-liquidity.ts';
import { type RawQuery, readInstitutionsQuery, readPaymentRailsQuery } from './supported-query.ts';

export interface SupportedDeps {
  readonly currencies: Currencies;
  readonly offers: Offers;
}

const TAG = 'Supported resources';
/** Longer addresses are answered too, but not remembered by their text. */
const MAX_REMEMBERED_URL_LENGTH = 300;

export function registerSupportedRoutes(app: FastifyInstance, deps: SupportedDeps): void {
  registerListings(app, deps.currencies);
  registerRails(app, deps);
  registerInstitutions(app, deps.currencies);
  registerCorridors(app, deps);
}

function registerListings(app: FastifyInstance, currencies: Currencies): void {
  const listings = new AnswerMemory();

  function listed(key: string, make: (snapshot: CurrenciesSnapshot) => unknown): () => PreparedReading {
    return () => {
      const snapshot = currencies.current();
      return {
        answer: listings.recall(snapshot.reference, key, () => make(snapshot)),
        ageSeconds: snapshot.ageSeconds,
      };
    };
  }

  preparedRoute(
    app,
    {
      envelope: 'supported',
      url: '/api/v1/supported/crypto-currencies',
      operationId: 'listCryptoCurrencies',
      tag: TAG,
      summary: 'List settlement assets with their chains',
      data: CryptoCurrencyListSchema,
    },
    listed('crypto-currencies', ({ reference }) => reference.catalogue.cryptoCurrencies()),
  );

  preparedRoute(
    app,
    {
      envelope: 'supported',
      url: '/api/v1/supported/blockchains',
      operationId: 'listBlockchains',
      tag: TAG,
      summary: 'List chains with their enabled tokens',
      description: 'The authoritative list: a token and chain that are not listed together are not enabled.',
      data: BlockchainListSchema,
    },
    listed('blockchains', ({ reference }) => reference.catalogue.blockchains()),
  );

  preparedRoute(
    app,
    {
      envelope: 'supported',
      url: '/api/v1/supported/fiat-currencies',
      operationId: 'listFiatCurrencies',
      tag: TAG,
      summary: 'List fiat currencies with countries and payment methods',
      data: FiatCurrencyListSchema,
    },
    listed('fiat-currencies', ({ reference }) => reference.catalogue.fiatCurrencies()),
  );
}

/** The same question is mostly asked in the same words, so the address itself is the first key. */
function rememberedByUrl() {
  const byUrl = new AnswerMemory();
  return (generation: object, url: string, make: () => unknown) => {
    const memory = url.length <= MAX_REMEMBERED_URL_LENGTH ? byUrl : new AnswerMemory();
    return memory.recall(generation, url, make);
  };
}

function registerRails(app: FastifyInstance, { currencies, offers }: SupportedDeps): void {
  const asked = rememberedByUrl();
  const marked = createLiquidityMarks(offers);

  preparedRoute(
    app,
    {
      envelope: 'supported',
      url: '/api/v1/supported/payment-rails',
      operationId: 'listPaymentRails',
      tag: TAG,
      summary: 'List payment rails of a country or currency, with required fields',
      description:
        'At least one of country and currency is needed. An ISO code that is not served gives an empty list.',
      query: RailQuery,
      data: PaymentRailsSchema,
    },
    (request) => {
      const { reference, ageSeconds } = currencies.current();
      const catalogue = marked(reference.catalogue);
      const answer = asked(catalogue, request.url, () =>
        catalogue.paymentRails(readPaymentRailsQuery(request.query as RawQuery)),
      );
      return { answer, ageSeconds };
    },
  );
}

function registerInstitutions(app: FastifyInstance, currencies: Currencies): void {
  const asked = rememberedByUrl();
  preparedRoute(
    app,
    {
      envelope: 'supported',
      url: '/api/v1/supported/institutions',
      operationId: 'listInstitutions',
      tag: TAG,
      summary: 'List institutions live on a rail',
      description:
        'Ranked by how well the name fits the search: the same, beginning with it, a word beginning with it, containing it.',
      query: InstitutionQuery,
      data: InstitutionListSchema,
    },
    (request) => {
      const { reference, ageSeconds } = currencies.current();
      const { catalogue } = reference;
      const answer = asked(reference, request.url, () =>
        catalogue.institutions(
          readInstitutionsQuery(request.query as RawQuery, (slug) => catalogue.rail(slug) !== undefined),
        ),
      );
      return { answer, ageSeconds };
    },
  );
}

function registerCorridors(app: FastifyInstance, deps: SupportedDeps): void {
  preparedRoute(
    app,
    {
      envelope: 'supported',
      url: '/api/v1/supported/corridors',
      operationId: 'listCorridors',
      tag: TAG,
      summary: 'List live rates and spreads by corridor',
      description:
        'One row for every crypto currency, fiat currency and country. `rate` is the best that a live offer gives there now, for an amount that fits it. A direction is null without a live offer or a current market rate.',
      data: CorridorListSchema,
    },
    createCorridorAnswer(deps),
  );
}
