import { type Asset, ceilDiv, floorDiv, formatAmount, powerOfTen, type Rate } from '@causeway/protocol';
import type { Candidate } from '../book/index.ts';
import { CRYPTO_SCALE, FIAT_SCALE } from '../book/offer-terms.ts';
import type { ServableRange } from './match.types.ts';
import type { RailChoice } from './rail-choice.ts';

/** Collects what offers would serve if the amount were another: the span from the smallest to the largest. */
export class RangeCollector {
  readonly #fiat: Asset;
  readonly #minorUnit: bigint;
  #span: { min: bigint; max: bigint } | undefined;

  constructor(fiat: Asset) {
    this.#fiat = fiat;
    this.#minorUnit = powerOfTen(FIAT_SCALE - fiat.decimals);
  }

  /** An offer whose range, rail and balance have no amount in common adds nothing. */
  add({ terms }: Candidate, rate: Rate, choices: readonly RailChoice[]): void {
    // Most offers lie within what others have spanned already: no need to work out the rest.
    if (this.#span && terms.minFiat >= this.#span.min && terms.maxFiat <= this.#span.max) return;
    const offerMax = smaller(terms.maxFiat, fiatWorth(terms.balance, rate));
    for (const { bounds } of choices) {
      const lower = bounds.min !== null && bounds.min > terms.minFiat ? bounds.min : terms.minFiat;
      // Only whole minor units can be asked for, and at least one.
      const min = (lower === 0n ? 1n : ceilDiv(lower, this.#minorUnit)) * this.#minorUnit;
      const max = floorDiv(smaller(offerMax, bounds.max), this.#minorUnit) * this.#minorUnit;
      if (min <= max) this.#extend(min, max);
    }
  }

  range(): ServableRange | undefined {
    if (this.#span === undefined) return undefined;
    const { min, max } = this.#span;
    return {
      currency: this.#fiat.code,
      minAmount: formatAmount({ atomic: min / this.#minorUnit, asset: this.#fiat }),
      maxAmount: formatAmount({ atomic: max / this.#minorUnit, asset: this.#fiat }),
    };
  }

  #extend(min: bigint, max: bigint): void {
    if (this.#span === undefined) this.#span = { min, max };
    if (min < this.#span.min) this.#span.min = min;
    if (max > this.#span.max) this.#span.max = max;
  }
}

function fiatWorth(balance: bigint, rate: Rate): bigint {
  return floorDiv(balance * rate.numerator, powerOfTen(CRYPTO_SCALE - FIAT_SCALE) * powerOfTen(rate.scale));
}

function smaller(limit: bigint, other: bigint | null): bigint {
  return other !== null && other < limit ? other : limit;
}
