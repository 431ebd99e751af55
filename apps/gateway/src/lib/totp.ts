import { createHmac, randomBytes } from 'node:crypto';
import { equalInConstantTime } from './crypto.ts';

/** Codes of authenticator apps: RFC 6238 with the figures that every app takes, SHA-1, six digits and 30 seconds. */
const STEP_MS = 30_000;
const SECRET_BYTES = 20;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** In base32, as apps take it. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES));
}

/** The code of one time step (RFC 4226, 5.3). */
export function totpCode(secret: string, step: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

export const totpStep = (wallMs: number) => Math.floor(wallMs / STEP_MS);

/** The time step that the code is of: this one, or the one before or after, because clocks differ. Null for another code. */
export function matchTotp(secret: string, code: string, wallMs: number): number | null {
  const now = totpStep(wallMs);
  const matching = [now, now - 1, now + 1].filter((step) =>
    equalInConstantTime(totpCode(secret, step), code),
  );
  return matching[0] ?? null;
}

/** What a QR code shows to an app. */
export function otpauthUrl(secret: string, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=6&period=30`;
}

export function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => BASE32.charAt(Number.parseInt(group.padEnd(5, '0'), 2)))
    .join('');
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
