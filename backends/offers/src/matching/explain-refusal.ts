import type { ExclusionCondition, Rate } from '@causeway/protocol';
import { type Candidate, type OfferBook, sendsSettlementNotifications, sideServing } from '../book/index.ts';
import { countCandidates, walkBestFirst } from '../book/pair-index.ts';
import type { MatchContext, MatchRequest, RejectionReason, ServableRange } from './match.types.ts';
import { readReference, Search } from './match-offer.ts';
import { type RailChoice, RailReader, type RailRequest } from './rail-choice.ts';
import { RangeCollector } from './servable-range.ts';

/** What a request asks for; the others are not the request's. */
type RequestCondition = Exclude<ExclusionCondition, 'pair' | 'no_vendor_online' | 'liquidity'>;
const REQUEST_CONDITIONS = [
  'provider_scope',
  'settlement_notification',
  'country',
  'rail',
  'payment_method',
  'amount_range',
] as const satisfies readonly RequestCondition[];

/** One condition that excluded offers. Vendors are not named or counted, and what they offer is told of all together. */
export interface Exclusion {
  readonly condition: ExclusionCondition;
  /** Values that would do, sorted: kinds of provider, countries or rails. */
  readonly available?: readonly string[];
  /** With `amount_range`: the least and the greatest that would be served. */
  readonly range?: ServableRange;
}

/** An offer, the conditions that it fails, and how it could be paid if the request had not made them. */
interface Miss {
  readonly candidate: Candidate;
  readonly rate: Rate;
  readonly failed: ReadonlySet<RequestCondition>;
  readonly relaxed: MatchRequest;
  readonly choices: readonly RailChoice[];
}

/**
 * Why nothing served a request, for the partner. Told of the nearest offers, those that fail the fewest conditions: what
 * else fails the others is noise. Where they fail one condition each, changing any that is listed finds an offer. Looks at
 * every offer of the pair, so it is asked only once a match was refused.
 */
export function explainRefusal(
  book: OfferBook,
  request: MatchRequest,
  context: MatchContext,
): readonly Exclusion[] {
  const side = sideServing(request.direction);
  const pair = book.pair(side, request.crypto.code, request.fiat.code);
  if (pair === undefined || countCandidates(pair.eligible) === 0) {
    // A suspended vendor or an offer that is not authorized is not told apart from none.
    const isOffline = pair !== undefined && pair.ineligible.vendor_offline > 0;
    return [{ condition: isOffline ? 'no_vendor_online' : 'pair' }];
  }
  const reader = new MissReader(request, context);
  let nearest: Miss[] = [];
  walkBestFirst(pair.eligible, side, readReference(context.referenceRate), (candidate, rate) => {
    const miss = reader.read(candidate, rate);
    if (miss === undefined) return false;
    const distance = nearest[0]?.failed.size ?? REQUEST_CONDITIONS.length;
    if (miss.failed.size < distance) nearest = [miss];
    else if (miss.failed.size === distance) nearest.push(miss);
    return false;
  });
  return REQUEST_CONDITIONS.flatMap((condition) => {
    const misses = nearest.filter(({ failed }) => failed.has(condition));
    return misses.length === 0 ? [] : [exclusionOf(condition, misses, reader, request)];
  });
}

function exclusionOf(
  condition: RequestCondition,
  misses: readonly Miss[],
  reader: MissReader,
  request: MatchRequest,
): Exclusion {
  switch (condition) {
    case 'provider_scope':
      return withAvailable(condition, new Set(misses.map(({ candidate }) => candidate.offer.kind)));
    case 'country':
      return withAvailable(condition, reader.countries(misses));
    case 'rail':
      return withAvailable(
        condition,
        new Set(misses.flatMap(({ choices }) => choices.map(({ networkSlug }) => networkSlug))),
      );
    case 'amount_range': {
      const ranges = new RangeCollector(request.fiat);
      for (const { candidate, rate, choices } of misses) ranges.add(candidate, rate, choices);
      const range = ranges.range();
      return range === undefined ? { condition: 'liquidity' } : { condition, range };
    }
    default:
      return { condition };
  }
}

function withAvailable(condition: RequestCondition, values: ReadonlySet<string>): Exclusion {
  return values.size === 0 ? { condition } : { condition, available: [...values].sort() };
}

const RAIL_CONDITIONS = {
  payment_method: 'paymentMethodSlug',
  rail: 'paymentNetworkSlug',
  country: 'country',
} as const satisfies Partial<Record<RequestCondition, keyof RailRequest>>;
type RailCondition = keyof typeof RAIL_CONDITIONS;

/** What to give up for a way to pay, the least first. */
const RAIL_RELAXATIONS: readonly (readonly RailCondition[])[] = [
  [],
  ['payment_method'],
  ['rail'],
  ['country'],
  ['payment_method', 'rail'],
  ['payment_method', 'country'],
  ['rail', 'country'],
  ['payment_method', 'rail', 'country'],
];

/** Reasons that another amount could cure. */
const OF_THE_AMOUNT: ReadonlySet<RejectionReason> = new Set<RejectionReason>([
  'amount_below_offer',
  'amount_above_offer',
  'rail_limits',
  'insufficient_balance',
]);

class MissReader {
  readonly #request: MatchRequest;
  readonly #context: MatchContext;
  readonly #rails: RailReader;
  /** Offers that fail the same conditions are judged by one search. */
  readonly #searches = new Map<string, Search>();

  constructor(request: MatchRequest, context: MatchContext) {
    this.#request = request;
    this.#context = context;
    this.#rails = new RailReader(context.rail, request.fiat.code, request.direction);
  }

  /** Undefined for an offer that no other request could have: it has no live rail, or the fees leave nothing of it. */
  read(candidate: Candidate, rate: Rate): Miss | undefined {
    const failed = new Set(this.#filters(candidate));
    const found = this.#findRails(candidate, failed);
    if (found === undefined) return undefined;
    for (const condition of found.given) failed.add(condition);
    const relaxed = relax(this.#request, failed);
    const obstacle = this.#search(failed, relaxed).obstacle(candidate, rate);
    if (obstacle !== undefined && !OF_THE_AMOUNT.has(obstacle)) return undefined;
    if (obstacle !== undefined) failed.add('amount_range');
    return failed.size === 0 ? undefined : { candidate, rate, failed, relaxed, choices: found.choices };
  }

  /** Where the offers could be paid, all else being as it was asked for. */
  countries(misses: readonly Miss[]): ReadonlySet<string> {
    const served = new Set<string>();
    for (const { candidate, relaxed } of misses) {
      for (const country of candidate.offer.countries) {
        if (served.has(country)) continue;
        const choices = this.#rails.choices(candidate.offer.paymentOptions, { ...relaxed, country });
        if (typeof choices !== 'string') served.add(country);
      }
    }
    return served;
  }

  *#filters({ offer, terms }: Candidate): Generator<RequestCondition> {
    const { providerScope, settlementNotificationRequired, country } = this.#request;
    if (providerScope !== 'all' && offer.kind !== providerScope) yield 'provider_scope';
    if (settlementNotificationRequired === true && !sendsSettlementNotifications(offer.kind)) {
      yield 'settlement_notification';
    }
    if (country !== undefined && !terms.countries.has(country)) yield 'country';
  }

  #findRails(
    { offer }: Candidate,
    failed: ReadonlySet<RequestCondition>,
  ): { given: readonly RailCondition[]; choices: readonly RailChoice[] } | undefined {
    const asked = relax(this.#request, failed);
    for (const given of RAIL_RELAXATIONS) {
      // Nothing is gained by giving up what was not asked for.
      if (given.some((condition) => asked[RAIL_CONDITIONS[condition]] === undefined)) continue;
      const choices = this.#rails.choices(offer.paymentOptions, relax(asked, new Set(given)));
      if (typeof choices !== 'string') return { given, choices };
    }
    return undefined;
  }

  #search(failed: ReadonlySet<RequestCondition>, relaxed: MatchRequest): Search {
    const key = [...failed].sort().join();
    let search = this.#searches.get(key);
    if (search === undefined) {
      search = new Search(relaxed, this.#context);
      this.#searches.set(key, search);
    }
    return search;
  }
}

/** The request without the conditions. */
function relax(request: MatchRequest, given: ReadonlySet<RequestCondition>): MatchRequest {
  return {
    ...request,
    ...(given.has('provider_scope') ? { providerScope: 'all' as const } : {}),
    ...(given.has('settlement_notification') ? { settlementNotificationRequired: undefined } : {}),
    ...(given.has('country') ? { country: undefined } : {}),
    ...(given.has('rail') ? { paymentNetworkSlug: undefined } : {}),
    ...(given.has('payment_method') ? { paymentMethodSlug: undefined } : {}),
  };
}
