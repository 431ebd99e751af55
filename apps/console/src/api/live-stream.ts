import type { Streamed, StreamOptions } from '@causeway/sdk';

/**
 * Events as they happen: one stream a tab, opened while a page that shows them is looked at. It goes on behind the last
 * event it had, so that nothing is missed in between.
 */
export type LiveState = 'off' | 'connecting' | 'live' | 'broken';

export interface LiveListener<Event> {
  onEvent(event: Event): void;
  /** The connection stands, also after a break. */
  onOpen?(): void;
}

export interface LiveStream<Event> {
  /** Until the answer is called. */
  listen(listener: LiveListener<Event>): () => void;
  /** Told when the state changes, until the answer is called. */
  subscribe(tell: () => void): () => void;
  state(): LiveState;
}

const cursorsToForget = new Set<() => void>();

/** Another user’s events are counted by themselves. */
export function forgetCursors(): void {
  for (const forget of cursorsToForget) forget();
}

export function createLiveStream<Event>(
  open: (options: StreamOptions) => AsyncIterable<Streamed<Event>>,
): LiveStream<Event> {
  const listeners = new Set<LiveListener<Event>>();
  const watchers = new Set<() => void>();
  let state: LiveState = 'off';
  let cursor: string | undefined;
  let running: AbortController | undefined;

  cursorsToForget.add(() => {
    cursor = undefined;
  });

  function setState(next: LiveState): void {
    state = next;
    for (const tell of watchers) tell();
  }

  /** A tab that nobody looks at gives its connection back: browsers have few for one host. */
  function follow(): void {
    const wanted = listeners.size > 0 && document.visibilityState === 'visible';
    if (wanted && running === undefined) {
      running = new AbortController();
      void run(running);
    } else if (!wanted && running !== undefined) {
      running.abort();
      running = undefined;
      setState('off');
    }
  }

  async function run({ signal }: AbortController): Promise<void> {
    setState('connecting');
    try {
      const stream = open({
        ...(cursor === undefined ? {} : { after: cursor }),
        signal,
        onOpen: (at) => {
          cursor ??= at;
          setState('live');
          for (const { onOpen } of listeners) onOpen?.();
        },
        onBreak: () => setState('broken'),
      });
      for await (const { cursor: at, event } of stream) {
        cursor = at;
        for (const { onEvent } of listeners) onEvent(event);
      }
    } catch {
      // What cannot get better by itself: too old a cursor begins anew with the next page, a lost session leads to the sign-in.
      if (signal.aborted) return;
      cursor = undefined;
      running = undefined;
      setState('broken');
    }
  }

  return {
    listen(listener) {
      listeners.add(listener);
      document.addEventListener('visibilitychange', follow);
      follow();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) document.removeEventListener('visibilitychange', follow);
        follow();
      };
    },
    subscribe(tell) {
      watchers.add(tell);
      return () => watchers.delete(tell);
    },
    state: () => state,
  };
}
