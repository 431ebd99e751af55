import type { Offer, OfferRows, OfferSide, Vendor } from './offer.ts';
import type { OfferProblem } from './offer-terms.ts';
import { readOfferTerms } from './offer-terms.ts';
import { buildPairIndex, type Candidate, ineligibility, type PairIndex } from './pair-index.ts';

export interface OfferChanges {
  readonly vendors?: readonly Vendor[];
  readonly offers?: readonly Offer[];
  readonly removedOfferIds?: readonly string[];
}

/**
 * Every vendor and offer at one moment, indexed by side, crypto and fiat currency. A book never changes: a change
 * makes another one that shares all pairs it does not touch, so a match always sees one consistent state.
 */
export class OfferBook {
  static readonly empty = new OfferBook(new Map(), new Map(), new Map());

  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #offers: ReadonlyMap<string, Offer>;
  readonly #pairs: ReadonlyMap<string, PairIndex>;

  private constructor(
    vendors: ReadonlyMap<string, Vendor>,
    offers: ReadonlyMap<string, Offer>,
    pairs: ReadonlyMap<string, PairIndex>,
  ) {
    this.#vendors = vendors;
    this.#offers = offers;
    this.#pairs = pairs;
  }

  static of(rows: OfferRows): OfferBook {
    return OfferBook.empty.withChanged(rows);
  }

  /** An offer older than the one already known is ignored: notifications may overtake each other. */
  withChanged(changes: OfferChanges): OfferBook {
    const vendors = new Map(this.#vendors);
    const offers = new Map(this.#offers);
    const touched = new Map<string, Offer>();
    const touch = (offer: Offer) =>
      touched.set(pairKey(offer.side, offer.cryptoCurrency, offer.fiatCurrency), offer);

    for (const offerId of changes.removedOfferIds ?? []) {
      const known = offers.get(offerId);
      if (known === undefined) continue;
      touch(known);
      offers.delete(offerId);
    }
    for (const offer of changes.offers ?? []) {
      const known = offers.get(offer.offerId);
      if (known !== undefined && known.version > offer.version) continue;
      if (known !== undefined) touch(known);
      offers.set(offer.offerId, offer);
      touch(offer);
    }
    const changedVendors = new Set<string>();
    for (const vendor of changes.vendors ?? []) {
      vendors.set(vendor.vendorId, vendor);
      changedVendors.add(vendor.vendorId);
    }
    if (changedVendors.size > 0) {
      for (const offer of offers.values()) if (changedVendors.has(offer.vendorId)) touch(offer);
    }
    return new OfferBook(vendors, offers, rebuildPairs(this.#pairs, touched, offers, vendors));
  }

  pair(side: OfferSide, cryptoCurrency: string, fiatCurrency: string): PairIndex | undefined {
    return this.#pairs.get(pairKey(side, cryptoCurrency, fiatCurrency));
  }

  pairs(): Iterable<PairIndex> {
    return this.#pairs.values();
  }

  offer(offerId: string): Offer | undefined {
    return this.#offers.get(offerId);
  }

  vendor(vendorId: string): Vendor | undefined {
    return this.#vendors.get(vendorId);
  }

  /** The offer with its figures, where its row is sound, it is authorized and its vendor is active and online. */
  eligibleOffer(offerId: string): Candidate | undefined {
    const offer = this.#offers.get(offerId);
    const vendor = offer && this.#vendors.get(offer.vendorId);
    if (offer === undefined || vendor === undefined || ineligibility(offer, vendor) !== undefined)
      return undefined;
    const terms = readOfferTerms(offer, vendor);
    return terms.ok ? { offer, vendor, terms: terms.value } : undefined;
  }

  /** Rows that are left out, for logs and the operator. */
  problems(): { offerId: string; problem: OfferProblem }[] {
    return [...this.#pairs.values()]
      .flatMap(({ problems }) => problems)
      .sort((left, right) => (left.offerId < right.offerId ? -1 : 1));
  }

  /** Everything the book was built from, ordered by id: equal books give equal rows. */
  rows(): OfferRows {
    return {
      vendors: [...this.#vendors.values()].sort((left, right) => (left.vendorId < right.vendorId ? -1 : 1)),
      offers: [...this.#offers.values()].sort((left, right) => (left.offerId < right.offerId ? -1 : 1)),
    };
  }

  get offerCount(): number {
    return this.#offers.size;
  }

  get vendorCount(): number {
    return this.#vendors.size;
  }
}

function rebuildPairs(
  known: ReadonlyMap<string, PairIndex>,
  touched: ReadonlyMap<string, Offer>,
  offers: ReadonlyMap<string, Offer>,
  vendors: ReadonlyMap<string, Vendor>,
): ReadonlyMap<string, PairIndex> {
  if (touched.size === 0) return known;
  const members = new Map<string, Offer[]>();
  for (const offer of offers.values()) {
    const key = pairKey(offer.side, offer.cryptoCurrency, offer.fiatCurrency);
    if (!touched.has(key)) continue;
    const own = members.get(key);
    if (own === undefined) members.set(key, [offer]);
    else own.push(offer);
  }
  const pairs = new Map(known);
  for (const [key, { side, cryptoCurrency, fiatCurrency }] of touched) {
    const own = members.get(key);
    if (own === undefined) pairs.delete(key);
    else pairs.set(key, buildPairIndex(own, { side, cryptoCurrency, fiatCurrency }, vendors));
  }
  return pairs;
}

function pairKey(side: OfferSide, cryptoCurrency: string, fiatCurrency: string): string {
  return `${side}/${cryptoCurrency}/${fiatCurrency}`;
}
