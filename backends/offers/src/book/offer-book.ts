import type { Offer, OfferRows, OfferSide, Vendor } from './offer.ts';
import { type OfferProblem, readOfferTerms } from './offer-terms.ts';
import { changePair, type Listed } from './pair-change.ts';
import { type Candidate, emptyPair, ineligibility, type PairIndex } from './pair-index.ts';

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
    const changed = new Set<string>();

    for (const offerId of changes.removedOfferIds ?? []) if (offers.delete(offerId)) changed.add(offerId);
    for (const offer of changes.offers ?? []) {
      const known = offers.get(offer.offerId);
      if (known !== undefined && known.version > offer.version) continue;
      offers.set(offer.offerId, offer);
      changed.add(offer.offerId);
    }
    const changedVendors = new Set<string>();
    for (const vendor of changes.vendors ?? []) {
      vendors.set(vendor.vendorId, vendor);
      changedVendors.add(vendor.vendorId);
    }
    if (changedVendors.size > 0) {
      for (const { offerId, vendorId } of offers.values())
        if (changedVendors.has(vendorId)) changed.add(offerId);
    }
    const after = { offers, vendors };
    const before = { offers: this.#offers, vendors: this.#vendors };
    return new OfferBook(vendors, offers, changePairs(this.#pairs, changed, before, after));
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

interface Rows {
  readonly offers: ReadonlyMap<string, Offer>;
  readonly vendors: ReadonlyMap<string, Vendor>;
}

function changePairs(
  pairs: ReadonlyMap<string, PairIndex>,
  changedIds: ReadonlySet<string>,
  before: Rows,
  after: Rows,
): ReadonlyMap<string, PairIndex> {
  if (changedIds.size === 0) return pairs;
  const touched = new Map<string, { pair: Offer; gone: Listed[]; come: Listed[] }>();
  for (const offerId of changedIds) {
    for (const [rows, list] of [[before, 'gone'] as const, [after, 'come'] as const]) {
      const offer = rows.offers.get(offerId);
      if (offer === undefined) continue;
      const key = pairKey(offer.side, offer.cryptoCurrency, offer.fiatCurrency);
      const change = touched.get(key) ?? { pair: offer, gone: [], come: [] };
      change[list].push({ offer, vendor: rows.vendors.get(offer.vendorId) });
      touched.set(key, change);
    }
  }
  const changed = new Map(pairs);
  for (const [key, { pair, gone, come }] of touched) {
    const index = changePair(pairs.get(key) ?? emptyPair(pair), gone, come);
    if (index === undefined) changed.delete(key);
    else changed.set(key, index);
  }
  return changed;
}

function pairKey(side: OfferSide, cryptoCurrency: string, fiatCurrency: string): string {
  return `${side}/${cryptoCurrency}/${fiatCurrency}`;
}
