import type { KycProvider } from './provider/kyc-provider.port.ts';

/**
 * For deployments without a provider: every submission goes to the operator's desk. Nobody is cleared by nobody.
 */
export function createManualKyc(now: () => number): KycProvider {
  return {
    name: 'manual',
    async startVerification({ submissionId }) {
      return { submissionId, reference: submissionId, verificationUrl: null };
    },
    async readResult({ submissionId, reference }) {
      return {
        eventId: `manual_${submissionId}`,
        submissionId,
        reference,
        outcome: 'review_requested',
        rejectionReasons: [],
        decidedAtMs: now(),
      };
    },
    readCallback: () => ({ kind: 'refused', reason: 'bad_signature' }),
  };
}
