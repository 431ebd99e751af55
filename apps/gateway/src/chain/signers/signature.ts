import { recover } from 'tiny-secp256k1';
import { bytesToHex, getAddress, hexToBytes, isAddressEqual, keccak256 } from 'viem';
import type { Address, Hex } from '../chain-settings.ts';

/**
 * Signatures as they come from wallets, read strictly. Of every signature there is a second form (s mirrored, v
 * flipped) that the same key never made but that recovers to it; the forwarder refuses that form, so it is refused here
 * before it costs gas, and one authorization has exactly one signature.
 */

export class InvalidSignatureError extends Error {
  override readonly name = 'InvalidSignatureError';
}

interface SignatureParts {
  /** r and s, 32 bytes each. */
  readonly compact: Uint8Array;
  readonly recoveryBit: 0 | 1;
}

const SIGNATURE_PATTERN = /^0x[0-9a-fA-F]{130}$/;
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const HALF_ORDER = CURVE_ORDER / 2n;

/** v may be 27 or 28, or 0 or 1 as some wallets write it. */
function parseWalletSignature(signature: Hex): SignatureParts {
  if (!SIGNATURE_PATTERN.test(signature)) throw new InvalidSignatureError('a signature has 65 bytes');
  const r = BigInt(signature.slice(0, 66));
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  if (r === 0n || r >= CURVE_ORDER) throw new InvalidSignatureError('r is not on the curve');
  if (s === 0n || s > HALF_ORDER) throw new InvalidSignatureError('s is not in the lower half');
  return {
    compact: hexToBytes(`0x${signature.slice(2, 130)}`),
    recoveryBit: recoveryBitOf(Number.parseInt(signature.slice(130), 16)),
  };
}

/** r, s and v as 27 or 28: the Safe reads 0 and 1 as another kind of signature. */
export function canonicalSignature(signature: Hex): Hex {
  const { compact, recoveryBit } = parseWalletSignature(signature);
  return `${bytesToHex(compact)}${(27 + recoveryBit).toString(16)}` as Hex;
}

/** Whose signature of this digest it is. Every well-formed signature has a signer: the caller compares. */
export function recoverSigner(digest: Hex, signature: Hex): Address {
  const { compact, recoveryBit } = parseWalletSignature(signature);
  let publicKey: Uint8Array | null;
  try {
    publicKey = recover(hexToBytes(digest), compact, recoveryBit);
  } catch (cause) {
    throw new InvalidSignatureError('no key can have made the signature', { cause });
  }
  if (publicKey === null) throw new InvalidSignatureError('no key can have made the signature');
  return getAddress(`0x${keccak256(publicKey.subarray(1)).slice(-40)}`);
}

/** False also for what is no signature at all. */
export function isSignedBy(signer: Address, digest: Hex, signature: Hex): boolean {
  try {
    return isAddressEqual(recoverSigner(digest, signature), signer);
  } catch (error) {
    if (error instanceof InvalidSignatureError) return false;
    throw error;
  }
}

function recoveryBitOf(v: number): 0 | 1 {
  if (v === 0 || v === 27) return 0;
  if (v === 1 || v === 28) return 1;
  throw new InvalidSignatureError('v is 27 or 28');
}
