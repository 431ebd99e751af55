import { Type } from 'typebox';
import { SCREENING_STATUSES } from '../machines/index.ts';
import { CountryCodeInput, literals, SlugInput, Timestamp, Uuid } from './common.ts';
import { MAX_OFFSET } from './paging.ts';
import { BENEFICIARY_TYPES, HolderScreening, MaskedDetails, PaymentDetailsInput } from './payment-details.ts';

export const RECIPIENT_KINDS = ['individual', 'business'] as const;
export const ScreeningStatusSchema = literals(SCREENING_STATUSES);

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Identifier = Type.String({ minLength: 1, maxLength: 100, writeOnly: true });
const NullableText = Type.Union([Type.String(), Type.Null()]);

const recipientFields = {
  recipient_native_name: Type.Optional(Type.Union([Name, Type.Null()])),
  recipient_id_type: Type.Optional(
    Type.Union([Type.String({ pattern: '^[A-Za-z0-9_ -]{1,60}$' }), Type.Null()]),
  ),
  recipient_id_number: Type.Optional(Type.Union([Identifier, Type.Null()])),
  recipient_business_registration_number: Type.Optional(Type.Union([Identifier, Type.Null()])),
};

export const RecipientInput = Type.Object({
  recipient_kind: Type.Optional(literals(RECIPIENT_KINDS)),
  recipient_name: Name,
  recipient_country: CountryCodeInput,
  ...recipientFields,
});

export const RecipientPatchInput = Type.Object({
  recipient_name: Type.Optional(Name),
  recipient_country: Type.Optional(CountryCodeInput),
  ...recipientFields,
});

export const RecipientSchema = Type.Object({
  recipient_id: Uuid,
  recipient_kind: literals(RECIPIENT_KINDS),
  recipient_name: Type.String(),
  recipient_native_name: NullableText,
  recipient_country: Type.String(),
  recipient_id_type: NullableText,
  recipient_id_number_masked: NullableText,
  recipient_business_registration_number_masked: NullableText,
  screening_status: ScreeningStatusSchema,
  status: literals(['active', 'archived']),
  version: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const RecipientQuery = Type.Object({
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A name, the beginning of one, or an identifier',
    }),
  ),
  screening_status: Type.Optional(ScreeningStatusSchema),
  recipient_country: Type.Optional(CountryCodeInput),
  currency: Type.Optional(Type.String({ pattern: '^[A-Za-z]{3}$' })),
  rail: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0 }),
});

export const RecipientListSchema = Type.Object({
  recipients: Type.Array(RecipientSchema),
  pagination: Type.Object({ total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }),
});

/** The same fields as payment details, checked by the same rules. */
export const DestinationInput = Type.Object({
  ...PaymentDetailsInput.properties,
  rail: SlugInput,
});

export const DestinationSchema = Type.Object({
  recipient_destination_id: Uuid,
  recipient_id: Uuid,
  country_code: Type.String(),
  currency: Type.String(),
  rail: Type.String(),
  institution_id: NullableText,
  beneficiary_type: literals(BENEFICIARY_TYPES),
  details: MaskedDetails,
  screening_status: Type.Optional(HolderScreening),
  version: Type.Integer(),
  created_at: Timestamp,
});

export const DestinationListSchema = Type.Object({ destinations: Type.Array(DestinationSchema) });
