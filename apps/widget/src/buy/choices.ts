import type { CorridorListSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Draft } from '../session/steps.ts';

/** What can be chosen together: a corridor is a crypto currency, a fiat currency and a country with rails between them. */
export type Corridor = Static<typeof CorridorListSchema>['corridors'][number];

type Selection = Pick<Draft, 'side' | 'cryptoCurrency' | 'fiatCurrency' | 'country' | 'rail' | 'institution'>;

function served(corridors: readonly Corridor[], { side, cryptoCurrency }: Selection): readonly Corridor[] {
  return corridors.filter((one) => one.crypto_currency === cryptoCurrency && one[side] !== null);
}

const distinct = (values: readonly string[]) => [...new Set(values)];

/** Every currency and every country that this side of this crypto currency serves, and the rails between the chosen two. */
export function choicesOf(corridors: readonly Corridor[], selection: Selection) {
  const all = served(corridors, selection);
  const here = all.filter(
    (one) => one.fiat_currency === selection.fiatCurrency && one.country === selection.country,
  );
  return {
    fiatCurrencies: distinct(all.map((one) => one.fiat_currency)).toSorted(),
    countries: distinct(all.map((one) => one.country)),
    rails: distinct(here.flatMap((one) => one.rails)),
  };
}

/**
 * The same selection made whole: what the customer has just changed stays, and what no longer fits with it gives way. Where
 * nothing was chosen yet the customer’s own country decides, else the first corridor.
 */
export function consistent(
  corridors: readonly Corridor[],
  selection: Selection,
  changed: 'country' | 'fiatCurrency' | null,
  homes: readonly string[],
): Selection {
  const all = served(corridors, selection);
  const fits = (one: Corridor, country: boolean, currency: boolean) =>
    (!country || one.country === selection.country) &&
    (!currency || one.fiat_currency === selection.fiatCurrency);
  const hasCountry = selection.country !== '';
  const hasCurrency = selection.fiatCurrency !== '';
  // A country’s own currency is the one that the fewest others use: pounds in Britain, though euros are served there too.
  const spread = (currency: string) => all.filter((one) => one.fiat_currency === currency).length;
  const own = (country: string, some: readonly Corridor[]) =>
    some
      .filter((one) => one.country === country)
      .toSorted((one, other) => spread(one.fiat_currency) - spread(other.fiat_currency))[0];
  const atHome = (some: readonly Corridor[]) =>
    homes.map((home) => own(home, some)).find((one) => one !== undefined);
  const ofCurrency = hasCurrency ? all.filter((one) => fits(one, false, true)) : [];
  const ofCountry = hasCountry ? all.filter((one) => fits(one, true, false)) : [];
  const both = hasCountry && hasCurrency ? all.find((one) => fits(one, true, true)) : undefined;
  const byCurrency = atHome(ofCurrency) ?? ofCurrency[0];
  const byCountry = own(selection.country, ofCountry);
  const found =
    both ??
    (changed === 'country' ? (byCountry ?? byCurrency) : (byCurrency ?? byCountry)) ??
    atHome(all) ??
    all[0];
  if (found === undefined) return { ...selection, rail: '', institution: '' };
  const isRailKept = found.rails.includes(selection.rail);
  return {
    ...selection,
    fiatCurrency: found.fiat_currency,
    country: found.country,
    rail: isRailKept ? selection.rail : (found.rails[0] ?? ''),
    institution: isRailKept && found === both ? selection.institution : '',
  };
}

/** Countries that the browser’s languages name, then those where the languages are mostly spoken. */
export function homeCountries(languages: readonly string[]): readonly string[] {
  const regions = languages.flatMap((tag) => {
    try {
      const language = new Intl.Locale(tag);
      return [{ named: language.region, likely: language.maximize().region }];
    } catch {
      return [];
    }
  });
  return distinct(
    [...regions.map(({ named }) => named), ...regions.map(({ likely }) => likely)].filter(
      (region): region is string => region !== undefined,
    ),
  );
}
