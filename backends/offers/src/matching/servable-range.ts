import { type Asset, ceilDiv, floorDiv, formatAmount, powerOfTen, type Rate } from '@causeway/protocol';
import type { Candidate } from '../book/index.ts';
import { CRYPTO_SCALE, FIAT_SCALE } from '../book/scales.ts';
import type { ServableRange } from './match.types.ts';
import type { RailChoice } from './rail-choice.ts';

/** Collects what offers would serve if the amount were another: the span from the smallest to the largest. */
export class RangeCollector {
  #min: bigint | undefined;
  #max: bigint | undefined;

  /** An offer whose range, rail and balance leave nothing in common adds nothing. */
  add({ terms }: Candidate, rate: Rate, choices: readonly RailChoice[]): void {
    const offerMax = smaller(terms.maxFiat, fiatWorth(terms.balance, rate));
    for (const { bounds } of choices) {
      const min = bounds.min !== null && bounds.min > terms.minFiat ? bounds.min : terms.minFiat;
      const max = smaller(offerMax, bounds.max);
      if (min > max || max === 0n) continue;
      if (this.#min === undefined || min < this.#min) this.#min = min;
      if (this.#max === undefined || max > this.#max) this.#max = max;
    }
  }

  /** In whole minor units that lie inside. */
  range(fiat: Asset): ServableRange | undefined {
    if (this.#min === undefined || this.#max === undefined) return undefined;
    const unit = powerOfTen(FIAT_SCALE - fiat.decimals);
    const min = ceilDiv(this.#min, unit);
    const max = floorDiv(this.#max, unit);
    if (min > max) return undefined;
    return {
      currency: fiat.code,
      minAmount: formatAmount({ atomic: min === 0n ? 1n : min, asset: fiat }),
      maxAmount: formatAmount({ atomic: max, asset: fiat }),
    };
  }
}

function fiatWorth(balance: bigint, rate: Rate): bigint {
  return floorDiv(balance * rate.numerator, powerOfTen(CRYPTO_SCALE - FIAT_SCALE) * powerOfTen(rate.scale));
}

function smaller(limit: bigint, other: bigint | null): bigint {
  return other !== null && other < limit ? other : limit;
}
