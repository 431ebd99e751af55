import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';

export const VENDOR_ORDERS_KEY = ['vendor-orders'] as const;

/** Reads orders again whenever the service says that one of this vendor’s has come, moved or gone. */
export function useVendorEvents(): 'live' | 'reconnecting' {
  const client = useQueryClient();
  const [isLive, setIsLive] = useState(false);
  useEffect(() => {
    const stopping = new AbortController();
    const refresh = () => client.invalidateQueries({ queryKey: VENDOR_ORDERS_KEY });
    const follow = async () => {
      const events = api.vendor.events.stream({
        signal: stopping.signal,
        onOpen: () => {
          setIsLive(true);
          // What happened while there was no connection.
          void refresh();
        },
        onBreak: () => setIsLive(false),
      });
      for await (const _ of events) void refresh();
    };
    follow().catch(() => setIsLive(false));
    return () => stopping.abort();
  }, [client]);
  return isLive ? 'live' : 'reconnecting';
}
