import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KycCallback, KycVerdict } from '../../../ports/kyc-provider.ts';

/** A callback says little; a longer one is not from a provider. */
export const MAX_CALLBACK_BYTES = 256 * 1024;

export function headerOf({ headers }: KycCallback, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Whether a hex HMAC over the bytes is right, in a time that does not tell where it differs. */
export function isSignedBy(
  secret: string,
  algorithm: 'sha256' | 'sha512',
  bytes: Uint8Array,
  signature: string,
): boolean {
  const expected = createHmac(algorithm, secret).update(bytes).digest();
  const given = /^[0-9a-f]*$/i.test(signature) ? Buffer.from(signature, 'hex') : Buffer.alloc(0);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The JSON object in a body, or undefined where there is none. */
export function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type AppliedVerdict = Pick<KycVerdict, 'eventId' | 'submissionId' | 'decidedAtMs'>;

/**
 * Whether a verdict is news: providers deliver at least once and in no order. It is not when it is of another
 * submission than the current one, when it was applied already, or when a later decision was.
 */
export function isNews(
  verdict: KycVerdict,
  currentSubmissionId: string,
  lastApplied: AppliedVerdict | null,
): boolean {
  if (verdict.submissionId !== currentSubmissionId) return false;
  if (lastApplied === null || lastApplied.submissionId !== verdict.submissionId) return true;
  return verdict.eventId !== lastApplied.eventId && verdict.decidedAtMs > lastApplied.decidedAtMs;
}
