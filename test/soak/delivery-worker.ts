import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { type DrainSettings, type RunningDrain, startDrain } from '../harness/delivery-drain.ts';
import { answerParent, type LoadProcess, startLoadProcess } from './load-process.ts';

/**
 * A process that drains deliveries until it is killed: what it has in hand is left as a crash would leave it. Its parent
 * moves its clock.
 */
export interface DeliveryWorker extends Pick<LoadProcess, 'stop'> {
  start(settings: DrainSettings, clockOffsetMs?: number): Promise<void>;
  moveClock(offsetMs: number): Promise<void>;
  /** Of the processor, since its start. */
  cpuMs(): Promise<number>;
}

export function forkDeliveryWorker(): DeliveryWorker {
  const worker = startLoadProcess('./delivery-worker.ts');
  return {
    start: (settings, clockOffsetMs = 0) => worker.ask('start', { settings, clockOffsetMs }),
    moveClock: (offsetMs) => worker.ask('moveClock', offsetMs),
    cpuMs: () => worker.ask('cpuMs'),
    stop: () => worker.stop(),
  };
}

if (import.meta.main) {
  const clock = createClock();
  let drain: RunningDrain | undefined;
  answerParent({
    async start({ settings, clockOffsetMs }: { settings: DrainSettings; clockOffsetMs: number }) {
      clock.moveTo(clockOffsetMs);
      drain = await startDrain(settings, clock);
    },
    async moveClock(offsetMs: number) {
      clock.moveTo(offsetMs);
      drain?.wake();
    },
    async cpuMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
  });
}
