import { type Database, SYSTEM } from '../../../db/database.ts';
import { countWaitingApprovals, expireApprovals } from '../../../http/approval.store.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Metrics } from '../../../lib/metrics.ts';

interface HousekeepingDeps {
  readonly db: Database;
  readonly clock: Pick<Clock, 'date'>;
  readonly metrics: Pick<Metrics, 'approvalsWaiting' | 'approvalOldestSeconds'>;
}

/** Closes what nobody decided in time, and counts what waits. */
export async function keepApprovals({ db, clock, metrics }: HousekeepingDeps): Promise<void> {
  const at = clock.date();
  await db.query(SYSTEM, expireApprovals, [at]);
  const [row] = await db.query(SYSTEM, countWaitingApprovals, [at]);
  metrics.approvalsWaiting.set(Number(row?.waiting ?? 0));
  metrics.approvalOldestSeconds.set(Number(row?.oldest_seconds ?? 0));
}
