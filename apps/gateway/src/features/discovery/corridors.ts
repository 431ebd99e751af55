import {
  ceilDiv,
  decimalToWireNumber,
  floorDiv,
  formatPercent,
  formatShortest,
  type Percent,
  parseRate,
  powerOfTen,
  WHOLE_IN_MILLIONTHS,
} from '@causeway/protocol';
import type { ReferenceSnapshot } from '../../upstream/currencies.port.ts';
import type { RateTable } from '../../upstream/rate-table.ts';
import type { SpreadTable } from '../../upstream/spreads.ts';
import type { Direction } from './supported-query.ts';

/** A customer's rate has so many decimals: what is shown is what is charged. */
export const CUSTOMER_RATE_DECIMALS = 8;

export interface CorridorView {
  readonly crypto_currency: string;
  readonly fiat_currency: string;
  readonly country: string;
  readonly rails: readonly string[];
  readonly onramp: CorridorSideView | null;
  readonly offramp: CorridorSideView | null;
  readonly updated_at: string | null;
}

interface CorridorSideView {
  readonly rate: string;
  readonly spread_pct: number;
}

/** Where money can flow: what of a corridor does not depend on rates. */
interface Corridor {
  readonly fiat: string;
  readonly country: string;
  readonly rails: readonly string[];
  readonly directions: ReadonlySet<Direction>;
}

/**
 * The market's rate with the spread: an on-ramp customer pays more fiat for one unit of crypto, an off-ramp customer gets
 * less. Rounded once, to the side of the one who holds the price, so that the spread is never less than stated.
 */
export function customerRate(market: string, spread: Percent, direction: Direction): string | null {
  const rate = parseRate(market);
  if (!rate.ok) return null;
  const { numerator, scale } = rate.value;
  const share =
    direction === 'onramp'
      ? WHOLE_IN_MILLIONTHS + spread.millionths
      : WHOLE_IN_MILLIONTHS - spread.millionths;
  const divide = direction === 'onramp' ? ceilDiv : floorDiv;
  const unscaled = divide(
    numerator * share * powerOfTen(CUSTOMER_RATE_DECIMALS),
    WHOLE_IN_MILLIONTHS * powerOfTen(scale),
  );
  return unscaled > 0n ? formatShortest(unscaled, CUSTOMER_RATE_DECIMALS) : null;
}

export function listCorridors(
  { catalogue }: ReferenceSnapshot,
  rates: RateTable,
  spreads: SpreadTable,
): CorridorView[] {
  const corridors = corridorsOf(catalogue.data.rails);
  return catalogue.cryptoCurrencies().flatMap(({ code: crypto }) => {
    const priceOf = pricesIn(crypto, rates, spreads);
    return corridors.map(({ fiat, country, rails, directions }) => {
      const price = priceOf(fiat);
      return {
        crypto_currency: crypto,
        fiat_currency: fiat,
        country,
        rails,
        onramp: directions.has('onramp') ? price.onramp : null,
        offramp: directions.has('offramp') ? price.offramp : null,
        updated_at: price.updatedAt,
      };
    });
  });
}

interface RailFacts {
  readonly slug: string;
  readonly currencies: readonly string[];
  readonly countries: readonly string[];
  readonly directions: readonly Direction[];
  readonly live?: boolean;
}

function corridorsOf(rails: readonly RailFacts[]): Corridor[] {
  const found = new Map<
    string,
    { fiat: string; country: string; rails: string[]; directions: Set<Direction> }
  >();
  for (const rail of rails) {
    if (rail.live === false) continue;
    for (const fiat of rail.currencies) {
      for (const country of rail.countries) {
        const key = `${fiat}/${country}`;
        const corridor = found.get(key) ?? { fiat, country, rails: [], directions: new Set() };
        corridor.rails.push(rail.slug);
        for (const direction of rail.directions) corridor.directions.add(direction);
        found.set(key, corridor);
      }
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, corridor]) => corridor);
}

interface Price {
  readonly onramp: CorridorSideView | null;
  readonly offramp: CorridorSideView | null;
  readonly updatedAt: string | null;
}

/** Many countries share a currency, and its price is worked out once. A rate that may not be priced on gives no price. */
function pricesIn(crypto: string, rates: RateTable, spreads: SpreadTable): (fiat: string) => Price {
  const known = new Map<string, Price>();
  return (fiat) => {
    let price = known.get(fiat);
    if (price === undefined) {
      const decision = rates.requireRate(crypto, fiat);
      const asOf = decision.ok ? decision.rate.asOf : decision.refusal.asOf;
      const { onramp, offramp } = spreads.of(fiat);
      const market = decision.ok ? decision.rate.rate : null;
      price = {
        onramp: sideOf(market, onramp, 'onramp'),
        offramp: sideOf(market, offramp, 'offramp'),
        updatedAt: asOf === null ? null : new Date(asOf).toISOString(),
      };
      known.set(fiat, price);
    }
    return price;
  };
}

function sideOf(market: string | null, spread: Percent, direction: Direction): CorridorSideView | null {
  const rate = market === null ? null : customerRate(market, spread, direction);
  return rate === null ? null : { rate, spread_pct: decimalToWireNumber(formatPercent(spread)) };
}
