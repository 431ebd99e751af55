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

/** As long as the SDK waits for an answer. */
const TIMEOUT_MS = 30_000;

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
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await consoleFetch(url, {
      method,
      signal: call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]),
      ...(call.body === undefined
        ? {}
        : { body: JSON.stringify(call.body), headers: { 'content-type': 'application/json' } }),
    });
    return dataOf<T>(await response.text(), response);
  } catch (error) {
    if (error instanceof ConsoleProblem) throw error;
    call.signal?.throwIfAborted();
    const code = timeout.aborted ? 'TIMED_OUT' : 'CONNECTION_FAILED';
    throw new ConsoleProblem({ code, message: PLAIN_WORDS[code] });
  }
}

/** What the service answers is in its envelope; a proxy answers in its place with a page of its own. */
function dataOf<T>(text: string, { status, headers }: Response): T {
  const answer = parsed(text) as
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly code: string; readonly message: string } }
    | null;
  if (answer?.success === true) return answer.data;
  const known = { status, requestId: headers.get('x-request-id') ?? undefined };
  if (typeof answer?.error?.code === 'string') throw new ConsoleProblem(answer.error, known);
  throw new ConsoleProblem({ code: 'INVALID_ANSWER', message: PLAIN_WORDS.INVALID_ANSWER }, known);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A refusal of one of the console’s own routes, or none of them answered: then there is no status. */
export class ConsoleProblem extends Error {
  readonly status: number | undefined;
  readonly code: string;
  readonly details: unknown;
  readonly requestId: string | undefined;
  constructor(
    error: { readonly code: string; readonly message: string; readonly details?: unknown },
    known: { readonly status?: number; readonly requestId?: string | undefined } = {},
  ) {
    super(error.message);
    this.status = known.status;
    this.code = error.code;
    this.details = error.details;
    this.requestId = known.requestId;
  }
}

/** What no sentence of the service says, in its place the SDK’s for programmers. */
const PLAIN_WORDS = {
  CONNECTION_FAILED: 'The service cannot be reached.',
  TIMED_OUT: 'The service did not answer in time.',
  INVALID_ANSWER: 'Something else answered in place of the service. Try again in a moment.',
} as const;

/** What to tell a person about a failure, whatever it came from. */
export function problemOf(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
} {
  if (error instanceof CausewayError || error instanceof ConsoleProblem) {
    const { code, requestId } = error;
    const message = PLAIN_WORDS[code as keyof typeof PLAIN_WORDS] ?? error.message;
    return { code, message, ...(requestId === undefined ? {} : { requestId }) };
  }
  // The script of a page could not be loaded.
  if (error instanceof TypeError)
    return { code: 'CONNECTION_FAILED', message: PLAIN_WORDS.CONNECTION_FAILED };
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) };
}
