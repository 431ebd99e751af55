import { privateKeyToAccount } from 'viem/accounts';
import type { Address, Hex } from './chain-settings.ts';

/**
 * A key that signs 32-byte digests. Nothing else is asked of it, so a remote key service fits behind the same port:
 * what is being signed is encoded and hashed by the caller.
 */
export interface Signer {
  readonly address: Address;
  /** 65 bytes: r, s, v with v 27 or 28. */
  signDigest(digest: Hex): Promise<Hex>;
}

export function localSigner(privateKey: Hex): Signer {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address,
    signDigest: (digest) => account.sign({ hash: digest }),
  };
}
