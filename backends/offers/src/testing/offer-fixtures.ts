import { type Asset, parsePercent } from '@causeway/protocol';
import type { Offer, Vendor } from '../book/index.ts';
import type { MatchContext, MatchRequest, RailLimits, RailLookup } from '../matching/index.ts';

/** Complete rows with ordinary values, for tests that care about one of them. */

export const USDC: Asset = { code: 'USDC', decimals: 6 };
export const EUR: Asset = { code: 'EUR', decimals: 2 };

export function percent(text: string) {
  const parsed = parsePercent(text);
  if (!parsed.ok) throw new RangeError(`not a percentage: ${text}`);
  return parsed.value;
}

export function aVendor(changes: Partial<Omit<Vendor, 'kind'>> & { kind?: Vendor['kind'] } = {}): Vendor {
  return {
    vendorId: 'vendor-1',
    name: 'First',
    kind: 'p2p',
    active: true,
    online: true,
    reputation: { completedOrders: 10, failedOrders: 0, disputedOrders: 0 },
    ...changes,
  };
}

export function anOffer(changes: Partial<Offer> = {}): Offer {
  return {
    offerId: 'offer-1',
    vendorId: 'vendor-1',
    kind: 'p2p',
    side: 'SELL',
    cryptoCurrency: 'USDC',
    fiatCurrency: 'EUR',
    pricing: { type: 'fixed', price: '1.00' },
    minAmount: '10',
    maxAmount: '1000.00',
    paymentOptions: [{ networkSlug: 'iban-sepa', methodSlugs: ['n26', 'revolut'] }],
    countries: ['DE', 'FR'],
    availableBalance: '5000',
    authorized: true,
    version: 1,
    createdAt: 1_000,
    ...changes,
  };
}

export function aRequest(changes: Partial<MatchRequest> = {}): MatchRequest {
  return {
    direction: 'onramp',
    crypto: USDC,
    fiat: EUR,
    anchor: 'fiat',
    amount: 10_000n,
    partnerFee: percent('0'),
    providerScope: 'all',
    ...changes,
  };
}

export interface RailFixture {
  readonly limits?: RailLimits | null;
  /** Live methods with their countries, in order of preference. */
  readonly methods: Readonly<Record<string, readonly string[]>>;
}

export function railsOf(rails: Readonly<Record<string, RailFixture>>): RailLookup {
  return (networkSlug) => {
    const rail = rails[networkSlug];
    if (rail === undefined) return undefined;
    const live = (country: string | undefined) =>
      Object.keys(rail.methods).filter(
        (slug) => country === undefined || (rail.methods[slug] ?? []).includes(country),
      );
    return {
      limits: rail.limits ?? null,
      liveMethods: live,
      isLive: (slug, country) => live(country).includes(slug),
    };
  };
}

export const SEPA: Readonly<Record<string, RailFixture>> = {
  'iban-sepa': { methods: { n26: ['DE', 'FR'], revolut: ['DE', 'FR'], 'other-bank': ['DE', 'FR'] } },
};

export function aContext(changes: Partial<MatchContext> = {}): MatchContext {
  return { referenceRate: '1', platformFee: percent('0'), rail: railsOf(SEPA), ...changes };
}
