import { defineMachine } from './decide.ts';
import type { Machine } from './machine.types.ts';
import { NEW } from './machine.types.ts';

export const QUOTE_STATUSES = ['active', 'used', 'expired'] as const;
export type QuoteStatus = (typeof QUOTE_STATUSES)[number];

export const QUOTE_TRIGGERS = ['quote_issued', 'quote_claimed', 'initiate_refused', 'quote_expired'] as const;
export type QuoteTrigger = (typeof QUOTE_TRIGGERS)[number];

export interface QuoteFacts {
  readonly kycCleared: boolean;
  /** By the server's clock, in the statement that claims the quote. */
  readonly pastExpiry: boolean;
}

export type QuoteGuard = 'kyc_cleared' | 'in_time' | 'past_expiry';
export type QuoteMachine = Machine<QuoteStatus, QuoteTrigger, QuoteFacts, QuoteGuard>;

export const quoteMachine: QuoteMachine = defineMachine<QuoteStatus, QuoteTrigger, QuoteFacts, QuoteGuard>({
  name: 'quote',
  title: 'Quote',
  statuses: {
    active: {
      says: 'Can be initiated once.',
      published: false,
      terminal: false,
      timeout: { setting: 'quote_validity_seconds', defaultSeconds: 60, trigger: 'quote_expired' },
    },
    used: { says: 'An order came of it.', published: false, terminal: true },
    expired: { says: 'Its 60 seconds are over.', published: false, terminal: true },
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
    past_expiry: {
      code: 'INVALID_STATUS',
      says: 'the quote is past its expiry',
      reads: ['pastExpiry'],
      holds: (facts) => facts.pastExpiry,
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
      spec: 'C3.3: single use; claimed in the transaction that creates the order',
    },
    {
      from: 'active',
      on: 'initiate_refused',
      by: ['system'],
      to: 'active',
      emits: [],
      noop: true,
      spec: 'C4.6 rule 6: a refused initiate leaves the quote unharmed',
    },
    {
      from: 'active',
      on: 'quote_expired',
      by: ['clock'],
      guard: ['past_expiry'],
      to: 'expired',
      emits: [],
      spec: 'C3.3: 60 seconds',
    },
  ],
  refusals: [
    { from: 'used', on: 'quote_claimed', code: 'QUOTE_ALREADY_USED' },
    { from: 'expired', on: 'quote_claimed', code: 'QUOTE_EXPIRED' },
  ],
});
