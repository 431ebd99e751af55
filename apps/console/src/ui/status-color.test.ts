import { describe, expect, it } from 'vitest';
import { colorOf } from './status-color.ts';

describe('the colour of a status', () => {
  it('is the same for the same thing everywhere: what works, what needs care, what failed, what is over', () => {
    expect(['active', 'VERIFIED', 'send_out_completed', 'delivered', '200 ok'].map(colorOf)).toEqual(
      Array(5).fill('teal'),
    );
    expect(['ending', 'dispute_started', 'held_for_review', 'UNDER_REVIEW'].map(colorOf)).toEqual(
      Array(4).fill('orange'),
    );
    expect(['failed', 'VERIFICATION_REJECTED', 'cancelled', 'circuit_open'].map(colorOf)).toEqual(
      Array(4).fill('red'),
    );
    expect(['revoked', 'ended', 'archived'].map(colorOf)).toEqual(Array(3).fill('gray'));
    expect(['created', 'pending', 'awaiting_fiat_transfer'].map(colorOf)).toEqual(Array(3).fill('blue'));
  });

  it('is not that of a word that stands inside another one', () => {
    for (const status of ['revoked', 'unmatched', 'inactive', 'unverified', 'unpaid', 'broken']) {
      expect([status, colorOf(status)]).not.toEqual([status, 'teal']);
    }
    expect(colorOf('pending')).not.toBe(colorOf('ending'));
  });
});
