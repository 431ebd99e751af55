import { parseDecimal } from '@causeway/protocol';
import { ALL_METHODS, type Direction, type PaymentOption } from '../book/index.ts';
import { atScale, FIAT_SCALE } from '../book/offer-terms.ts';
import type { RailLookup, RailView } from './match.types.ts';

/** A rail's limits at FIAT_SCALE; null is none. */
export interface RailBounds {
  readonly min: bigint | null;
  readonly max: bigint | null;
}

export interface RailChoice {
  readonly networkSlug: string;
  readonly methodSlug: string;
  readonly bounds: RailBounds;
}

export interface RailRequest {
  readonly paymentMethodSlug?: string | undefined;
  readonly paymentNetworkSlug?: string | undefined;
  readonly country?: string | undefined;
}

export type RailObstacle = 'payment_network' | 'payment_method' | 'institution_not_live';

interface KnownRail {
  readonly view: RailView;
  readonly bounds: RailBounds;
}

/** Reads each rail once for all the candidates of a match. */
export class RailReader {
  readonly #known = new Map<string, KnownRail | undefined>();
  readonly #lookup: RailLookup;
  readonly #fiatCurrency: string;
  readonly #direction: Direction;

  constructor(lookup: RailLookup, fiatCurrency: string, direction: Direction) {
    this.#lookup = lookup;
    this.#fiatCurrency = fiatCurrency;
    this.#direction = direction;
  }

  /** The ways an offer could be paid within the requested, in the vendor's order; or how far the best of them got. */
  choices(options: readonly PaymentOption[], requested: RailRequest): readonly RailChoice[] | RailObstacle {
    const choices: RailChoice[] = [];
    let obstacle: RailObstacle = 'payment_network';
    for (const option of options) {
      if (requested.paymentNetworkSlug !== undefined && requested.paymentNetworkSlug !== option.networkSlug)
        continue;
      if (!takes(option, requested.paymentMethodSlug)) {
        if (obstacle === 'payment_network') obstacle = 'payment_method';
        continue;
      }
      obstacle = 'institution_not_live';
      const rail = this.#read(option.networkSlug);
      const methodSlug = rail && liveMethod(option, rail.view, requested);
      if (rail !== undefined && methodSlug !== undefined) {
        choices.push({ networkSlug: option.networkSlug, methodSlug, bounds: rail.bounds });
      }
    }
    return choices.length > 0 ? choices : obstacle;
  }

  #read(networkSlug: string): KnownRail | undefined {
    if (this.#known.has(networkSlug)) return this.#known.get(networkSlug);
    const view = this.#lookup(networkSlug, this.#fiatCurrency, this.#direction);
    const rail = view && { view, bounds: readBounds(view) };
    this.#known.set(networkSlug, rail);
    return rail;
  }
}

export function admits({ min, max }: RailBounds, fiat: bigint): boolean {
  return (min === null || fiat >= min) && (max === null || fiat <= max);
}

function takes({ methodSlugs }: PaymentOption, wanted: string | undefined): boolean {
  return wanted === undefined || methodSlugs === ALL_METHODS || methodSlugs.includes(wanted);
}

function liveMethod(
  { methodSlugs }: PaymentOption,
  rail: RailView,
  requested: RailRequest,
): string | undefined {
  const { paymentMethodSlug: wanted, country } = requested;
  if (wanted !== undefined) return rail.isLive(wanted, country) ? wanted : undefined;
  if (methodSlugs === ALL_METHODS) return rail.liveMethods(country)[0];
  return methodSlugs.find((slug) => rail.isLive(slug, country));
}

function readBounds({ limits }: RailView): RailBounds {
  if (limits === null) return { min: null, max: null };
  const max = readLimit(limits.maxAmount);
  const perTransaction = readLimit(limits.maxPerTransaction);
  return {
    min: readLimit(limits.minAmount),
    // An order is one transaction, so the tighter of the two holds.
    max: max === null || (perTransaction !== null && perTransaction < max) ? perTransaction : max,
  };
}

function readLimit(text: string | null): bigint | null {
  if (text === null) return null;
  const decimal = parseDecimal(text);
  const limit = decimal.ok ? atScale(decimal.value, FIAT_SCALE) : null;
  // Reading a broken limit as "none" would let any amount through.
  if (limit === null) throw new RangeError(`a rail's limit is not an amount: ${JSON.stringify(text)}`);
  return limit;
}
