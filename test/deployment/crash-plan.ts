import type { Random } from '../fuzz/random.ts';

/** One thing that goes wrong. */
export type Fault =
  /** Processes are killed at once and started again; the places of their slots. */
  | { readonly kind: 'kill'; readonly slots: readonly number[]; readonly afterMs: number }
  /** PostgreSQL or the chain's process is stopped and stays away for a moment. */
  | { readonly kind: 'database' | 'chain'; readonly awayMs: number; readonly afterMs: number };

export interface FaultCounts {
  readonly kills: number;
  readonly databaseStops: number;
  readonly chainStops: number;
}

const LONGEST_PAUSE_MS = 1_500;
const LONGEST_ABSENCE_MS = 500;
const TWO_AT_ONCE_PCT = 25;

/** Everything that is decided before the run begins: the same seed is the same run, as far as it depends on chance. */
export function planFaults(random: Random, counts: FaultCounts, slots: number): Fault[] {
  const faults: Fault[] = [];
  const afterMs = () => random.below(LONGEST_PAUSE_MS);
  for (let left = counts.kills; left > 0; ) {
    const first = random.below(slots);
    const second = (first + 1 + random.below(slots - 1)) % slots;
    const killed = left > 1 && random.chance(TWO_AT_ONCE_PCT) ? [first, second] : [first];
    faults.push({ kind: 'kill', slots: killed, afterMs: afterMs() });
    left -= killed.length;
  }
  const stops = (kind: 'database' | 'chain', count: number) =>
    Array.from({ length: count }, (): Fault => {
      return { kind, awayMs: random.below(LONGEST_ABSENCE_MS), afterMs: afterMs() };
    });
  faults.push(...stops('database', counts.databaseStops), ...stops('chain', counts.chainStops));
  // Fisher and Yates.
  for (let last = faults.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [faults[last], faults[other]] = [faults[other] as Fault, faults[last] as Fault];
  }
  return faults;
}
