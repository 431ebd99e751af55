import { CausewayError, type UserSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { violatedConstraint } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { hmacSha256Hex, type Sealer } from '../../lib/crypto.ts';
import { insertUser } from './user.store.ts';
import { userView } from './user.view.ts';

export interface CreateUserTools {
  readonly sealer: Sealer;
  /** Keys the blind indexes: equal values are found without being readable. */
  readonly indexKey: Uint8Array;
}

export interface NewUser {
  readonly email: string;
  readonly reference_id?: string;
}

export async function createUser(
  tools: CreateUserTools,
  unit: UnitOfWork,
  partnerId: string,
  input: NewUser,
): Promise<Static<typeof UserSchema>> {
  const userId = unit.ids.uuid();
  const referenceId = input.reference_id ?? null;
  try {
    await unit.tx.query(insertUser, [
      userId,
      partnerId,
      tools.sealer.seal(input.email, `users.email:${userId}`),
      hmacSha256Hex(tools.indexKey, input.email.trim().toLowerCase()),
      referenceId,
      'NOT_INITIATED',
      unit.at,
    ]);
  } catch (error) {
    if (violatedConstraint(error) === 'users_email_once') throw new CausewayError('USER_ALREADY_EXISTS');
    throw error;
  }
  return userView(
    {
      user_id: userId,
      partner_id: partnerId,
      reference_id: referenceId,
      kyc_status: 'NOT_INITIATED',
      kyc_updated_at: unit.at,
      rejection_reasons: [],
      created_at: unit.at,
    },
    input.email,
  );
}
