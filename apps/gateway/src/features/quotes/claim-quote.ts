import { CausewayError, decide, type KycStatus, type QuoteStatus, quoteMachine } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { lockQuote, type QuoteRow, setQuoteStatus } from './quote.store.ts';

/**
 * Takes a quote for an order, in the order's transaction: whatever refuses the order later rolls the claim
 * back, so a refused initiate leaves the quote unharmed.
 */
export async function claimQuote(unit: UnitOfWork, quoteId: string): Promise<QuoteRow> {
  const [quote] = await unit.tx.query(lockQuote, [quoteId]);
  if (quote === undefined) throw new CausewayError('QUOTE_NOT_FOUND');
  const facts = {
    kycCleared: quote.kyc_status === 'VERIFIED',
    pastExpiry: quote.expires_at.getTime() <= unit.at.getTime(),
  };
  const decision = decide(quoteMachine, quote.status, 'quote_claimed', facts, 'partner');
  if (decision.kind === 'refused') throw refusal(decision.code, quote.kyc_status);
  const status: QuoteStatus = decision.transition.to;
  unit.tx.defer(setQuoteStatus, [quote.quote_id, status]);
  return { ...quote, status };
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
