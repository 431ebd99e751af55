import { execFileSync } from 'node:child_process';
import type { ReceivedWebhook } from './webhook-sink-types.ts';

/** OpenSSL's own HMAC over the bytes as they came: shares nothing with what signed them. */
export function opensslAccepts(
  { headers, rawBody }: ReceivedWebhook,
  secret: string,
  header: 'x-service-signature' | 'x-service-signature-previous' = 'x-service-signature',
): boolean {
  const signed = Buffer.concat([Buffer.from(`${headers['x-service-timestamp']}.`), rawBody]);
  const digest = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r'], { input: signed });
  return headers[header] === `sha256=${digest.toString().split(' ')[0]}`;
}
