import {
  type Actor,
  CausewayError,
  KYC_REFUSED,
  KYC_STATUSES_WITH_REASONS,
  KYC_UPDATED_STATUSES,
  type KycFacts,
  type KycStatus,
  type KycTrigger,
  kycActionsOf,
  kycMachine,
  type MachineEventType,
} from '@causeway/protocol';
import { type Execution, execute, type MachineAdapter } from '../../engine/execute.ts';
import { sentIn } from '../../engine/outbox.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { eraseUserColumns, type UserRow, updateKyc } from './user.store.ts';
import { lockUserRow } from './user.ts';

/** A user on its way through KYC, with what the new status will carry. */
export interface KycSubject {
  readonly user: UserRow;
  readonly rejectionReasons: readonly string[];
}

export const kycAdapter: MachineAdapter<KycSubject, KycStatus, KycTrigger, KycFacts, never> = {
  machine: kycMachine,
  statusOf: ({ user }) => user.kyc_status,
  factsOf: () => ({}),

  write(unit: UnitOfWork, subject, change) {
    const reasons = KYC_STATUSES_WITH_REASONS.includes(change.status) ? [...subject.rejectionReasons] : [];
    unit.tx.defer(updateKyc, [subject.user.user_id, change.status, JSON.stringify(reasons), unit.at]);
    return {
      rejectionReasons: reasons,
      user: {
        ...subject.user,
        kyc_status: change.status,
        rejection_reasons: reasons,
        kyc_updated_at: unit.at,
      },
    };
  },

  eventFor({ user, rejectionReasons }, eventType: MachineEventType) {
    if (eventType !== 'user.kyc.updated') throw new Error(`KYC does not send ${eventType}`);
    return {
      eventType,
      partnerId: user.partner_id,
      subjectId: user.user_id,
      data: {
        user_id: user.user_id,
        kyc_status: sentIn(KYC_UPDATED_STATUSES, user.kyc_status),
        ...(user.kyc_status === KYC_REFUSED ? { rejection_reasons: [...rejectionReasons] } : {}),
      },
    };
  },

  intentFor({ user }, effect) {
    if (effect !== 'kyc.verify') throw new Error(`KYC does not start ${effect}`);
    return {
      kind: effect,
      dedupeKey: `${user.user_id}:${user.kyc_updated_at.getTime()}`,
      partnerId: user.partner_id,
      payload: { user_id: user.user_id },
    };
  },

  entryFor(_subject, posting) {
    throw new Error(`KYC moves no money, yet it was asked to book ${posting}`);
  },
};

/** Reports something about a user's KYC; the machine decides the status and whether an event goes out. */
export async function changeKycStatus(
  unit: UnitOfWork,
  userId: string,
  trigger: KycTrigger,
  actor: Actor,
  rejectionReasons: readonly string[],
): Promise<UserRow> {
  const user = await lockUserRow(unit, userId);
  return movedOrRefused(moveKyc(unit, user, trigger, actor, rejectionReasons), actor);
}

/** For callers that hold the row's lock and decide themselves what a refusal means. */
export function moveKyc(
  unit: UnitOfWork,
  user: UserRow,
  trigger: KycTrigger,
  actor: Actor,
  rejectionReasons: readonly string[] = [],
): Execution<KycSubject> {
  return execute(unit, kycAdapter, { user, rejectionReasons }, trigger, actor);
}

export function movedOrRefused(execution: Execution<KycSubject>, caller: Actor): UserRow {
  const { user } = execution.row;
  if (execution.kind !== 'refused') return user;
  throw new CausewayError('INVALID_STATUS', {
    message: `The customer’s KYC status ${user.kyc_status} does not allow this.`,
    details: { status: user.kyc_status, allowed_actions: kycActionsOf(caller, user.kyc_status) },
  });
}

/** The rejection reason a partner sees when a cleared customer was erased. */
export const ERASED_REASON = 'PERSONAL_DATA_ERASED';

/** Takes the person out of the row. The row stays: the books refer to it. */
export function eraseUserRow(unit: UnitOfWork, user: UserRow): void {
  // A cleared customer is so no longer; where there was no clearance the machine has nothing to revoke.
  moveKyc(unit, user, 'verification_refused', 'operator', [ERASED_REASON]);
  unit.tx.defer(eraseUserColumns, [user.user_id, unit.at]);
}
