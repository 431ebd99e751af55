import type { IdentitySchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { UserProfile } from '../users/user-profile.ts';
import { KYC_FIELDS, type KycField, type KycFieldValues } from './kyc-fields.ts';

/** Fields that the customer's profile can answer where the KYC record does not. */
const PROFILE_FIELDS: ReadonlySet<string> = new Set([
  'first_name',
  'last_name',
  'phone_number',
  'country_code',
]);

export interface KnownIdentity {
  readonly kyc: KycFieldValues;
  readonly profile: UserProfile;
}

/** A customer's identity as far as it is known; what was verified comes before what was said at sign-up. */
export function identityFields({ kyc, profile }: KnownIdentity): KycFieldValues {
  const known: Partial<Record<KycField, string>> = {};
  for (const field of KYC_FIELDS) {
    const value = kyc[field] ?? (isProfileField(field) ? profile[field] : null);
    if (value !== null && value !== undefined) known[field] = value;
  }
  return known;
}

export function identityView(identity: KnownIdentity): Static<typeof IdentitySchema> {
  const known = identityFields(identity);
  const items = KYC_FIELDS.map((field) =>
    known[field] === undefined
      ? ({ field, status: 'missing', source: null } as const)
      : ({
          field,
          status: 'present',
          source: identity.kyc[field] === undefined ? 'profile' : 'kyc',
        } as const),
  );
  return {
    items,
    missing: items.filter(({ status }) => status === 'missing').map(({ field }) => field),
  };
}

function isProfileField(field: KycField): field is KycField & keyof UserProfile {
  return PROFILE_FIELDS.has(field);
}
