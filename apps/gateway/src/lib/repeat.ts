/** Runs work at an interval: never two of it at once, and never an unhandled failure. The timer is the caller's to clear. */
export function repeatEvery(
  ms: number,
  run: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): NodeJS.Timeout {
  let busy = false;
  return setInterval(() => {
    if (busy) return;
    busy = true;
    void run()
      .catch(onFailure)
      .finally(() => {
        busy = false;
      });
  }, ms);
}
