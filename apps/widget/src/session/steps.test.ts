import { expect, test } from 'vitest';
import type { Session } from './api.ts';
import { EMPTY_DRAFT, stepOf } from './steps.ts';

const anonymous = { customer: null } as Session;
const known = { customer: { is_verified: false } } as Session;
const verified = { customer: { is_verified: true } } as Session;

test('the screen follows from what is known', () => {
  expect(stepOf(null, EMPTY_DRAFT)).toBe('loading');
  expect(stepOf(anonymous, EMPTY_DRAFT)).toBe('amount');
  const amount = { ...EMPTY_DRAFT, isAmountDone: true };
  expect(stepOf(anonymous, amount)).toBe('identify');
  expect(stepOf(known, amount)).toBe('verify');
  expect(stepOf(verified, amount)).toBe('destination');
  expect(stepOf(verified, { ...amount, isDestinationDone: true })).toBe('review');
  expect(stepOf(verified, { ...amount, orderId: 'one' })).toBe('order');
});

test('orders are shown to their customer only: without one it is asked for first', () => {
  expect(stepOf(anonymous, { ...EMPTY_DRAFT, showsOrders: true })).toBe('identify');
  expect(stepOf(known, { ...EMPTY_DRAFT, showsOrders: true })).toBe('orders');
  expect(stepOf(anonymous, { ...EMPTY_DRAFT, orderId: 'one' })).toBe('identify');
});
