import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { api } from './client.ts';
import { createLiveStream, type LiveState } from './live-stream.ts';

const events = createLiveStream((options) => api.events.stream(options));

/** Reads orders again when something has happened to them; of one order where it is named. */
export function useLiveOrders(orderId?: string): LiveState {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = events.listen({
      onEvent({ data }) {
        const { order_id: subject } = data as { readonly order_id?: string };
        if (subject === undefined || (orderId !== undefined && subject !== orderId)) return;
        // Several events of one moment are read once.
        clearTimeout(timer);
        timer = setTimeout(() => {
          void client.invalidateQueries({
            queryKey: orderId === undefined ? ['orders'] : ['order', orderId],
          });
        }, 100);
      },
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [client, orderId]);
  return useSyncExternalStore(events.subscribe, events.state);
}
