/** What `work` comes to, unless the signal is aborted before: then its reason, and what is left of `work` is left alone. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

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
