import type { KycVerdict } from './kyc-provider.port.ts';

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
