import { CausewayError, decide, type KycStatus, type QuoteStatus, quoteMachine } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { VendorKind } from '../../upstream/offers.port.ts';
import { claimedBy, claimReservation, lockQuote, type QuoteRow } from './quote.store.ts';
import { quoteFacts, type Reservation, ReservationLost } from './reserve-quote.ts';

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
  const decision = decide(quoteMachine, quote.status, 'quote_claimed', quoteFacts(quote, unit.at), 'partner');
  if (decision.kind === 'refused') throw refusal(decision.code, quote.kyc_status);
  if (claimed === undefined) throw new ReservationLost(`nothing is reserved for quote ${quoteId}`);
  const status: QuoteStatus = decision.transition.to;
  const { serving } = reservation;
  if (serving === undefined && direction === 'onramp') throw new CausewayError('NO_OFFERS_AVAILABLE');
  const vendorId = serving?.vendorId ?? quote.vendor_id;
  unit.tx.defer(claimedBy, [quote.quote_id, status, vendorId, serving?.offerId ?? null]);
  return {
    ...quote,
    order_id: orderId,
    status,
    vendor_id: vendorId,
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
    details: { kyc_status: kycStatus as Exclude<KycStatus, 'VERIFIED'> },
  });
}
