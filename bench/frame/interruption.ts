/** What runs beside a bench and has to end with it, newest last. */
const running = new Set<() => Promise<void>>();

/** Answers `stop`, which from now on is also called when the run is interrupted; never twice. */
export function endedWithTheRun(stop: () => Promise<void>): () => Promise<void> {
  const once = async () => {
    if (running.delete(once)) await stop();
  };
  running.add(once);
  return once;
}

/** Servers and databases that an interrupted run would leave behind. */
export async function endWhatRuns(): Promise<void> {
  for (const stop of [...running].reverse()) await stop();
}
