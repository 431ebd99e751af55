import type { Rate } from '@causeway/protocol';
import { compareForCustomer, compareWhole, customerRate } from './customer-rate.ts';
import type { Offer, OfferSide, Vendor } from './offer.ts';
import { type OfferProblem, type OfferTerms, readOfferTerms } from './offer-terms.ts';
import { compareStanding } from './standing.ts';

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
  /** Where any eligible offer is made for. */
  readonly countries: ReadonlySet<string>;
  readonly ineligible: Readonly<Record<Ineligibility, number>>;
  readonly problems: readonly { readonly offerId: string; readonly problem: OfferProblem }[];
}

export const NO_CANDIDATES: CandidateList = { fixed: [], margin: [] };

export function buildPairIndex(
  offers: Iterable<Offer>,
  pair: Pick<PairIndex, 'side' | 'cryptoCurrency' | 'fiatCurrency'>,
  vendors: ReadonlyMap<string, Vendor>,
): PairIndex {
  const ineligible = { vendor_inactive: 0, vendor_offline: 0, offer_not_authorized: 0 };
  const problems: { offerId: string; problem: OfferProblem }[] = [];
  const candidates: Candidate[] = [];
  for (const offer of offers) {
    const vendor = vendors.get(offer.vendorId);
    const terms = readOfferTerms(offer, vendor);
    if (!terms.ok) {
      problems.push({ offerId: offer.offerId, problem: terms.reason });
    } else if (vendor !== undefined) {
      const obstacle = ineligibility(offer, vendor);
      if (obstacle === undefined) candidates.push({ offer, vendor, terms: terms.value });
      else ineligible[obstacle] += 1;
    }
  }
  const eligible = sortCandidates(candidates, pair.side);
  const countries = new Set(candidates.flatMap(({ offer }) => offer.countries));
  return { ...pair, eligible, byNetwork: splitByNetwork(eligible), countries, ineligible, problems };
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
 * Visits candidates from the best customer rate on, equals by standing, until `visit` answers true. Whoever stops at
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

function sortCandidates(candidates: readonly Candidate[], side: OfferSide): CandidateList {
  const fixed: { candidate: Candidate; rate: Rate }[] = [];
  const margin: { candidate: Candidate; millionths: bigint }[] = [];
  for (const candidate of candidates) {
    const { price } = candidate.terms;
    if (price.type === 'fixed') fixed.push({ candidate, rate: price.rate });
    else margin.push({ candidate, millionths: price.millionths });
  }
  fixed.sort(
    (left, right) =>
      compareForCustomer(side, left.rate, right.rate) || compareStanding(left.candidate, right.candidate),
  );
  // A smaller margin is better for the customer on either side.
  margin.sort(
    (left, right) =>
      compareWhole(left.millionths, right.millionths) || compareStanding(left.candidate, right.candidate),
  );
  return { fixed: fixed.map(({ candidate }) => candidate), margin: margin.map(({ candidate }) => candidate) };
}

function splitByNetwork(sorted: CandidateList): ReadonlyMap<string, CandidateList> {
  const lists = new Map<string, { fixed: Candidate[]; margin: Candidate[] }>();
  for (const type of ['fixed', 'margin'] as const) {
    for (const candidate of sorted[type]) {
      for (const { networkSlug } of candidate.offer.paymentOptions) {
        const list = lists.get(networkSlug) ?? { fixed: [], margin: [] };
        list[type].push(candidate);
        lists.set(networkSlug, list);
      }
    }
  }
  return lists;
}
