import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Kyc } from '../session/api.ts';
import { api, recover, refreshSession } from '../session/store.ts';
import { kycView, pollDelay } from './kyc-steps.ts';

export interface KycState {
  readonly kyc: Kyc | null;
  readonly error: unknown;
  /** Looks again now; answers what it found. */
  readonly load: () => Promise<Kyc | null>;
}

/**
 * What is known of the customer’s verification. While somebody else decides it is looked up again and again, less and less
 * often, and not at all while the tab is hidden. A customer who is verified goes on by itself.
 */
export function useKyc(isWatched: boolean): KycState {
  const [kyc, setKyc] = useState<Kyc | null>(null);
  const [error, setError] = useState<unknown>(null);

  const load = useCallback(async (): Promise<Kyc | null> => {
    try {
      const found = await api().kyc();
      setKyc(found);
      setError(null);
      if (kycView(found.status) === 'done') await refreshSession();
      return found;
    } catch (thrown) {
      // A look that failed is no news: the next one tells. Only the first must not fail in silence.
      const isOver = await recover(thrown).catch(() => false);
      if (!isOver) setError(thrown);
      return null;
    }
  }, []);

  useEffect(() => void load(), [load]);
  const status = kyc?.status ?? '';
  // Done is waited out too: the session that leads on may not have been read yet.
  const isWaiting = status !== '' && (['wait', 'done'].includes(kycView(status)) || isWatched);
  const looks = useRef(0);
  useEffect(() => {
    if (!isWaiting) return;
    looks.current = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStopped = false;
    const plan = () => {
      clearTimeout(timer);
      if (isStopped || document.hidden) return;
      timer = setTimeout(look, pollDelay(looks.current, status));
    };
    const look = () => {
      looks.current += 1;
      void load().then(plan);
    };
    const onVisibility = () => {
      if (document.hidden) clearTimeout(timer);
      else look();
    };
    document.addEventListener('visibilitychange', onVisibility);
    plan();
    return () => {
      isStopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [isWaiting, status, load]);
  return { kyc, error, load };
}
