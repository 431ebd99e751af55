import type { OfferBook } from '@causeway/offers';
import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../engine/unit-of-work.ts';

// Features reach the backend through this folder only.
export {
  aggregateLiquidity,
  type Direction,
  type FirmQuote,
  type HonouredQuote,
  honourQuote,
  type LiquidityPair,
  type Match,
  type MatchOutcome,
  type MatchRefusal,
  type MatchRequest,
  matchOffer,
  type OfferBook,
  PROVIDER_SCOPES,
  type ProviderScope,
  type RailLookup,
  REJECTION_REASONS,
  type RejectionCounts,
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
  /** Whose balances an order takes; undefined where the backend keeps them itself. */
  readonly balances: OfferBalances | undefined;
}

/**
 * Balances of offers, changed in the transaction that decides: a book may be a moment old, these are not.
 * Amounts are whole crypto as decimal strings.
 */
export interface OfferBalances {
  /** False where too little is left, or the offer is gone. */
  take(unit: UnitOfWork, offerId: string, crypto: string): Promise<boolean>;
  /** Goes with the unit's commit. */
  giveBack(unit: UnitOfWork, offerId: string, crypto: string): void;
}

export function offersUnavailable(cause?: unknown): CausewayError {
  return new CausewayError('SERVICE_UNAVAILABLE', { cause });
}
