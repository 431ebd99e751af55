import type {
  CurrencyCountriesView,
  CurrencyMethodsView,
  CurrencyNetworksView,
  PaymentMethodOptionView,
  PaymentMethodTypeView,
  PaymentMethodView,
} from './catalogue-views.ts';
import { isLiveOn } from './institution-listing.ts';
import type { Institution, InstitutionType, Rail, ReferenceData } from './reference-data.ts';
import { deepFreeze } from './reference-validation.ts';

/** A payment method is an institution that can be paid through; an option is a method on a rail in a currency. */
type Method = { id: number; institution: Institution };
type Option = { method: Method; rail: Rail; currency: string; countries: string[]; active: boolean };

export type PaymentMethods = {
  all(): readonly PaymentMethodView[];
  byId(id: number): PaymentMethodView | undefined;
  bySlug(slug: string): PaymentMethodView | undefined;
  byFiat(currency: string): readonly PaymentMethodView[];
  byNetworkAndFiat(railSlug: string, currency: string): readonly PaymentMethodView[];
  types(): readonly PaymentMethodTypeView[];
  optionsOf(id: number): readonly PaymentMethodOptionView[] | undefined;
  allOptions(): readonly PaymentMethodOptionView[];
  currenciesWithMethods(): readonly CurrencyMethodsView[];
  currenciesWithNetworks(): readonly CurrencyNetworksView[];
  currencyCountries(): readonly CurrencyCountriesView[];
};

export function buildPaymentMethods(data: ReferenceData): PaymentMethods {
  const methods = data.institutions.flatMap((institution): Method[] =>
    institution.paymentMethodId === undefined ? [] : [{ id: institution.paymentMethodId, institution }],
  );
  const options = optionsOfMethods(methods, data.rails);
  const active = options.filter((option) => option.active);
  const views = toMethodViews(methods, options, data.institutionTypes);
  const optionViews = deepFreeze(options.map(toOptionView));
  const byId = new Map(views.map((view) => [view.id, view]));
  const bySlug = new Map(views.map((view) => [view.slug, view]));
  const viewsOf = (chosen: readonly Option[]) =>
    Object.freeze([...new Set(chosen.map((option) => option.method.id))].flatMap((id) => byId.get(id) ?? []));
  const byCurrency = Map.groupBy(active, (option) => option.currency);
  const byFiat = mapValues(byCurrency, viewsOf);
  const byNetworkAndFiat = mapValues(
    Map.groupBy(active, (option) => `${option.rail.slug}/${option.currency}`),
    viewsOf,
  );
  const optionsById = Map.groupBy(optionViews, (option) => option.payment_method_id);
  const types = deepFreeze(toTypeViews(data.institutionTypes, methods));
  const currencies = data.fiatCurrencies.flatMap(({ code }) => {
    const own = byCurrency.get(code);
    return own === undefined ? [] : [{ code, options: own }];
  });
  const withMethods = deepFreeze(currencies.map(toCurrencyMethods));
  const withNetworks = deepFreeze(currencies.map(toCurrencyNetworks));
  const countryNames = new Map(data.countries.map(({ code, name }) => [code, name]));
  const currencyCountries = deepFreeze(currencies.map((one) => toCurrencyCountries(one, countryNames)));

  return {
    all: () => views,
    byId: (id) => byId.get(id),
    bySlug: (slug) => bySlug.get(slug),
    byFiat: (currency) => byFiat.get(currency) ?? [],
    byNetworkAndFiat: (railSlug, currency) => byNetworkAndFiat.get(`${railSlug}/${currency}`) ?? [],
    types: () => types,
    optionsOf: (id) => (byId.has(id) ? (optionsById.get(id) ?? []) : undefined),
    allOptions: () => optionViews,
    currenciesWithMethods: () => withMethods,
    currenciesWithNetworks: () => withNetworks,
    currencyCountries: () => currencyCountries,
  };
}

function optionsOfMethods(methods: readonly Method[], rails: readonly Rail[]): Option[] {
  const bySlug = new Map(rails.map((rail) => [rail.slug, rail]));
  return methods.flatMap((method) =>
    method.institution.supportedRails.flatMap((slug) => {
      const rail = bySlug.get(slug);
      if (rail === undefined) return [];
      const countries = method.institution.countries.filter((country) => rail.countries.includes(country));
      const active = isLiveOn(method.institution, rail);
      return rail.currencies.map((currency) => ({ method, rail, currency, countries, active }));
    }),
  );
}

function toMethodViews(
  methods: readonly Method[],
  options: readonly Option[],
  types: readonly InstitutionType[],
): readonly PaymentMethodView[] {
  const broadTypes = new Map(types.map(({ slug, type }) => [slug, type]));
  const byMethod = Map.groupBy(options, (option) => option.method);
  return deepFreeze(
    methods
      .map((method): PaymentMethodView => {
        const { institution } = method;
        const own = byMethod.get(method) ?? [];
        return {
          id: method.id,
          slug: institution.slug,
          name: institution.name,
          type: broadTypes.get(institution.institutionType) ?? 'BANK',
          institution_type: institution.institutionType,
          ...(institution.code !== undefined && { code: institution.code }),
          countries: institution.countries,
          fiat_currencies: [...new Set(own.map((option) => option.currency))],
          payment_networks: institution.supportedRails,
          active: own.some((option) => option.active),
        };
      })
      .sort((left, right) => left.id - right.id),
  );
}

function toOptionView({ method, rail, currency, countries, active }: Option): PaymentMethodOptionView {
  return {
    id: `${method.id}:${rail.id}:${currency}`,
    payment_method_id: method.id,
    payment_method_slug: method.institution.slug,
    payment_network_id: rail.id,
    payment_network_slug: rail.slug,
    fiat_currency_code: currency,
    countries,
    active,
  };
}

function toTypeViews(types: readonly InstitutionType[], methods: readonly Method[]): PaymentMethodTypeView[] {
  const counted = Map.groupBy(methods, ({ institution }) => institution.institutionType);
  return types.map((type) => ({ ...type, payment_methods: counted.get(type.slug)?.length ?? 0 }));
}

type CurrencyOptions = { code: string; options: readonly Option[] };

const toMethodRef = ({ id, institution }: Method) => ({ id, slug: institution.slug, name: institution.name });
const toRailRef = ({ id, slug, name }: Rail) => ({ id, slug, name });

function toCurrencyMethods({ code, options }: CurrencyOptions): CurrencyMethodsView {
  const grouped = Map.groupBy(options, (option) => option.method);
  return {
    fiat_currency_code: code,
    payment_methods: [...grouped].map(([method, own]) => ({
      ...toMethodRef(method),
      payment_networks: own.map((option) => toRailRef(option.rail)),
    })),
  };
}

function toCurrencyNetworks({ code, options }: CurrencyOptions): CurrencyNetworksView {
  const grouped = Map.groupBy(options, (option) => option.rail);
  return {
    fiat_currency_code: code,
    payment_networks: [...grouped].map(([rail, own]) => ({
      ...toRailRef(rail),
      payment_methods: own.map((option) => toMethodRef(option.method)),
    })),
  };
}

function toCurrencyCountries(
  { code, options }: CurrencyOptions,
  countryNames: ReadonlyMap<string, string>,
): CurrencyCountriesView {
  const methodsByCountry = new Map<string, Set<string>>();
  for (const { method, countries } of options) {
    for (const country of countries) {
      const slugs = methodsByCountry.get(country) ?? new Set();
      methodsByCountry.set(country, slugs.add(method.institution.slug));
    }
  }
  return {
    fiat_currency_code: code,
    countries: [...methodsByCountry].sort(byKey).map(([country, slugs]) => ({
      code: country,
      name: countryNames.get(country) ?? country,
      payment_methods: [...slugs].sort(),
    })),
  };
}

function byKey([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1;
}

function mapValues<K, V, W>(map: ReadonlyMap<K, V>, change: (value: V) => W): Map<K, W> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
