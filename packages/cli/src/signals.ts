/** Aborted with the first of them, for its reason. `AbortSignal.any` came with Node 20.3. */
export function firstOf(...signals: readonly AbortSignal[]): AbortSignal {
  const first = new AbortController();
  const abort = (): void => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
    first.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  return first.signal;
}
