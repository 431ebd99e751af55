import type { PaymentRailsView, RailView } from './catalogue-views.ts';
import { type HasLiquidity, toRailView } from './rail-view.ts';
import type { Direction, Rail } from './reference-data.ts';
import { deepFreeze } from './reference-validation.ts';

export type PaymentRailsQuery = {
  country?: string | undefined;
  currency?: string | undefined;
  direction: Direction;
};

/** Answers the rails listing; answers for known countries and currencies are made once and shared. */
export function buildRailListing(
  rails: readonly Rail[],
  hasLiquidity: HasLiquidity,
): (query: PaymentRailsQuery) => PaymentRailsView {
  const listed = rails
    .filter((rail) => rail.live !== false)
    .flatMap((rail) =>
      rail.directions.map((direction) => ({
        rail,
        direction,
        view: deepFreeze(toRailView(rail, direction, hasLiquidity)),
      })),
    );
  const answers = new Map<string, PaymentRailsView>();

  return ({ country, currency, direction }) => {
    const key = `${direction}/${country ?? ''}/${currency ?? ''}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const views = listed
      .filter((one) => one.direction === direction)
      .filter(({ rail }) => country === undefined || rail.countries.includes(country))
      .filter(({ rail }) => currency === undefined || rail.currencies.includes(currency))
      .map(({ view }) => view);
    const answer = deepFreeze(toAnswer({ country, currency, direction }, views));
    // Only answers that list something are kept, so made-up codes cannot fill the memory.
    if (views.length > 0) answers.set(key, answer);
    return answer;
  };
}

function toAnswer(query: PaymentRailsQuery, rails: readonly RailView[]): PaymentRailsView {
  const { country, currency, direction } = query;
  const filter = new URLSearchParams({
    ...(country !== undefined && { country }),
    ...(currency !== undefined && { currency }),
  });
  const links: Record<string, string> = {
    self: `/api/v1/supported/payment-rails?${new URLSearchParams([...filter, ['direction', direction]])}`,
  };
  for (const { slug } of rails) {
    const parameters = new URLSearchParams([['rail', slug], ...filter]);
    links[`institutions:${slug}`] = `/api/v1/supported/institutions?${parameters}`;
  }
  return {
    country: country ?? rails[0]?.countries[0] ?? null,
    currency: currency ?? rails[0]?.currencies[0] ?? null,
    direction,
    rails,
    links,
  };
}
