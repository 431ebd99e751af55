import type { Metrics } from '../../../lib/metrics.ts';
import { measureWaiting, type QueueDeps } from './queue.ts';

interface QueueMetricsDeps extends Pick<QueueDeps, 'db' | 'clock' | 'queueTargets'> {
  readonly metrics: Pick<Metrics, 'queueCases' | 'queueCasesOverdue' | 'queueCaseOldestSeconds'>;
}

/** What alerts are made of: money that waits for a person is a case of the queue, and leaves no other trace. */
export async function publishQueue({ metrics, ...deps }: QueueMetricsDeps): Promise<void> {
  for (const { kind, waiting, overdue, oldest_seconds } of await measureWaiting(deps)) {
    metrics.queueCases.set({ kind }, waiting);
    metrics.queueCasesOverdue.set({ kind }, overdue);
    metrics.queueCaseOldestSeconds.set({ kind }, oldest_seconds);
  }
}
