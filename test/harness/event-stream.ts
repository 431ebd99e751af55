/** A server-sent event stream, read until it is stopped. */
export interface EventStream {
  readonly contentType: string;
  /** All of it so far. */
  text(): string;
  /** The data of each event so far. */
  // biome-ignore lint/suspicious/noExplicitAny: events are read as the wire has them
  events(): any[];
  lastId(): string;
  ended(): boolean;
  stop(): void;
}

export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const abort = new AbortController();
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  let text = '';
  let ended = false;
  void (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    } catch {
      // Stopped by the test.
    }
    ended = true;
  })();
  return {
    contentType: response.headers.get('content-type') ?? '',
    text: () => text,
    // Not `^` and `$`: JSON leaves U+2028 as it is, where they would see a line begin and end.
    events: () =>
      [...text.matchAll(/(?<=\n)data: ([^\n]+)(?=\n)/g)].map(([, json]) => JSON.parse(json ?? '')),
    lastId: () => [...text.matchAll(/(?<=\n)id: (\d+)(?=\n)/g)].at(-1)?.[1] ?? '',
    ended: () => ended,
    stop: () => abort.abort(),
  };
}
