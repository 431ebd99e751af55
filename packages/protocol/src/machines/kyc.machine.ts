import { defineMachine } from './decide.ts';
import type { Actor, Machine, MachineEventType, Transition } from './machine.types.ts';
import { NEW } from './machine.types.ts';

export const KYC_STATUSES = [
  'NOT_INITIATED',
  'PENDING_DOCUMENTS',
  'IN_PROGRESS',
  'UNDER_REVIEW',
  'VERIFIED',
  'VERIFICATION_REJECTED',
  'REJECTED',
] as const;
export type KycStatus = (typeof KYC_STATUSES)[number];

export const KYC_TRIGGERS = [
  'user_created',
  'data_submitted',
  'hosted_link_issued',
  'documents_completed',
  'verification_passed',
  'verification_refused',
  'resubmission_requested',
  'review_requested',
  'simulated_not_initiated',
  'simulated_pending_documents',
  'simulated_in_progress',
] as const;
export type KycTrigger = (typeof KYC_TRIGGERS)[number];

export type KycFacts = Readonly<Record<never, never>>;
type KycTransition = Transition<KycStatus, KycTrigger, KycFacts, never>;
export type KycMachine = Machine<KycStatus, KycTrigger, KycFacts, never>;

const SPEC = 'C3.4, D8';
const UPDATED = ['user.kyc.updated'] as const;
const OUTCOMES: readonly {
  on: KycTrigger;
  to: KycStatus;
  emits: readonly MachineEventType[];
  says: string;
}[] = [
  { on: 'verification_passed', to: 'VERIFIED', emits: UPDATED, says: 'cleared' },
  { on: 'verification_refused', to: 'REJECTED', emits: UPDATED, says: 'refused for good' },
  { on: 'review_requested', to: 'UNDER_REVIEW', emits: UPDATED, says: 'to manual review' },
  {
    on: 'resubmission_requested',
    to: 'VERIFICATION_REJECTED',
    emits: [],
    says: 'refused, a new submission may cure it; no event for this status',
  },
];

/** The sandbox may put a user in any status; these are the triggers that lead there. */
export const SANDBOX_KYC_TRIGGERS: { readonly [S in KycStatus]: KycTrigger } = {
  NOT_INITIATED: 'simulated_not_initiated',
  PENDING_DOCUMENTS: 'simulated_pending_documents',
  IN_PROGRESS: 'simulated_in_progress',
  UNDER_REVIEW: 'review_requested',
  VERIFIED: 'verification_passed',
  VERIFICATION_REJECTED: 'resubmission_requested',
  REJECTED: 'verification_refused',
};

const submissions: readonly KycTransition[] = [
  { from: NEW, on: 'user_created', by: ['partner', 'customer'], to: 'NOT_INITIATED', emits: [], spec: SPEC },
  {
    from: ['NOT_INITIATED', 'VERIFICATION_REJECTED', 'PENDING_DOCUMENTS'],
    on: 'data_submitted',
    by: ['partner', 'customer'],
    to: 'PENDING_DOCUMENTS',
    emits: [],
    spec: `${SPEC}: direct_data waits for the documents; corrected data may be sent again meanwhile`,
  },
  {
    from: ['NOT_INITIATED', 'VERIFICATION_REJECTED', 'PENDING_DOCUMENTS'],
    on: 'hosted_link_issued',
    by: ['partner', 'customer'],
    to: 'IN_PROGRESS',
    emits: [],
    effects: ['kyc.verify'],
    spec: `${SPEC}: hosted_link collects the documents itself`,
  },
  {
    from: 'PENDING_DOCUMENTS',
    on: 'documents_completed',
    by: ['partner', 'customer'],
    to: 'IN_PROGRESS',
    emits: [],
    effects: ['kyc.verify'],
    spec: SPEC,
  },
];

/** One row an outcome; `from` differs by who decides. */
function outcomes(
  from: readonly KycStatus[],
  by: readonly Actor[],
  kept: readonly KycStatus[],
  spec: string,
): KycTransition[] {
  return OUTCOMES.filter(({ to }) => kept.includes(to)).map(({ on, to, emits, says }) => ({
    from: from.filter((status) => status !== to),
    on,
    by,
    to,
    emits,
    spec: `${spec}: ${says}`,
  }));
}

const simulated: readonly KycTransition[] = KYC_STATUSES.flatMap((to): KycTransition[] => {
  const on = SANDBOX_KYC_TRIGGERS[to];
  const emits = OUTCOMES.find((outcome) => outcome.to === to)?.emits ?? [];
  const others = KYC_STATUSES.filter((status) => status !== to);
  return [
    { from: others, on, by: ['simulator'], to, emits, spec: 'D11: the sandbox sets any status' },
    {
      from: to,
      on,
      by: ['simulator'],
      to,
      emits: [],
      noop: true,
      spec: 'C3.4: the event fires when a status changes',
    },
  ];
});

export const kycMachine: KycMachine = defineMachine<KycStatus, KycTrigger, KycFacts, never>({
  name: 'kyc',
  title: 'KYC status',
  statuses: {
    NOT_INITIATED: { says: 'Nothing submitted.', published: false, terminal: false },
    PENDING_DOCUMENTS: { says: 'Data is here, documents are missing.', published: false, terminal: false },
    IN_PROGRESS: { says: 'The provider verifies.', published: false, terminal: false },
    UNDER_REVIEW: { says: 'Manual compliance review, up to 24 hours.', published: true, terminal: false },
    VERIFIED: { says: 'Cleared: quotes and orders are possible.', published: true, terminal: true },
    VERIFICATION_REJECTED: {
      says: 'Refused; a new submission is possible.',
      published: false,
      terminal: false,
    },
    REJECTED: { says: 'Refused for good.', published: true, terminal: true },
  },
  guards: {},
  transitions: [
    ...submissions,
    ...outcomes(
      ['IN_PROGRESS'],
      ['provider', 'operator'],
      ['VERIFIED', 'REJECTED', 'UNDER_REVIEW', 'VERIFICATION_REJECTED'],
      SPEC,
    ),
    ...outcomes(['UNDER_REVIEW'], ['operator'], ['VERIFIED', 'REJECTED', 'VERIFICATION_REJECTED'], SPEC),
    ...outcomes(['VERIFIED'], ['provider', 'operator'], ['REJECTED', 'UNDER_REVIEW'], 'Clearance revoked'),
    ...simulated,
  ],
});

/** Quotes, orders and payouts are possible. */
export const KYC_CLEARED = 'VERIFIED' satisfies KycStatus;
/** Nothing was submitted yet. */
export const KYC_INITIAL = 'NOT_INITIATED' satisfies KycStatus;
/** An operator decides. */
export const KYC_IN_REVIEW = 'UNDER_REVIEW' satisfies KycStatus;
/** Refused for good; the event says why. */
export const KYC_REFUSED = 'REJECTED' satisfies KycStatus;
/** Statuses that carry the reasons of a refusal. */
export const KYC_STATUSES_WITH_REASONS: readonly KycStatus[] = [KYC_REFUSED, 'VERIFICATION_REJECTED'];
