import type { CallbackReading, KycCallback } from './kyc-provider.port.ts';
import { headerOf, isSignedBy, MAX_CALLBACK_BYTES, parseObject } from './signed-callback.ts';
import { readSumsubReview, readSumsubTime } from './sumsub-review.ts';

/**
 * Digests that are accepted. Sumsub can also be set to SHA-1, which is left out: the sender names the algorithm, and
 * the weakest one accepted is the one that counts.
 */
const DIGESTS: ReadonlyMap<string, 'sha256' | 'sha512'> = new Map([
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
]);

/** Webhooks that carry a decision, and the review status they stand for where they do not say it. */
const DECISIONS: ReadonlyMap<string, string> = new Map([
  ['applicantReviewed', 'completed'],
  ['applicantOnHold', 'onHold'],
]);

export function readSumsubCallback(callback: KycCallback, webhookSecret: string): CallbackReading {
  const { rawBody } = callback;
  const algorithm = DIGESTS.get(headerOf(callback, 'x-payload-digest-alg'));
  if (
    algorithm === undefined ||
    rawBody.length > MAX_CALLBACK_BYTES ||
    !isSignedBy(webhookSecret, algorithm, rawBody, headerOf(callback, 'x-payload-digest'))
  ) {
    return { kind: 'refused', reason: 'bad_signature' };
  }
  const body = parseObject(rawBody);
  if (body === undefined || typeof body.type !== 'string') return { kind: 'refused', reason: 'malformed' };
  const impliedStatus = DECISIONS.get(body.type);
  if (impliedStatus === undefined) return { kind: 'irrelevant' };

  const { applicantId, externalUserId } = body;
  const review = readSumsubReview(body.reviewStatus ?? impliedStatus, body.reviewResult);
  const decidedAtMs = readSumsubTime(body.createdAtMs) ?? readSumsubTime(body.createdAt);
  if (typeof applicantId !== 'string' || typeof externalUserId !== 'string' || decidedAtMs === undefined) {
    return { kind: 'refused', reason: 'malformed' };
  }
  if (review === undefined) return { kind: 'irrelevant' };
  return {
    kind: 'verdict',
    verdict: {
      eventId: `sumsub_${applicantId}_${review.outcome}_${decidedAtMs}`,
      submissionId: externalUserId,
      reference: applicantId,
      decidedAtMs,
      ...review,
    },
  };
}
