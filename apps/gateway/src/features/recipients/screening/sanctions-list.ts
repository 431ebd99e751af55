/** One person or organisation of a sanctions list, whatever format it came in. */
export interface SanctionsEntry {
  readonly id: string;
  readonly kind: 'individual' | 'organisation';
  /** The main name first, then the aliases that the list vouches for. */
  readonly names: readonly string[];
  readonly programs: readonly string[];
}

export interface ListLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** One row, line or element; a longer one is not of a list but of an attack or a damaged file. */
  readonly maxRecordCharacters: number;
  readonly maxNamesPerEntry: number;
}

export const DEFAULT_LIST_LIMITS: ListLimits = {
  maxBytes: 512 * 1024 * 1024,
  maxEntries: 500_000,
  maxRecordCharacters: 2 * 1024 * 1024,
  maxNamesPerEntry: 400,
};

/**
 * A list that cannot be read in full is not used at all: an entry that is silently skipped is a payment to somebody on
 * the list.
 */
export class SanctionsListError extends Error {
  override readonly name = 'SanctionsListError';
}

/** Cuts off an entry's aliases and drops blanks; a list has entries with hundreds of spellings. */
export function namesOf(names: readonly string[], limits: ListLimits): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].slice(
    0,
    limits.maxNamesPerEntry,
  );
}
