import { compareForCustomer, compareWhole } from './customer-rate.ts';
import { compareStanding, type Offer, type OfferSide, type Vendor } from './offer.ts';
import { type OfferProblem, readOfferTerms } from './offer-terms.ts';
import {
  type Candidate,
  type CandidateList,
  countCandidates,
  type Ineligibility,
  ineligibility,
  NO_CANDIDATES,
  type PairIndex,
} from './pair-index.ts';

/** An offer with its vendor as it stood before the change, or stands after it. */
export interface Listed {
  readonly offer: Offer;
  readonly vendor: Vendor | undefined;
}

/**
 * A pair without some of its offers and with others. Every order changes a balance, so the work is for what changed: only
 * that is read and compared, the rest keeps its place. Undefined where no offer is left.
 */
export function changePair(
  index: PairIndex,
  gone: readonly Listed[],
  come: readonly Listed[],
): PairIndex | undefined {
  const ineligible = { ...index.ineligible };
  const goneIds = new Set(gone.map(({ offer }) => offer.offerId));
  for (const listed of gone) {
    const place = placeOf(listed);
    if (place.kind === 'ineligible') ineligible[place.reason] -= 1;
  }
  const problems = index.problems.filter(({ offerId }) => !goneIds.has(offerId));
  const candidates: Candidate[] = [];
  for (const listed of come) {
    const place = placeOf(listed);
    if (place.kind === 'candidate') candidates.push(place.candidate);
    else if (place.kind === 'ineligible') ineligible[place.reason] += 1;
    else problems.push({ offerId: listed.offer.offerId, problem: place.problem });
  }
  const added = sortCandidates(candidates, index.side);
  const eligible = changeList(index.eligible, goneIds, added, index.side);
  const { vendor_inactive, vendor_offline, offer_not_authorized } = ineligible;
  const left =
    countCandidates(eligible) + problems.length + vendor_inactive + vendor_offline + offer_not_authorized;
  if (left === 0) return undefined;
  const byNetwork = changeNetworks(index, gone, goneIds, added);
  return { ...index, eligible, byNetwork, ineligible, problems };
}

type Place =
  | { readonly kind: 'candidate'; readonly candidate: Candidate }
  | { readonly kind: 'ineligible'; readonly reason: Ineligibility }
  | { readonly kind: 'problem'; readonly problem: OfferProblem };

function placeOf({ offer, vendor }: Listed): Place {
  const terms = readOfferTerms(offer, vendor);
  if (!terms.ok) return { kind: 'problem', problem: terms.reason };
  if (vendor === undefined) return { kind: 'problem', problem: 'unknown_vendor' };
  const reason = ineligibility(offer, vendor);
  if (reason !== undefined) return { kind: 'ineligible', reason };
  return { kind: 'candidate', candidate: { offer, vendor, terms: terms.value } };
}

/** Lists of rails that no changed offer takes stay the same objects. */
function changeNetworks(
  { byNetwork, side }: PairIndex,
  gone: readonly Listed[],
  goneIds: ReadonlySet<string>,
  added: CandidateList,
): ReadonlyMap<string, CandidateList> {
  const lists = new Map(byNetwork);
  const addedBy = splitByNetwork(added);
  const touched = new Set(addedBy.keys());
  for (const { offer } of gone) for (const { networkSlug } of offer.paymentOptions) touched.add(networkSlug);
  for (const slug of touched) {
    const before = byNetwork.get(slug) ?? NO_CANDIDATES;
    const list = changeList(before, goneIds, addedBy.get(slug) ?? NO_CANDIDATES, side);
    if (countCandidates(list) > 0) lists.set(slug, list);
    else lists.delete(slug);
  }
  return lists;
}

function changeList(
  list: CandidateList,
  goneIds: ReadonlySet<string>,
  added: CandidateList,
  side: OfferSide,
): CandidateList {
  return {
    fixed: replaceSorted(list.fixed, goneIds, added.fixed, comparison('fixed', side)),
    margin: replaceSorted(list.margin, goneIds, added.margin, comparison('margin', side)),
  };
}

type Compare = (left: Candidate, right: Candidate) => number;

function replaceSorted(
  sorted: readonly Candidate[],
  goneIds: ReadonlySet<string>,
  added: readonly Candidate[],
  compare: Compare,
): readonly Candidate[] {
  const kept = goneIds.size === 0 ? sorted : sorted.filter(({ offer }) => !goneIds.has(offer.offerId));
  if (added.length === 0) return kept;
  if (kept.length === 0) return added;
  const merged: Candidate[] = [];
  let from = 0;
  for (const candidate of added) {
    const to = placeAfter(kept, candidate, from, compare);
    for (; from < to; from += 1) merged.push(kept[from] as Candidate);
    merged.push(candidate);
  }
  return merged.concat(kept.slice(from));
}

/** How many of the list, known to be at least `from`, come before the candidate. */
function placeAfter(
  list: readonly Candidate[],
  candidate: Candidate,
  from: number,
  compare: Compare,
): number {
  let low = from;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && compare(other, candidate) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sortCandidates(candidates: readonly Candidate[], side: OfferSide): CandidateList {
  const ofType = (type: 'fixed' | 'margin') =>
    candidates.filter(({ terms }) => terms.price.type === type).sort(comparison(type, side));
  return { fixed: ofType('fixed'), margin: ofType('margin') };
}

function comparison(type: 'fixed' | 'margin', side: OfferSide): Compare {
  return (left, right) => comparePrices(type, side, left, right) || compareStanding(left, right);
}

function comparePrices(type: 'fixed' | 'margin', side: OfferSide, left: Candidate, right: Candidate): number {
  const [a, b] = [left.terms.price, right.terms.price];
  if (type === 'fixed' && a.type === 'fixed' && b.type === 'fixed') {
    return compareForCustomer(side, a.rate, b.rate);
  }
  // A smaller margin is better for the customer on either side.
  if (a.type === 'margin' && b.type === 'margin') return compareWhole(a.millionths, b.millionths);
  throw new TypeError('margins and fixed prices are in lists of their own');
}

function splitByNetwork(sorted: CandidateList): Map<string, CandidateList> {
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
