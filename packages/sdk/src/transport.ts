import { CausewayError, errorOf, isCausewayError, parsed } from './errors.ts';
import { requireNumber } from './numbers.ts';
import { pause, timeoutSignal } from './timing.ts';

export interface ClientOptions {
  /** A partner's, vendor's or operator's key; public operations need none. */
  readonly apiKey?: string;
  /** The address of the deployment, such as `https://api.example.com`; `/api/v1` at its end is cut off. */
  readonly baseUrl: string;
  /** Milliseconds for one attempt; by default 30 000, and 130 000 for a file of `exports`. */
  readonly timeout?: number;
  /** Milliseconds for a call with all its attempts and pauses; none by default. */
  readonly deadline?: number;
  /** How often a failed attempt is repeated where that is safe; 2 by default, 0 means never. */
  readonly maxRetries?: number;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A secret key in a browser is everybody's key, so that it is refused there; this says that the page is not public. */
  readonly allowSecretKeyInBrowser?: boolean;
}

/** The last argument of every method. */
export interface RequestOptions {
  /**
   * Of a write: repeats with the same key happen once. Each call makes one of its own unless it is given, here or as an
   * `Idempotency-Key` of `headers`.
   */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly deadline?: number;
  readonly maxRetries?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One line of the table of operations, read. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly hasQuery: boolean;
  readonly takesKey: boolean;
  /** May be repeated without a key: it changes nothing, or the same thing to the same end. */
  readonly isSafe: boolean;
  readonly isText: boolean;
  readonly paging: { readonly kind: string; readonly items: string } | undefined;
}

export interface Call {
  readonly operation: Operation;
  readonly pathValues: readonly unknown[];
  readonly input: unknown;
  readonly options: RequestOptions;
}

export interface Transport {
  send(call: Call): Promise<unknown>;
  /** One request as it is, without repeats: for streams. */
  open(path: string, init: RequestInit): Promise<Response>;
}

const BASE = '/api/v1';
const DEFAULT_TIMEOUT_MS = 30_000;
/** The service takes up to two minutes for a file. */
const FILE_TIMEOUT_MS = 130_000;
const DEFAULT_RETRIES = 2;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** A longer wait is the caller's decision. */
export const LONGEST_RETRY_AFTER_SECONDS = 60;

export function readOperation(line: string): Operation {
  const [method = '', path = '', flags = '', paging] = line.split(' ');
  const [kind = '', items = ''] = paging?.split(':') ?? [];
  return {
    method,
    path: path.startsWith('!') ? path.slice(1) : BASE + path,
    hasBody: flags.includes('b'),
    hasQuery: flags.includes('q'),
    takesKey: flags.includes('k'),
    isSafe: method === 'GET' || method === 'PUT' || flags.includes('s'),
    isText: flags.includes('t'),
    paging: paging === undefined ? undefined : { kind, items },
  };
}

/** What every attempt of a call sends. */
interface Prepared {
  readonly path: string;
  readonly init: RequestInit;
  readonly key: string | undefined;
}

export function createTransport(client: ClientOptions): Transport {
  const baseUrl = addressOf(client);
  const { origin } = new URL(baseUrl);
  const { apiKey } = client;
  const isBrowser = 'window' in globalThis && 'document' in globalThis;
  if (isBrowser && apiKey && !apiKey.startsWith('cw_widget_') && client.allowSecretKeyInBrowser !== true) {
    throw new TypeError('A secret key does not belong in a browser: anybody can read it there.');
  }
  requireTimes(client);
  const ownHeaders = headersOf(client.headers);
  if (apiKey) setHeader(ownHeaders, 'x-api-key', apiKey);

  async function open(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(ownHeaders);
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    // Where there is no body, the service refuses the word that there is JSON.
    if (init.body === undefined) headers.delete('content-type');
    // Called on the global object: some runtimes refuse it otherwise.
    const fetch = client.fetch ?? ((url: string, request: RequestInit) => globalThis.fetch(url, request));
    // A key must not follow to wherever an answer points; workers do not know `error`.
    return fetch(baseUrl + path, { ...init, headers, redirect: 'manual' });
  }

  async function attempt(
    { operation, options }: Call,
    { path, init, key }: Prepared,
    timeoutMs: number,
  ): Promise<unknown> {
    const timer = timeoutSignal(timeoutMs, options.signal);
    try {
      const response = await open(path, { ...init, signal: timer.signal });
      // The body is read under the same time-out: an answer that never ends is none.
      if (!response.ok) throw await errorOf(response, key);
      return await dataOf(response, operation, key);
    } catch (error) {
      if (isCausewayError(error)) throw error;
      options.signal?.throwIfAborted();
      const code = timer.signal.aborted ? 'TIMED_OUT' : 'CONNECTION_FAILED';
      const message = timer.signal.aborted
        ? `no answer from ${origin} within ${timeoutMs} ms`
        : `the connection to ${origin} failed`;
      throw new CausewayError(code, { message, retryable: true, idempotencyKey: key, cause: error });
    } finally {
      timer.clear();
    }
  }

  return {
    open,
    async send(call) {
      const { operation, options } = call;
      options.signal?.throwIfAborted();
      requireTimes(options);
      const prepared = prepare(call);
      const defaultMs = operation.isText ? FILE_TIMEOUT_MS : DEFAULT_TIMEOUT_MS;
      const timeoutMs = options.timeout ?? client.timeout ?? defaultMs;
      const deadlineMs = options.deadline ?? client.deadline ?? Number.POSITIVE_INFINITY;
      const retries = options.maxRetries ?? client.maxRetries ?? DEFAULT_RETRIES;
      const started = performance.now();
      for (let failed = 0; ; failed++) {
        const leftMs = deadlineMs - (performance.now() - started);
        try {
          return await attempt(call, prepared, Math.min(timeoutMs, Math.max(1, leftMs)));
        } catch (error) {
          const pauseMs = isCausewayError(error)
            ? pauseAfter(error, failed, operation.isSafe || prepared.key !== undefined)
            : undefined;
          const left = deadlineMs - (performance.now() - started);
          if (pauseMs === undefined || failed >= retries || pauseMs >= left) throw error;
          await pause(pauseMs, options.signal);
        }
      }
    },
  };
}

/** Made once, and before anything is sent: what cannot be sent is the caller's mistake, and no failed connection. */
function prepare({ operation, pathValues, input, options }: Call): Prepared {
  const { method, isText, hasBody, takesKey } = operation;
  const headers = headersOf(options.headers);
  if (!headers.has('accept')) headers.set('accept', isText ? 'text/csv, text/plain' : 'application/json');
  const given = options.idempotencyKey ?? headers.get('idempotency-key');
  const key = takesKey ? (given ?? crypto.randomUUID()) : undefined;
  if (key !== undefined && (key.length < 1 || key.length > 255)) {
    throw new TypeError('an idempotency key has 1 to 255 characters');
  }
  if (key !== undefined) setHeader(headers, 'idempotency-key', key);
  const body = hasBody && input !== undefined ? JSON.stringify(input) : undefined;
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
  const path = pathOf(operation, pathValues) + queryOf(operation, input);
  return { path, key, init: { method, headers, ...(body === undefined ? {} : { body }) } };
}

/** `maxRetries: NaN` would repeat for ever, and a time-out of NaN end at once. */
function requireTimes(given: Pick<ClientOptions, 'timeout' | 'deadline' | 'maxRetries'>): void {
  for (const name of ['timeout', 'deadline', 'maxRetries'] as const) {
    const value = given[name];
    if (value !== undefined) requireNumber(name, value);
  }
}

/** One name has one value, however it is spelt. */
function headersOf(given: Readonly<Record<string, string>> | undefined): Headers {
  const headers = new Headers();
  // JavaScript may give `Headers` or pairs as well.
  const pairs = given as Partial<Iterable<[string, string]>> | undefined;
  const entries = pairs?.[Symbol.iterator]
    ? (pairs as Iterable<[string, string]>)
    : Object.entries(given ?? {});
  for (const [name, value] of entries) setHeader(headers, name, value);
  return headers;
}

/** Runtimes would say the value, which may be a key; so may be what was given for a name. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    const told = /^[\w-]{1,64}$/.test(name) ? `the header ${name}` : 'a header';
    throw new TypeError(`${told} cannot be sent: no header may have such a name or value`);
  }
}

/** Also told to those whom no compiler has told. */
function addressOf(client: Partial<ClientOptions> | undefined): string {
  const given: unknown = client?.baseUrl;
  if (given === undefined || given === null || given === '') {
    throw new TypeError(
      'baseUrl is missing: new Causeway({ baseUrl: "https://api.example.com", apiKey: "cw_…" })',
    );
  }
  if (typeof given !== 'string' || !/^https?:\/\/[^/?#\s]/.test(given)) {
    throw new TypeError('baseUrl is the http(s) address of the deployment');
  }
  // Every path begins with it.
  const address = given.replace(/\/+$/, '');
  return address.endsWith(BASE) ? address.slice(0, -BASE.length).replace(/\/+$/, '') : address;
}

/** How long to wait before the same request is sent again; undefined where it must not be. */
function pauseAfter(error: CausewayError, failed: number, isRepeatable: boolean): number | undefined {
  const { status, code, retryAfterSeconds } = error;
  // Refused before anything was done, so that it may be repeated without a key as well.
  const isRefused = status === 429 && retryAfterSeconds !== undefined;
  const isPassing =
    (error.retryable && (status === undefined || status === 408 || status >= 500)) ||
    code === 'IDEMPOTENCY_IN_PROGRESS';
  // The partner's own endpoint failed: repeating does not make it well.
  if (code === 'WEBHOOK_DELIVERY_FAILED') return undefined;
  if (!isRefused && !(isPassing && isRepeatable)) return undefined;
  if (retryAfterSeconds !== undefined) {
    return retryAfterSeconds <= LONGEST_RETRY_AFTER_SECONDS ? retryAfterSeconds * 1_000 : undefined;
  }
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed);
  return longest * (0.5 + Math.random() / 2);
}

async function dataOf(response: Response, { isText }: Operation, key: string | undefined): Promise<unknown> {
  const text = await response.text();
  if (isText) return text;
  const body = parsed(text) as { success?: unknown; data?: unknown } | undefined;
  if (body?.success === true && 'data' in body) return body.data;
  throw new CausewayError('INVALID_ANSWER', {
    message: `HTTP ${response.status} without the service’s envelope: ${text.slice(0, 200)}`,
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    idempotencyKey: key,
  });
}

function pathOf({ path }: Operation, values: readonly unknown[]): string {
  let next = 0;
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[next++];
    const text = typeof value === 'number' ? `${value}` : value;
    // Otherwise `undefined` would become part of the address, and `..` another one.
    if (typeof text !== 'string' || text === '' || text === '.' || text === '..') {
      throw new TypeError(`${name} is missing`);
    }
    return encodeURIComponent(text);
  });
}

function queryOf({ hasQuery }: Operation, input: unknown): string {
  if (!hasQuery || typeof input !== 'object' || input === null) return '';
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null)
        query.append(name, one instanceof Date ? one.toISOString() : `${one}`);
    }
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
