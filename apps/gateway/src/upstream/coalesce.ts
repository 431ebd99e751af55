/**
 * Runs `work` one at a time. Whoever asks during a run gets one more run after it, shared with everybody else who
 * asked: a burst of notifications costs two runs, and nobody is told "done" by a run that began too early to see the change.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  }

  return () => {
    if (running === undefined) return run();
    next ??= running
      .catch(() => {
        // The failure is the first caller's; the next run is tried all the same.
      })
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
}
