import { type Actor, CausewayError, type KycTrigger } from '@causeway/protocol';
import { type Execution, execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { type KycSubject, kycHost } from './kyc.host.ts';
import { lockUserRow } from './load-user.ts';
import type { UserRow } from './user.types.ts';

/** Reports something about a user's KYC; the machine decides the status and whether an event goes out. */
export async function changeKycStatus(
  unit: UnitOfWork,
  userId: string,
  trigger: KycTrigger,
  actor: Actor,
  rejectionReasons: readonly string[],
): Promise<UserRow> {
  const user = await lockUserRow(unit, userId);
  return movedOrRefused(moveKyc(unit, user, trigger, actor, rejectionReasons));
}

/** For callers that hold the row's lock and decide themselves what a refusal means. */
export function moveKyc(
  unit: UnitOfWork,
  user: UserRow,
  trigger: KycTrigger,
  actor: Actor,
  rejectionReasons: readonly string[] = [],
): Execution<KycSubject> {
  return execute(unit, kycHost, { user, rejectionReasons }, trigger, actor);
}

export function movedOrRefused(execution: Execution<KycSubject>): UserRow {
  const { user } = execution.row;
  if (execution.kind !== 'refused') return user;
  throw new CausewayError('INVALID_STATUS', {
    message: `The customer’s KYC status ${user.kyc_status} does not allow this.`,
    details: { status: user.kyc_status, allowed_actions: [] },
  });
}
