import { describe, expect, test } from 'vitest';
import {
  decide,
  defineMachine,
  factsAfter,
  guardsHold,
  isPublished,
  isTerminal,
  knowsTrigger,
  onlyMove,
  sourcesOf,
  statusSteps,
  timeoutOf,
} from './decide.ts';
import { NEW, type Transition } from './machine.types.ts';

/** A lamp that can be switched, counted and locked: every kind of row that a table may have, and nothing else. */
type Status = 'off' | 'on' | 'broken';
type Trigger = 'made' | 'switched' | 'hit' | 'mended' | 'checked';
type Guard = 'has_power' | 'is_free' | 'was_used';
interface Facts {
  readonly power: boolean;
  readonly locked: boolean;
  readonly uses: number;
}

const switchedOn: Transition<Status, Trigger, Facts, Guard> = {
  from: 'off',
  on: 'switched',
  by: ['partner', 'customer'],
  guard: ['has_power', 'was_used'],
  to: 'on',
  emits: [],
  sets: { locked: true },
  counts: 'uses',
  spec: '',
};
const lamp = defineMachine<Status, Trigger, Facts, Guard>({
  name: 'lamp',
  title: 'Lamp',
  statuses: {
    off: { says: '', published: true, terminal: false, next: [{ step: 'wait' }] },
    on: { says: '', published: false, terminal: false, timeout: { defaultSeconds: 5, trigger: 'hit' } },
    broken: { says: '', published: true, terminal: true },
  },
  guards: {
    has_power: { code: 'OPERATION_NOT_ALLOWED', says: '', reads: ['power'], holds: ({ power }) => power },
    is_free: {
      code: 'SEND_OUT_IN_PROGRESS',
      says: '',
      reads: ['locked'],
      holds: ({ locked }) => !locked,
      onRefusal: 'checked',
    },
    was_used: { code: 'KYC_NOT_CLEARED', says: '', reads: ['uses'], holds: ({ uses }) => uses > 0 },
  },
  transitions: [
    { from: NEW, on: 'made', by: ['system'], to: 'off', emits: [], spec: '' },
    switchedOn,
    { from: 'off', on: 'switched', by: ['partner'], guard: ['has_power'], to: 'broken', emits: [], spec: '' },
    { from: ['on', 'off'], on: 'hit', by: ['chain'], to: 'broken', emits: [], spec: '' },
  ],
  before: { actor: { vendor: ['is_free'] }, trigger: { hit: ['is_free'] } },
  refusals: [{ from: 'broken', on: 'switched', code: 'QUOTE_EXPIRED' }],
});
const facts: Facts = { power: true, locked: false, uses: 1 };

describe('a table', () => {
  test('is asked row by row in its order: the first row whose guards hold is taken', () => {
    expect(decide(lamp, 'off', 'switched', facts, 'partner')).toEqual({
      kind: 'moved',
      transition: switchedOn,
    });
    expect(decide(lamp, 'off', 'switched', { ...facts, uses: 0 }, 'partner')).toMatchObject({
      kind: 'moved',
      transition: { to: 'broken' },
    });
  });

  test('names the first guard that fails, of the first row that the actor may report', () => {
    const refused = decide(lamp, 'off', 'switched', { ...facts, power: false, uses: 0 }, 'partner');
    expect(refused).toEqual({
      kind: 'refused',
      reason: 'guard',
      code: 'OPERATION_NOT_ALLOWED',
      guard: 'has_power',
    });
    expect(decide(lamp, 'off', 'switched', { ...facts, uses: 0 }, 'customer')).toEqual({
      kind: 'refused',
      reason: 'guard',
      code: 'KYC_NOT_CLEARED',
      guard: 'was_used',
    });
  });

  test('asks guards of the actor and of the trigger before it looks at the status', () => {
    const locked = { ...facts, locked: true };
    const refusal = {
      kind: 'refused',
      reason: 'guard',
      code: 'SEND_OUT_IN_PROGRESS',
      guard: 'is_free',
      follow: 'checked',
    };
    expect(decide(lamp, 'broken', 'mended', locked, 'vendor')).toEqual(refusal);
    expect(decide(lamp, 'broken', 'hit', locked, 'chain')).toEqual(refusal);
    expect(decide(lamp, 'broken', 'mended', locked, 'partner')).toMatchObject({ reason: 'no_transition' });
  });

  test('refuses who may not report, and what the status does not know, by its name where it has one', () => {
    expect(decide(lamp, 'off', 'switched', facts, 'bank')).toEqual({
      kind: 'refused',
      reason: 'actor',
      code: 'OPERATION_NOT_ALLOWED',
    });
    const unknown = { kind: 'refused', reason: 'no_transition' };
    expect(decide(lamp, 'broken', 'switched', facts, 'partner')).toEqual({
      ...unknown,
      code: 'QUOTE_EXPIRED',
    });
    expect(decide(lamp, 'broken', 'mended', facts, 'partner')).toEqual({
      ...unknown,
      code: 'INVALID_STATUS',
    });
    expect(decide(lamp, 'on', 'switched', facts, 'partner')).toEqual({ ...unknown, code: 'INVALID_STATUS' });
  });

  test('knows its names, statuses and rows, with and without rules before them', () => {
    expect(lamp).toMatchObject({ name: 'lamp', title: 'Lamp', statusNames: ['off', 'on', 'broken'] });
    expect(lamp.transitions).toHaveLength(4);
    const plain = defineMachine({ ...lamp, statuses: lamp.statuses as Required<typeof lamp.statuses> });
    expect([plain.before, plain.refusals]).toEqual([lamp.before, lamp.refusals]);
    const { before: _before, refusals: _refusals, ...bare } = lamp;
    const without = defineMachine({ ...bare, statuses: lamp.statuses as Required<typeof lamp.statuses> });
    expect([without.before, without.refusals]).toEqual([{}, []]);
    expect([sourcesOf(switchedOn), lamp.transitions.map(sourcesOf)[3]]).toEqual([['off'], ['on', 'off']]);
    expect([knowsTrigger(lamp, 'on', 'hit'), knowsTrigger(lamp, 'on', 'switched')]).toEqual([true, false]);
    expect(knowsTrigger(lamp, 'broken', 'hit')).toBe(false);
  });
});

describe('what a table says', () => {
  test('facts are set and counted by a transition, and stay as they were without one', () => {
    expect(factsAfter(switchedOn, facts)).toEqual({ power: true, locked: true, uses: 2 });
    expect(facts).toEqual({ power: true, locked: false, uses: 1 });
    const { counts: _counts, ...uncounted } = switchedOn;
    expect(factsAfter(uncounted, facts)).toEqual({ power: true, locked: true, uses: 1 });
  });

  test('guards hold all together or not; none always hold', () => {
    expect(guardsHold(lamp, ['has_power', 'is_free'], facts)).toBe(true);
    expect(guardsHold(lamp, ['has_power', 'is_free'], { ...facts, locked: true })).toBe(false);
    expect(guardsHold(lamp, undefined, facts)).toBe(true);
  });

  test('a status has its steps, its end, its publication and its time-out; one that is not in the table is an error', () => {
    expect([statusSteps(lamp, 'off'), statusSteps(lamp, 'on')]).toEqual([[{ step: 'wait' }], []]);
    expect([isTerminal(lamp, 'broken'), isTerminal(lamp, 'on')]).toEqual([true, false]);
    expect([isPublished(lamp, 'off'), isPublished(lamp, 'on')]).toEqual([true, false]);
    expect([timeoutOf(lamp, 'on')?.trigger, timeoutOf(lamp, 'off')]).toEqual(['hit', undefined]);
    expect(() => isTerminal(lamp, 'gone' as Status)).toThrow('lamp has no status gone');
  });

  test('the only move of a trigger is told where there is one row from one status', () => {
    expect(onlyMove(lamp, 'made')).toEqual({ from: NEW, to: 'off' });
    for (const trigger of ['switched', 'hit', 'checked'] as const) {
      expect(() => onlyMove(lamp, trigger)).toThrow(
        `lamp does not move from one status to one on ${trigger}`,
      );
    }
  });
});
