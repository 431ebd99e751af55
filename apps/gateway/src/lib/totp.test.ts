import { describe, expect, it } from 'vitest';
import { base32, matchTotp, newTotpSecret, otpauthUrl, totpCode, totpStep } from './totp.ts';

/** The secret of RFC 6238, appendix B, for SHA-1. */
const SECRET = base32(Buffer.from('12345678901234567890'));

describe('codes of authenticator apps', () => {
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at second %d of RFC 6238 is %s', (second, code) => {
    expect(totpCode(SECRET, totpStep(second * 1_000), 8)).toBe(code);
    expect(totpCode(SECRET, totpStep(second * 1_000))).toBe(code.slice(-6));
  });

  it('are taken one step early or late, and no further', () => {
    const at = 1_111_111_111_000;
    const step = totpStep(at);
    for (const off of [-1, 0, 1])
      expect(matchTotp(SECRET, totpCode(SECRET, step + off), at)).toBe(step + off);
    for (const off of [-2, 2]) expect(matchTotp(SECRET, totpCode(SECRET, step + off), at)).toBeNull();
    expect(matchTotp(SECRET, '', at)).toBeNull();
  });

  it('come of a secret of 160 bits that an app can read', () => {
    expect(SECRET).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    expect(base32(new Uint8Array())).toBe('');
    const secret = newTotpSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.toBe(secret);
    expect(otpauthUrl(secret, 'a b@example.com', 'Causeway')).toBe(
      `otpauth://totp/Causeway:a%20b%40example.com?secret=${secret}&issuer=Causeway&algorithm=SHA1&digits=6&period=30`,
    );
  });
});
