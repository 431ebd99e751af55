import type {
  BlockchainView,
  CountryView,
  CryptoCurrencyView,
  CryptoNetworkView,
  CryptoWithNetworksView,
  CurrencyView,
  FiatCurrencyView,
  PaymentRailsView,
  SupportedPairView,
} from './catalogue-views.ts';
import {
  buildChainListing,
  type ChainListing,
  type LocalChain,
  overlayLocalChains,
} from './chain-listing.ts';
import { buildInstitutionListing, type InstitutionListing } from './institution-listing.ts';
import { buildPaymentMethods, type PaymentMethods } from './payment-methods.ts';
import {
  type DetailsFormat,
  detailsFormatOf,
  type InstitutionResolution,
  resolveInstitution,
} from './payout-rules.ts';
import { buildRailListing, type PaymentRailsQuery } from './rail-listing.ts';
import type { HasLiquidity } from './rail-view.ts';
import type {
  BeneficiaryType,
  Chain,
  FiatCurrency,
  Institution,
  Rail,
  ReferenceData,
} from './reference-data.ts';
import { deepFreeze } from './reference-validation.ts';

export type CatalogueOptions = {
  /** Sandbox chains that stand for listed ones. */
  localChains?: readonly LocalChain[];
};

export type ResolveInstitutionRequest = {
  rail: string;
  institutionId?: string | undefined;
  country?: string | undefined;
  currency?: string | undefined;
};

/** Everything discovery can answer, in memory and immutable. A change of data builds another catalogue. */
export interface Catalogue {
  /** What is served. */
  readonly data: ReferenceData;
  /** All there is, also what is switched off. */
  readonly records: ReferenceData;
  cryptoCurrencies(): readonly CryptoCurrencyView[];
  blockchains(): readonly BlockchainView[];
  fiatCurrencies(): readonly FiatCurrencyView[];
  paymentRails(query: PaymentRailsQuery): PaymentRailsView;
  institutions: InstitutionListing;

  currencies(): readonly CurrencyView[];
  cryptoWithNetworks(): readonly CryptoWithNetworksView[];
  bridgeCryptoCurrencies(): readonly CryptoNetworkView[];
  countriesWithCurrencies(): readonly CountryView[];
  supportedPairs(): readonly SupportedPairView[];
  readonly paymentMethods: PaymentMethods;

  hasCountry(code: string): boolean;
  fiatCurrency(code: string): FiatCurrency | undefined;
  chain(slug: string): Chain | undefined;
  rail(slug: string): Rail | undefined;
  institution(slug: string): Institution | undefined;
  resolveInstitution(request: ResolveInstitutionRequest): InstitutionResolution | undefined;
  detailsFormat(
    railSlug: string,
    institutionType: string,
    beneficiaryType?: BeneficiaryType,
  ): DetailsFormat | undefined;

  /** The same catalogue with other liquidity marks; all else is shared. */
  withLiquidity(hasLiquidity: HasLiquidity): Catalogue;
}

const UNKNOWN_LIQUIDITY: HasLiquidity = () => undefined;

/**
 * What is served of the records: a currency that is off is on no rail, and a rail without a currency is off. The records
 * themselves stay whole, for amounts of the past.
 */
function servedOf(data: ReferenceData): ReferenceData {
  const off = new Set(data.fiatCurrencies.filter(({ live }) => live === false).map(({ code }) => code));
  if (off.size === 0) return data;
  const rails = data.rails.map((rail) => {
    const currencies = rail.currencies.filter((code) => !off.has(code));
    if (currencies.length === rail.currencies.length) return rail;
    return currencies.length === 0 ? { ...rail, live: false } : { ...rail, currencies };
  });
  return { ...data, rails, fiatCurrencies: data.fiatCurrencies.filter(({ code }) => !off.has(code)) };
}

export function buildCatalogue(records: ReferenceData, options: CatalogueOptions = {}): Catalogue {
  const data = servedOf(records);
  const chains = overlayLocalChains(data.chains, options.localChains ?? []);
  const listing = deepFreeze(buildChainListing(data.assets, chains));
  const paymentMethods = buildPaymentMethods(data);
  const fiatViews = deepFreeze(data.fiatCurrencies.map((currency) => toFiatView(currency, paymentMethods)));
  const currencies = deepFreeze(data.fiatCurrencies.map(toCurrencyView));
  const countries = deepFreeze(toCountryViews(data));
  const pairs = deepFreeze(toSupportedPairs(data, listing));
  const countryCodes = new Set(data.countries.map(({ code }) => code));
  const fiatByCode = new Map(data.fiatCurrencies.map((currency) => [currency.code, currency]));
  const chainsBySlug = new Map(chains.map((chain) => [chain.slug, chain]));
  const liveRails = data.rails.filter((rail) => rail.live !== false);
  const railsBySlug = new Map(liveRails.map((rail) => [rail.slug, rail]));
  const institutionsBySlug = new Map(data.institutions.map((one) => [one.slug, one]));

  const catalogue: Catalogue = {
    data,
    records,
    cryptoCurrencies: () => listing.cryptoCurrencies,
    blockchains: () => listing.blockchains,
    fiatCurrencies: () => fiatViews,
    paymentRails: buildRailListing(liveRails, UNKNOWN_LIQUIDITY),
    institutions: buildInstitutionListing(liveRails, data.institutions, data.institutionTypes),
    currencies: () => currencies,
    cryptoWithNetworks: () => listing.cryptoWithNetworks,
    bridgeCryptoCurrencies: () => listing.bridgeCryptoCurrencies,
    countriesWithCurrencies: () => countries,
    supportedPairs: () => pairs,
    paymentMethods,
    hasCountry: (code) => countryCodes.has(code),
    fiatCurrency: (code) => fiatByCode.get(code),
    chain: (slug) => chainsBySlug.get(slug),
    rail: (slug) => railsBySlug.get(slug),
    institution: (slug) => institutionsBySlug.get(slug),
    resolveInstitution: ({ rail: slug, ...choice }) => {
      const rail = railsBySlug.get(slug);
      return rail && resolveInstitution({ rail, ...choice }, institutionsBySlug);
    },
    detailsFormat: (railSlug, institutionType, beneficiaryType) => {
      const rail = railsBySlug.get(railSlug);
      return rail && detailsFormatOf(rail, institutionType, beneficiaryType);
    },
    withLiquidity: (hasLiquidity) =>
      Object.freeze({ ...catalogue, paymentRails: buildRailListing(liveRails, hasLiquidity) }),
  };
  return Object.freeze(catalogue);
}

function toFiatView(currency: FiatCurrency, paymentMethods: PaymentMethods): FiatCurrencyView {
  const slugs = paymentMethods.byFiat(currency.code).map((method) => method.slug);
  return {
    code: currency.code,
    name: currency.name,
    symbol: currency.symbol,
    minor_units: currency.minorUnits,
    institution_id: slugs.sort(),
    countries: currency.countries,
    onramp: slugs.length > 0,
    offramp: slugs.length > 0,
  };
}

function toCurrencyView(currency: FiatCurrency): CurrencyView {
  return {
    code: currency.code,
    numeric_code: currency.numericCode,
    name: currency.name,
    symbol: currency.symbol,
    minor_units: currency.minorUnits,
    countries: currency.countries,
  };
}

function toCountryViews(data: ReferenceData): CountryView[] {
  return data.countries.map((country) => ({
    code: country.code,
    alpha3: country.alpha3,
    name: country.name,
    calling_code: country.callingCode,
    currencies: data.fiatCurrencies
      .filter((currency) => currency.countries.includes(country.code))
      .map(({ code, name, symbol, minorUnits }) => ({ code, name, symbol, minor_units: minorUnits })),
  }));
}

function toSupportedPairs(data: ReferenceData, listing: ChainListing): SupportedPairView[] {
  const rails = data.rails.filter((rail) => rail.live !== false);
  return listing.cryptoCurrencies.flatMap((crypto) =>
    data.fiatCurrencies.flatMap((fiat) => {
      const own = rails.filter((rail) => rail.currencies.includes(fiat.code));
      if (own.length === 0) return [];
      return [
        {
          crypto_currency_code: crypto.code,
          fiat_currency_code: fiat.code,
          blockchains: crypto.blockchains,
          payment_networks: own.map((rail) => rail.slug),
          onramp: own.some((rail) => rail.directions.includes('onramp')),
          offramp: own.some((rail) => rail.directions.includes('offramp')),
        },
      ];
    }),
  );
}
