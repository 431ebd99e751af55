import { Type } from 'typebox';
import { KYC_STATUSES } from '../machines/index.ts';
import { CountryCodeInput, literals, Timestamp, Uuid } from './common.ts';
import { PageInput, PageSchema } from './paging.ts';

export const KycStatusSchema = literals(KYC_STATUSES);

/** Text without control characters: it is kept and shown as it is. */
export const ReferenceInput = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
  description: 'The partner’s own reference',
});

const NullableText = Type.Union([Type.String(), Type.Null()]);

export const UserInput = Type.Object({
  email: Type.String({ maxLength: 320, examples: ['ada@example.com'] }),
  first_name: Type.Optional(Type.String({ maxLength: 200 })),
  last_name: Type.Optional(Type.String({ maxLength: 200 })),
  phone_number: Type.Optional(Type.String({ maxLength: 40, examples: ['+4915112345678'] })),
  country_code: Type.Optional(CountryCodeInput),
  reference_id: Type.Optional(ReferenceInput),
});

export const UserSchema = Type.Object({
  id: Uuid,
  email: Type.String(),
  first_name: NullableText,
  last_name: NullableText,
  phone_number: NullableText,
  country_code: NullableText,
  reference_id: NullableText,
  kyc: Type.Object({
    status: KycStatusSchema,
    rejection_reasons: Type.Optional(Type.Array(Type.String())),
    updated_at: Timestamp,
  }),
  created_at: Timestamp,
});

export const UserListSchema = Type.Object({ users: Type.Array(UserSchema), pagination: PageSchema });

export const UserQuery = Type.Object({
  ...PageInput.properties,
  email: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'The whole address' })),
  reference_id: Type.Optional(ReferenceInput),
  kyc_status: Type.Optional(KycStatusSchema),
});
