/**
 * When a process is asked to end: by SIGINT or SIGTERM, or because the npm that started it is gone. npm 10 and 11 pass both
 * signals on to the program (`exec` in the start script leaves no shell between them); a killed npm passes nothing on.
 */
export interface StopRequests {
  /** The first one: end in order. */
  readonly onStop: (reason: string) => void;
  /** Asked again: end at once. */
  readonly onInsist: () => void;
  /** Whether the parent is npm. Anything else, such as the shell of a background job, may leave the process on its own. */
  readonly startedByNpm: boolean;
}

/** A terminal sends Ctrl-C to npm and to us, and npm passes its own on: two signals, one request. */
const SAME_REQUEST_MS = 1_000;
const PARENT_CHECK_MS = 250;

export function watchStopRequests({ onStop, onInsist, startedByNpm }: StopRequests): void {
  let askedAt: number | undefined;
  const ask = (reason: string) => {
    if (askedAt === undefined) {
      askedAt = performance.now();
      onStop(reason);
    } else if (performance.now() - askedAt > SAME_REQUEST_MS) {
      onInsist();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => ask(`stopped by ${signal}`));
  }
  if (!startedByNpm) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    ask('npm, which started this process, is gone');
  }, PARENT_CHECK_MS);
  timer.unref();
}
