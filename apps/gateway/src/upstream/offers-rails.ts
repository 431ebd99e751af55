import type { Catalogue } from '@causeway/currencies';
import type { Direction, RailLookup, RailView } from '@causeway/offers';

const lookups = new WeakMap<Catalogue, RailLookup>();

/** The catalogue as matching sees it: what is live now, on which rail, where. Read once for each catalogue. */
export function railLookupOf(catalogue: Catalogue): RailLookup {
  const known = lookups.get(catalogue);
  if (known !== undefined) return known;
  const views = new Map<string, RailView | undefined>();
  const lookup: RailLookup = (networkSlug, fiatCurrency, direction) => {
    const key = `${networkSlug}/${fiatCurrency}/${direction}`;
    if (views.has(key)) return views.get(key);
    const view = readRail(catalogue, networkSlug, fiatCurrency, direction);
    views.set(key, view);
    return view;
  };
  lookups.set(catalogue, lookup);
  return lookup;
}

/** Live methods of a rail in a currency, the rail's own default first. */
export function methodsOf(catalogue: Catalogue, railSlug: string, fiatCurrency: string) {
  const preferred = catalogue.rail(railSlug)?.defaultInstitution;
  const methods = catalogue.paymentMethods.byNetworkAndFiat(railSlug, fiatCurrency);
  return [
    ...methods.filter(({ slug }) => slug === preferred),
    ...methods.filter(({ slug }) => slug !== preferred),
  ];
}

function readRail(
  catalogue: Catalogue,
  networkSlug: string,
  fiatCurrency: string,
  direction: Direction,
): RailView | undefined {
  const rail = catalogue.rail(networkSlug);
  if (rail === undefined || !rail.currencies.includes(fiatCurrency) || !rail.directions.includes(direction)) {
    return undefined;
  }
  const methods = methodsOf(catalogue, networkSlug, fiatCurrency);
  const everywhere = methods.map(({ slug }) => slug);
  const slugsIn = new Map(
    rail.countries.map((country) => [
      country,
      methods.filter(({ countries }) => countries.includes(country)).map(({ slug }) => slug),
    ]),
  );
  const setsIn = new Map([...slugsIn].map(([country, slugs]) => [country, new Set(slugs)]));
  const anywhere = new Set(everywhere);
  return {
    limits: rail.limits,
    liveMethods: (country) => (country === undefined ? everywhere : (slugsIn.get(country) ?? [])),
    isLive: (slug, country) =>
      country === undefined ? anywhere.has(slug) : setsIn.get(country)?.has(slug) === true,
  };
}
