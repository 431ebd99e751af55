import type { Rate } from '@causeway/protocol';
import { compareForCustomer, customerRate } from './customer-rate.ts';
import { compareStanding, type Offer, type OfferSide, type Vendor } from './offer.ts';
import type { OfferProblem, OfferTerms } from './offer-terms.ts';

/** A usable offer with its vendor and its figures. */
export interface Candidate {
  readonly offer: Offer;
  readonly vendor: Vendor;
  readonly terms: OfferTerms;
}

/** Best for the customer first. Margins and fixed prices compare only once the reference is known: two lists. */
export interface CandidateList {
  readonly fixed: readonly Candidate[];
  readonly margin: readonly Candidate[];
}

export type Ineligibility = 'vendor_inactive' | 'vendor_offline' | 'offer_not_authorized';

/** All offers of one side, crypto and fiat currency. */
export interface PairIndex {
  readonly side: OfferSide;
  readonly cryptoCurrency: string;
  readonly fiatCurrency: string;
  /** Authorized offers of vendors that are active and online. */
  readonly eligible: CandidateList;
  readonly byNetwork: ReadonlyMap<string, CandidateList>;
  readonly ineligible: Readonly<Record<Ineligibility, number>>;
  readonly problems: readonly { readonly offerId: string; readonly problem: OfferProblem }[];
}

export const NO_CANDIDATES: CandidateList = { fixed: [], margin: [] };

export function emptyPair({
  side,
  cryptoCurrency,
  fiatCurrency,
}: Pick<PairIndex, 'side' | 'cryptoCurrency' | 'fiatCurrency'>): PairIndex {
  return {
    side,
    cryptoCurrency,
    fiatCurrency,
    eligible: NO_CANDIDATES,
    byNetwork: new Map(),
    ineligible: { vendor_inactive: 0, vendor_offline: 0, offer_not_authorized: 0 },
    problems: [],
  };
}

const countries = new WeakMap<PairIndex, ReadonlySet<string>>();

/** Where any eligible offer is made for; found when first asked, since most books live for one change. */
export function countriesOf(pair: PairIndex): ReadonlySet<string> {
  let known = countries.get(pair);
  if (known === undefined) {
    const { fixed, margin } = pair.eligible;
    known = new Set([...fixed, ...margin].flatMap(({ offer }) => offer.countries));
    countries.set(pair, known);
  }
  return known;
}

export function ineligibility(offer: Offer, vendor: Vendor): Ineligibility | undefined {
  if (!vendor.active) return 'vendor_inactive';
  if (!vendor.online) return 'vendor_offline';
  return offer.authorized ? undefined : 'offer_not_authorized';
}

export function countCandidates(list: CandidateList): number {
  return list.fixed.length + list.margin.length;
}

/**
 * Visits candidates from the best customer rate on, equals by standing, until `visit` answers true. A caller that stops at
 * the first that can serve has touched only the better ones. Margins without a reference have no rate and are not visited.
 */
export function walkBestFirst(
  list: CandidateList,
  side: OfferSide,
  reference: Rate | undefined,
  visit: (candidate: Candidate, rate: Rate) => boolean,
): void {
  const pricedAt = (candidates: readonly Candidate[], index: number): Priced | undefined => {
    const candidate = candidates[index];
    const rate = candidate && customerRate(candidate.terms, side, reference);
    return candidate && rate && { candidate, rate };
  };
  let fixedAt = 0;
  let marginAt = 0;
  let fixed = pricedAt(list.fixed, fixedAt);
  let margin = pricedAt(list.margin, marginAt);
  for (;;) {
    if (fixed !== undefined && (margin === undefined || !isAhead(margin, fixed, side))) {
      if (visit(fixed.candidate, fixed.rate)) return;
      fixedAt += 1;
      fixed = pricedAt(list.fixed, fixedAt);
    } else if (margin !== undefined) {
      if (visit(margin.candidate, margin.rate)) return;
      marginAt += 1;
      margin = pricedAt(list.margin, marginAt);
    } else {
      return;
    }
  }
}

interface Priced {
  readonly candidate: Candidate;
  readonly rate: Rate;
}

function isAhead(left: Priced, right: Priced, side: OfferSide): boolean {
  const byRate = compareForCustomer(side, left.rate, right.rate);
  return byRate === 0 ? compareStanding(left.candidate, right.candidate) < 0 : byRate < 0;
}
