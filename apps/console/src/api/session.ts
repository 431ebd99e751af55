import {
  type Capability,
  type ConsoleOperation,
  can,
  type Desk,
  mayCall,
  type Role,
} from '@causeway/protocol/console';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { consoleCall, setCsrfToken } from './client.ts';
import { forgetCursors } from './live-stream.ts';
import { noteServiceTime } from './service-time.ts';

/** Who is signed in, as GET /console/session answers it. */
export interface ConsoleSession {
  readonly user: {
    readonly user_id: string;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
  };
  readonly desk: Desk;
  readonly owner: { readonly id: string; readonly name: string } | null;
  readonly csrf_token: string;
  /** Until a second factor is added nothing but the own account can be used. */
  readonly must_add_second_factor: boolean;
  readonly environment: 'sandbox' | 'production';
  readonly server_time: string;
}

export const SESSION_KEY = ['console-session'] as const;

/** Null where nobody is signed in. */
export async function loadSession(): Promise<ConsoleSession | null> {
  try {
    const session = await consoleCall<ConsoleSession>('getConsoleSession');
    setCsrfToken(session.csrf_token);
    noteServiceTime(session.server_time);
    return session;
  } catch (error) {
    if ((error as { status?: number }).status === 401) {
      setCsrfToken('');
      return null;
    }
    throw error;
  }
}

export function useSessionQuery() {
  return useQuery({ queryKey: SESSION_KEY, queryFn: loadSession, staleTime: 60_000, retry: 1 });
}

/** For pages behind the sign-in: there is always somebody. */
export function useSession(): ConsoleSession {
  const { data } = useSessionQuery();
  if (data === undefined || data === null)
    throw new Error('This page is shown to somebody who is signed in.');
  return data;
}

/** For buttons: the same table as the server’s. */
export function useMay(): (operation: ConsoleOperation) => boolean {
  const { role } = useSession().user;
  return useCallback((operation) => mayCall(role, operation), [role]);
}

export function useCan(capability: Capability): boolean {
  return can(useSession().user.role, capability);
}

/** Forgets everything that was read for the user before. */
export function useForgetSession(): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(async () => {
    client.clear();
    forgetCursors();
    await client.invalidateQueries({ queryKey: SESSION_KEY });
  }, [client]);
}
