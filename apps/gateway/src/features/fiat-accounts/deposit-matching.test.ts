import { describe, expect, test } from 'vitest';
import { isSound, matchDeposit } from './deposit-matching.ts';

const free = { id: 'free', facts: { held: false }, kyc_status: 'VERIFIED' };
const held = { ...free, id: 'held', facts: { held: true } };
const uncleared = { ...free, id: 'uncleared', kyc_status: 'UNDER_REVIEW' };

describe('what a deposit pays', () => {
  test('nothing where no order waits for its amount', () => {
    expect(matchDeposit([], {})).toEqual({ kind: 'none' });
    expect(matchDeposit([], { forReview: false })).toEqual({ kind: 'none' });
  });

  test('the one order that waits for it', () => {
    expect(matchDeposit([free], {})).toEqual({ kind: 'pays', order: free });
    expect(matchDeposit([free], { forReview: false })).toEqual({ kind: 'pays', order: free });
  });

  test.each([
    ['two orders wait for the same amount', [free, free], {}],
    ['of two orders one is held', [free, held], {}],
    ['the one order is held', [held], {}],
    ['the customer of the one order is not cleared any more', [uncleared], {}],
    ['the bank asks for a review', [free], { forReview: true }],
    ['the bank asks for a review of what no order waits for', [], { forReview: true }],
  ] as const)('is for a person to decide where %s', (_case, orders, given) => {
    expect(matchDeposit(orders, given)).toEqual({ kind: 'ambiguous' });
  });
});

describe('a report of a bank is believed', () => {
  test.each([
    ['an amount above zero with an id', 1n, 'x', true],
    ['the longest id there is', 1n, 'x'.repeat(200), true],
    ['an id that is longer', 1n, 'x'.repeat(201), false],
    ['no id', 1n, '', false],
    ['an amount of zero', 0n, 'x', false],
    ['an amount below zero', -1n, 'x', false],
  ])('with %s: %s', (_case, amount, transactionId, isBelieved) => {
    expect(isSound({ amount, transactionId })).toBe(isBelieved);
  });
});
