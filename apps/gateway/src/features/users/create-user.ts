import { CausewayError, type UserSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { violatedConstraint } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import type { Vaults } from '../privacy/vault.ts';
import { profileContext, userKeyOwner } from './load-user.ts';
import { insertUser } from './user.store.ts';
import { userView } from './user.view.ts';
import { readProfile, type UserProfileInput } from './user-profile.ts';

export interface UserPrivacyTools {
  readonly vaults: Vaults;
  readonly blindIndex: BlindIndex;
}

export interface NewUser extends UserProfileInput {
  readonly reference_id?: string;
}

/** The place of an email address among the blind indexes. */
export const EMAIL_INDEX = 'users.email';

export async function createUser(
  tools: UserPrivacyTools,
  unit: UnitOfWork,
  partnerId: string,
  input: NewUser,
): Promise<Static<typeof UserSchema>> {
  const profile = readProfile(input);
  const userId = unit.ids.uuid();
  const referenceId = input.reference_id ?? null;
  const { wrappedKey, vault } = tools.vaults.create(userKeyOwner(userId));
  const profileSealed = vault.seal(JSON.stringify(profile), profileContext(userId));
  try {
    await unit.tx.query(insertUser, [
      userId,
      partnerId,
      wrappedKey,
      profileSealed,
      tools.blindIndex(EMAIL_INDEX, partnerId, profile.email),
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
      data_key_sealed: wrappedKey,
      profile_sealed: profileSealed,
    },
    profile,
  );
}
