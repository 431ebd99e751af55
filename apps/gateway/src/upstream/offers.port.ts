import type { OfferBook } from '@causeway/offers';
import { CausewayError } from '@causeway/protocol';

// Features reach the backend through this folder only.
export {
  aggregateLiquidity,
  bestRate,
  type Direction,
  type FirmQuote,
  honourQuote,
  type LiquidityPair,
  type Match,
  type MatchOutcome,
  type MatchRequest,
  matchOffer,
  type OfferBook,
  type PairIndex,
  PROVIDER_SCOPES,
  type ProviderScope,
  REJECTION_REASONS,
  type RejectionCounts,
  sideServing,
  type VendorKind,
} from '@causeway/offers';

/**
 * The gateway's way to the offers backend. It keeps a whole book in memory and matches there: no request of a
 * partner waits for the backend. Two adapters, one conformance suite.
 */
export interface Offers {
  /** The newest book; another object whenever something changed. SERVICE_UNAVAILABLE while there is none to trust. */
  book(): OfferBook;
  /** Runs after every change of the book. */
  onChange(react: () => void): void;
  /** Resolves after the first look, which a remote backend may miss: looking goes on either way. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Holds on offers' balances; undefined where the backend keeps its balances itself. */
  readonly holds: OfferHolds | undefined;
}

/** A book may be a moment old, the balances behind these are not: what is held never exceeds what there was. */
export interface OfferHolds {
  /**
   * Takes whole crypto, a decimal string, off the offer's balance for the order that a quote becomes. False where too
   * little is left or the offer is gone. Holding the same again takes nothing more.
   */
  hold(quoteId: string, offerId: string, crypto: string): Promise<boolean>;
}

export function offersUnavailable(cause?: unknown): CausewayError {
  return new CausewayError('SERVICE_UNAVAILABLE', { cause });
}
