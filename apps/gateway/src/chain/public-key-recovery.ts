import { createRequire } from 'node:module';
import { hexToBytes, recoverPublicKey } from 'viem';

/**
 * From a signature back to the public key that made it. The native library does it some twenty times as fast as
 * JavaScript; where it cannot be loaded (no prebuilt binary for the machine) the client library's own curve code takes
 * over and answers the same.
 */
export interface SignatureParts {
  /** r and s, 32 bytes each. */
  readonly compact: Uint8Array;
  readonly recoveryBit: 0 | 1;
}

/** 65 bytes, uncompressed; rejects or throws where no key could have made the signature. */
export type RecoverPublicKey = (
  digest: Uint8Array,
  signature: SignatureParts,
) => Uint8Array | Promise<Uint8Array>;

type NativeLibrary = Pick<typeof import('secp256k1'), 'ecdsaRecover'>;

/** Undefined where the machine has no native build. The package's own entry would fall back to slow code silently. */
export function loadNativeRecovery(): RecoverPublicKey | undefined {
  try {
    const library = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeLibrary;
    return (digest, { compact, recoveryBit }) => library.ecdsaRecover(compact, recoveryBit, digest, false);
  } catch {
    return undefined;
  }
}

export const portableRecovery: RecoverPublicKey = async (digest, { compact, recoveryBit }) => {
  const signature = new Uint8Array(65);
  signature.set(compact);
  signature[64] = 27 + recoveryBit;
  return hexToBytes(await recoverPublicKey({ hash: digest, signature }));
};

export const recoverKey: RecoverPublicKey = loadNativeRecovery() ?? portableRecovery;
