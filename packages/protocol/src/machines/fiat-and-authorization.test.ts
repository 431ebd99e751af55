import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ACTORS,
  type Actor,
  AUTHORIZATION_TRIGGERS,
  authorizationMachine,
  decide,
  FIAT_ACCOUNT_TRIGGERS,
  FIAT_CLIENT_TRIGGERS,
  FIAT_PAYMENT_TRIGGERS,
  factsAfter,
  fiatAccountMachine,
  fiatClientMachine,
  fiatPaymentMachine,
  type Machine,
  NEW,
  type New,
  onlyMove,
  type Transition,
} from './index.ts';

interface Step<T extends string> {
  readonly trigger: T;
  readonly actor: Actor;
}

/** Enough of them, mostly by those that the tables name, for walks to reach every end. */
function stepsOf<T extends string>(triggers: readonly T[]): fc.Arbitrary<Step<T>[]> {
  const named = fc.constantFrom<Actor>('bank', 'partner', 'operator', 'chain');
  const actor = fc.oneof({ arbitrary: named, weight: 4 }, fc.constantFrom(...ACTORS));
  const step = fc.record({ trigger: fc.constantFrom(...triggers), actor });
  return fc.array(step, { minLength: 20, maxLength: 80, size: 'max' });
}

/** What happens to one row, by whatever anybody reports: the rows of the table that were taken, in order. */
function walk<S extends string, T extends string, F extends object, G extends string>(
  machine: Machine<S, T, F, G>,
  begin: F,
  steps: readonly Step<T>[],
): { readonly taken: Transition<S, T, F, G>[]; readonly passed: (S | New)[]; readonly facts: F } {
  let facts = begin;
  const passed: (S | New)[] = [NEW];
  const taken: Transition<S, T, F, G>[] = [];
  for (const { trigger, actor } of steps) {
    const decision = decide(machine, passed.at(-1) ?? NEW, trigger, facts, actor);
    if (decision.kind === 'refused' || decision.transition.noop) continue;
    facts = factsAfter(decision.transition, facts);
    passed.push(decision.transition.to);
    taken.push(decision.transition);
  }
  return { taken, passed, facts };
}

const count = <T>(list: readonly T[], wanted: T) => list.filter((one) => one === wanted).length;

describe('payment into a fiat account', () => {
  const walks = fc.record({ collecting: fc.boolean(), steps: stepsOf(FIAT_PAYMENT_TRIGGERS) });

  test('is booked once when it comes, once more when it is collected, and pays an order or the partner, never both', () => {
    fc.assert(
      fc.property(walks, ({ collecting, steps }) => {
        const { taken, passed } = walk(fiatPaymentMachine, { collecting }, steps);
        const posted = taken.flatMap(({ posts }) => posts ?? []);
        expect(count(posted, 'fiat_deposit_received')).toBe(taken.length === 0 ? 0 : 1);
        expect(count(posted, 'fiat_deposit_collected')).toBe(passed.includes('collected') ? 1 : 0);
        expect(passed.includes('matched') && passed.includes('collected')).toBe(false);
        const told = taken.flatMap(({ emits }) => emits);
        expect(told).toEqual(passed.includes('collected') ? ['retail.settlement.completed'] : []);
      }),
    );
  });

  test('is collected only where a collection was started for it', () => {
    fc.assert(
      fc.property(walks, ({ collecting, steps }) => {
        const { taken, passed } = walk(fiatPaymentMachine, { collecting }, steps);
        if (!passed.includes('collected')) return;
        expect(taken.flatMap(({ effects }) => effects ?? [])).toEqual(['bank.collect']);
      }),
    );
  });

  test('is decided by an operator, and not while it is on its way to the partner', () => {
    const decided = (status: 'received' | 'held_for_review' | 'matched' | 'collected', collecting: boolean) =>
      decide(fiatPaymentMachine, status, 'payment_matched', { collecting }, 'operator').kind;
    expect(decided('held_for_review', false)).toBe('moved');
    expect(decided('received', false)).toBe('moved');
    expect(decided('received', true)).toBe('refused');
    expect(decided('matched', false)).toBe('refused');
    expect(decided('collected', true)).toBe('refused');
  });
});

describe('customers and accounts at the bank', () => {
  test('each submission tells the bank once, and an approved customer stays approved', () => {
    fc.assert(
      fc.property(stepsOf(FIAT_CLIENT_TRIGGERS), (steps) => {
        const { taken, passed } = walk(fiatClientMachine, {}, steps);
        const submitted = taken.filter(({ on }) => on === 'client_submitted').length;
        expect(taken.flatMap(({ effects }) => effects ?? [])).toHaveLength(submitted);
        expect(count(passed, 'approved')).toBeLessThan(2);
        if (passed.includes('approved')) expect(passed.at(-1)).toBe('approved');
      }),
    );
  });

  test('an account is opened at the bank once, and an open one stays open', () => {
    fc.assert(
      fc.property(stepsOf(FIAT_ACCOUNT_TRIGGERS), (steps) => {
        const { taken, passed } = walk(fiatAccountMachine, {}, steps);
        expect(taken.flatMap(({ effects }) => effects ?? []).length).toBeLessThan(2);
        if (passed.includes('active')) expect(passed.at(-1)).toBe('active');
      }),
    );
  });
});

describe('authorization', () => {
  test('ends once, and only after it was signed', () => {
    fc.assert(
      fc.property(stepsOf(AUTHORIZATION_TRIGGERS), (steps) => {
        const { passed } = walk(authorizationMachine, {}, steps);
        const ends = passed.filter((status) => status === 'spent' || status === 'lapsed');
        expect(ends.length).toBeLessThan(2);
        if (ends.length > 0) expect(passed).toEqual([NEW, 'issued', 'authorized', ends[0]]);
      }),
    );
  });

  test('each trigger moves from one status to one, as the statements that set it need', () => {
    expect(onlyMove(authorizationMachine, 'authorization_signed')).toEqual({
      from: 'issued',
      to: 'authorized',
    });
    expect(onlyMove(authorizationMachine, 'nonce_spent')).toEqual({ from: 'authorized', to: 'spent' });
    expect(onlyMove(authorizationMachine, 'deadline_passed')).toEqual({ from: 'authorized', to: 'lapsed' });
    expect(() => onlyMove(fiatPaymentMachine, 'payment_matched')).toThrow(RangeError);
    expect(() => onlyMove(authorizationMachine, 'no_such_trigger' as 'nonce_spent')).toThrow(
      'does not move from one status to one on no_such_trigger',
    );
  });
});
