import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createSealer,
  equalInConstantTime,
  hmacSha256Hex,
  randomToken,
  SealedValueError,
  sha256Hex,
  TOKEN_PREFIX,
} from './crypto.ts';

describe('digests', () => {
  it('sha256Hex gives the FIPS 180 example for text and for bytes', () => {
    const expected = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(sha256Hex('abc')).toBe(expected);
    expect(sha256Hex(new TextEncoder().encode('abc'))).toBe(expected);
  });

  it('hmacSha256Hex gives RFC 4231 test case 2', () => {
    expect(hmacSha256Hex('Jefe', 'what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});

describe('equalInConstantTime', () => {
  it('agrees with === for all text, of equal and of different length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (left, right) => {
        expect(equalInConstantTime(left, right)).toBe(left === right);
        expect(equalInConstantTime(left, left)).toBe(true);
        expect(equalInConstantTime(left, `${left}x`)).toBe(false);
      }),
    );
  });
});

describe('randomToken', () => {
  it('is the prefix of its kind and base62 characters', () => {
    for (const prefix of Object.values(TOKEN_PREFIX)) {
      expect(randomToken(prefix)).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{32}$`));
    }
    expect(randomToken('whsec_', 50)).toMatch(/^whsec_[0-9A-Za-z]{50}$/);
  });

  it('never repeats and uses all 62 characters evenly', () => {
    const tokens = Array.from({ length: 4000 }, () => randomToken('cw_test_').slice('cw_test_'.length));
    expect(new Set(tokens).size).toBe(tokens.length);
    const counts = new Map<string, number>();
    for (const character of tokens.join('')) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    const expected = (4000 * 32) / 62;
    // A byte taken modulo 62 without rejection would favour eight characters by a quarter; chance stays below 15 %.
    for (const count of counts.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.15);
  });

  it('refuses a length that could be guessed', () => {
    for (const length of [0, 21, 22.5, Number.NaN])
      expect(() => randomToken('cw_live_', length)).toThrow(RangeError);
    expect(randomToken('cw_live_', 22)).toHaveLength('cw_live_'.length + 22);
  });
});

describe('sealer', () => {
  const key = randomBytes(32);
  const sealer = createSealer([key]);

  it('opens what it sealed, for every text and context', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, context) => {
        expect(sealer.open(sealer.seal(text, context), context)).toBe(text);
      }),
    );
  });

  it('seals the same value differently each time and shows nothing of it', () => {
    const first = sealer.seal('DE89370400440532013000', 'users.iban:1');
    expect(first).not.toBe(sealer.seal('DE89370400440532013000', 'users.iban:1'));
    expect(first.startsWith(`${sealer.keyId}.`)).toBe(true);
    expect(Buffer.from(first.slice(9), 'base64url').includes('DE89')).toBe(false);
  });

  it('refuses a value moved to another place', () => {
    const sealed = sealer.seal('secret', 'users.iban:1');
    expect(() => sealer.open(sealed, 'users.iban:2')).toThrow(SealedValueError);
  });

  it('refuses a value with any single bit changed', () => {
    const sealed = sealer.seal('secret', 'place');
    const bytes = Buffer.from(sealed.slice(9), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const altered = Buffer.from(bytes);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealer.open(`${sealer.keyId}.${altered.toString('base64url')}`, 'place')).toThrow(
        SealedValueError,
      );
    }
  });

  it('refuses truncated, empty and foreign text with an error that does not repeat it', () => {
    const sealed = sealer.seal('secret', 'place');
    const broken = [
      '',
      'x',
      sealer.keyId,
      `${sealer.keyId}.`,
      `${sealer.keyId}:${sealed.slice(9)}`,
      sealed.slice(0, -4),
    ];
    for (const text of broken) expect(() => sealer.open(text, 'place')).toThrow(SealedValueError);
    for (const text of [
      `${sealer.keyId}.`,
      `${sealer.keyId}.${'A'.repeat(36)}`,
      `${sealer.keyId}:${sealed.slice(9)}`,
    ])
      expect(() => sealer.open(text, 'place')).toThrow('not a sealed value');
    expect(sealer.open(sealer.seal('', 'place'), 'place')).toBe('');
    expect(() => sealer.open('deadbeef.plain-text-iban', 'place')).toThrow(
      /^sealed with a key that is not configured$/,
    );
  });

  it('opens values of a previous key after a rotation and seals with the new one', () => {
    const next = randomBytes(32);
    const rotated = createSealer([next, key]);
    expect(rotated.open(sealer.seal('old', 'place'), 'place')).toBe('old');
    expect(rotated.keyId).not.toBe(sealer.keyId);
    expect(rotated.keyId).toMatch(/^[0-9a-f]{8}$/);
    expect(() => sealer.open(rotated.seal('new', 'place'), 'place')).toThrow(SealedValueError);
    expect(createSealer([next]).open(rotated.seal('new', 'place'), 'place')).toBe('new');
  });

  it('refuses a key that does not have 32 bytes', () => {
    expect(() => createSealer([randomBytes(16)])).toThrow(RangeError);
    expect(() => createSealer([key, randomBytes(33)])).toThrow('a data encryption key has 32 bytes');
  });
});
