import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs `work` one at a time. A caller during a run gets one more run after it, shared with all others that
 * asked: a burst of notifications costs two runs, and no caller is told "done" by a run that began too early to see the change.
 *
 * A run and the one after it begin at least `spacingMs` apart, so that a steady stream of changes cannot keep a process busy
 * with looking at them. What comes after a quiet while is looked at without delay.
 */
export function coalesce(work: () => Promise<void>, spacingMs = 0): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    const spaced = spacingMs === 0 ? undefined : delay(spacingMs, undefined, { ref: false });
    const done = work();
    // A failure is its own callers'; the next run is tried all the same.
    running = done
      .catch(() => {})
      .then(() => spaced)
      .then(() => {
        running = undefined;
      });
    return done;
  }

  return () => {
    if (running === undefined) return run();
    next ??= running.then(() => {
      next = undefined;
      return run();
    });
    return next;
  };
}
