import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { loadSession } from '../../api/session.ts';

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

const SYNC_MS = 20_000;

/**
 * The service’s time in milliseconds, every second. Deadlines are its own: a browser’s clock may be wrong, and a sandbox’s may
 * have been advanced.
 */
export function useServerNow(): number | null {
  const { data } = useQuery({
    queryKey: [...VENDOR_ORDERS_KEY, 'server-clock'],
    queryFn: async () => {
      const session = await loadSession();
      return session === null ? null : Date.parse(session.server_time) - performance.now();
    },
    refetchInterval: SYNC_MS,
  });
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return data === undefined || data === null ? null : data + performance.now();
}
