import {
  type Actor,
  CausewayError,
  type DetailsOf,
  decide,
  KYC_CLEARED,
  type KycStatus,
  orderStatusesWithOutcome,
  quoteMachine,
} from '@causeway/protocol';
import { type Database, type Scope, SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Clock } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Offers, VendorKind } from '../../ports/offers.ts';
import { type FillDeps, type Serving, selectVendor } from './fill-quote.ts';
import { quoteAdapter } from './quote.adapter.ts';
import {
  type ClaimableQuoteRow,
  completeQuoteClaim,
  endQuoteClaims,
  endQuoteClaimsOf,
  findQuote,
  lockQuote,
  openQuoteClaim,
  type QuoteRow,
  releaseQuoteClaim,
} from './quote.store.ts';

/** How much may be open at a time; a partner may have limits of its own in their place. Values in whole dollars. */
export interface OrderLimits {
  readonly partnerOpenOrders: number;
  readonly partnerHeldValueUsd: number;
  readonly customerOpenOrders: number;
  readonly customerHeldValueUsd: number;
}

export interface ClaimDeps extends FillDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly orderLimits: OrderLimits;
}

/** What was claimed and reserved for the order that a quote becomes. */
export interface QuoteClaim {
  /** As it was when it was claimed; undefined where there is none. */
  readonly quote: ClaimableQuoteRow | undefined;
  /** Whose crypto is reserved; undefined where no vendor can serve the quote, or where the quote cannot be claimed anyway. */
  readonly serving: Serving | undefined;
  /** Called once the order is written: without it everything is given back. */
  keep(): void;
}

/** The claim is gone: another attempt on the same quote was refused and released it. */
export class QuoteClaimLost extends Error {
  override readonly name = 'QuoteClaimLost';
}

const MAX_ATTEMPTS = 3;

/**
 * Takes what an order needs of others before the order is written: a claim within the limits of partner and customer, and
 * a reservation of a vendor's crypto. Neither is part of the order's transaction, so that no order waits for another's disk;
 * `work` writes the order and completes the claim. Where it does not, both are released at once.
 */
export async function withQuoteClaim<T>(
  deps: ClaimDeps,
  requested: {
    readonly partnerId: string;
    readonly quoteId: string;
    readonly direction: QuoteRow['direction'];
    /** A quote of this customer only. */
    readonly userId?: string;
  },
  work: (claim: QuoteClaim) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let isKept = false;
    let isClaimed = false;
    let serving: Serving | undefined;
    try {
      const [quote] = await deps.db.query(SYSTEM, openQuoteClaim, [
        requested.quoteId,
        requested.direction,
        requested.partnerId,
        deps.clock.date(),
        deps.orderLimits.partnerOpenOrders,
        deps.orderLimits.partnerHeldValueUsd,
        deps.orderLimits.customerOpenOrders,
        deps.orderLimits.customerHeldValueUsd,
        requested.userId ?? null,
      ]);
      const isClaimable = quote !== undefined && canBeClaimed(quote, deps.clock.date());
      if (isClaimable && quote.over_limit !== null) throw overLimit(quote.over_limit);
      isClaimed = isClaimable;
      serving = isClaimable ? await selectVendor(deps, quote) : undefined;
      return await work({
        quote,
        serving,
        keep: () => {
          isKept = true;
        },
      });
    } catch (error) {
      isKept = false;
      if (!(error instanceof QuoteClaimLost) || attempt >= MAX_ATTEMPTS) throw error;
    } finally {
      if (isClaimed && !isKept) await releaseClaim(deps, requested.quoteId, serving);
    }
  }
}

/** What cannot be released now is released by a worker later. */
async function releaseClaim(
  { db, offers, logger }: ClaimDeps,
  quoteId: string,
  serving: Serving | undefined,
): Promise<void> {
  try {
    const [released] = await db.query(SYSTEM, releaseQuoteClaim, [quoteId]);
    // Where an order has completed the claim, the crypto is its too.
    if (released !== undefined && serving !== undefined)
      await offers.reservations.release(quoteId, serving.offerId);
  } catch (error) {
    logger.warn({ err: error, quote_id: quoteId }, 'releasing a claim failed');
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

/** The quote as this scope sees it; undefined where it sees none. */
export async function readQuote(db: Database, scope: Scope, quoteId: string): Promise<QuoteRow | undefined> {
  const [quote] = await db.query(scope, findQuote, [quoteId]);
  return quote;
}

/** Nothing is taken for a quote that cannot be claimed; claimQuote says why it cannot. */
function canBeClaimed(quote: ClaimableQuoteRow, at: Date): boolean {
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
export interface ClaimedQuote extends Omit<QuoteRow, 'vendor_id'> {
  /** Of the order that it becomes. */
  readonly order_id: string;
  /** Who serves the order, which need not be the quoted vendor; null where nobody does. */
  readonly vendor_id: string | null;
  /** False where no vendor can serve it at present; only an off-ramp order may wait for one. */
  readonly served: boolean;
  /** The kind of vendor that serves it, as webhooks name it; null where none does. */
  readonly provider: VendorKind | null;
}

/**
 * Takes a quote and completes the claim on it, in the order's transaction: whatever refuses the order later rolls the claim
 * back, so a refused initiate leaves the quote unharmed.
 */
export async function claimQuote(
  unit: UnitOfWork,
  claim: QuoteClaim,
  actor: Actor = 'partner',
): Promise<ClaimedQuote> {
  if (claim.quote === undefined) throw new CausewayError('QUOTE_NOT_FOUND');
  const { quote_id: quoteId, direction } = claim.quote;
  const orderId = unit.ids.uuid();
  const [[present], [claimed]] = await unit.tx.queryBoth(
    lockQuote,
    [quoteId, direction],
    completeQuoteClaim,
    [quoteId, orderId],
  );
  if (present === undefined) throw new CausewayError('QUOTE_NOT_FOUND');
  const quote = { ...claim.quote, ...present };
  const { serving } = claim;
  const filled = {
    quote,
    facts: quoteFacts(quote, unit.at),
    vendorId: serving?.vendorId ?? quote.vendor_id,
    servingOfferId: serving?.offerId ?? null,
  };
  const execution = execute(unit, quoteAdapter, filled, 'quote_claimed', actor);
  if (execution.kind === 'refused') throw refusal(execution.code, quote.kyc_status);
  if (claimed === undefined) throw new QuoteClaimLost(`there is no open claim on quote ${quoteId}`);
  if (serving === undefined && direction === 'onramp') throw new CausewayError('NO_OFFERS_AVAILABLE');
  return {
    ...execution.row.quote,
    order_id: orderId,
    vendor_id: serving?.vendorId ?? null,
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
const ABANDONED_AFTER_MS = 300_000;
const BATCH = 500;
const QUOTES_AT_ONCE = 100;

// A dispute decides later whose the crypto is, so it ends no reservation.
const SETTLED = orderStatusesWithOutcome('settled');
const STOPPED = orderStatusesWithOutcome('stopped');
const ENDED = [...SETTLED, ...STOPPED];
const RULE = { settled: SETTLED, stopped: STOPPED, abandonedAfterMs: ABANDONED_AFTER_MS, limit: BATCH };

interface Deps {
  readonly db: Database;
  readonly offers: Offers;
}

/**
 * Ends the reservations and claims that orders no longer need. Run by workers every few seconds, for what was announced
 * while no worker listened; what is announced is ended at once.
 */
export async function endFinishedReservations({ db, offers }: Deps): Promise<number> {
  const ended = await offers.reservations.endFinished(RULE);
  await db.query(SYSTEM, endQuoteClaims, [ENDED, ABANDONED_AFTER_MS, BATCH]);
  return ended;
}

async function endReservationsOf({ db, offers }: Deps, quoteIds: readonly string[]): Promise<void> {
  await offers.reservations.endFinished({ ...RULE, quoteIds });
  await db.query(SYSTEM, endQuoteClaimsOf, [ENDED, ABANDONED_AFTER_MS, quoteIds]);
}

/** A burst of ends, or a steady stream of them, is worked off in so few turns. */
const TURN_MS = 100;

/** Ends what it is told of: the first at once, and all that comes in the next moment together. Resolves when that is done. */
export function createReservationEnder(deps: Deps): (quoteId: string) => Promise<void> {
  const told = new Set<string>();
  const endTold = coalesce(async () => {
    while (told.size > 0) {
      const quoteIds = [...told].slice(0, QUOTES_AT_ONCE);
      for (const quoteId of quoteIds) told.delete(quoteId);
      await endReservationsOf(deps, quoteIds);
    }
  }, TURN_MS);
  return (quoteId) => {
    told.add(quoteId);
    return endTold();
  };
}
