import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { KycVerdict } from '../../../ports/kyc-provider.ts';
import { headerOf, isNews, isRecord, isSignedBy, MAX_CALLBACK_BYTES, parseObject } from './callbacks.ts';

const secret = 'a provider’s secret';
const bytes = new TextEncoder().encode('{"a":1}');
const signed = (algorithm: 'sha256' | 'sha512') => createHmac(algorithm, secret).update(bytes).digest('hex');

describe('the signature of a callback', () => {
  test('is right for its secret, digest and bytes, in small letters and in capitals', () => {
    for (const algorithm of ['sha256', 'sha512'] as const) {
      expect(isSignedBy(secret, algorithm, bytes, signed(algorithm))).toBe(true);
      expect(isSignedBy(secret, algorithm, bytes, signed(algorithm).toUpperCase())).toBe(true);
    }
  });

  test.each([
    ['another secret', 'another', 'sha256', signed('sha256')],
    ['another digest', secret, 'sha512', signed('sha256')],
    ['no signature', secret, 'sha256', ''],
    ['a signature cut short', secret, 'sha256', signed('sha256').slice(0, 62)],
    ['more behind it', secret, 'sha256', `${signed('sha256')}00`],
    ['words behind it', secret, 'sha256', `${signed('sha256')} and more`],
    ['words before it', secret, 'sha256', `x${signed('sha256')}`],
    ['letters that are no digits', secret, 'sha256', 'g'.repeat(64)],
    [
      'one digit changed',
      secret,
      'sha256',
      signed('sha256').replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ],
  ] as const)('is wrong with %s', (_case, key, algorithm, signature) => {
    expect(isSignedBy(key, algorithm, bytes, signature)).toBe(false);
  });
});

describe('the body of a callback', () => {
  test('is an object, or nothing is read of it', () => {
    expect(parseObject(bytes)).toEqual({ a: 1 });
    for (const text of ['[]', 'null', '"a"', '1', '', '{', '{"a":']) {
      expect(parseObject(new TextEncoder().encode(text)), text).toBeUndefined();
    }
    expect(parseObject(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeUndefined();
    expect([isRecord({}), isRecord([]), isRecord(null), isRecord('x')]).toEqual([true, false, false, false]);
  });

  test('is at most 256 KiB; a header that came twice counts as none', () => {
    expect(MAX_CALLBACK_BYTES).toBe(262_144);
    const callback = { rawBody: Buffer.from(bytes), headers: { one: 'x', two: ['x', 'y'] } };
    expect([headerOf(callback, 'one'), headerOf(callback, 'two'), headerOf(callback, 'none')]).toEqual([
      'x',
      '',
      '',
    ]);
  });
});

describe('a verdict is news', () => {
  const verdict = {
    eventId: 'e2',
    submissionId: 's1',
    reference: 'r',
    decidedAtMs: 200,
    outcome: 'verification_passed',
    rejectionReasons: [],
  } satisfies KycVerdict;
  const applied = (more: object = {}) => ({ eventId: 'e1', submissionId: 's1', decidedAtMs: 100, ...more });

  test('of the current submission, when none or an older one was applied', () => {
    expect(isNews(verdict, 's1', null)).toBe(true);
    expect(isNews(verdict, 's1', applied())).toBe(true);
    expect(isNews(verdict, 's1', applied({ submissionId: 's0', decidedAtMs: 900 }))).toBe(true);
  });

  test.each([
    ['it is of another submission', 's2', null],
    [
      'it is of another submission than the current one, which was decided',
      's2',
      applied({ submissionId: 's2' }),
    ],
    ['it was applied already', 's1', applied({ eventId: 'e2' })],
    ['a later decision was applied', 's1', applied({ decidedAtMs: 201 })],
    ['a decision of the same moment was applied', 's1', applied({ decidedAtMs: 200 })],
  ])('no more where %s', (_case, current, last) => {
    expect(isNews(verdict, current, last)).toBe(false);
  });
});
