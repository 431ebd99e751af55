import {
  type KycFacts,
  type KycStatus,
  type KycTrigger,
  kycMachine,
  type MachineEventType,
} from '@causeway/protocol';
import type { MachineHost } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { updateKyc } from './user.store.ts';
import type { UserRow } from './user.types.ts';

/** A user on its way through KYC, with what the new status will carry. */
export interface KycSubject {
  readonly user: UserRow;
  readonly rejectionReasons: readonly string[];
}

export const kycHost: MachineHost<KycSubject, KycStatus, KycTrigger, KycFacts, never> = {
  machine: kycMachine,
  statusOf: ({ user }) => user.kyc_status,
  factsOf: () => ({}),

  write(unit: UnitOfWork, subject, change) {
    const reasons =
      change.status === 'REJECTED' || change.status === 'VERIFICATION_REJECTED'
        ? [...subject.rejectionReasons]
        : [];
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
    return {
      eventType,
      partnerId: user.partner_id,
      subjectId: user.user_id,
      data: {
        user_id: user.user_id,
        kyc_status: user.kyc_status,
        ...(user.kyc_status === 'REJECTED' ? { rejection_reasons: rejectionReasons } : {}),
      },
    };
  },

  intentFor({ user }, effect) {
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
