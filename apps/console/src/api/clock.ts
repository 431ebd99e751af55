import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { serviceNow } from './service-time.ts';
import { loadSession } from './session.ts';

const SYNC_MS = 20_000;

/** In milliseconds, every second; null until the service has told it. */
export function useServiceNow(): number | null {
  const { data } = useQuery({
    queryKey: ['service-clock'],
    queryFn: async () => ((await loadSession()) === null ? null : true),
    refetchInterval: SYNC_MS,
  });
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return data === true ? serviceNow() : null;
}
