import {
  CausewayError,
  type DetailsOf,
  decide,
  KYC_CLEARED,
  type KycStatus,
  orderStatusesWithOutcome,
  quoteMachine,
} from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Offers, VendorKind } from '../../ports/offers.ts';
import { type FillDeps, type Serving, selectVendor } from './fill-quote.ts';
import { quoteAdapter } from './quote.adapter.ts';
import {
  claimReservation,
  endReservations,
  endReservationsOfQuotes,
  lockQuote,
  type QuoteRow,
  releaseReservation,
  reserveQuote,
} from './quote.store.ts';

/** How much may be open at a time; a partner may have limits of its own in their place. Values in whole dollars. */
export interface OrderLimits {
  readonly partnerOpenOrders: number;
  readonly partnerHeldValueUsd: number;
  readonly customerOpenOrders: number;
  readonly customerHeldValueUsd: number;
}

export interface ReserveDeps extends FillDeps {
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
  deps: ReserveDeps,
  requested: {
    readonly partnerId: string;
    readonly quoteId: string;
    readonly direction: QuoteRow['direction'];
  },
  work: (reservation: Reservation) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let isKept = false;
    let isReserved = false;
    let serving: Serving | undefined;
    try {
      const [quote] = await deps.db.query(SYSTEM, reserveQuote, [
        requested.quoteId,
        requested.direction,
        requested.partnerId,
        deps.clock.date(),
        deps.orderLimits.partnerOpenOrders,
        deps.orderLimits.partnerHeldValueUsd,
        deps.orderLimits.customerOpenOrders,
        deps.orderLimits.customerHeldValueUsd,
      ]);
      const isClaimable = quote !== undefined && canBeClaimed(quote, deps.clock.date());
      if (isClaimable && quote.over_limit !== null) throw overLimit(quote.over_limit);
      isReserved = isClaimable;
      serving = isClaimable ? await selectVendor(deps, quote) : undefined;
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
      if (isReserved && !isKept) await giveBack(deps, requested.quoteId, serving);
    }
  }
}

/** What cannot be given back now is given back by a worker later. */
async function giveBack(
  { db, offers, logger }: ReserveDeps,
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
    kycCleared: quote.kyc_status === KYC_CLEARED,
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

/** A quote that now belongs to an order. */
export interface ClaimedQuote extends QuoteRow {
  /** Of the order that it becomes. */
  readonly order_id: string;
  /** False where no vendor can serve it at present; only an off-ramp order may wait for one. */
  readonly served: boolean;
  /** The kind of vendor that serves it, as webhooks name it; null where none does. */
  readonly provider: VendorKind | null;
}

/**
 * Takes a quote and what was reserved for it, in the order's transaction: whatever refuses the order later rolls the claim
 * back, so a refused initiate leaves the quote unharmed.
 */
export async function claimQuote(
  unit: UnitOfWork,
  reservation: Reservation,
  quoteId: string,
  direction: QuoteRow['direction'],
): Promise<ClaimedQuote> {
  const orderId = unit.ids.uuid();
  const [[quote], [claimed]] = await unit.tx.queryBoth(lockQuote, [quoteId, direction], claimReservation, [
    quoteId,
    orderId,
  ]);
  if (quote === undefined) throw new CausewayError('QUOTE_NOT_FOUND');
  const { serving } = reservation;
  const claim = {
    quote,
    facts: quoteFacts(quote, unit.at),
    vendorId: serving?.vendorId ?? quote.vendor_id,
    servingOfferId: serving?.offerId ?? null,
  };
  const execution = execute(unit, quoteAdapter, claim, 'quote_claimed', 'partner');
  if (execution.kind === 'refused') throw refusal(execution.code, quote.kyc_status);
  if (claimed === undefined) throw new ReservationLost(`nothing is reserved for quote ${quoteId}`);
  if (serving === undefined && direction === 'onramp') throw new CausewayError('NO_OFFERS_AVAILABLE');
  return {
    ...execution.row.quote,
    order_id: orderId,
    served: serving !== undefined,
    provider: serving?.provider ?? null,
  };
}

function refusal(code: string, kycStatus: KycStatus): CausewayError {
  switch (code) {
    case 'QUOTE_EXPIRED':
      return new CausewayError('QUOTE_EXPIRED');
    case 'KYC_NOT_CLEARED':
      return kycNotCleared(kycStatus);
    default:
      return new CausewayError('QUOTE_ALREADY_USED');
  }
}

export function kycNotCleared(kycStatus: KycStatus): CausewayError {
  // The caller was refused for it, so it is any status but VERIFIED.
  return new CausewayError('KYC_NOT_CLEARED', {
    details: { kyc_status: kycStatus as Exclude<KycStatus, typeof KYC_CLEARED> },
  });
}

/** Far longer than the transaction that writes an order may take. */
const FORGOTTEN_AFTER_MS = 300_000;
const BATCH = 500;
const QUOTES_AT_ONCE = 100;

// A dispute decides later whose the crypto is, so it ends no hold.
const SETTLED = orderStatusesWithOutcome('settled');
const STOPPED = orderStatusesWithOutcome('stopped');
const ENDED = [...SETTLED, ...STOPPED];
const RULE = { settled: SETTLED, stopped: STOPPED, forgottenAfterMs: FORGOTTEN_AFTER_MS, limit: BATCH };

interface Deps {
  readonly db: Database;
  readonly offers: Offers;
}

/**
 * Gives vendors and askers back what orders no longer need. Run by workers every few seconds, for what was announced while
 * nobody listened; what is announced is ended at once.
 */
export async function endFinishedHolds({ db, offers }: Deps): Promise<number> {
  const ended = await offers.holds.endFinished(RULE);
  await db.query(SYSTEM, endReservations, [ENDED, FORGOTTEN_AFTER_MS, BATCH]);
  return ended;
}

async function endHoldsOf({ db, offers }: Deps, quoteIds: readonly string[]): Promise<void> {
  await offers.holds.endFinished({ ...RULE, quoteIds });
  await db.query(SYSTEM, endReservationsOfQuotes, [ENDED, FORGOTTEN_AFTER_MS, quoteIds.length, quoteIds]);
}

/** Ends what it is told of, all that came while it was busy together. Resolves when it is done with that. */
export function createHoldEnder(deps: Deps): (quoteId: string) => Promise<void> {
  const told = new Set<string>();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (told.size > 0) {
      const quoteIds = [...told].slice(0, QUOTES_AT_ONCE);
      for (const quoteId of quoteIds) told.delete(quoteId);
      await endHoldsOf(deps, quoteIds);
    }
  }

  return (quoteId) => {
    told.add(quoteId);
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}
