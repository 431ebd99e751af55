/**
 * The service’s time. Deadlines and ages are its own: a browser’s clock may be wrong, and a sandbox’s may have been moved.
 * Every answer about the session tells it.
 */
let ahead = Date.now() - performance.now();

export function noteServiceTime(told: string): void {
  const at = Date.parse(told);
  if (!Number.isNaN(at)) ahead = at - performance.now();
}

/** In milliseconds. */
export function serviceNow(): number {
  return ahead + performance.now();
}
