import { describe, expect, it } from 'vitest';
import { readKycPatch } from './kyc-fields.ts';

describe('a name that was verified', () => {
  const KNOWN = 'Ana María Ana Lucía';
  const patched = (first_name: string, known = KNOWN) => readKycPatch({ first_name }, { first_name: known });

  it.each(['Ana', 'Ana M', 'Ana Lucía', 'María Ana', 'Ana Ana', 'María Lucía', 'Ana María Lucía'])(
    'may become %s: its beginning, or some of its words in their order',
    (shorter) => {
      expect(patched(shorter)).toEqual({ first_name: shorter });
    },
  );

  it.each(['Lucía Ana', 'María María', 'Ana Ana Ana', 'Eva', `${KNOWN} Eva`, KNOWN])(
    'stays as it is where %s is sent',
    (other) => {
      expect(patched(other)).toEqual({});
    },
  );

  it('of very many words keeps nobody else waiting', () => {
    // A quarter of a million words: what takes time by their square ends in the test’s time-out.
    const known = 'ab '.repeat(250_000);
    const shorter = `b${' ab'.repeat(249_999)}`;
    expect(patched(shorter, `a b ${known}`)).toEqual({ first_name: shorter });
  });
});
