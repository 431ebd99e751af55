import { describe, expect, test } from 'vitest';
import {
  decide,
  KYC_STATUSES,
  kycMachine,
  type QuoteFacts,
  quoteMachine,
  recipientMachine,
  SANDBOX_KYC_TRIGGERS,
  SANDBOX_SCREENING_TRIGGERS,
  SCREENING_STATUSES,
  screeningMachine,
} from './index.ts';

describe('C3.3 quote', () => {
  const claim = (status: 'active' | 'used', facts: Partial<QuoteFacts> = {}) => {
    const decision = decide(
      quoteMachine,
      status,
      'quote_claimed',
      { kycCleared: true, pastExpiry: false, ...facts },
      'partner',
    );
    return decision.kind === 'moved' ? decision.transition.to : decision.code;
  };

  // Proves C3.3.
  test('a quote is used once, in time, by a cleared customer; each refusal has its own code', () => {
    expect(claim('active')).toBe('used');
    expect(claim('used')).toBe('QUOTE_ALREADY_USED');
    expect(claim('active', { pastExpiry: true })).toBe('QUOTE_EXPIRED');
    expect(claim('active', { kycCleared: false })).toBe('KYC_NOT_CLEARED');
  });
});

describe('C3.4 KYC', () => {
  // Proves D8.5.
  test('REJECTED is final for everybody but the sandbox', () => {
    const leaving = kycMachine.transitions.filter(
      (row) => [row.from].flat().includes('REJECTED') && row.to !== 'REJECTED',
    );
    expect(new Set(leaving.flatMap((row) => row.by))).toEqual(new Set(['simulator']));
  });

  test('a review is decided by the operator, never by the provider', () => {
    for (const trigger of [
      'verification_passed',
      'verification_refused',
      'resubmission_requested',
    ] as const) {
      expect(decide(kycMachine, 'UNDER_REVIEW', trigger, {}, 'provider').kind).toBe('refused');
      expect(decide(kycMachine, 'UNDER_REVIEW', trigger, {}, 'operator').kind).toBe('moved');
    }
  });

  test('the sandbox reaches any status from any other, and only the sandbox does', () => {
    for (const from of KYC_STATUSES) {
      for (const to of KYC_STATUSES) {
        const decision = decide(kycMachine, from, SANDBOX_KYC_TRIGGERS[to], {}, 'simulator');
        expect(decision).toMatchObject({ kind: 'moved', transition: { to } });
      }
    }
    expect(decide(kycMachine, 'NOT_INITIATED', 'verification_passed', {}, 'provider').kind).toBe('refused');
  });
});

describe('C3.5 recipient', () => {
  // Proves C3.5.
  test('an archived recipient takes no update; archiving it again is harmless', () => {
    expect(decide(recipientMachine, 'archived', 'recipient_updated', {}, 'partner').kind).toBe('refused');
    expect(decide(recipientMachine, 'archived', 'recipient_archived', {}, 'partner')).toMatchObject({
      kind: 'moved',
      transition: { noop: true },
    });
  });

  test('a blocked recipient is not cleared by a new screening; the sandbox sets any screening status', () => {
    for (const trigger of ['screening_requested', 'screening_cleared'] as const) {
      expect(decide(screeningMachine, 'blocked', trigger, {}, 'system').kind).toBe('refused');
      expect(decide(screeningMachine, 'blocked', trigger, {}, 'provider').kind).toBe('refused');
    }
    for (const from of SCREENING_STATUSES) {
      for (const to of SCREENING_STATUSES) {
        const decision = decide(screeningMachine, from, SANDBOX_SCREENING_TRIGGERS[to], {}, 'simulator');
        expect(decision).toMatchObject({ kind: 'moved', transition: { to } });
      }
    }
  });
});
