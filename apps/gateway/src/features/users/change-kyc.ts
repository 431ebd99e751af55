import { type Actor, CausewayError, type KycTrigger } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { kycHost } from './kyc.host.ts';
import { lockUser, type UserRow } from './user.store.ts';

/** Reports something about a user's KYC; the machine decides the status and whether an event goes out. */
export async function changeKycStatus(
  unit: UnitOfWork,
  userId: string,
  trigger: KycTrigger,
  actor: Actor,
  rejectionReasons: readonly string[],
): Promise<UserRow> {
  const [user] = await unit.tx.query(lockUser, [userId]);
  if (user === undefined) throw new CausewayError('USER_NOT_FOUND');
  const execution = execute(unit, kycHost, { user, rejectionReasons }, trigger, actor);
  if (execution.kind === 'refused') {
    throw new CausewayError('INVALID_STATUS', { details: { status: user.kyc_status, allowed_actions: [] } });
  }
  return execution.row.user;
}
