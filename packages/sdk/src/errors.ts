import { RETRYABLE_CODES } from './generated/constants.ts';
import type { ErrorDetails, ErrorKey } from './generated/types.ts';

/** What can go wrong before the service has answered, or with what it answered. */
export type ClientErrorCode =
  /** No answer: the connection failed, before or after the service had the request. */
  | 'CONNECTION_FAILED'
  /** No answer within `timeout`, or none in time for `deadline`. */
  | 'TIMED_OUT'
  /** What answered is not the service: no JSON, or not in its envelope. */
  | 'INVALID_ANSWER'
  /** `orders.waitFor`: the order ended in another status. */
  | 'ORDER_ENDED';

/** A code of the API's catalogue or of this client. The service may have newer ones. */
export type CausewayErrorCode = keyof ErrorDetails | ErrorKey | ClientErrorCode;

type DetailsOf<Code> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : Record<string, unknown>;

export interface CausewayErrorInit {
  readonly message: string;
  /** HTTP status; absent where there was no answer. */
  readonly status?: number | undefined;
  readonly details?: Record<string, unknown> | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly retryable?: boolean;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Every failure of a call. `code` says what happened, `requestId` is what support asks for.
 *
 * @example
 * try {
 *   await causeway.onramp.quote(request);
 * } catch (error) {
 *   if (!isCausewayError(error, 'KYC_NOT_CLEARED')) throw error;
 *   show(error.details.kyc_status);
 * }
 */
export class CausewayError<Code extends string = CausewayErrorCode | (string & {})> extends Error {
  override readonly name = 'CausewayError';
  readonly code: Code;
  readonly status: number | undefined;
  readonly details: DetailsOf<Code>;
  /** `X-Request-Id` of the answer. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Whether the same request may succeed later with nothing changed by you. */
  readonly retryable: boolean;
  /** The key of a write: repeat it with the same key, and it happens once. */
  readonly idempotencyKey: string | undefined;

  constructor(code: Code, init: CausewayErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = code;
    this.status = init.status;
    this.details = (init.details ?? {}) as DetailsOf<Code>;
    this.requestId = init.requestId;
    this.retryAfterSeconds = init.retryAfterSeconds;
    this.retryable = init.retryable ?? RETRYABLE_CODES.includes(code);
    this.idempotencyKey = init.idempotencyKey;
  }
}

/** Whether it is a failure of a call, and of this code where one is given: `details` then has that code's type. */
export function isCausewayError(error: unknown): error is CausewayError;
export function isCausewayError<Code extends CausewayErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is CausewayError<Code>;
export function isCausewayError(error: unknown, ...codes: readonly string[]): boolean {
  // By name, so that two copies of the package in one program understand each other.
  const isOurs = error instanceof Error && error.name === 'CausewayError';
  return isOurs && (codes.length === 0 || codes.includes((error as CausewayError).code));
}

/** The error that an answer tells of. */
export async function errorOf(
  response: Response,
  idempotencyKey: string | undefined,
): Promise<CausewayError> {
  const text = await response.text().catch(() => '');
  const body = parsed(text);
  const common = {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterOf(response),
    idempotencyKey,
  };
  const { error, data } = (body ?? {}) as {
    error?: { code?: unknown; message?: unknown; details?: unknown };
    data?: { error_key?: unknown };
  };
  if (typeof error?.code === 'string') {
    const message = typeof error.message === 'string' ? error.message : error.code;
    return new CausewayError(error.code, {
      ...common,
      message: `${error.code}: ${message}`,
      details: error.details as Record<string, unknown>,
    });
  }
  if (typeof data?.error_key === 'string') {
    const retryable = response.status >= 500;
    return new CausewayError(data.error_key, { ...common, message: data.error_key, retryable });
  }
  return new CausewayError('INVALID_ANSWER', {
    ...common,
    message: `HTTP ${response.status} without an error of the service: ${text.slice(0, 200)}`,
    // A proxy's words for a service that is away.
    retryable: [408, 429, 502, 503, 504].includes(response.status),
  });
}

/** Seconds, or the date that HTTP allows in their place. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
