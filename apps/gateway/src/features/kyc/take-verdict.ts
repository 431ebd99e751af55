import { SYSTEM } from '../../db/database.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { isUuid } from '../../lib/ids.ts';
import { moveKyc } from '../users/change-kyc.ts';
import { lockUserIfAny } from '../users/load-user.ts';
import { findSubmission, latestSubmission, type SubmissionRow, verdictTaken } from './kyc.store.ts';
import type { KycCallback, KycProvider, KycVerdict } from './provider/kyc-provider.port.ts';
import { type AppliedVerdict, isNews } from './provider/verdict-order.ts';

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
  tools: UnitTools,
  provider: KycProvider,
  callback: KycCallback,
): Promise<CallbackAnswer> {
  const reading = provider.readCallback(callback);
  if (reading.kind === 'refused') return reading.reason;
  if (reading.kind === 'verdict') {
    await unitOfWork(tools, SYSTEM, (unit) => takeVerdict(unit, reading.verdict));
  }
  return 'taken';
}
