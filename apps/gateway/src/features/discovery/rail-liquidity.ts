import type { Catalogue } from '../../ports/currencies.ts';
import { type Direction, type OfferBook, type Offers, sideServing } from '../../ports/offers.ts';

const DIRECTIONS: readonly Direction[] = ['onramp', 'offramp'];

/**
 * The catalogue with `has_liquidity` on the formats of its rails: whether an eligible offer reaches an institution of the
 * format. Balances and amounts do not count, they show at the quote; so the marks, and with them every prepared answer,
 * stay the same while orders come and go. Left out while there is no book.
 */
export function createLiquidityMarks(offers: Offers): (catalogue: Catalogue) => Catalogue {
  let seen: { catalogue: Catalogue; book: OfferBook } | undefined;
  let served = '';
  let marked: Catalogue | undefined;

  return (catalogue) => {
    const book = bookOf(offers);
    if (book === undefined) return catalogue;
    if (marked !== undefined && seen?.catalogue === catalogue && seen.book === book) return marked;
    const formats = servedFormats(catalogue, book);
    const fingerprint = [...formats].sort().join();
    if (marked === undefined || seen?.catalogue !== catalogue || fingerprint !== served) {
      marked = catalogue.withLiquidity((direction, rail, format) =>
        formats.has(keyOf(direction, rail, format)),
      );
      served = fingerprint;
    }
    seen = { catalogue, book };
    return marked;
  };
}

function bookOf(offers: Offers): OfferBook | undefined {
  try {
    return offers.book();
  } catch {
    return undefined;
  }
}

function servedFormats(catalogue: Catalogue, book: OfferBook): ReadonlySet<string> {
  const served = new Set<string>();
  for (const { slug, formats, directions, live } of catalogue.data.rails) {
    if (formats === undefined || live === false) continue;
    for (const direction of DIRECTIONS.filter((one) => directions.includes(one))) {
      const types = typesReached(catalogue, book, slug, direction);
      for (const { id, institutionTypes } of formats) {
        if (institutionTypes.some((type) => types.has(type))) served.add(keyOf(direction, slug, id));
      }
    }
  }
  return served;
}

/** The kinds of institutions on a rail that some offer pays or is paid through. */
function typesReached(
  catalogue: Catalogue,
  book: OfferBook,
  rail: string,
  direction: Direction,
): ReadonlySet<string> {
  const types = new Set<string>();
  for (const pair of book.pairs()) {
    const candidates = pair.side === sideServing(direction) ? pair.byNetwork.get(rail) : undefined;
    if (candidates === undefined) continue;
    const methods = catalogue.paymentMethods.byNetworkAndFiat(rail, pair.fiatCurrency);
    for (const { offer } of [...candidates.fixed, ...candidates.margin]) {
      for (const { networkSlug, methodSlugs } of offer.paymentOptions) {
        if (networkSlug !== rail) continue;
        for (const { slug, institution_type: type } of methods) {
          if (methodSlugs === 'all' || methodSlugs.includes(slug)) types.add(type);
        }
      }
    }
  }
  return types;
}

function keyOf(direction: Direction, rail: string, format: string): string {
  return `${direction}/${rail}/${format}`;
}
