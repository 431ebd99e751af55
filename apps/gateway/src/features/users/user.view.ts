import type { UserSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { UserRow } from './user.types.ts';
import type { UserProfile } from './user-profile.ts';

export function userView(user: UserRow, profile: UserProfile): Static<typeof UserSchema> {
  return {
    id: user.user_id,
    email: profile.email,
    first_name: profile.first_name,
    last_name: profile.last_name,
    phone_number: profile.phone_number,
    country_code: profile.country_code,
    reference_id: user.reference_id,
    kyc: {
      status: user.kyc_status,
      ...(user.rejection_reasons.length > 0 ? { rejection_reasons: user.rejection_reasons } : {}),
      updated_at: user.kyc_updated_at.toISOString(),
    },
    created_at: user.created_at.toISOString(),
  };
}
