import { defineMachine } from './decide.ts';
import type { Machine } from './machine.types.ts';
import { NEW } from './machine.types.ts';
import type { NoFacts } from './recipient.machine.ts';

/** A customer as the bank knows it. */
export const FIAT_CLIENT_STATUSES = ['pending', 'approved', 'rejected'] as const;
export type FiatClientStatus = (typeof FIAT_CLIENT_STATUSES)[number];
export const FIAT_CLIENT_TRIGGERS = ['client_submitted', 'client_approved', 'client_rejected'] as const;
export type FiatClientTrigger = (typeof FIAT_CLIENT_TRIGGERS)[number];

export type FiatClientMachine = Machine<FiatClientStatus, FiatClientTrigger, NoFacts, never>;

export const fiatClientMachine: FiatClientMachine = defineMachine<
  FiatClientStatus,
  FiatClientTrigger,
  NoFacts,
  never
>({
  name: 'fiat_client',
  title: 'Customer at the bank',
  statuses: {
    pending: { says: 'Submitted; the bank has not decided.', published: false, terminal: false },
    approved: { says: 'Accounts can be opened.', published: false, terminal: true },
    rejected: { says: 'Refused; may be submitted again.', published: false, terminal: false },
  },
  guards: {},
  transitions: [
    {
      from: NEW,
      on: 'client_submitted',
      by: ['partner'],
      to: 'pending',
      emits: [],
      effects: ['bank.submit-client'],
      spec: 'C4.9',
    },
    {
      from: 'rejected',
      on: 'client_submitted',
      by: ['partner'],
      to: 'pending',
      emits: [],
      effects: ['bank.submit-client'],
      spec: 'C4.9: a rejected customer may be submitted again, as a new round',
    },
    ...(['pending', 'approved'] as const).map((status) => ({
      from: status,
      on: 'client_submitted' as const,
      by: ['partner'] as const,
      to: status,
      emits: [],
      noop: true as const,
      spec: 'C4.9: submitted before; the answer is the same',
    })),
    { from: 'pending', on: 'client_approved', by: ['bank'], to: 'approved', emits: [], spec: 'C4.9' },
    {
      from: 'pending',
      on: 'client_rejected',
      by: ['bank'],
      to: 'rejected',
      emits: [],
      spec: 'C4.9: by its decision, or because it does not take the submission',
    },
  ],
});

export const FIAT_CLIENT_APPROVED = 'approved' satisfies FiatClientStatus;
export const FIAT_CLIENT_REJECTED = 'rejected' satisfies FiatClientStatus;

export const FIAT_ACCOUNT_STATUSES = ['provisioning', 'active', 'failed'] as const;
export type FiatAccountStatus = (typeof FIAT_ACCOUNT_STATUSES)[number];
export const FIAT_ACCOUNT_TRIGGERS = ['account_requested', 'account_opened', 'opening_failed'] as const;
export type FiatAccountTrigger = (typeof FIAT_ACCOUNT_TRIGGERS)[number];

export type FiatAccountMachine = Machine<FiatAccountStatus, FiatAccountTrigger, NoFacts, never>;

export const fiatAccountMachine: FiatAccountMachine = defineMachine<
  FiatAccountStatus,
  FiatAccountTrigger,
  NoFacts,
  never
>({
  name: 'fiat_account',
  title: 'Fiat account',
  statuses: {
    provisioning: { says: 'The bank is opening it.', published: false, terminal: false },
    active: { says: 'Can be paid into.', published: false, terminal: true },
    failed: {
      says: 'The bank did not open it; an operator may have the opening tried again.',
      published: false,
      terminal: true,
    },
  },
  guards: {},
  transitions: [
    {
      from: NEW,
      on: 'account_requested',
      by: ['partner'],
      to: 'provisioning',
      emits: [],
      effects: ['bank.open-account'],
      spec: 'D9.1',
    },
    {
      from: 'provisioning',
      on: 'account_opened',
      by: ['bank'],
      to: 'active',
      emits: [],
      spec: 'D9.1',
    },
    {
      from: 'failed',
      on: 'account_opened',
      by: ['bank'],
      to: 'active',
      emits: [],
      spec: 'Silent: opened after all, when the effect was tried again',
    },
    {
      from: 'active',
      on: 'account_opened',
      by: ['bank'],
      to: 'active',
      emits: [],
      noop: true,
      spec: 'D9.1: reported before',
    },
    {
      from: 'provisioning',
      on: 'opening_failed',
      by: ['bank', 'system'],
      to: 'failed',
      emits: [],
      spec: 'D9: refused by the bank, or it could not be reached for too long',
    },
  ],
});

/** Can be paid into. */
export const FIAT_ACCOUNT_ACTIVE = 'active' satisfies FiatAccountStatus;
export const FIAT_ACCOUNT_OPENING = 'provisioning' satisfies FiatAccountStatus;
export const FIAT_ACCOUNT_FAILED = 'failed' satisfies FiatAccountStatus;
