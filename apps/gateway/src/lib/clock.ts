/**
 * Time is injected. Business time (quote expiry, time-outs, webhook retries) is the wall clock plus an
 * offset that a sandbox may move forward, and put back to nothing; every process of a deployment sees the same offset.
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
  /** Offsets only grow: time does not run backwards for anyone who has already seen it. */
  moveTo(offsetMs: number): void;
  /** The deployment's clock as it was read, perhaps late. Only a reset that was not seen yet takes time back. */
  follow(read: ClockReading): void;
}

export interface ClockReading {
  readonly offsetMs: number;
  /** How often the clock was put back. */
  readonly resets: number;
}

/** The wall clock of this machine: leases and measurements only, never business rules. */
export function machineNow(): number {
  return Date.now();
}

export function createClock(wall: () => number = machineNow): MovableClock {
  let offsetMs = 0;
  let resets = 0;
  return {
    get offsetMs() {
      return offsetMs;
    },
    now: () => wall() + offsetMs,
    date: () => new Date(wall() + offsetMs),
    moveTo(next) {
      if (next > offsetMs) offsetMs = next;
    },
    follow(read) {
      if (read.resets < resets) return;
      offsetMs = read.resets > resets ? read.offsetMs : Math.max(offsetMs, read.offsetMs);
      resets = read.resets;
    },
  };
}
