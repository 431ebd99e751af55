import { defineMachine } from './decide.ts';
import type { Machine, Transition } from './machine.types.ts';
import { NEW } from './machine.types.ts';

export const RECIPIENT_STATUSES = ['active', 'archived'] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];
export const RECIPIENT_TRIGGERS = [
  'recipient_registered',
  'recipient_updated',
  'recipient_archived',
] as const;
export type RecipientTrigger = (typeof RECIPIENT_TRIGGERS)[number];

export const SCREENING_STATUSES = ['pending', 'clear', 'review', 'blocked'] as const;
export type ScreeningStatus = (typeof SCREENING_STATUSES)[number];
export const SCREENING_TRIGGERS = [
  'screening_requested',
  'screening_cleared',
  'screening_matched',
  'screening_blocked',
] as const;
export type ScreeningTrigger = (typeof SCREENING_TRIGGERS)[number];

export type NoFacts = Readonly<Record<never, never>>;
export type RecipientMachine = Machine<RecipientStatus, RecipientTrigger, NoFacts, never>;
export type ScreeningMachine = Machine<ScreeningStatus, ScreeningTrigger, NoFacts, never>;

export const recipientMachine: RecipientMachine = defineMachine<
  RecipientStatus,
  RecipientTrigger,
  NoFacts,
  never
>({
  name: 'recipient',
  title: 'Recipient',
  statuses: {
    active: { says: 'Can be quoted once its screening is clear.', published: false, terminal: false },
    archived: {
      says: 'Not used for future quotes; order snapshots stay auditable.',
      published: false,
      terminal: true,
    },
  },
  guards: {},
  transitions: [
    { from: NEW, on: 'recipient_registered', by: ['partner'], to: 'active', emits: [], spec: 'C3.5' },
    {
      from: 'active',
      on: 'recipient_updated',
      by: ['partner'],
      to: 'active',
      emits: [],
      spec: 'C3.5: PATCH makes a new version; the screening machine is asked again',
    },
    { from: 'active', on: 'recipient_archived', by: ['partner'], to: 'archived', emits: [], spec: 'C3.5' },
    {
      from: 'archived',
      on: 'recipient_archived',
      by: ['partner'],
      to: 'archived',
      emits: [],
      noop: true,
      spec: 'C4.7: DELETE repeated is harmless',
    },
  ],
});

type ScreeningTransition = Transition<ScreeningStatus, ScreeningTrigger, NoFacts, never>;

/** The sandbox may set any screening status; these are the triggers that lead there. */
export const SANDBOX_SCREENING_TRIGGERS: { readonly [S in ScreeningStatus]: ScreeningTrigger } = {
  pending: 'screening_requested',
  clear: 'screening_cleared',
  review: 'screening_matched',
  blocked: 'screening_blocked',
};

const simulated: readonly ScreeningTransition[] = SCREENING_STATUSES.flatMap((to): ScreeningTransition[] => {
  const on = SANDBOX_SCREENING_TRIGGERS[to];
  const others = SCREENING_STATUSES.filter((status) => status !== to);
  return [
    { from: others, on, by: ['simulator'], to, emits: [], spec: 'D11: the sandbox sets any status' },
    { from: to, on, by: ['simulator'], to, emits: [], noop: true, spec: 'D11: already there' },
  ];
});

export const screeningMachine: ScreeningMachine = defineMachine<
  ScreeningStatus,
  ScreeningTrigger,
  NoFacts,
  never
>({
  name: 'screening',
  title: 'Recipient screening',
  statuses: {
    pending: { says: 'Not screened yet.', published: false, terminal: false },
    clear: { says: 'Can be quoted.', published: false, terminal: true },
    review: { says: 'A possible match; the operator decides.', published: false, terminal: false },
    blocked: { says: 'Refused.', published: false, terminal: true },
  },
  guards: {},
  transitions: [
    {
      from: NEW,
      on: 'screening_requested',
      by: ['system'],
      to: 'pending',
      emits: [],
      effects: ['recipient.screen'],
      spec: 'D8',
    },
    {
      from: ['pending', 'clear', 'review'],
      on: 'screening_requested',
      by: ['system', 'operator'],
      to: 'pending',
      emits: [],
      effects: ['recipient.screen'],
      spec: 'D8: a new version or a new list is screened again; a blocked recipient stays blocked',
    },
    {
      from: 'pending',
      on: 'screening_cleared',
      by: ['provider', 'operator'],
      to: 'clear',
      emits: [],
      spec: 'D8',
    },
    {
      from: ['pending', 'clear'],
      on: 'screening_matched',
      by: ['provider', 'operator'],
      to: 'review',
      emits: [],
      spec: 'D8; a list update can match a clear recipient',
    },
    {
      from: ['pending', 'clear'],
      on: 'screening_blocked',
      by: ['provider', 'operator'],
      to: 'blocked',
      emits: [],
      spec: 'D8',
    },
    {
      from: 'review',
      on: 'screening_cleared',
      by: ['operator'],
      to: 'clear',
      emits: [],
      spec: 'D12 screening',
    },
    {
      from: 'review',
      on: 'screening_blocked',
      by: ['operator'],
      to: 'blocked',
      emits: [],
      spec: 'D12 screening',
    },
    {
      from: 'blocked',
      on: 'screening_matched',
      by: ['operator'],
      to: 'review',
      emits: [],
      spec: 'D12 screening: only an operator reopens a blocked recipient',
    },
    ...simulated,
  ],
});
