import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import type { DocumentStore } from '../../ports/documents.ts';
import {
  type KycCallback,
  type KycProvider,
  KycProviderError,
  type KycVerdict,
} from '../../ports/kyc-provider.ts';
import type { Vaults } from '../../vault/vault.ts';
import { moveKyc } from '../users/kyc-status.ts';
import { lockUserIfAny } from '../users/user.ts';
import {
  findSubmission,
  latestSubmission,
  nameAtProvider,
  type SubmissionRow,
  verdictTaken,
} from './kyc.store.ts';
import { type AppliedVerdict, isNews } from './provider/callbacks.ts';
import { loadSubmission } from './submission.ts';

/**
 * Takes what a provider decided. A verdict that is late, repeated or of an older submission changes nothing, and neither
 * does one that the machine refuses because a person has decided meanwhile.
 */
export async function takeVerdict(unit: UnitOfWork, verdict: KycVerdict): Promise<void> {
  if (!isUuid(verdict.submissionId)) return;
  const [named] = await unit.tx.query(findSubmission, [verdict.submissionId]);
  if (named === undefined) return;
  const user = await lockUserIfAny(unit, named.user_id);
  if (user === undefined) return;
  // Read again under the lock: another delivery of the same decision may have been faster.
  const [current] = await unit.tx.query(latestSubmission, [user.user_id]);
  if (current === undefined || !isNews(verdict, current.submission_id, lastVerdictOf(current))) return;
  const execution = moveKyc(unit, user, verdict.outcome, 'provider', verdict.rejectionReasons);
  if (execution.kind === 'refused') return;
  unit.tx.defer(verdictTaken, [current.submission_id, verdict.eventId, verdict.decidedAtMs]);
}

function lastVerdictOf(row: SubmissionRow): AppliedVerdict | null {
  if (row.verdict_event === null || row.verdict_decided_ms === null) return null;
  return {
    eventId: row.verdict_event,
    submissionId: row.submission_id,
    decidedAtMs: Number(row.verdict_decided_ms),
  };
}

export type CallbackAnswer = 'taken' | 'bad_signature' | 'malformed';

/** What a provider's call says, checked against its signature before anything is believed. */
export async function takeCallback(
  deps: UnitDeps,
  provider: KycProvider,
  callback: KycCallback,
): Promise<CallbackAnswer> {
  const reading = provider.readCallback(callback);
  if (reading.kind === 'refused') return reading.reason;
  if (reading.kind === 'verdict') {
    await unitOfWork(deps, SYSTEM, (unit) => takeVerdict(unit, reading.verdict));
  }
  return 'taken';
}

export interface VerifyUserDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly vaults: Vaults;
  readonly documents: DocumentStore;
  readonly kycProvider: KycProvider;
}

const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 10 * 60 * 1_000;

/**
 * Hands a customer to the provider and looks for the result. The provider calls back by itself, usually sooner; looking
 * is for the call that was lost.
 */
export function verifyUserHandler(deps: VerifyUserDeps): IntentHandler<'kyc.verify'> {
  async function carryOut(intent: Intent<'kyc.verify'>): Promise<Outcome> {
    const [submission] = await deps.db.query(SYSTEM, latestSubmission, [intent.payload.user_id]);
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
      if (error.failure === 'misconfigured') deps.logger.error({ err: error }, 'KYC provider misconfigured');
      return { kind: 'retry', error: error.message };
    }
  }

  async function start(intent: Intent<'kyc.verify'>, submission: SubmissionRow): Promise<Outcome> {
    const loaded = await loadSubmission(deps, submission);
    if (loaded === undefined) return { kind: 'confirmed', result: 'the customer is gone' };
    const started = await deps.kycProvider.startVerification(loaded);
    await deps.db.query(SYSTEM, nameAtProvider, [submission.submission_id, started.reference]);
    return { kind: 'waiting', afterMs: nextLookMs(intent) };
  }

  async function look(
    intent: Intent<'kyc.verify'>,
    submission: SubmissionRow,
    reference: string,
  ): Promise<Outcome> {
    const verdict = await deps.kycProvider.readResult({
      submissionId: submission.submission_id,
      reference,
    });
    if (verdict === null) return { kind: 'waiting', afterMs: nextLookMs(intent) };
    return { kind: 'confirmed', followUp: (unit) => takeVerdict(unit, verdict) };
  }

  /** The longer it has taken, the longer it may take. */
  function nextLookMs({ createdAt }: Intent<'kyc.verify'>): number {
    const age = deps.clock.now() - createdAt.getTime();
    return Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 4));
  }

  return {
    schedule: schedule([1, 5, 30, 120, 600], { maxAttempts: 200, jitterPct: 20 }),
    perform: carryOut,
    exhausted: (intent, unit) => askPerson(unit, intent),
  };
}

/** What no machine could decide, a person does. */
async function askPerson(
  unit: Parameters<typeof lockUserIfAny>[0],
  intent: Intent<'kyc.verify'>,
): Promise<void> {
  const user = await lockUserIfAny(unit, intent.payload.user_id);
  if (user !== undefined) moveKyc(unit, user, 'review_requested', 'provider');
}

/**
 * For deployments without a provider: every submission goes to the operator for review. No customer is cleared automatically.
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
