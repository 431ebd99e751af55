import {
  BridgeCryptoCurrencyListSchema,
  CausewayError,
  CountryListSchema,
  CryptoCurrencyNetworksSchema,
  CurrencyCountriesSchema,
  CurrencyListSchema,
  CurrencyMethodsSchema,
  CurrencyNetworksSchema,
  FiatCodeParams,
  FiatFilterQuery,
  ListingPageQuery,
  NetworkAndFiatParams,
  PaymentMethodListSchema,
  PaymentMethodOptionListSchema,
  PaymentMethodOptionPageSchema,
  PaymentMethodParams,
  PaymentMethodQuery,
  PaymentMethodSchema,
  PaymentMethodSlugParams,
  PaymentMethodTypeListSchema,
  SupportedPairListSchema,
  SupportedPairsQuery,
} from '@causeway/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { PreparedReading } from '../../http/prepared-answer.ts';
import { type PreparedRouteSpec, preparedRoute } from '../../http/prepared-route.ts';
import { upperCode } from '../../lib/iso-codes.ts';
import type { Catalogue, Currencies } from '../../ports/currencies.ts';
import { AnswerMemory, pageOf } from './answer-memory.ts';

interface PassSpec<Q extends TSchema, P extends TSchema>
  extends Omit<PreparedRouteSpec, 'envelope' | 'tag' | 'query' | 'params'> {
  readonly query?: Q;
  readonly params?: P;
}

/** The read-only pass-through endpoints over the catalogue. Every answer is made once for each version of the data. */
export function registerGatewayRoutes(app: FastifyInstance, currencies: Currencies): void {
  const memory = new AnswerMemory();

  function pass<Q extends TSchema, P extends TSchema>(
    spec: PassSpec<Q, P>,
    read: (catalogue: Catalogue, query: Static<Q>, params: Static<P>) => unknown,
  ): void {
    const full = { ...spec, envelope: 'partner', tag: 'Gateway' } as const;
    preparedRoute(app, full, (request: FastifyRequest): PreparedReading => {
      const { reference, ageSeconds } = currencies.current();
      const { query, params } = request as { query: Static<Q>; params: Static<P> };
      // Parsed values, not the address: unknown parameters must not make new entries.
      const key = `${spec.url} ${known(spec.query, query)} ${known(spec.params, params)}`;
      const answer = memory.recall(reference, key, () => read(reference.catalogue, query, params));
      return { answer, ageSeconds };
    });
  }

  registerCurrencyReads(pass);
  registerPaymentMethodReads(pass);
  registerOverviews(pass);
}

function known(schema: TSchema | undefined, values: unknown): string {
  if (schema === undefined || !('properties' in schema)) return '';
  const given = values as Record<string, unknown>;
  return JSON.stringify(Object.keys(schema.properties as object).map((name) => given[name] ?? null));
}

type Pass = <Q extends TSchema, P extends TSchema>(
  spec: PassSpec<Q, P>,
  read: (catalogue: Catalogue, query: Static<Q>, params: Static<P>) => unknown,
) => void;

function registerCurrencyReads(pass: Pass): void {
  pass(
    {
      url: '/api/v1/currencies',
      operationId: 'listCurrencies',
      summary: 'List fiat currencies',
      data: CurrencyListSchema,
    },
    (catalogue) => catalogue.currencies(),
  );
  pass(
    {
      url: '/api/v1/cryptocurrencies',
      operationId: 'listCryptocurrenciesWithNetworks',
      summary: 'List crypto currencies with their contract on each chain',
      data: CryptoCurrencyNetworksSchema,
    },
    (catalogue) => catalogue.cryptoWithNetworks(),
  );
  pass(
    {
      url: '/api/v1/bridge-cryptocurrencies',
      operationId: 'listBridgeCryptocurrencies',
      summary: 'List tokens and chains for a send-out',
      data: BridgeCryptoCurrencyListSchema,
    },
    (catalogue) => catalogue.bridgeCryptoCurrencies(),
  );
  pass(
    {
      url: '/api/v1/countries-with-currencies',
      operationId: 'listCountriesWithCurrencies',
      summary: 'List countries with their currencies',
      data: CountryListSchema,
    },
    (catalogue) => catalogue.countriesWithCurrencies(),
  );
}

function registerPaymentMethodReads(pass: Pass): void {
  pass(
    {
      url: '/api/v1/payment-methods',
      operationId: 'listPaymentMethods',
      summary: 'List payment methods',
      query: PaymentMethodQuery,
      data: PaymentMethodListSchema,
    },
    (catalogue, query) => {
      const country = query.country?.toUpperCase();
      const found = catalogue.paymentMethods
        .all()
        .filter((method) => query.type === undefined || method.type === query.type)
        .filter((method) => country === undefined || method.countries.includes(country));
      return pageOf('payment_methods', found, query);
    },
  );
  pass(
    {
      url: '/api/v1/payment-methods/:id',
      operationId: 'getPaymentMethod',
      summary: 'Get a payment method by id',
      params: PaymentMethodParams,
      data: PaymentMethodSchema,
      errors: ['PAYMENT_METHOD_NOT_FOUND'],
    },
    (catalogue, _query, { id }) => found(catalogue.paymentMethods.byId(id)),
  );
  pass(
    {
      url: '/api/v1/payment-methods/by-slug/:slug',
      operationId: 'getPaymentMethodBySlug',
      summary: 'Get a payment method by slug',
      params: PaymentMethodSlugParams,
      data: PaymentMethodSchema,
      errors: ['PAYMENT_METHOD_NOT_FOUND'],
    },
    (catalogue, _query, { slug }) => found(catalogue.paymentMethods.bySlug(slug)),
  );
  pass(
    {
      url: '/api/v1/payment-methods/by-fiat/:fiat_currency_code',
      operationId: 'listPaymentMethodsByFiat',
      summary: 'List live payment methods of a currency',
      params: FiatCodeParams,
      query: ListingPageQuery,
      data: PaymentMethodListSchema,
      errors: ['UNSUPPORTED_FIAT_CURRENCY'],
    },
    (catalogue, query, params) => {
      const currency = servedFiat(catalogue, params.fiat_currency_code);
      return pageOf('payment_methods', catalogue.paymentMethods.byFiat(currency), query);
    },
  );
  pass(
    {
      url: '/api/v1/payment-methods/by-network/:network_slug/fiat/:fiat_currency_code',
      operationId: 'listPaymentMethodsByNetworkAndFiat',
      summary: 'List live payment methods of a rail and currency',
      params: NetworkAndFiatParams,
      query: ListingPageQuery,
      data: PaymentMethodListSchema,
      errors: ['UNSUPPORTED_FIAT_CURRENCY', 'PAYMENT_METHOD_NOT_FOUND'],
    },
    (catalogue, query, params) => {
      const { slug } = found(catalogue.rail(params.network_slug));
      const currency = servedFiat(catalogue, params.fiat_currency_code);
      return pageOf('payment_methods', catalogue.paymentMethods.byNetworkAndFiat(slug, currency), query);
    },
  );
  registerOptionReads(pass);
}

function registerOptionReads(pass: Pass): void {
  pass(
    {
      url: '/api/v1/payment-methods/types',
      operationId: 'listPaymentMethodTypes',
      summary: 'List payment method types',
      data: PaymentMethodTypeListSchema,
    },
    (catalogue) => catalogue.paymentMethods.types(),
  );
  pass(
    {
      url: '/api/v1/payment-methods/:id/options',
      operationId: 'listPaymentMethodOptions',
      summary: 'List the options of a payment method by rail and currency',
      params: PaymentMethodParams,
      data: PaymentMethodOptionListSchema,
      errors: ['PAYMENT_METHOD_NOT_FOUND'],
    },
    (catalogue, _query, { id }) => found(catalogue.paymentMethods.optionsOf(id)),
  );
  pass(
    {
      url: '/api/v1/payment-methods/all-options',
      operationId: 'listAllPaymentMethodOptions',
      summary: 'List the options of all payment methods by rail and currency',
      query: ListingPageQuery,
      data: PaymentMethodOptionPageSchema,
    },
    (catalogue, query) => pageOf('options', catalogue.paymentMethods.allOptions(), query),
  );
}

function registerOverviews(pass: Pass): void {
  pass(
    {
      url: '/api/v1/get-currency-and-payment-methods-with-networks',
      operationId: 'listCurrenciesWithPaymentMethods',
      summary: 'List payment methods by currency, with their rails',
      query: FiatFilterQuery,
      data: CurrencyMethodsSchema,
      errors: ['UNSUPPORTED_FIAT_CURRENCY'],
    },
    (catalogue, query) => currencyPage(catalogue, catalogue.paymentMethods.currenciesWithMethods(), query),
  );
  pass(
    {
      url: '/api/v1/get-currency-and-payment-networks-with-methods',
      operationId: 'listCurrenciesWithPaymentNetworks',
      summary: 'List rails by currency, with their payment methods',
      query: FiatFilterQuery,
      data: CurrencyNetworksSchema,
      errors: ['UNSUPPORTED_FIAT_CURRENCY'],
    },
    (catalogue, query) => currencyPage(catalogue, catalogue.paymentMethods.currenciesWithNetworks(), query),
  );
  pass(
    {
      url: '/api/v1/get-fiat-currency-countries-with-payment-methods',
      operationId: 'listCurrencyCountries',
      summary: 'List countries by currency, with their payment methods',
      query: FiatFilterQuery,
      data: CurrencyCountriesSchema,
      errors: ['UNSUPPORTED_FIAT_CURRENCY'],
    },
    (catalogue, query) => currencyPage(catalogue, catalogue.paymentMethods.currencyCountries(), query),
  );
  pass(
    {
      url: '/api/v1/get-supported-pairs',
      operationId: 'listSupportedPairs',
      summary: 'List supported pairs of crypto and fiat currency',
      query: SupportedPairsQuery,
      data: SupportedPairListSchema,
      errors: ['UNSUPPORTED_FIAT_CURRENCY', 'UNSUPPORTED_CRYPTO_CURRENCY'],
    },
    (catalogue, query) => {
      const crypto = query.crypto_currency_code?.toUpperCase();
      if (crypto !== undefined && !catalogue.cryptoCurrencies().some(({ code }) => code === crypto)) {
        throw new CausewayError('UNSUPPORTED_CRYPTO_CURRENCY');
      }
      const fiat = query.fiat_currency_code;
      const code = fiat === undefined ? undefined : servedFiat(catalogue, fiat);
      const pairs = catalogue
        .supportedPairs()
        .filter((pair) => crypto === undefined || pair.crypto_currency_code === crypto)
        .filter((pair) => code === undefined || pair.fiat_currency_code === code);
      return pageOf('pairs', pairs, query);
    },
  );
}

function currencyPage<T extends { readonly fiat_currency_code: string }>(
  catalogue: Catalogue,
  all: readonly T[],
  query: Static<typeof FiatFilterQuery>,
): unknown {
  const fiat = query.fiat_currency_code;
  const code = fiat === undefined ? undefined : servedFiat(catalogue, fiat);
  const chosen = code === undefined ? all : all.filter((entry) => entry.fiat_currency_code === code);
  return pageOf('currencies', chosen, query);
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new CausewayError('PAYMENT_METHOD_NOT_FOUND');
  return value;
}

function servedFiat(catalogue: Catalogue, code: string): string {
  const currency = catalogue.fiatCurrency(upperCode(code));
  if (currency === undefined) throw new CausewayError('UNSUPPORTED_FIAT_CURRENCY');
  return currency.code;
}
