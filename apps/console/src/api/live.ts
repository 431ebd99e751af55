import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { api } from './client.ts';

/**
 * Events of the partner as they happen: one stream a tab, opened while a page that shows orders is looked at. It goes on
 * behind the last event it had, so that nothing is missed in between.
 */
export type LiveState = 'off' | 'connecting' | 'live' | 'broken';

type Listener = (subject: string) => void;

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let state: LiveState = 'off';
let cursor: string | undefined;
let running: AbortController | undefined;

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

async function run(control: AbortController): Promise<void> {
  const { signal } = control;
  setState('connecting');
  try {
    const stream = api.events.stream({
      ...(cursor === undefined ? {} : { after: cursor }),
      signal,
      onOpen: (at) => {
        cursor ??= at;
        setState('live');
      },
      onBreak: () => setState('broken'),
    });
    for await (const { cursor: at, event } of stream) {
      cursor = at;
      const { order_id: subject } = event.data as { readonly order_id?: string };
      if (subject !== undefined) for (const tell of listeners) tell(subject);
    }
  } catch {
    // What cannot get better by itself: too old a cursor begins anew with the next page, a lost session leads to the sign-in.
    if (signal.aborted) return;
    cursor = undefined;
    running = undefined;
    setState('broken');
  }
}

/** Reads orders again when something has happened to them; of one order where it is named. */
export function useLiveOrders(orderId?: string): LiveState {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listener: Listener = (subject) => {
      if (orderId !== undefined && subject !== orderId) return;
      // Several events of one moment are read once.
      clearTimeout(timer);
      timer = setTimeout(() => {
        void client.invalidateQueries({ queryKey: orderId === undefined ? ['orders'] : ['order', orderId] });
      }, 100);
    };
    listeners.add(listener);
    document.addEventListener('visibilitychange', follow);
    follow();
    return () => {
      clearTimeout(timer);
      listeners.delete(listener);
      if (listeners.size === 0) document.removeEventListener('visibilitychange', follow);
      follow();
    };
  }, [client, orderId]);
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell);
      return () => watchers.delete(tell);
    },
    () => state,
  );
}
