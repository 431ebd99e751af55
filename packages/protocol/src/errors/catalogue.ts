import type { Static, TObject } from 'typebox';
import { CONSOLE_ERRORS } from './console-errors.ts';
import type { ErrorEntry } from './error-entry.ts';
import { REQUEST_ERRORS } from './request-errors.ts';
import { SERVICE_ERRORS } from './service-errors.ts';
import { STATE_ERRORS } from './state-errors.ts';

/** Every error a partner can meet, as data: the server answers from it, the SDK types it, the docs print it. */
export const ERROR_CATALOGUE = {
  ...REQUEST_ERRORS,
  ...STATE_ERRORS,
  ...CONSOLE_ERRORS,
  ...SERVICE_ERRORS,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** What `error.details` holds for a code; an empty object where the code has none. */
export type DetailsOf<Code extends ErrorCode> = (typeof ERROR_CATALOGUE)[Code]['details'] extends infer Schema
  ? Schema extends TObject
    ? Static<Schema>
    : Record<string, never>
  : never;

export const ERROR_CODES = Object.freeze(Object.keys(ERROR_CATALOGUE)) as readonly ErrorCode[];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_CATALOGUE, value);
}

export function errorEntry(code: ErrorCode): ErrorEntry {
  return ERROR_CATALOGUE[code];
}
