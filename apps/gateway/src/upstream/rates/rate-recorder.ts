import type { Database } from '../../db/database.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { StoredRateHistory } from './rate.store.ts';
import { createRateLeadership, type RateLeadership } from './rate-publisher.ts';

export interface RateRecorderOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly wall: () => number;
  readonly history: StoredRateHistory;
  readonly currencies: Currencies;
  readonly holder: string;
}

const RECORD_EVERY_MS = 60_000;
const KEPT_MS = 30 * 86_400_000;

/** Where a remote backend keeps the rates, a worker still writes down their history: it outlives the backend. */
export function createRateRecorder(options: RateRecorderOptions): RateLeadership {
  const { db, logger, wall, history, currencies, holder } = options;
  let leading = false;
  let recordedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const record = coalesce(async () => {
    const at = Math.floor(wall() / RECORD_EVERY_MS) * RECORD_EVERY_MS;
    if (!leading || at === recordedAt) return;
    const points = currencies
      .current()
      .rates.legs.flatMap(({ base, quote, rate, status }) =>
        status === 'fresh' && rate !== null ? [{ base, quote, rate, at }] : [],
      );
    if (points.length === 0) return;
    await history.append(points);
    recordedAt = at;
    await history.purge(wall() - KEPT_MS);
  });

  function recordInBackground(): void {
    record().catch((error) => logger.warn({ err: error }, 'recording rates failed'));
  }
  // The first snapshot may come after the leadership.
  currencies.onChange(recordInBackground);

  return createRateLeadership({
    db,
    logger,
    holder,
    async onGained() {
      leading = true;
      recordInBackground();
      timer = setInterval(recordInBackground, RECORD_EVERY_MS);
      timer.unref();
    },
    async onLost() {
      leading = false;
      clearInterval(timer);
    },
  });
}
