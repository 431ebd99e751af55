import { createHash } from 'node:crypto';
import { asGiven, InvalidValue, listOf, matching, passing, type ValueType, valueType } from './values.ts';

/** Values that are secret, and whether one was drawn or typed. */

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const hexKey = valueType(
  '`0x` and 64 hex digits',
  matching(/^0x[0-9a-f]{64}$/i),
  'must be 0x followed by 64 hex digits',
  (given) => given.toLowerCase() as `0x${string}`,
);

/** A secp256k1 private key as `0x` and 64 lower-case hex digits. */
export const privateKey: ValueType<`0x${string}`> = {
  ...hexKey,
  parse(given) {
    const key = hexKey.parse(given);
    const scalar = BigInt(key);
    if (scalar === 0n || scalar >= SECP256K1_ORDER)
      throw new InvalidValue('is not a private key of secp256k1');
    return key;
  },
};

const BYTES_HEX = /^(?:0x)?[0-9a-f]{64}$/i;
const BYTES_BASE64 = /^[\w+/-]{43}=?$/;

function bytesAsHex(given: string): string {
  if (BYTES_HEX.test(given)) return given.replace(/^0x/i, '').toLowerCase();
  return BYTES_BASE64.test(given) ? Buffer.from(given, 'base64').toString('hex') : '';
}

const isEncryptionKey = (given: string) => bytesAsHex(given).length === 64;
const ENCRYPTION_KEY_PROBLEM = 'must be 32 bytes in hex or base64; make one with: openssl rand -base64 32';

/** 32 bytes as 64 lower-case hex digits: text, because bytes cannot be frozen. */
export const encryptionKey: ValueType<string> = valueType(
  '32 bytes in hex or base64',
  passing(isEncryptionKey),
  ENCRYPTION_KEY_PROBLEM,
  bytesAsHex,
);

export const encryptionKeys: ValueType<readonly string[]> = listOf(
  'list of keys, comma between',
  passing(isEncryptionKey),
  ENCRYPTION_KEY_PROBLEM,
  bytesAsHex,
);

export const operatorKey: ValueType<string> = valueType(
  '`cw_operator_` and at least 32 letters and digits',
  matching(/^cw_operator_[0-9A-Za-z]{32,128}$/),
  'must be cw_operator_ followed by 32 to 128 letters and digits; make one with: echo "cw_operator_$(openssl rand -hex 24)"',
  asGiven,
);

/** Whether a secret is so uniform that it was typed rather than drawn: true random ones never come close to the limit. */
export function looksTyped(secret: string, distinctMin: number): boolean {
  return new Set(secret).size < distinctMin || /sandbox|example|changeme/i.test(secret);
}

// Start of the SHA-256 of each of the twenty accounts that development chains fund for everyone ("test test … junk").
const DEVELOPMENT_KEY_FINGERPRINTS = new Set([
  ...['bc1a50966c9e6486', '8335c55334821eef', 'b26ab6529d20ebeb', '64034b44c579b335', '4d3e46eec8244d1d'],
  ...['0aedba9d586f34f9', '28e543d3753fc9d1', 'f070994a85994785', '38e69fdd19aefeb4', '967f21586cdf1248'],
  ...['0b33e0132123e78d', '84bc109b3d59b017', '85bde548053aab4b', 'f1513114f60e5e95', '5330d388af894c9e'],
  ...['a2e06155cb1a424f', '4a67d7a0d8a16d6d', 'b08bdfde9930d920', 'cf1fc66f853151a4', '100546a8b020a55a'],
]);

/** Whether everyone knows this private key because development chains come with it. */
export function isDevelopmentKey(key: string): boolean {
  const digest = createHash('sha256').update(key.replace(/^0x/, '').toLowerCase()).digest('hex');
  return DEVELOPMENT_KEY_FINGERPRINTS.has(digest.slice(0, 16));
}
