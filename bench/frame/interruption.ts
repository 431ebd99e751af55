/** What runs beside a bench and has to end with it, newest last. */
const running = new Set<() => Promise<void>>();

/** Answers `stop`, which from now on is also called when the run is interrupted; never twice, and whoever calls it waits. */
export function endedWithTheRun(stop: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined;
  const once = () => {
    running.delete(once);
    ending ??= stop();
    return ending;
  };
  running.add(once);
  return once;
}

/** An interrupted run leaves no servers and databases behind. */
export function endOnInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      // What fails from now on fails because it was ended.
      process.on('uncaughtException', () => {});
      void endWhatRuns().finally(() => process.exit(130));
    });
  }
}

async function endWhatRuns(): Promise<void> {
  for (const stop of [...running].reverse()) await stop();
}
