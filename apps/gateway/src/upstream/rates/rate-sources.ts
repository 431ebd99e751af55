import {
  createEcbSource,
  createExchangeTickerSource,
  createJsonFeedSource,
  createSimulatedSource,
  type PolledSource,
  type RatePoint,
} from '@causeway/currencies';
import type { StoredRateHistory } from './rate.store.ts';

/**
 * Where rates come from: `simulated` (a seeded market for sandboxes), `ecb` (daily reference rates), `kraken`
 * (stablecoin ticker), or the address of a JSON feed `{ "rates": { "NGN": 1540.2 } }` that says what one dollar costs.
 */
export type RateSourceSetting = 'simulated' | 'ecb' | 'kraken' | `http://${string}` | `https://${string}`;

export const SIMULATED_SEED = 'causeway-sandbox';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const BACKFILLED_HOURS = 48;

export function rateSourcesOf(
  settings: readonly RateSourceSetting[],
  clock: { now(): number },
): PolledSource[] {
  return settings.map((setting): PolledSource => {
    switch (setting) {
      case 'simulated':
        return { source: createSimulatedSource({ clock, seed: SIMULATED_SEED }), intervalMs: 5 * SECOND_MS };
      case 'ecb':
        return { source: createEcbSource(), intervalMs: HOUR_MS, retryMs: 60 * SECOND_MS };
      case 'kraken':
        return { source: createExchangeTickerSource({ clock }), intervalMs: 15 * SECOND_MS };
      default:
        return {
          source: createJsonFeedSource({
            clock,
            name: new URL(setting).hostname,
            url: setting,
            shape: { kind: 'map', path: ['rates'], fixed: 'USD', direction: 'fixed-first' },
          }),
          intervalMs: 60 * SECOND_MS,
        };
    }
  });
}

/** The simulated market's own past, hour by hour, so that a sandbox has a history from its first minute on. */
export async function backfillSimulatedHistory(
  history: Pick<StoredRateHistory, 'append'>,
  wall: () => number,
): Promise<void> {
  const lastHour = Math.floor(wall() / HOUR_MS) * HOUR_MS;
  const points: RatePoint[] = [];
  for (let back = BACKFILLED_HOURS; back > 0; back -= 1) {
    const at = lastHour - back * HOUR_MS;
    const source = createSimulatedSource({ clock: { now: () => at }, seed: SIMULATED_SEED });
    const quotes = await source.fetch(new AbortController().signal);
    points.push(...quotes.map(({ base, quote, rate }) => ({ base, quote, rate, at })));
  }
  await history.append(points);
}
