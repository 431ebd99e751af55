import { defineMachine } from './decide.ts';
import type { Machine } from './machine.types.ts';
import { NEW } from './machine.types.ts';

export const RECIPIENT_STATUSES = ['active', 'archived'] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];
export const RECIPIENT_TRIGGERS = [
  'recipient_registered',
  'recipient_updated',
  'recipient_archived',
] as const;
export type RecipientTrigger = (typeof RECIPIENT_TRIGGERS)[number];

export type NoFacts = Readonly<Record<never, never>>;
export type RecipientMachine = Machine<RecipientStatus, RecipientTrigger, NoFacts, never>;

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

/** May be used for new quotes. */
export const RECIPIENT_ACTIVE = 'active' satisfies RecipientStatus;
