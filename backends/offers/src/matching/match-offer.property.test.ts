import {
  type Asset,
  formatShortest,
  parseDecimal,
  parseRate,
  priceOfframpCryptoAnchored,
  priceOfframpFiatAnchored,
  priceOnrampCryptoAnchored,
  priceOnrampFiatAnchored,
  priceTerms,
} from '@causeway/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Offer, OfferBook, type OfferRows, type Vendor } from '../book/index.ts';
import { contextArb, type RandomContext, requestArb, rowsArb } from '../testing/offer-world.ts';
import type { MatchRequest } from './match.types.ts';
import { matchOffer } from './match-offer.ts';

/** A second, slow and plain way to the answer: every offer is judged on its own, then all are compared. */

const ONE = 10n ** 40n;
const scaled = (text: string) => {
  const decimal = parseDecimal(text);
  if (!decimal.ok) throw new Error(text);
  return (decimal.value.unscaled * ONE) / 10n ** BigInt(decimal.value.scale);
};
const worth = (atomic: bigint, { decimals }: Asset) => (atomic * ONE) / 10n ** BigInt(decimals);

/** The rates of these markets have few digits, so the exact product is cut by string and not by the rule under test. */
function rateText(offer: Offer, reference: string | undefined): string | undefined {
  if (offer.pricing.type === 'fixed') return offer.pricing.price;
  if (reference === undefined) return undefined;
  const [whole = '', fraction = ''] = reference.split('.');
  const margin = BigInt(Math.round(Number(offer.pricing.percent) * 1e6));
  const share = offer.side === 'SELL' ? 100_000_000n + margin : 100_000_000n - margin;
  const exact = BigInt(whole + fraction) * share;
  const digits = exact.toString();
  const scale = fraction.length + 8;
  const extra = digits.length - 10;
  if (extra <= 0) return formatShortest(exact, scale);
  const kept = BigInt(digits.slice(0, 10));
  const rest = digits.slice(10);
  const half = `5${'0'.repeat(extra - 1)}`;
  const up = rest > half || (rest === half && kept % 2n === 1n);
  return formatShortest(up ? kept + 1n : kept, scale - extra);
}

function priceOf(request: MatchRequest, rate: string, { context }: RandomContext) {
  const parsed = parseRate(rate);
  if (!parsed.ok) throw new Error(rate);
  const terms = priceTerms({ ...request, rate: parsed.value, platformFee: context.platformFee });
  if (request.direction === 'onramp') {
    return request.anchor === 'fiat'
      ? priceOnrampFiatAnchored(request.amount, terms)
      : priceOnrampCryptoAnchored(request.amount, terms);
  }
  return request.anchor === 'fiat'
    ? priceOfframpFiatAnchored(request.amount, terms)
    : priceOfframpCryptoAnchored(request.amount, terms);
}

interface Served {
  readonly offer: Offer;
  readonly vendor: Vendor;
  readonly rate: string;
}

function canServe(
  offer: Offer,
  vendor: Vendor,
  request: MatchRequest,
  world: RandomContext,
): Served | undefined {
  if (!vendor.active || !vendor.online || !offer.authorized) return undefined;
  if (offer.side !== (request.direction === 'onramp' ? 'SELL' : 'BUY')) return undefined;
  if (request.providerScope !== 'all' && vendor.kind !== request.providerScope) return undefined;
  if (request.settlementNotificationRequired && vendor.kind !== 'direct') return undefined;
  const { country } = request;
  if (country !== undefined && !offer.countries.includes(country)) return undefined;
  const rate = rateText(offer, world.context.referenceRate);
  if (rate === undefined) return undefined;
  const priced = priceOf(request, rate, world);
  if (!priced.ok) return undefined;
  const { fiatAmount, cryptoAmount, platformFee } = priced.value;
  const fiat = worth(fiatAmount, request.fiat);
  if (fiat < scaled(offer.minAmount) || fiat > scaled(offer.maxAmount)) return undefined;
  const traded = request.direction === 'onramp' ? cryptoAmount : cryptoAmount - platformFee;
  if (worth(traded, request.crypto) > scaled(offer.availableBalance)) return undefined;
  const payable = offer.paymentOptions.some(({ networkSlug, methodSlugs }) => {
    const rail = world.rails[networkSlug];
    if (rail === undefined || (request.paymentNetworkSlug ?? networkSlug) !== networkSlug) return false;
    const { minAmount = null, maxAmount = null, maxPerTransaction = null } = rail.limits ?? {};
    if (minAmount !== null && fiat < scaled(minAmount)) return false;
    if ([maxAmount, maxPerTransaction].some((limit) => limit !== null && fiat > scaled(limit))) return false;
    return Object.entries(rail.methods).some(
      ([slug, countries]) =>
        (methodSlugs === 'all' || methodSlugs.includes(slug)) &&
        (request.paymentMethodSlug ?? slug) === slug &&
        (country === undefined || countries.includes(country)),
    );
  });
  return payable ? { offer, vendor, rate } : undefined;
}

function goodness({ vendor }: Served): number {
  const { completedOrders, failedOrders, disputedOrders } = vendor.reputation;
  return (completedOrders + 1) / (completedOrders + failedOrders + disputedOrders + 2);
}

function bestOf(rows: OfferRows, request: MatchRequest, world: RandomContext): Served | undefined {
  const vendors = new Map(rows.vendors.map((vendor) => [vendor.vendorId, vendor]));
  const served = rows.offers.flatMap(
    (offer) => canServe(offer, vendors.get(offer.vendorId)!, request, world) ?? [],
  );
  const price = ({ rate }: Served) => (request.direction === 'onramp' ? scaled(rate) : -scaled(rate));
  return served.sort((left, right) => {
    if (price(left) !== price(right)) return price(left) < price(right) ? -1 : 1;
    if (goodness(left) !== goodness(right)) return goodness(right) - goodness(left);
    return (
      left.offer.createdAt - right.offer.createdAt || (left.offer.offerId < right.offer.offerId ? -1 : 1)
    );
  })[0];
}

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((all, one) => all + one, 0);
const RUNS = { numRuns: 1_500 };

describe('over random markets', () => {
  test('the best of all feasible offers is matched, and nothing exactly when none is feasible', () => {
    let matches = 0;
    fc.assert(
      fc.property(rowsArb, requestArb, contextArb, (rows, request, world) => {
        const outcome = matchOffer(OfferBook.of(rows), request, world.context);
        const best = bestOf(rows, request, world);
        expect(outcome.ok ? outcome.match.offer.offerId : undefined).toBe(best?.offer.offerId);
        if (!outcome.ok || best === undefined) return;
        matches += 1;
        expect(scaled(outcome.match.rate)).toBe(scaled(best.rate));
        expect(priceOf(request, outcome.match.rate, world)).toEqual({ ok: true, value: outcome.match.price });
      }),
      RUNS,
    );
    // A property that hardly ever matches would prove nothing.
    expect(matches).toBeGreaterThan(RUNS.numRuns / 20);
  });

  test('the chosen rail and method are live, offered and as wished', () => {
    fc.assert(
      fc.property(rowsArb, requestArb, contextArb, (rows, request, { context, rails }) => {
        const outcome = matchOffer(OfferBook.of(rows), request, context);
        if (!outcome.ok) return;
        const { offer, paymentNetworkSlug, paymentMethodSlug } = outcome.match;
        expect(request.paymentNetworkSlug ?? paymentNetworkSlug).toBe(paymentNetworkSlug);
        expect(request.paymentMethodSlug ?? paymentMethodSlug).toBe(paymentMethodSlug);
        const option = offer.paymentOptions.find(({ networkSlug }) => networkSlug === paymentNetworkSlug);
        expect(option?.methodSlugs === 'all' || option?.methodSlugs.includes(paymentMethodSlug)).toBe(true);
        const countries = rails[paymentNetworkSlug]?.methods[paymentMethodSlug];
        expect(countries).toBeDefined();
        if (request.country !== undefined) expect(countries).toContain(request.country);
      }),
      RUNS,
    );
  });

  test('a refusal counts every offer of the pair exactly once', () => {
    fc.assert(
      fc.property(rowsArb, requestArb, contextArb, (rows, request, { context }) => {
        const outcome = matchOffer(OfferBook.of(rows), request, context);
        if (outcome.ok) return;
        const side = request.direction === 'onramp' ? 'SELL' : 'BUY';
        expect(sum(outcome.rejected)).toBe(rows.offers.filter((offer) => offer.side === side).length);
      }),
      RUNS,
    );
  });

  test('both ends of a told range are served when asked for in fiat', () => {
    let told = 0;
    fc.assert(
      fc.property(rowsArb, requestArb, contextArb, (rows, asked, { context }) => {
        // Fees can make an end of the range impossible on their own.
        const request = {
          ...asked,
          anchor: 'fiat',
          amount: 10_000_000n,
          partnerFee: { millionths: 0n },
        } as const;
        const free = { ...context, platformFee: { millionths: 0n } };
        const book = OfferBook.of(rows);
        const outcome = matchOffer(book, request, free);
        if (outcome.ok || outcome.refusal.range === undefined) return;
        told += 1;
        for (const end of [outcome.refusal.range.minAmount, outcome.refusal.range.maxAmount]) {
          const amount = BigInt(end.replace('.', ''));
          expect(matchOffer(book, { ...request, amount }, free)).toMatchObject({ ok: true });
        }
      }),
      RUNS,
    );
    expect(told).toBeGreaterThan(RUNS.numRuns / 20);
  });

  test('the order in which rows are read changes nothing', () => {
    const shuffled = rowsArb.chain((rows) =>
      fc.record({
        rows: fc.constant(rows),
        vendors: fc.shuffledSubarray([...rows.vendors], { minLength: rows.vendors.length }),
        offers: fc.shuffledSubarray([...rows.offers], { minLength: rows.offers.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, requestArb, contextArb, ({ rows, vendors, offers }, request, { context }) => {
        const other = OfferBook.of({ vendors, offers });
        expect(matchOffer(other, request, context)).toEqual(matchOffer(OfferBook.of(rows), request, context));
        expect(other.rows()).toEqual(OfferBook.of(rows).rows());
      }),
      RUNS,
    );
  });
});
