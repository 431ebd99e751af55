import type { CONSOLE_ROUTES } from '@causeway/protocol/console';
import { CONSOLE_ROUTES as ROUTES } from '@causeway/protocol/console';
import { Causeway, CausewayError } from '@causeway/sdk';

/**
 * How pages reach the service: the API by the SDK, the console’s own routes by `consoleCall`. The cookie of the session goes
 * along by itself; what changes something carries the token that only a page of ours can read.
 */
let csrfToken = '';
let onSignedOut: () => void = () => {};
let onForbidden: () => void = () => {};

export function setCsrfToken(token: string): void {
  csrfToken = token;
}

/** Called when an answer says that nobody is signed in. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/** Called when an answer says that the role does not allow it: it may have changed since the page was shown. */
export function whenForbidden(listener: () => void): void {
  onForbidden = listener;
}

const consoleFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  if (csrfToken !== '') headers.set('x-csrf-token', csrfToken);
  const response = await fetch(input, { ...init, headers, credentials: 'same-origin' });
  if (response.status === 401) onSignedOut();
  if (response.status === 403) onForbidden();
  return response;
};

/** Everything the API can do, for whoever is signed in. */
export const api = new Causeway({ baseUrl: location.origin, fetch: consoleFetch });

type ConsoleOperation = keyof typeof CONSOLE_ROUTES;

export interface ConsoleCall {
  /** Values of the path, by name. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** One of the console’s own routes; throws a CausewayError, as the SDK does. */
export async function consoleCall<T>(operation: ConsoleOperation, call: ConsoleCall = {}): Promise<T> {
  const [method = '', path = ''] = ROUTES[operation].split(' ');
  const url = new URL(
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(call.params?.[name] ?? '')),
    location.origin,
  );
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  const response = await consoleFetch(url, {
    method,
    ...(call.signal === undefined ? {} : { signal: call.signal }),
    ...(call.body === undefined
      ? {}
      : { body: JSON.stringify(call.body), headers: { 'content-type': 'application/json' } }),
  });
  const answer = (await response.json()) as
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly code: string; readonly message: string } };
  if (answer.success) return answer.data;
  throw new ConsoleProblem(response.status, answer.error);
}

/** A refusal of one of the console’s own routes. */
export class ConsoleProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: unknown;
  constructor(
    status: number,
    error: { readonly code: string; readonly message: string; readonly details?: unknown },
  ) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.details = error.details;
  }
}

/** What to tell a person about a failure, whatever it came from. */
export function problemOf(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
} {
  if (error instanceof CausewayError) {
    const { code, message, requestId } = error as CausewayError & { requestId?: string };
    return { code: String(code), message, ...(requestId === undefined ? {} : { requestId }) };
  }
  if (error instanceof ConsoleProblem) return { code: error.code, message: error.message };
  if (error instanceof TypeError) return { code: 'OFFLINE', message: 'The service cannot be reached.' };
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) };
}
