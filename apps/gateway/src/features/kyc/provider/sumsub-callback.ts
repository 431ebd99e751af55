import type { CallbackReading, KycCallback, KycOutcome } from '../../../ports/kyc-provider.ts';
import { headerOf, isRecord, isSignedBy, MAX_CALLBACK_BYTES, parseObject } from './callbacks.ts';

/** What Sumsub says of an applicant, in a webhook or in answer to a question. */
export interface SumsubReview {
  readonly outcome: KycOutcome;
  readonly rejectionReasons: readonly string[];
}

const MAX_REASONS = 20;
const REASON = /^[A-Z0-9_]{1,64}$/;

/**
 * Maps a review status and result to the trigger of our machine; undefined while nothing is decided.
 *
 * | Sumsub | trigger |
 * |---|---|
 * | completed, GREEN | verification_passed |
 * | completed, RED, FINAL | verification_refused |
 * | completed, RED, RETRY | resubmission_requested |
 * | onHold, or completed with anything else | review_requested |
 *
 * An answer that is not known goes to a person: neither clearing nor refusing is a safe guess.
 */
export function readSumsubReview(reviewStatus: unknown, reviewResult: unknown): SumsubReview | undefined {
  if (reviewStatus === 'onHold') return { outcome: 'review_requested', rejectionReasons: [] };
  if (reviewStatus !== 'completed') return undefined;
  const { reviewAnswer, reviewRejectType, rejectLabels } = isRecord(reviewResult) ? reviewResult : {};
  if (reviewAnswer === 'GREEN') return { outcome: 'verification_passed', rejectionReasons: [] };
  const rejectionReasons = readLabels(rejectLabels);
  if (reviewAnswer === 'RED' && reviewRejectType === 'FINAL') {
    return { outcome: 'verification_refused', rejectionReasons };
  }
  if (reviewAnswer === 'RED' && reviewRejectType === 'RETRY') {
    return { outcome: 'resubmission_requested', rejectionReasons };
  }
  return { outcome: 'review_requested', rejectionReasons };
}

/** Labels only: comments may hold what must not reach the applicant. */
function readLabels(labels: unknown): string[] {
  if (!Array.isArray(labels)) return [];
  return labels.filter((label) => typeof label === 'string' && REASON.test(label)).slice(0, MAX_REASONS);
}

/**
 * Epoch milliseconds of Sumsub's `2026-01-31 07:13:02.123` or `2026-01-31 07:13:02+0000`, both of which are UTC;
 * undefined for anything else.
 */
export function readSumsubTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)(?:\+00:?00|Z)?$/.exec(text);
  if (match === null) return undefined;
  const milliseconds = Date.parse(`${match[1]}T${match[2]}Z`);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

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
