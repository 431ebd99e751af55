import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { api } from '../../api/client.ts';
import { createLiveStream, type LiveState } from '../../api/live-stream.ts';

export const VENDOR_ORDERS_KEY = ['vendor-orders'] as const;

const events = createLiveStream((options) => api.vendor.events.stream(options));

/** Reads orders again whenever the service says that one of this vendor’s has come, moved or gone. */
export function useVendorEvents(): LiveState {
  const client = useQueryClient();
  useEffect(() => {
    const refresh = () => void client.invalidateQueries({ queryKey: VENDOR_ORDERS_KEY });
    // What happened while there was no connection is read as soon as there is one.
    return events.listen({ onEvent: refresh, onOpen: refresh });
  }, [client]);
  return useSyncExternalStore(events.subscribe, events.state);
}
