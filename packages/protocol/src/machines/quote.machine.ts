import { defineMachine } from './decide.ts';
import type { Machine } from './machine.types.ts';
import { NEW } from './machine.types.ts';

/** A quote whose time is over keeps its status: see `in_time`. */
export const QUOTE_STATUSES = ['active', 'used'] as const;
export type QuoteStatus = (typeof QUOTE_STATUSES)[number];

export const QUOTE_TRIGGERS = ['quote_issued', 'quote_claimed'] as const;
export type QuoteTrigger = (typeof QUOTE_TRIGGERS)[number];

export interface QuoteFacts {
  readonly kycCleared: boolean;
  /** By the server's clock, in the statement that claims the quote. */
  readonly pastExpiry: boolean;
}

export type QuoteGuard = 'kyc_cleared' | 'in_time';
export type QuoteMachine = Machine<QuoteStatus, QuoteTrigger, QuoteFacts, QuoteGuard>;

export const quoteMachine: QuoteMachine = defineMachine<QuoteStatus, QuoteTrigger, QuoteFacts, QuoteGuard>({
  name: 'quote',
  title: 'Quote',
  statuses: {
    active: { says: 'Can be initiated once, until its expiry.', published: false, terminal: false },
    used: { says: 'An order came of it.', published: false, terminal: true },
  },
  guards: {
    kyc_cleared: {
      code: 'KYC_NOT_CLEARED',
      says: 'the customer’s KYC is VERIFIED',
      reads: ['kycCleared'],
      holds: (facts) => facts.kycCleared,
    },
    in_time: {
      code: 'QUOTE_EXPIRED',
      says: 'the quote is not past its expiry',
      reads: ['pastExpiry'],
      holds: (facts) => !facts.pastExpiry,
    },
  },
  transitions: [
    {
      from: NEW,
      on: 'quote_issued',
      by: ['partner', 'customer'],
      guard: ['kyc_cleared'],
      to: 'active',
      emits: [],
      spec: 'C3.3, C4.5 rule 4',
    },
    {
      from: 'active',
      on: 'quote_claimed',
      by: ['partner', 'customer'],
      guard: ['in_time', 'kyc_cleared'],
      to: 'used',
      emits: [],
      spec: 'C3.3, C4.6 rule 6: single use; claimed in the transaction that creates the order, so a refused initiate leaves it unharmed',
    },
  ],
  refusals: [{ from: 'used', on: 'quote_claimed', code: 'QUOTE_ALREADY_USED' }],
});

/** An order can come of it, as far as its status goes. */
export const QUOTE_ACTIVE = 'active' satisfies QuoteStatus;
