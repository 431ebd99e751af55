import { webcrypto } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Null without a secret to judge by. */
export async function checkSignature(
  secret: string | undefined,
  headers: IncomingHttpHeaders,
  rawBody: Buffer,
): Promise<boolean | null> {
  if (secret === undefined) return null;
  return signatureMatches(secret, headers['x-service-timestamp'], rawBody, headers['x-service-signature']);
}

/**
 * HMAC-SHA256 over `<timestamp>.<raw body>`, written `sha256=<hex>`. Done by the Web Crypto API and on the bytes as they
 * came, so that it shares no code with the signing it judges. Use it for X-Service-Signature-Previous too.
 */
export async function signatureMatches(
  secret: string,
  timestamp: unknown,
  rawBody: Buffer,
  signature: unknown,
): Promise<boolean> {
  if (typeof timestamp !== 'string' || !/^[1-9][0-9]{9}$/.test(timestamp)) return false;
  if (typeof signature !== 'string' || !/^sha256=[0-9a-f]{64}$/.test(signature)) return false;
  const key = await hmacKey(secret);
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), rawBody]);
  return webcrypto.subtle.verify('HMAC', key, Buffer.from(signature.slice('sha256='.length), 'hex'), signed);
}

const hmacKeys = new Map<string, Promise<webcrypto.CryptoKey>>();

function hmacKey(secret: string): Promise<webcrypto.CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key =
    hmacKeys.get(secret) ??
    webcrypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['verify']);
  hmacKeys.set(secret, key);
  return key;
}
