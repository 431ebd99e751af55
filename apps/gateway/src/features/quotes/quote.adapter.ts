import {
  type QuoteFacts,
  type QuoteGuard,
  type QuoteStatus,
  type QuoteTrigger,
  quoteMachine,
} from '@causeway/protocol';
import type { MachineAdapter } from '../../engine/execute.ts';
import { claimedBy, type QuoteRow } from './quote.store.ts';

/** A quote that is claimed, with who serves the order. */
interface ClaimCase {
  readonly quote: QuoteRow;
  readonly facts: QuoteFacts;
  readonly vendorId: string;
  readonly servingOfferId: string | null;
}

function nothingElse(): never {
  throw new Error('a quote publishes nothing, starts nothing and moves no money');
}

/** Claims only: a quote is issued by one statement, which asks for the KYC in the same round trip. */
export const quoteAdapter: MachineAdapter<ClaimCase, QuoteStatus, QuoteTrigger, QuoteFacts, QuoteGuard> = {
  machine: quoteMachine,
  statusOf: ({ quote }) => quote.status,
  factsOf: ({ facts }) => facts,

  write(unit, claim, { status }) {
    const { quote, vendorId, servingOfferId } = claim;
    unit.tx.defer(claimedBy, [quote.quote_id, status, vendorId, servingOfferId]);
    return { ...claim, quote: { ...quote, status, vendor_id: vendorId } };
  },

  eventFor: nothingElse,
  intentFor: nothingElse,
  entryFor: nothingElse,
};
