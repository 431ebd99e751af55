import { createPublicKey } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { concatHex, getAddress, isAddressEqual, keccak256, numberToHex } from 'viem';
import type { Address, Hex } from '../chain-settings.ts';
import { ExchangeFailedError, exchangeJson } from '../rpc/json-exchange.ts';
import type { Signer } from './keystore-signer.ts';
import { isSignedBy } from './signature.ts';

/**
 * ECDSA signatures as key services write them: ASN.1 DER, SEQUENCE { INTEGER r, INTEGER s }. They may give either of
 * the two equivalent s values; the chain's contracts take the lower one only.
 */
export function compactFromDer(der: Uint8Array): { r: Hex; s: Hex } {
  const { r, s } = secp256k1.Signature.fromDER(der).normalizeS();
  return { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }) };
}

/**
 * A key that never leaves its service (a cloud KMS, an HSM behind a proxy): it is sent digests and answers DER
 * signatures. Such services neither know Ethereum's recovery bit nor keep to the lower s, so both are settled here.
 *
 *   GET  {url}/keys/{keyId}/public-key → { "public_key": base64 of a DER SubjectPublicKeyInfo }
 *   POST {url}/keys/{keyId}/sign       { "digest": base64, "algorithm": "ECDSA_SHA_256" } → { "signature": base64 DER }
 */
export interface RemoteSignerSettings {
  readonly url: string;
  readonly keyId: string;
  /** Sent as a bearer token. */
  readonly accessToken?: string;
  /** The account this key must be. A service that answers with another key is not used. */
  readonly address?: Address;
  readonly timeoutMs?: number;
}

/** Carries neither the service's address nor what it answered: both may hold secrets. */
export class RemoteSignerError extends Error {
  override readonly name = 'RemoteSignerError';
}

const DEFAULT_TIMEOUT_MS = 5_000;

export async function connectRemoteSigner(settings: RemoteSignerSettings): Promise<Signer> {
  const { public_key: publicKey } = await ask(settings, 'GET', 'public-key');
  const address = addressOfSpki(publicKey);
  if (settings.address !== undefined && !isAddressEqual(settings.address, address)) {
    throw new RemoteSignerError('the key service holds the key of another address');
  }
  return {
    address,
    async signDigest(digest) {
      const body = {
        digest: Buffer.from(digest.slice(2), 'hex').toString('base64'),
        algorithm: 'ECDSA_SHA_256',
      };
      const { signature } = await ask(settings, 'POST', 'sign', body);
      return withRecoveryBit(address, digest, signature);
    },
  };
}

/** The service does not say which of two keys the signature recovers to, so both are tried. */
function withRecoveryBit(address: Address, digest: Hex, der: unknown): Hex {
  const { r, s } = parsed(() => compactFromDer(base64(der)));
  for (const v of ['0x1b', '0x1c'] as const) {
    const signature = concatHex([r, s, v]);
    if (isSignedBy(address, digest, signature)) return signature;
  }
  throw new RemoteSignerError('the key service signed something else, or with another key');
}

function addressOfSpki(spki: unknown): Address {
  return parsed(() => {
    const key = createPublicKey({ key: base64(spki), format: 'der', type: 'spki' });
    const { crv, x, y } = key.export({ format: 'jwk' });
    if (crv !== 'secp256k1' || x === undefined || y === undefined) throw new Error('another curve');
    const point = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
    return getAddress(`0x${keccak256(point).slice(-40)}`);
  });
}

async function ask(
  { url, keyId, accessToken, timeoutMs = DEFAULT_TIMEOUT_MS }: RemoteSignerSettings,
  method: 'GET' | 'POST',
  operation: 'public-key' | 'sign',
  body?: object,
): Promise<Record<string, unknown>> {
  const content = await exchangeJson({
    url: `${url}/keys/${encodeURIComponent(keyId)}/${operation}`,
    method,
    accessToken,
    timeoutMs,
    ...(body === undefined ? {} : { body }),
  }).catch((error: unknown) => {
    throw error instanceof ExchangeFailedError
      ? new RemoteSignerError(`the key service ${error.message}`)
      : error;
  });
  if (typeof content !== 'object' || content === null) {
    throw new RemoteSignerError('the key service answered something unreadable');
  }
  return content as Record<string, unknown>;
}

function base64(value: unknown): Buffer {
  if (typeof value !== 'string') throw new Error('not base64');
  return Buffer.from(value, 'base64');
}

function parsed<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new RemoteSignerError('the key service answered something unreadable');
  }
}
