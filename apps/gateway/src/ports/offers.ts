import type { OfferBook } from '@causeway/offers';
import { CausewayError } from '@causeway/protocol';

// Features reach the backend through this folder only.
export {
  aggregateLiquidity,
  bestRate,
  type Direction,
  type Exclusion,
  explainRefusal,
  type FirmQuote,
  fillQuote,
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
  readonly reservations: OfferReservations;
  /** Whether offers are made and changed here; a backend of its own keeps them itself. */
  readonly ownsOffers: boolean;
}

/** A backend's book without what is done to its balances. */
export type OfferBooks = Omit<Offers, 'reservations' | 'ownsOffers'>;

/** A book may be a moment old, the balances behind these are not: what is reserved never exceeds what there was. */
export interface OfferReservations {
  /**
   * Takes whole crypto, a decimal string, off the offer's balance for the order that a quote becomes. False where too
   * little is left or the offer is gone. Reserving the same again takes nothing more.
   */
  reserve(quoteId: string, offerId: string, crypto: string): Promise<boolean>;
  /**
   * Gives what is reserved back to the offer, unless the offer serves the quote or another order is just being written for it.
   * Of a reservation that has ended, or never was, it does nothing.
   */
  release(quoteId: string, offerId: string): Promise<void>;
  /** What was reserved is gone for good. Of a reservation that has ended, or never was, it does nothing. */
  consume(quoteId: string, offerId: string): Promise<void>;
  /**
   * Ends reservations that are no longer owed and answers how many: consumes those of orders that settled; releases those of
   * orders that stopped, of vendors that declined, of quotes that another offer serves, and of quotes that no order came
   * of for a while.
   */
  endFinished(rule: FinishedReservations): Promise<number>;
}

export interface FinishedReservations {
  /** Statuses of orders. */
  readonly settled: readonly string[];
  readonly stopped: readonly string[];
  readonly abandonedAfterMs: number;
  readonly limit: number;
  /** Only reservations of these; of any where it is absent. */
  readonly quoteIds?: readonly string[];
}

export function offersUnavailable(cause?: unknown): CausewayError {
  return new CausewayError('SERVICE_UNAVAILABLE', { cause });
}
