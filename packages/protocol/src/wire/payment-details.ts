import { Type } from 'typebox';
import { SCREENING_STATUSES } from '../machines/index.ts';
import { CountryCodeInput, literals, SlugInput, Timestamp } from './common.ts';
import { PageSchema } from './paging.ts';

export const BENEFICIARY_TYPES = ['individual', 'business'] as const;

/** Whose values fit is judged against the rail; the schema only bounds their number. */
export const DetailsInput = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The fields of the rail, or of the format chosen by institution and beneficiary type',
  maxProperties: 60,
  examples: [{ full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' }],
});

const CurrencyInput = Type.String({ pattern: '^[A-Za-z]{3}$', examples: ['EUR'] });

export const PaymentDetailsInput = Type.Object({
  rail: SlugInput,
  currency: CurrencyInput,
  country_code: CountryCodeInput,
  institution_id: Type.Optional(Type.Union([SlugInput, Type.Null()])),
  details: DetailsInput,
});

export const MaskedDetails = Type.Record(Type.String(), Type.String(), {
  description: 'At most the last four characters of anything personal',
});

export const HolderScreening = Type.Unsafe<(typeof SCREENING_STATUSES)[number]>({
  type: 'string',
  enum: [...SCREENING_STATUSES],
  description: 'Of the account’s holder; only clear can be quoted',
});

export const PaymentDetailsSchema = Type.Object({
  id: Type.Integer({ description: 'payment_details_id' }),
  rail: Type.String(),
  currency: Type.String(),
  country_code: Type.String(),
  institution_id: Type.Union([Type.String(), Type.Null()]),
  beneficiary_type: literals(BENEFICIARY_TYPES),
  details: MaskedDetails,
  screening_status: HolderScreening,
  created_at: Timestamp,
});

export const PaymentDetailsListSchema = Type.Object({
  payment_details: Type.Array(PaymentDetailsSchema),
  pagination: PageSchema,
});
