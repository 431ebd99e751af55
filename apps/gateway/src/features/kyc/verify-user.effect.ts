import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Vaults } from '../privacy/vault.ts';
import { moveKyc } from '../users/change-kyc.ts';
import { lockUserIfAny } from '../users/load-user.ts';
import type { DocumentStore } from './documents/document-store.port.ts';
import { latestSubmission, nameAtProvider, type SubmissionRow } from './kyc.store.ts';
import { loadSubmission } from './load-submission.ts';
import { type KycProvider, KycProviderError } from './provider/kyc-provider.port.ts';
import { takeVerdict } from './take-verdict.ts';

export interface VerifyUserTools {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly vaults: Vaults;
  readonly documents: DocumentStore;
  readonly kycProvider: KycProvider;
}

type Payload = { readonly user_id: string };

const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 10 * 60 * 1_000;

/**
 * Hands a customer to the provider and looks for the result. The provider calls back by itself, usually sooner; looking
 * is for the call that was lost.
 */
export function verifyUserHandler(tools: VerifyUserTools): IntentHandler<Payload> {
  async function carryOut(intent: Intent<Payload>): Promise<Outcome> {
    const [submission] = await tools.db.query(SYSTEM, latestSubmission, [intent.payload.user_id]);
    if (submission === undefined || submission.verdict_event !== null) return { kind: 'confirmed' };
    try {
      return submission.provider_reference === null
        ? await start(intent, submission)
        : await look(intent, submission, submission.provider_reference);
    } catch (error) {
      if (!(error instanceof KycProviderError)) throw error;
      if (error.failure === 'refused') {
        return { kind: 'failed', error: error.message, followUp: (unit) => askPerson(unit, intent) };
      }
      if (error.failure === 'misconfigured') tools.logger.error({ err: error }, 'KYC provider misconfigured');
      return { kind: 'retry', error: error.message };
    }
  }

  async function start(intent: Intent<Payload>, submission: SubmissionRow): Promise<Outcome> {
    const loaded = await loadSubmission(tools, submission);
    if (loaded === undefined) return { kind: 'confirmed', result: 'the customer is gone' };
    const started = await tools.kycProvider.startVerification(loaded);
    await tools.db.query(SYSTEM, nameAtProvider, [submission.submission_id, started.reference]);
    return { kind: 'waiting', afterMs: nextLookMs(intent) };
  }

  async function look(
    intent: Intent<Payload>,
    submission: SubmissionRow,
    reference: string,
  ): Promise<Outcome> {
    const verdict = await tools.kycProvider.readResult({
      submissionId: submission.submission_id,
      reference,
    });
    if (verdict === null) return { kind: 'waiting', afterMs: nextLookMs(intent) };
    return { kind: 'confirmed', followUp: (unit) => takeVerdict(unit, verdict) };
  }

  /** The longer it has taken, the longer it may take. */
  function nextLookMs({ createdAt }: Intent<Payload>): number {
    const age = tools.clock.now() - createdAt.getTime();
    return Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 4));
  }

  return {
    kind: 'kyc.verify',
    schedule: schedule([1, 5, 30, 120, 600], { maxAttempts: 200, jitterPct: 20 }),
    perform: carryOut,
    reconcile: carryOut,
    exhausted: (intent, unit) => askPerson(unit, intent),
  };
}

/** What no machine could decide, a person does. */
async function askPerson(unit: Parameters<typeof lockUserIfAny>[0], intent: Intent<Payload>): Promise<void> {
  const user = await lockUserIfAny(unit, intent.payload.user_id);
  if (user !== undefined) moveKyc(unit, user, 'review_requested', 'provider');
}
