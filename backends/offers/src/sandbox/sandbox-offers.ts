import { createHash } from 'node:crypto';
import { formatShortest, parseRate, powerOfTen } from '@causeway/protocol';
import {
  ALL_METHODS,
  DIRECTIONS,
  type Direction,
  type Offer,
  type OfferRows,
  type PaymentOption,
  sideServing,
  type Vendor,
} from '../book/index.ts';
import { FIAT_SCALE } from '../book/offer-terms.ts';

/** What the generator needs to know of the currencies backend. */
export interface CatalogueSummary {
  readonly cryptoCurrencies: readonly string[];
  readonly fiatCurrencies: readonly SummaryFiat[];
  readonly rails: readonly SummaryRail[];
}

export interface SummaryFiat {
  readonly code: string;
  readonly minorUnits: number;
  /** Roughly how much of it makes 1 USD, as a decimal string: it sizes the ranges. */
  readonly perUsd: string;
}

export interface SummaryRail {
  readonly slug: string;
  readonly currencies: readonly string[];
  readonly countries: readonly string[];
  readonly directions: readonly Direction[];
  /** Live payment methods. */
  readonly methods: readonly string[];
}

/** A size of business. Margins of all tiers overlap, so that none is always the best. */
interface Tier {
  readonly name: string;
  readonly kind: Vendor['kind'];
  readonly usdRange: readonly [min: bigint, max: bigint];
  /** Hundredths of a percent. */
  readonly margin: readonly [min: number, max: number];
  /** Thousands of crypto. */
  readonly balance: readonly [min: number, max: number];
  readonly methods: 'some' | 'all';
}

// "all" appears in both kinds, so that every institution of every rail can be paid whatever provider_scope says.
const TIERS: readonly Tier[] = [
  {
    name: 'small',
    kind: 'p2p',
    usdRange: [5n, 2_000n],
    margin: [40, 160],
    balance: [10, 50],
    methods: 'some',
  },
  {
    name: 'medium',
    kind: 'p2p',
    usdRange: [5n, 20_000n],
    margin: [30, 140],
    balance: [50, 250],
    methods: 'all',
  },
  {
    name: 'large',
    kind: 'p2p',
    usdRange: [500n, 200_000n],
    margin: [20, 120],
    balance: [500, 2_000],
    methods: 'all',
  },
  {
    name: 'swift',
    kind: 'direct',
    usdRange: [5n, 50_000n],
    margin: [35, 125],
    balance: [500, 2_500],
    methods: 'all',
  },
  {
    name: 'bulk',
    kind: 'direct',
    usdRange: [100n, 200_000n],
    margin: [25, 135],
    balance: [900, 5_000],
    methods: 'all',
  },
];

const SOME_METHODS = 5;
const FIRST_OFFER_AT = 1_735_689_600_000;
const HOUR_MS = 3_600_000;

/**
 * Vendors and offers for a sandbox: every crypto currency against every fiat currency over each of its rails, in each
 * direction the rail has, by several vendors at overlapping prices. The same summary and seed give the same rows.
 */
export function sandboxOffers(summary: CatalogueSummary, seed: string): OfferRows {
  const choice = new SeededChoice(seed);
  const vendors = sandboxVendors(choice);
  const offers: Offer[] = [];
  for (const fiat of summary.fiatCurrencies) {
    for (const direction of DIRECTIONS) {
      const rails = summary.rails.filter(
        (rail) =>
          rail.currencies.includes(fiat.code) &&
          rail.directions.includes(direction) &&
          rail.methods.length > 0,
      );
      if (rails.length === 0) continue;
      for (const crypto of summary.cryptoCurrencies) {
        const corridor = { crypto, fiat, direction, rails };
        for (const [tier, vendor] of assignTiers(vendors, corridor, choice)) {
          offers.push(offerOf(tier, vendor, corridor, choice));
        }
      }
    }
  }
  return { vendors: [...vendors.p2p, ...vendors.direct], offers };
}

interface Corridor {
  readonly crypto: string;
  readonly fiat: SummaryFiat;
  readonly direction: Direction;
  readonly rails: readonly SummaryRail[];
}

/** A different vendor for each tier of a kind, turning with the corridor so that each has business. */
function assignTiers(
  vendors: Readonly<Record<Vendor['kind'], readonly Vendor[]>>,
  { crypto, fiat, direction }: Corridor,
  choice: SeededChoice,
): [Tier, Vendor][] {
  return (['p2p', 'direct'] as const).flatMap((kind) => {
    const pool = vendors[kind];
    const start = choice.between(0, pool.length - 1, kind, crypto, fiat.code, direction);
    return TIERS.filter((tier) => tier.kind === kind).flatMap((tier, index): [Tier, Vendor][] => {
      const vendor = pool[(start + index) % pool.length];
      return vendor === undefined ? [] : [[tier, vendor]];
    });
  });
}

function offerOf(tier: Tier, vendor: Vendor, corridor: Corridor, choice: SeededChoice): Offer {
  const { crypto, fiat, direction, rails } = corridor;
  const label = [tier.name, crypto, fiat.code, direction] as const;
  const [minUsd, maxUsd] = tier.usdRange;
  const hundredths = choice.between(...tier.margin, ...label, 'margin');
  return {
    offerId: choice.uuid('offer', ...label),
    vendorId: vendor.vendorId,
    kind: vendor.kind,
    side: sideServing(direction),
    cryptoCurrency: crypto,
    fiatCurrency: fiat.code,
    pricing: pricingOf(tier, fiat, direction, hundredths),
    minAmount: roundAmount(minUsd, fiat),
    maxAmount: roundAmount(maxUsd, fiat),
    paymentOptions: rails.map((rail) => paymentOption(tier, rail, label, choice)),
    countries: [...new Set(rails.flatMap(({ countries }) => countries))].sort(),
    availableBalance: `${choice.between(...tier.balance, ...label, 'balance')}000`,
    authorized: true,
    version: 1,
    createdAt: FIRST_OFFER_AT + choice.between(0, 5_000, ...label, 'age') * HOUR_MS,
  };
}

/** Fixed prices only where the market hardly moves: elsewhere they would drift away from it. */
function pricingOf(
  tier: Tier,
  fiat: SummaryFiat,
  direction: Direction,
  hundredths: number,
): Offer['pricing'] {
  if (fiat.code === 'USD' && tier.name === 'large') {
    const share = direction === 'onramp' ? 10_000 + hundredths : 10_000 - hundredths;
    return { type: 'fixed', price: formatShortest(BigInt(share), 4) };
  }
  return { type: 'margin', percent: formatShortest(BigInt(hundredths), 2) };
}

function paymentOption(
  tier: Tier,
  rail: SummaryRail,
  label: readonly string[],
  choice: SeededChoice,
): PaymentOption {
  if (tier.methods === 'all') return { networkSlug: rail.slug, methodSlugs: ALL_METHODS };
  const start = choice.between(0, rail.methods.length - 1, ...label, rail.slug);
  const turned = [...rail.methods.slice(start), ...rail.methods.slice(0, start)];
  return { networkSlug: rail.slug, methodSlugs: turned.slice(0, SOME_METHODS) };
}

/** About that many USD, to one significant digit: vendors like round numbers. */
function roundAmount(usd: bigint, fiat: SummaryFiat): string {
  const rate = parseRate(fiat.perUsd);
  if (!rate.ok) throw new RangeError(`${fiat.code}: perUsd is not a rate`);
  const exact = (usd * rate.value.numerator * powerOfTen(FIAT_SCALE)) / powerOfTen(rate.value.scale);
  // Never a fraction of the minor unit, however little the amount.
  let step = powerOfTen(exact.toString().length - 1);
  const minorUnit = powerOfTen(FIAT_SCALE - fiat.minorUnits);
  if (step < minorUnit) step = minorUnit;
  const steps = (exact + step / 2n) / step;
  return formatShortest((steps > 0n ? steps : 1n) * step, FIAT_SCALE);
}

const P2P_NAMES = [
  'Harbour Exchange',
  'Meridian Desk',
  'Lantern OTC',
  'Saffron Trading',
  'Copperfield Money',
  'Baobab Exchange',
  'Juniper and Sons',
  'Riverstone Desk',
  'Palmyra Trading',
  'Kestrel Exchange',
  'Tamarind Money',
  'Old Mill OTC',
];
const PROVIDER_NAMES = ['Quayside Payouts', 'Northlight Settlement', 'Tern Automated'];

/** A dozen vendors of the marketplace and three automated providers, all admitted and online. */
function sandboxVendors(choice: SeededChoice): { p2p: Vendor[]; direct: Vendor[] } {
  const vendorOf = (name: string, kind: Vendor['kind']): Vendor => ({
    vendorId: choice.uuid('vendor', name),
    name,
    kind,
    active: true,
    online: true,
    reputation: {
      completedOrders: choice.between(20, 4_000, name, 'completed'),
      failedOrders: choice.between(0, 40, name, 'failed'),
      disputedOrders: choice.between(0, 5, name, 'disputed'),
    },
  });
  return {
    p2p: P2P_NAMES.map((name) => vendorOf(name, 'p2p')),
    direct: PROVIDER_NAMES.map((name) => vendorOf(name, 'direct')),
  };
}

/** Choices that depend on the seed and a label only, so that adding one vendor or currency changes no other. */
class SeededChoice {
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** From `min` to `max`, both included. */
  between(min: number, max: number, ...label: readonly string[]): number {
    return min + (this.#digest(label).readUInt32BE(0) % (max - min + 1));
  }

  /** A version 8 uuid. */
  uuid(...label: readonly string[]): string {
    const bytes = this.#digest(label).subarray(0, 16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  #digest(label: readonly string[]): Buffer {
    return createHash('sha256')
      .update(JSON.stringify([this.#seed, ...label]))
      .digest();
  }
}
