import { CausewayError, type DetailsOf, decide, quoteMachine } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { chooseServing, type HonourTools, type Serving } from './honour-quote.ts';
import { type QuoteRow, releaseReservation, reserveQuote } from './quote.store.ts';

/** How much may be open at a time; a partner may have limits of its own in their place. Values in whole dollars. */
export interface OrderLimits {
  readonly partnerOpenOrders: number;
  readonly partnerHeldValueUsd: number;
  readonly customerOpenOrders: number;
  readonly customerHeldValueUsd: number;
}

export interface ReserveTools extends HonourTools {
  readonly db: Database;
  readonly clock: Clock;
  readonly orderLimits: OrderLimits;
}

/** What was taken for the order that a quote becomes. */
export interface Reservation {
  /** Whose crypto is held; undefined where nobody can serve the quote, or where the quote cannot be claimed anyway. */
  readonly serving: Serving | undefined;
  /** Called once the order is written: without it everything is given back. */
  keep(): void;
}

/** What was reserved is gone: another attempt on the same quote was refused and gave it back. */
export class ReservationLost extends Error {
  override readonly name = 'ReservationLost';
}

const MAX_ATTEMPTS = 3;

/**
 * Takes what an order needs of others before the order is written: a place within the limits of who asks, and the crypto
 * of a vendor. Both belong to nobody's transaction, so that no order waits for another's disk; `work` writes the order and
 * claims them. Where it does not, they are given back at once.
 */
export async function withReservation<T>(
  tools: ReserveTools,
  wish: { readonly partnerId: string; readonly quoteId: string; readonly direction: QuoteRow['direction'] },
  work: (reservation: Reservation) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let isKept = false;
    let isReserved = false;
    let serving: Serving | undefined;
    try {
      const [quote] = await tools.db.query(SYSTEM, reserveQuote, [
        wish.quoteId,
        wish.direction,
        wish.partnerId,
        tools.clock.date(),
        tools.orderLimits.partnerOpenOrders,
        tools.orderLimits.partnerHeldValueUsd,
        tools.orderLimits.customerOpenOrders,
        tools.orderLimits.customerHeldValueUsd,
      ]);
      const isClaimable = quote !== undefined && canBeClaimed(quote, tools.clock.date());
      if (isClaimable && quote.over_limit !== null) throw overLimit(quote.over_limit);
      isReserved = isClaimable;
      serving = isClaimable ? await chooseServing(tools, quote) : undefined;
      return await work({
        serving,
        keep: () => {
          isKept = true;
        },
      });
    } catch (error) {
      isKept = false;
      if (!(error instanceof ReservationLost) || attempt >= MAX_ATTEMPTS) throw error;
    } finally {
      if (isReserved && !isKept) await giveBack(tools, wish.quoteId, serving);
    }
  }
}

/** What cannot be given back now is given back by a worker later. */
async function giveBack(
  { db, offers, logger }: ReserveTools,
  quoteId: string,
  serving: Serving | undefined,
): Promise<void> {
  try {
    const [released] = await db.query(SYSTEM, releaseReservation, [quoteId]);
    // Where an order has claimed the place, the crypto is its too.
    if (released !== undefined && serving !== undefined) await offers.holds.release(quoteId, serving.offerId);
  } catch (error) {
    logger.warn({ err: error, quote_id: quoteId }, 'giving a reservation back failed');
  }
}

/** What the quotes' table asks about a quote that is to be claimed. */
export function quoteFacts(
  quote: Pick<QuoteRow, 'kyc_status' | 'expires_at'>,
  at: Date,
): { readonly kycCleared: boolean; readonly pastExpiry: boolean } {
  return {
    kycCleared: quote.kyc_status === 'VERIFIED',
    pastExpiry: quote.expires_at.getTime() <= at.getTime(),
  };
}

/** A quote that is not to be had takes nothing; why, it is told by whoever claims it. */
function canBeClaimed(quote: QuoteRow, at: Date): boolean {
  return (
    decide(quoteMachine, quote.status, 'quote_claimed', quoteFacts(quote, at), 'partner').kind === 'moved'
  );
}

function overLimit(details: DetailsOf<'OPEN_ORDER_LIMIT'>): CausewayError {
  const whose = details.scope === 'partner' ? 'You have' : 'This customer has';
  const message =
    details.unit === 'orders'
      ? `${whose} ${details.current} open orders; the limit is ${details.limit}.`
      : `${whose} orders worth ${details.current} dollars open; the limit is ${details.limit}.`;
  return new CausewayError('OPEN_ORDER_LIMIT', { message, details });
}
