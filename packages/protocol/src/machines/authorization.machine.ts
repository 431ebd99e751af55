import { defineMachine } from './decide.ts';
import type { Machine } from './machine.types.ts';
import { NEW } from './machine.types.ts';
import type { NoFacts } from './recipient.machine.ts';

/**
 * A forward request that a partner's wallet signs: the funding of an escrow, or a send-out over a bridge. It is moved by
 * one guarded statement instead of the executor: a unique index decides which of two requests gets a nonce, and the
 * answer is needed before the transaction goes on. The statement takes both statuses from this table.
 */
export const AUTHORIZATION_STATUSES = ['issued', 'authorized', 'spent', 'lapsed'] as const;
export type AuthorizationStatus = (typeof AUTHORIZATION_STATUSES)[number];
export const AUTHORIZATION_TRIGGERS = [
  'authorization_issued',
  'authorization_signed',
  'nonce_spent',
  'deadline_passed',
] as const;
export type AuthorizationTrigger = (typeof AUTHORIZATION_TRIGGERS)[number];

export type AuthorizationMachine = Machine<AuthorizationStatus, AuthorizationTrigger, NoFacts, never>;

export const authorizationMachine: AuthorizationMachine = defineMachine<
  AuthorizationStatus,
  AuthorizationTrigger,
  NoFacts,
  never
>({
  name: 'authorization',
  title: 'Authorization of a transfer',
  statuses: {
    issued: {
      says: 'Shown to the partner; it has no effect until it is signed.',
      published: false,
      terminal: true,
    },
    authorized: {
      says: 'Signed: anyone may execute it until its deadline.',
      published: false,
      terminal: false,
    },
    spent: {
      says: 'Its nonce is used on chain, by it or by another request.',
      published: false,
      terminal: true,
    },
    lapsed: { says: 'Its deadline has passed in final blocks.', published: false, terminal: true },
  },
  guards: {},
  transitions: [
    {
      from: NEW,
      on: 'authorization_issued',
      by: ['partner'],
      to: 'issued',
      emits: [],
      spec: 'C4.6: the parameters call',
    },
    {
      from: 'issued',
      on: 'authorization_signed',
      by: ['partner'],
      to: 'authorized',
      emits: [],
      spec: 'D7: one at a time for an order and for a nonce',
    },
    { from: 'authorized', on: 'nonce_spent', by: ['chain'], to: 'spent', emits: [], spec: 'D7' },
    { from: 'authorized', on: 'deadline_passed', by: ['chain'], to: 'lapsed', emits: [], spec: 'D7' },
  ],
});

export const AUTHORIZATION_ISSUED = 'issued' satisfies AuthorizationStatus;
/** Signed, and may still be executed. */
export const AUTHORIZATION_LIVE = 'authorized' satisfies AuthorizationStatus;

/** What became of a signed request for good. */
export type AuthorizationEnd = Exclude<
  AuthorizationStatus,
  typeof AUTHORIZATION_ISSUED | typeof AUTHORIZATION_LIVE
>;
