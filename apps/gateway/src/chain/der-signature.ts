import type { Hex } from './chain-settings.ts';
import { CURVE_ORDER } from './signature.ts';

/**
 * ECDSA signatures as key services write them: ASN.1 DER, SEQUENCE { INTEGER r, INTEGER s }. They may give either of
 * the two equivalent s values; the chain's contracts take the lower one only.
 */
export function compactFromDer(der: Uint8Array): { r: Hex; s: Hex } {
  const body = element(der, 0, SEQUENCE);
  if (body.end !== der.length) throw new Error('a DER signature has bytes behind it');
  const r = element(der, body.start, INTEGER);
  const s = element(der, r.end, INTEGER);
  if (s.end !== body.end) throw new Error('a DER signature has two numbers');
  return { r: word(numberOf(der, r)), s: word(lowS(numberOf(der, s))) };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;

function element(der: Uint8Array, at: number, tag: number): Span {
  const length = der[at + 1];
  // Two 33-byte numbers never need the long form of a length.
  if (der[at] !== tag || length === undefined || length > 0x7f) throw new Error('not a DER signature');
  const start = at + 2;
  const end = start + length;
  if (length === 0 || end > der.length) throw new Error('a DER signature is cut off');
  return { start, end };
}

function numberOf(der: Uint8Array, { start, end }: Span): bigint {
  const value = BigInt(`0x${Buffer.from(der.subarray(start, end)).toString('hex')}`);
  const isNegative = ((der[start] ?? 0) & 0x80) !== 0;
  if (isNegative || value === 0n || value >= CURVE_ORDER) {
    throw new Error('a DER signature is not on the curve');
  }
  return value;
}

function lowS(s: bigint): bigint {
  return s > CURVE_ORDER / 2n ? CURVE_ORDER - s : s;
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
