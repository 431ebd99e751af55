import { Gauge, type Registry } from 'prom-client';
import type { Currencies } from '../../ports/currencies.ts';
import type { RateReading } from './rate-table.ts';

const MAX_SOURCES = 32;
const STATUSES = ['fresh', 'stale', 'guarded', 'missing'] as const;

/**
 * Publishes how old the rates in use are, by source and not by pair: there are few sources, and it is a source that fails. The
 * last observation of each is remembered here, because a rate that has gone stale no longer names where it came from.
 */
export function publishRateAges(registry: Registry, currencies: Currencies, wall: () => number): void {
  const newest = new Map<string, number>();

  function legs(): readonly RateReading[] {
    try {
      return currencies.current().rates.legs;
    } catch {
      // Nothing has come yet.
      return [];
    }
  }

  function remember(): void {
    for (const { asOf, sources } of legs()) {
      for (const source of asOf === null ? [] : sources) {
        const known = newest.get(source);
        // A remote backend names its sources as it likes; they must not become any number of series.
        if (known === undefined && newest.size >= MAX_SOURCES) continue;
        newest.set(source, Math.max(known ?? 0, asOf as number));
      }
    }
  }

  currencies.onChange(remember);
  new Gauge({
    name: 'rate_age_seconds',
    help: 'Time since the newest observation of each rate source that is in use.',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      remember();
      for (const [source, asOf] of newest) this.set({ source }, Math.max(0, (wall() - asOf) / 1_000));
    },
  });
  new Gauge({
    name: 'rate_legs',
    help: 'Quoted pairs by what their rate is good for; only fresh ones are priced on.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      const all = legs();
      for (const status of STATUSES) this.set({ status }, all.filter((leg) => leg.status === status).length);
    },
  });
}
