import fc from 'fast-check';
import { ALL_METHODS, type Offer, type OfferRows, type Vendor } from '../book/index.ts';
import type { MatchContext, MatchRequest } from '../matching/index.ts';
import { EUR, percent, type RailFixture, railsOf, USDC } from './offer-fixtures.ts';

/**
 * Random markets, small on purpose: few prices, rails and countries, so that ties, near misses and every kind of
 * rejection are common.
 */
const NETWORKS = ['rail-a', 'rail-b', 'rail-c'];
const METHODS = ['bank-1', 'bank-2', 'bank-3', 'bank-4'];
const COUNTRIES = ['DE', 'FR', 'ES'];
export const WORLD_ASSETS = [USDC, { code: 'USDC', decimals: 18 }];
export const WORLD_FIATS = [EUR, { code: 'EUR', decimals: 0 }, { code: 'EUR', decimals: 3 }];

const mostlyTrue = fc.integer({ min: 0, max: 9 }).map((roll) => roll > 0);
const count = fc.integer({ min: 0, max: 4 });

const vendorArb = (vendorId: string): fc.Arbitrary<Vendor> =>
  fc.record({
    vendorId: fc.constant(vendorId),
    name: fc.constant(vendorId),
    kind: fc.constantFrom('p2p' as const, 'direct' as const),
    active: mostlyTrue,
    online: mostlyTrue,
    reputation: fc.record({ completedOrders: count, failedOrders: count, disputedOrders: count }),
  });

const pricingArb: fc.Arbitrary<Offer['pricing']> = fc.oneof(
  fc
    .constantFrom('99', '100', '100.5', '101', '101.00', '102')
    .map((price) => ({ type: 'fixed' as const, price })),
  fc
    .constantFrom('-1', '0', '0.5', '1', '1.000001', '2')
    .map((text) => ({ type: 'margin' as const, percent: text })),
);

const optionArb = (networkSlug: string): fc.Arbitrary<Offer['paymentOptions'][number]> =>
  fc.record({
    networkSlug: fc.constant(networkSlug),
    methodSlugs: fc.oneof(fc.constant(ALL_METHODS as 'all'), fc.shuffledSubarray(METHODS, { minLength: 1 })),
  });

const optionsArb = fc
  .shuffledSubarray(NETWORKS, { minLength: 1 })
  .chain((networks) => fc.tuple(...networks.map(optionArb)));

const offerArb = (offerId: string, vendors: readonly Vendor[]): fc.Arbitrary<Offer> =>
  fc
    .record({
      vendor: fc.constantFrom(...vendors),
      side: fc.constantFrom('SELL' as const, 'BUY' as const),
      pricing: pricingArb,
      range: fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 1, max: 1_000 })),
      paymentOptions: optionsArb,
      countries: fc.subarray(COUNTRIES, { minLength: 1 }),
      balance: fc.integer({ min: 0, max: 12 }),
      authorized: mostlyTrue,
      createdAt: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ vendor, range: [min, span], balance, ...rest }) => ({
      offerId,
      vendorId: vendor.vendorId,
      kind: vendor.kind,
      cryptoCurrency: 'USDC',
      fiatCurrency: 'EUR',
      minAmount: `${min}`,
      maxAmount: `${min + span}`,
      availableBalance: `${balance}`,
      version: 1,
      ...rest,
    }));

export const rowsArb: fc.Arbitrary<OfferRows> = fc
  .tuple(...['v1', 'v2', 'v3', 'v4'].map(vendorArb))
  .chain((vendors) =>
    fc.record({
      vendors: fc.constant(vendors),
      offers: fc
        .integer({ min: 0, max: 16 })
        .chain((size) =>
          fc.tuple(...Array.from({ length: size }, (_, index) => offerArb(`o${index}`, vendors))),
        ),
    }),
  );

const maybe = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

export const requestArb: fc.Arbitrary<MatchRequest> = fc
  .record({
    direction: fc.constantFrom('onramp' as const, 'offramp' as const),
    crypto: fc.constantFrom(...WORLD_ASSETS),
    fiat: fc.constantFrom(...WORLD_FIATS),
    anchor: fc.constantFrom('fiat' as const, 'crypto' as const),
    thousandths: fc.bigInt({ min: 1n, max: 1_200_000n }),
    partnerFee: fc.constantFrom('0', '1', '0.000001', '1.5', '50', '99.5').map(percent),
    paymentMethodSlug: maybe(fc.constantFrom(...METHODS)),
    paymentNetworkSlug: maybe(fc.constantFrom(...NETWORKS, 'rail-x')),
    country: maybe(fc.constantFrom(...COUNTRIES)),
    providerScope: fc.constantFrom('all' as const, 'all' as const, 'p2p' as const, 'direct' as const),
    settlementNotificationRequired: mostlyTrue.map((usual) => !usual),
  })
  .map(({ thousandths, ...rest }) => {
    // About as much in crypto as in fiat: the market is at 100.
    const { decimals } = rest.anchor === 'fiat' ? rest.fiat : rest.crypto;
    const scaled = (thousandths * 10n ** BigInt(decimals)) / (rest.anchor === 'fiat' ? 1_000n : 100_000n);
    return { ...rest, amount: scaled + 1n };
  });

const orNull = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
const lowLimit = orNull(fc.integer({ min: 0, max: 300 }).map((limit) => `${limit}.50`));
const highLimit = orNull(fc.integer({ min: 200, max: 900 }).map((limit) => `${limit}.50`));

const railArb: fc.Arbitrary<RailFixture> = fc.record({
  limits: orNull(fc.record({ minAmount: lowLimit, maxAmount: highLimit, maxPerTransaction: highLimit })),
  methods: fc
    .tuple(
      ...METHODS.map((slug) =>
        fc.tuple(fc.constant(slug), fc.subarray(COUNTRIES, { minLength: 1 }), mostlyTrue),
      ),
    )
    .map((all) =>
      Object.fromEntries(all.filter(([, , live]) => live).map(([slug, countries]) => [slug, countries])),
    ),
});

export interface RandomContext {
  readonly context: MatchContext;
  readonly rails: Readonly<Record<string, RailFixture>>;
}

export const contextArb: fc.Arbitrary<RandomContext> = fc
  .record({
    referenceRate: fc.constantFrom('100', '100', '100', '99.987654321', undefined),
    platformFee: fc.constantFrom('0', '0.5', '3').map(percent),
    rails: fc
      .tuple(...NETWORKS.map((slug) => fc.tuple(fc.constant(slug), railArb, mostlyTrue)))
      .map((all) => Object.fromEntries(all.filter(([, , live]) => live).map(([slug, rail]) => [slug, rail]))),
  })
  .map(({ rails, ...rest }) => ({ rails, context: { ...rest, rail: railsOf(rails) } }));
