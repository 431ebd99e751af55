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
