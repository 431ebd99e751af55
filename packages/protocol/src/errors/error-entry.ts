import type { TObject } from 'typebox';

/** One line of the error catalogue. */
export interface ErrorEntry {
  readonly status: number;
  /** The public message when the thrower gives none. */
  readonly message: string;
  /** Shape of `error.details`; null where it is always `{}`. */
  readonly details: TObject | null;
  /** Whether the same request can succeed later with nothing changed by the partner. */
  readonly retryable: boolean;
  /** When it happens, and what to do about it. */
  readonly doc: string;
  /** Kept so that clients may still know it; the service no longer answers it. */
  readonly retired?: true;
}

/** No details, and repeating the same request does not help. */
export const never = { details: null, retryable: false } as const;
/** No details, and the same request may succeed later. */
export const later = { details: null, retryable: true } as const;

/** The errors of the supported-resources endpoints, which answer `{ success: false, data: { error_key } }`. */
export interface ErrorKeyEntry {
  readonly status: number;
  readonly doc: string;
}

export const ERROR_KEY_CATALOGUE = {
  validation_error: { status: 400, doc: 'A query parameter does not fit; correct it.' },
  invalid_direction: { status: 400, doc: 'direction is missing or unknown; send onramp or offramp.' },
  missing_country_or_currency: {
    status: 400,
    doc: 'Neither country nor currency was sent; send at least one.',
  },
  invalid_country: { status: 400, doc: 'country is not a known two-letter ISO 3166-1 code; correct it.' },
  invalid_currency: { status: 400, doc: 'currency is not a known ISO 4217 code; correct it.' },
  invalid_rail: {
    status: 400,
    doc: 'rail is missing or unknown; choose one from GET /supported/payment-rails.',
  },
  service_unavailable: {
    status: 503,
    doc: 'Something this answer needs is temporarily unavailable; retry after as long as Retry-After says.',
  },
  internal_error: { status: 500, doc: 'An unexpected failure; retry, and report X-Request-Id if it stays.' },
} as const satisfies Record<string, ErrorKeyEntry>;

export type ErrorKey = keyof typeof ERROR_KEY_CATALOGUE;

export const ERROR_KEYS = Object.freeze(Object.keys(ERROR_KEY_CATALOGUE)) as readonly ErrorKey[];

export interface SupportedErrorBody {
  readonly success: false;
  readonly data: { readonly error_key: ErrorKey };
}

/** A refusal or failure of a supported-resources endpoint; its cause is for logs and never leaves the process. */
export class SupportedResourceError extends Error {
  readonly key: ErrorKey;
  readonly status: number;

  constructor(key: ErrorKey, options?: { readonly cause?: unknown }) {
    super(ERROR_KEY_CATALOGUE[key].doc, options);
    this.name = 'SupportedResourceError';
    this.key = key;
    this.status = ERROR_KEY_CATALOGUE[key].status;
  }

  /** An error that is serialised by accident shows what a partner may see, and no more. */
  toJSON(): SupportedErrorBody {
    return toSupportedErrorBody(this);
  }
}

/** The body for anything that was thrown on these endpoints; what is not a SupportedResourceError is internal. */
export function toSupportedErrorBody(error: unknown): SupportedErrorBody {
  return {
    success: false,
    data: { error_key: error instanceof SupportedResourceError ? error.key : 'internal_error' },
  };
}

/** The HTTP status that goes with toSupportedErrorBody. */
export function supportedErrorStatus(error: unknown): number {
  return error instanceof SupportedResourceError ? error.status : ERROR_KEY_CATALOGUE.internal_error.status;
}
