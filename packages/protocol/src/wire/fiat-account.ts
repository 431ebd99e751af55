import { Type } from 'typebox';
import { FIAT_ACCOUNT_STATUSES, FIAT_CLIENT_STATUSES, FIAT_PAYMENT_STATUSES } from '../machines/index.ts';
import { DecimalString, literals, Timestamp, Uuid } from './common.ts';
import { PageSchema } from './paging.ts';

/** Accounts that a bank opens for a partner's customers. */

const NullableText = Type.Union([Type.String(), Type.Null()]);
const Field = (maxLength: number, example: string) =>
  Type.Optional(Type.String({ maxLength, examples: [example] }));

/** Every field may be left out: what KYC has verified is used instead, and counts for more. */
export const IdentificationInput = Type.Object({
  first_name: Field(200, 'Ada'),
  last_name: Field(200, 'Lovelace'),
  date_of_birth: Field(10, '1990-12-10'),
  nationality: Field(2, 'DE'),
  address: Field(300, 'Unter den Linden 1'),
  city: Field(200, 'Berlin'),
  postal_code: Field(40, '10117'),
  country_code: Field(2, 'DE'),
  phone_number: Field(40, '+4915112345678'),
});

export const IDENTIFICATION_STATUSES = ['not_submitted', ...FIAT_CLIENT_STATUSES] as const;

export const IdentificationSchema = Type.Object({
  user_id: Uuid,
  status: literals(IDENTIFICATION_STATUSES),
  missing_fields: Type.Array(Type.String(), {
    description: 'Fields that the bank needs and that are still missing; empty once submitted',
  }),
  rejection_reasons: Type.Optional(Type.Array(Type.String())),
  submitted_at: Type.Union([Timestamp, Type.Null()]),
  updated_at: Type.Union([Timestamp, Type.Null()]),
});

/** Opaque to clients. */
export const FiatAccountId = Type.String({ minLength: 1, maxLength: 512, examples: ['retail_42'] });

export const FiatAccountInput = Type.Object({
  currency: Type.Optional(Type.String({ maxLength: 100, examples: ['EUR'] })),
  jurisdiction: Type.Optional(
    Type.String({ maxLength: 10, description: 'ISO 3166-1 alpha-2', examples: ['DE'] }),
  ),
});

/** Left out is told as MISSING_FIELDS, so the schema does not insist. */
export const OptionalFiatAccountInput = Type.Optional(Type.Union([FiatAccountInput, Type.Null()]));

export const FiatAccountSchema = Type.Object({
  id: Type.String({ description: 'retail_<n>; pass it back as it is', examples: ['retail_42'] }),
  holder_type: literals(['retail', 'business']),
  holder_id: Uuid,
  currency: Type.String({ examples: ['EUR'] }),
  jurisdiction: Type.String({ examples: ['DE'] }),
  status: literals(FIAT_ACCOUNT_STATUSES),
  iban: NullableText,
  account_holder_name: NullableText,
  bank_name: NullableText,
  bic: NullableText,
  created_at: Timestamp,
});

export const FiatAccountListSchema = Type.Object({ accounts: Type.Array(FiatAccountSchema) });

export const FiatLedgerSchema = Type.Object({
  balance: DecimalString,
  currency: Type.String(),
  entries: Type.Array(
    Type.Object({
      id: Uuid,
      direction: literals(['credit', 'debit']),
      amount: DecimalString,
      balance_after: DecimalString,
      kind: literals(['deposit', 'order_payment', 'order_payment_returned', 'collection']),
      reference: NullableText,
      order_id: Type.Optional(Uuid),
      created_at: Timestamp,
    }),
  ),
  pagination: PageSchema,
});

export const FiatPaymentSchema = Type.Object({
  id: Uuid,
  amount: DecimalString,
  currency: Type.String(),
  sender_name: NullableText,
  reference: NullableText,
  status: literals(FIAT_PAYMENT_STATUSES),
  order_id: Type.Optional(Uuid),
  received_at: Timestamp,
});

export const FiatPaymentListSchema = Type.Object({
  payments: Type.Array(FiatPaymentSchema),
  pagination: PageSchema,
});

export const FiatAccountsConfigSchema = Type.Object({
  enabled: Type.Boolean(),
  product: literals(['retail']),
  capabilities: Type.Array(Type.String({ examples: ['issue_retail_accounts'] })),
  currencies: Type.Array(
    Type.Object({
      currency: Type.String({ examples: ['EUR'] }),
      jurisdictions: Type.Array(Type.String({ examples: ['DE'] })),
    }),
  ),
  collection_enabled: Type.Boolean(),
});

/** Everything may be known already, so that the body may be left out. */
export const OptionalIdentificationInput = Type.Optional(Type.Union([IdentificationInput, Type.Null()]));
