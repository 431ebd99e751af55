import type { Catalogue } from '@causeway/currencies';
import { CausewayError } from '@causeway/protocol';
import type { RateTable } from '../upstream/rates/rate-table.ts';

// Features reach the backend through this folder only.
export type { Catalogue } from '@causeway/currencies';
export { convertAtomic } from '@causeway/currencies';

/**
 * The gateway's way to the currencies backend. It pulls a whole versioned snapshot, reference data and rates, and
 * answers everything from memory: no request of a partner waits for the backend. Two adapters, one conformance suite.
 */
export interface Currencies {
  /**
   * The newest good snapshot, however old. Before there is one, SERVICE_UNAVAILABLE is thrown, which the
   * supported-resources endpoints answer as service_unavailable.
   */
  current(): CurrenciesSnapshot;
  /** Runs after every change of the snapshot. */
  onChange(react: () => void): void;
  /** Resolves after the first look, which a remote backend may miss: looking goes on either way. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface CurrenciesSnapshot {
  readonly reference: ReferenceSnapshot;
  /** Another object whenever a rate, or the standing of a rate, has changed. */
  readonly rates: RateTable;
  /** Seconds since the backend was last heard of, where that is longer than it should be; 0 otherwise. */
  readonly ageSeconds: number;
}

/** Another object whenever something in the reference data has changed. */
export interface ReferenceSnapshot {
  readonly version: string;
  readonly catalogue: Catalogue;
}

export function currenciesUnavailable(cause?: unknown): CausewayError {
  return new CausewayError('SERVICE_UNAVAILABLE', { cause });
}
