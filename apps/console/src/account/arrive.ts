import { useCallback } from 'react';
import { loadSession, useForgetSession } from '../api/session.ts';
import { useGo, useSearch } from '../ui/navigation.tsx';
import { parseSearch } from '../ui/search.ts';

/** After a sign-in: back to where one was going, if that is on one’s own desk; otherwise to its first page. */
export function useArrive(): () => Promise<void> {
  const forget = useForgetSession();
  const go = useGo();
  const { next } = useSearch();
  return useCallback(async () => {
    await forget();
    const session = await loadSession();
    if (session === null) {
      throw new Error('The browser has not kept the cookie of the session. Allow cookies for this site.');
    }
    const root = `/${session.desk}`;
    const [path = '', query = ''] = typeof next === 'string' ? next.split('?', 2) : [];
    if (path.startsWith(`${root}/`)) go(path, { search: parseSearch(query), replace: true });
    else go(root, { replace: true });
  }, [forget, go, next]);
}
