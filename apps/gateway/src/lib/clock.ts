/**
 * Time is injected. Business time (quote expiry, time-outs, webhook retries) is the wall clock plus an
 * offset that a sandbox may move forward; every process of a deployment sees the same offset.
 * Machine time (leases, rate-limit windows, log stamps) is never moved: a jump of the business clock
 * must not make two workers believe that each other is dead.
 */
export interface Clock {
  /** Business time, epoch milliseconds. */
  now(): number;
  /** Business time as a Date, for SQL parameters and ISO strings. */
  date(): Date;
}

export interface MovableClock extends Clock {
  readonly offsetMs: number;
  /** Offsets only grow: time never runs backwards for anyone who has already seen it. */
  moveTo(offsetMs: number): void;
}

/** The wall clock of this machine: leases and measurements only, never business rules. */
export function machineNow(): number {
  return Date.now();
}

export function createClock(wall: () => number = machineNow): MovableClock {
  let offsetMs = 0;
  return {
    get offsetMs() {
      return offsetMs;
    },
    now: () => wall() + offsetMs,
    date: () => new Date(wall() + offsetMs),
    moveTo(next) {
      if (next > offsetMs) offsetMs = next;
    },
  };
}
