import { decimalToWireNumber } from '@causeway/protocol';
import type { Catalogue, ReferenceSnapshot } from '../../ports/currencies.ts';
import { bestRate, type OfferBook, type PairIndex, sideServing } from '../../ports/offers.ts';
import { railLookupOf } from '../../upstream/offers/offers-market.ts';
import type { RateTable } from '../../upstream/rates/rate-table.ts';
import type { Direction } from './supported-query.ts';

export interface CorridorView {
  readonly crypto_currency: string;
  readonly fiat_currency: string;
  readonly country: string;
  readonly rails: readonly string[];
  readonly onramp: CorridorSideView | null;
  readonly offramp: CorridorSideView | null;
  readonly updated_at: string | null;
}

interface CorridorSideView {
  readonly rate: string;
  readonly spread_pct: number;
}

/** Where money can flow: what of a corridor does not depend on rates. */
interface Corridor {
  readonly fiat: string;
  readonly country: string;
  readonly rails: readonly string[];
  readonly directions: ReadonlySet<Direction>;
}

interface ServingPairs {
  readonly onramp: PairIndex | undefined;
  readonly offramp: PairIndex | undefined;
}

function pairsOf(book: OfferBook, crypto: string, fiat: string): ServingPairs {
  return {
    onramp: book.pair(sideServing('onramp'), crypto, fiat),
    offramp: book.pair(sideServing('offramp'), crypto, fiat),
  };
}

function viewOf(
  crypto: string,
  { fiat, country, rails, directions }: Corridor,
  pairs: ServingPairs,
  rates: RateTable,
  catalogue: Catalogue,
): CorridorView {
  const market = marketOf(rates, crypto, fiat);
  const side = (direction: Direction): CorridorSideView | null => {
    const pair = directions.has(direction) ? pairs[direction] : undefined;
    return pair === undefined ? null : priceIn(pair, country, market, rates, catalogue);
  };
  return {
    crypto_currency: crypto,
    fiat_currency: fiat,
    country,
    rails,
    onramp: side('onramp'),
    offramp: side('offramp'),
    updated_at: market.updatedAt,
  };
}

/** The corridors of one crypto and one fiat currency: they change when one of its two pairs does. */
interface CurrencyGroup {
  readonly crypto: string;
  readonly fiat: string;
  readonly corridors: readonly Corridor[];
  readonly pairs: ServingPairs;
  readonly views: readonly CorridorView[];
}

/**
 * Every corridor with the best rate that live offers give there: what an estimate of a fitting amount says. A direction is
 * null where no vendor serves it, and where there is no market rate that may be priced on.
 *
 * The list stays the same as long as none of them changes. Every order changes a balance in the book and few change a
 * price: neither the other corridors nor the answer made of them are worked out again.
 */
export class CorridorList {
  #reference: ReferenceSnapshot | undefined;
  #rates: RateTable | undefined;
  #book: OfferBook | undefined;
  #groups: readonly CurrencyGroup[] = [];
  #list: readonly CorridorView[] = [];

  /** As it was when all corridors were priced last. */
  get last(): readonly CorridorView[] {
    return this.#list;
  }

  /** As it is now. */
  at(reference: ReferenceSnapshot, rates: RateTable, book: OfferBook): readonly CorridorView[] {
    const pricing = this.pricing(reference, rates, book);
    while (pricing.next().done !== true);
    return this.#list;
  }

  /** A corridor a step, for callers that give way to others in between. The list changes with the last step. */
  *pricing(
    reference: ReferenceSnapshot,
    rates: RateTable,
    book: OfferBook,
  ): Generator<undefined, void, undefined> {
    if (this.#book === book && this.#rates === rates && this.#reference === reference) return;
    const isNew = this.#reference !== reference;
    const isRepriced = isNew || this.#rates !== rates;
    let hasChanged = isRepriced;
    const groups: CurrencyGroup[] = [];
    for (const group of isNew ? groupsOf(reference.catalogue) : this.#groups) {
      const pairs = pairsOf(book, group.crypto, group.fiat);
      if (!isRepriced && pairs.onramp === group.pairs.onramp && pairs.offramp === group.pairs.offramp) {
        groups.push(group);
        continue;
      }
      const views: CorridorView[] = [];
      for (const corridor of group.corridors) {
        views.push(viewOf(group.crypto, corridor, pairs, rates, reference.catalogue));
        yield;
      }
      hasChanged ||= views.some((view, index) => !isSamePrice(view, group.views[index]));
      groups.push({ ...group, pairs, views });
    }
    if (hasChanged) this.#list = groups.flatMap(({ views }) => views);
    this.#groups = groups;
    this.#reference = reference;
    this.#rates = rates;
    this.#book = book;
  }
}

function groupsOf(catalogue: Catalogue): CurrencyGroup[] {
  const byFiat = Map.groupBy(corridorsOf(catalogue.data.rails), ({ fiat }) => fiat);
  return catalogue.cryptoCurrencies().flatMap(({ code: crypto }) =>
    [...byFiat].map(([fiat, corridors]) => ({
      ...{ crypto, fiat, corridors, views: [] },
      pairs: { onramp: undefined, offramp: undefined },
    })),
  );
}

function isSamePrice(view: CorridorView, before: CorridorView | undefined): boolean {
  const isSame = (now: CorridorSideView | null, then: CorridorSideView | null | undefined) =>
    now?.rate === then?.rate && now?.spread_pct === then?.spread_pct;
  return isSame(view.onramp, before?.onramp) && isSame(view.offramp, before?.offramp);
}

interface PricedPair {
  readonly rates: RateTable;
  readonly catalogue: Catalogue;
  readonly byCountry: Map<string, CorridorSideView | null>;
}

/** A pair stays the same object until one of its own offers changes: an order prices one pair anew, not all of them. */
const priced = new WeakMap<PairIndex, PricedPair>();

function priceIn(
  pair: PairIndex,
  country: string,
  market: Market,
  rates: RateTable,
  catalogue: Catalogue,
): CorridorSideView | null {
  let known = priced.get(pair);
  if (known?.rates !== rates || known.catalogue !== catalogue) {
    known = { rates, catalogue, byCountry: new Map() };
    priced.set(pair, known);
  }
  let price = known.byCountry.get(country);
  if (price === undefined) {
    const decimals = catalogue.fiatCurrency(pair.fiatCurrency)?.minorUnits;
    const best =
      market.rate === null || decimals === undefined
        ? undefined
        : bestRate(pair, { code: pair.fiatCurrency, decimals }, country, {
            referenceRate: market.rate,
            rail: railLookupOf(catalogue),
          });
    price = best === undefined ? null : { rate: best.rate, spread_pct: decimalToWireNumber(best.spreadPct) };
    known.byCountry.set(country, price);
  }
  return price;
}

interface RailFacts {
  readonly slug: string;
  readonly currencies: readonly string[];
  readonly countries: readonly string[];
  readonly directions: readonly Direction[];
  readonly live?: boolean;
}

function corridorsOf(rails: readonly RailFacts[]): Corridor[] {
  const found = new Map<
    string,
    { fiat: string; country: string; rails: string[]; directions: Set<Direction> }
  >();
  for (const rail of rails) {
    if (rail.live === false) continue;
    for (const fiat of rail.currencies) {
      for (const country of rail.countries) {
        const key = `${fiat}/${country}`;
        const corridor = found.get(key) ?? { fiat, country, rails: [], directions: new Set() };
        corridor.rails.push(rail.slug);
        for (const direction of rail.directions) corridor.directions.add(direction);
        found.set(key, corridor);
      }
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, corridor]) => corridor);
}

interface Market {
  /** Null where there is none that may be priced on. */
  readonly rate: string | null;
  readonly updatedAt: string | null;
}

const markets = new WeakMap<RateTable, Map<string, Market>>();

/** Many countries share a currency, and crossing rates takes longer than all the rest: once for each publication. */
function marketOf(rates: RateTable, crypto: string, fiat: string): Market {
  let known = markets.get(rates);
  if (known === undefined) {
    known = new Map();
    markets.set(rates, known);
  }
  const key = `${crypto}/${fiat}`;
  let market = known.get(key);
  if (market === undefined) {
    const decision = rates.requireRate(crypto, fiat);
    const asOf = decision.ok ? decision.rate.asOf : decision.refusal.asOf;
    market = {
      rate: decision.ok ? decision.rate.rate : null,
      updatedAt: asOf === null ? null : new Date(asOf).toISOString(),
    };
    known.set(key, market);
  }
  return market;
}
