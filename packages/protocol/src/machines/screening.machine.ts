import { defineMachine } from './decide.ts';
import type { Actor, EffectKind, Machine, StatusSpec, Transition } from './machine.types.ts';
import { NEW } from './machine.types.ts';
import type { NoFacts } from './recipient.machine.ts';

export const SCREENING_STATUSES = ['pending', 'clear', 'review', 'blocked'] as const;
export type ScreeningStatus = (typeof SCREENING_STATUSES)[number];
export const SCREENING_TRIGGERS = [
  'screening_requested',
  'screening_cleared',
  'screening_matched',
  'screening_blocked',
] as const;
export type ScreeningTrigger = (typeof SCREENING_TRIGGERS)[number];

export type ScreeningMachine = Machine<ScreeningStatus, ScreeningTrigger, NoFacts, never>;

/** The sandbox may set any screening status; these are the triggers that lead there. */
export const SANDBOX_SCREENING_TRIGGERS: { readonly [S in ScreeningStatus]: ScreeningTrigger } = {
  pending: 'screening_requested',
  clear: 'screening_cleared',
  review: 'screening_matched',
  blocked: 'screening_blocked',
};

/** What is no longer clear holds the funded orders it is part of. */
const LOST: readonly EffectKind[] = ['screening.hold-orders'];

type Row<F, G extends string> = Transition<ScreeningStatus, ScreeningTrigger, F, G>;

/** What recipients and cases have in common: who may take what for clear, and who is asked again. */
function screeningRows<F, G extends string>(screen: EffectKind, subject: string): Row<F, G>[] {
  return [
    {
      from: NEW,
      on: 'screening_requested',
      by: ['system'],
      to: 'pending',
      emits: [],
      effects: [screen],
      spec: 'D8',
    },
    {
      from: ['pending', 'clear', 'review'],
      on: 'screening_requested',
      by: ['system', 'operator'],
      to: 'pending',
      emits: [],
      effects: [screen],
      spec: `D8: a new version or a new list is screened again; a blocked ${subject} stays blocked`,
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
      from: 'pending',
      on: 'screening_matched',
      by: ['provider', 'operator'],
      to: 'review',
      emits: [],
      effects: LOST,
      spec: 'D8',
    },
    {
      from: 'pending',
      on: 'screening_blocked',
      by: ['provider', 'operator'],
      to: 'blocked',
      emits: [],
      effects: LOST,
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
      spec: `D12 screening: only an operator reopens a blocked ${subject}`,
    },
  ];
}

/** A clear subject is met by a list later on. */
function lostLater<F, G extends string>(by: readonly Actor[], more: Partial<Row<F, G>>): Row<F, G>[] {
  const common = { from: 'clear', by, emits: [], effects: LOST, ...more } as const;
  return [
    { ...common, on: 'screening_matched', to: 'review', spec: 'D8: a list update can match what was clear' },
    { ...common, on: 'screening_blocked', to: 'blocked', spec: 'D8' },
  ];
}

const simulated: readonly Row<NoFacts, never>[] = SCREENING_STATUSES.flatMap((to): Row<NoFacts, never>[] => {
  const on = SANDBOX_SCREENING_TRIGGERS[to];
  const others = SCREENING_STATUSES.filter((status) => status !== to);
  return [
    {
      from: others,
      on,
      by: ['simulator'],
      to,
      emits: [],
      ...(to === 'clear' ? {} : { effects: LOST }),
      spec: 'D11: the sandbox sets any status',
    },
    { from: to, on, by: ['simulator'], to, emits: [], noop: true, spec: 'D11: already there' },
  ];
});

function statusesOf(clear: string): Record<ScreeningStatus, StatusSpec<ScreeningTrigger, never>> {
  return {
    pending: { says: 'Not screened yet.', published: false, terminal: false },
    clear: { says: clear, published: false, terminal: true },
    review: { says: 'A possible match; the operator decides.', published: false, terminal: false },
    blocked: { says: 'Refused.', published: false, terminal: true },
  };
}

export const screeningMachine: ScreeningMachine = defineMachine<
  ScreeningStatus,
  ScreeningTrigger,
  NoFacts,
  never
>({
  name: 'screening',
  title: 'Recipient screening',
  statuses: statusesOf('Can be quoted.'),
  guards: {},
  transitions: [
    ...screeningRows<NoFacts, never>('recipient.screen', 'recipient'),
    ...lostLater<NoFacts, never>(['provider', 'operator'], {}),
    ...simulated,
  ],
});

export interface ScreeningCaseFacts {
  /** An operator has decided since the last screening was asked for. */
  readonly decidedByPerson: boolean;
}
export type ScreeningCaseGuard = 'no_person_decided';
export type ScreeningCaseMachine = Machine<
  ScreeningStatus,
  ScreeningTrigger,
  ScreeningCaseFacts,
  ScreeningCaseGuard
>;

type CaseRow = Row<ScreeningCaseFacts, ScreeningCaseGuard>;

/** A wallet is screened before it is taken: its case begins with the answer. A refused one is a case all the same. */
const answeredAtOnce: readonly CaseRow[] = (
  [
    ['screening_cleared', 'clear'],
    ['screening_matched', 'review'],
    ['screening_blocked', 'blocked'],
  ] as const
).map(([on, to]) => ({
  from: NEW,
  on,
  by: ['provider'],
  to,
  emits: [],
  ...(to === 'clear' ? {} : { effects: LOST }),
  spec: 'D13: screened before it is taken',
}));

/** The word of a person stands until a new screening is asked for. */
function withPerson(row: CaseRow): CaseRow {
  if (row.on === 'screening_requested') return { ...row, sets: { decidedByPerson: false } };
  return row.by.length === 1 && row.by[0] === 'operator' ? { ...row, sets: { decidedByPerson: true } } : row;
}

/** Account holders of destinations and payment details, and wallets: whatever a bank or the chain will be told. */
export const screeningCaseMachine: ScreeningCaseMachine = defineMachine<
  ScreeningStatus,
  ScreeningTrigger,
  ScreeningCaseFacts,
  ScreeningCaseGuard
>({
  name: 'screening_case',
  title: 'Screening case of an account holder or a wallet',
  statuses: statusesOf('Can be paid.'),
  guards: {
    no_person_decided: {
      code: 'OPERATION_NOT_ALLOWED',
      says: 'no operator has decided since the last screening was asked for',
      reads: ['decidedByPerson'],
      holds: (facts) => !facts.decidedByPerson,
    },
  },
  transitions: [
    ...answeredAtOnce,
    ...screeningRows<ScreeningCaseFacts, ScreeningCaseGuard>('screening.screen', 'holder or wallet'),
    ...lostLater<ScreeningCaseFacts, ScreeningCaseGuard>(['provider'], { guard: ['no_person_decided'] }),
    ...lostLater<ScreeningCaseFacts, ScreeningCaseGuard>(['operator'], {}),
    {
      from: 'clear',
      on: 'screening_cleared',
      by: ['provider'],
      to: 'clear',
      emits: [],
      noop: true,
      spec: 'D13: screened again, and still clear',
    } satisfies CaseRow,
  ].map(withPerson),
});

/** May be quoted and paid. */
export const SCREENING_CLEAR = 'clear' satisfies ScreeningStatus;
/** An operator decides. */
export const SCREENING_IN_REVIEW = 'review' satisfies ScreeningStatus;
/** No answer of this round has come yet. */
export const SCREENING_PENDING = 'pending' satisfies ScreeningStatus;
/** What a screening can answer, the strictest first. */
export const SCREENING_RESULTS = [
  'blocked',
  SCREENING_IN_REVIEW,
  SCREENING_CLEAR,
] as const satisfies ScreeningStatus[];
