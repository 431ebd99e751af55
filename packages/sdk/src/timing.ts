/** Ends by itself or with the caller's; Node 20.0 has nothing ready for both at once. */
export function timeoutSignal(
  ms: number,
  outer: AbortSignal | undefined,
): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), Math.min(ms, 2 ** 31 - 1));
  const give = () => controller.abort(outer?.reason);
  if (outer?.aborted) give();
  outer?.addEventListener('abort', give, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', give);
    },
  };
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give);
      resolve();
    }, ms);
    if (signal?.aborted) give();
    signal?.addEventListener('abort', give, { once: true });
  });
}
