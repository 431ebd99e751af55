import { randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type * as OxKeystore from 'ox/Keystore';
import { bytesToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Address, Hex } from '../chain-settings.ts';

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

/**
 * A private key in an encrypted file: Web3 Secret Storage version 3 with scrypt, the format of geth, Foundry and most
 * wallets, so a key can be made and moved with the operator's own deps.
 */

export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
}

type ScryptKeystore = OxKeystore.Keystore & {
  readonly address: string;
  readonly crypto: { readonly kdfparams: OxKeystore.ScryptDeriveOpts['kdfparams'] };
};

interface ScryptCost {
  /** A power of two; the memory it takes is 128 * n * r bytes. */
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/** What geth uses: a quarter of a gigabyte for about a second, once a start. */
const STANDARD_COST: ScryptCost = { n: 262_144, r: 8, p: 1 };
// A file that asks for more could stop the process.
const MAX_MEMORY_BYTES = 1024 ** 3;
const KEY_BYTES = 32;
const derive = promisify<string, Buffer, number, ScryptOptions, unknown>(scrypt);

export async function sealKeystore(
  privateKey: Hex,
  password: string,
  cost: ScryptCost = STANDARD_COST,
): Promise<string> {
  const [salt, iv] = [randomBytes(32), randomBytes(16)];
  const derived = await deriveKey(password, salt, cost);
  const { encrypt } = await import('ox/Keystore');
  const keystore = encrypt(privateKey, derived, {
    kdf: 'scrypt',
    kdfparams: { dklen: KEY_BYTES, ...cost, salt: salt.toString('hex') },
    iv,
  });
  const address = localSigner(privateKey).address.slice(2).toLowerCase();
  return JSON.stringify({ address, ...keystore }, null, 2);
}

export async function openKeystore(text: string, password: string): Promise<Signer> {
  const keystore = parseKeystore(text);
  const { kdfparams } = keystore.crypto;
  const derived = await deriveKey(password, Buffer.from(kdfparams.salt, 'hex'), kdfparams);
  const { decrypt } = await import('ox/Keystore');
  let privateKey: Hex;
  try {
    privateKey = decrypt(keystore, derived);
  } catch {
    throw new KeystoreError('the password does not open the keystore');
  }
  const signer = localSigner(privateKey);
  if (signer.address.slice(2).toLowerCase() !== keystore.address) {
    throw new KeystoreError('the keystore holds the key of another address than it says');
  }
  return signer;
}

/** The texts of JSON.parse and of wrong fields could quote the file, so none of them is passed on. */
function parseKeystore(text: string): ScryptKeystore {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new KeystoreError('the keystore is not JSON');
  }
  const { version, address, crypto } = fields(content);
  const { cipher, cipherparams, ciphertext, kdf, kdfparams, mac } = fields(crypto);
  if (version !== 3 || cipher !== 'aes-128-ctr' || kdf !== 'scrypt') {
    throw new KeystoreError('only keystores of version 3 with scrypt and aes-128-ctr are read');
  }
  const { dklen, n, r, p, salt } = fields(kdfparams);
  if (dklen !== KEY_BYTES) throw new KeystoreError('the keystore derives a key of another length');
  return {
    version,
    id: '',
    address: hexField(address, 20),
    crypto: {
      cipher,
      cipherparams: { iv: hexField(fields(cipherparams).iv, 16) },
      ciphertext: hexField(ciphertext, KEY_BYTES),
      kdf,
      kdfparams: { dklen, n: count(n), r: count(r), p: count(p), salt: hexField(salt) },
      mac: hexField(mac, 32),
    },
  };
}

function fields(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new KeystoreError('the keystore lacks a part');
  return value as Record<string, unknown>;
}

function hexField(value: unknown, bytes?: number): string {
  const plain = typeof value === 'string' ? value.toLowerCase().replace(/^0x/, '') : '';
  const isHex = /^([0-9a-f]{2})+$/.test(plain);
  if (!isHex || (bytes !== undefined && plain.length !== bytes * 2)) {
    throw new KeystoreError('a field of the keystore is malformed');
  }
  return plain;
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new KeystoreError('a field of the keystore is malformed');
  }
  return value;
}

/** By Node, in a thread of its own: the library derives in JavaScript, which stops the process for the time it takes. */
async function deriveKey(password: string, salt: Buffer, { n, r, p }: ScryptCost): Promise<Hex> {
  if (128 * n * r + 128 * r * p > MAX_MEMORY_BYTES) {
    throw new KeystoreError('the keystore asks for too much memory');
  }
  try {
    const cost = { N: n, r, p, maxmem: 2 * MAX_MEMORY_BYTES };
    return bytesToHex((await derive(password.normalize('NFKC'), salt, KEY_BYTES, cost)) as Buffer);
  } catch {
    throw new KeystoreError('the keystore asks for an impossible derivation');
  }
}
