import { Type } from 'typebox';
import {
  AmountInput,
  CountryCodeInput,
  CurrencyCodeInput,
  DecimalString,
  literals,
  NumericId,
  PercentInput,
  SlugInput,
  Timestamp,
  Uuid,
} from './common.ts';

export const FeeBreakdownSchema = Type.Object({
  platform_fee: DecimalString,
  platform_fee_pct: Type.Number(),
  partner_fee: DecimalString,
  partner_fee_pct: Type.Number(),
  total_fee: DecimalString,
});

/** What estimates and quotes are asked with, either way. */
export const PricingRequest = Type.Object({
  crypto_currency: CurrencyCodeInput,
  fiat_currency: CurrencyCodeInput,
  fiat_amount: Type.Optional(AmountInput),
  crypto_amount: Type.Optional(AmountInput),
  payment_method_slug: Type.Optional(SlugInput),
  payment_network_slug: Type.Optional(SlugInput),
  country_code: Type.Optional(CountryCodeInput),
  provider_scope: Type.Optional(
    Type.String({
      maxLength: 100,
      description: '`all` (default), `p2p` (the vendor marketplace) or `direct` (automated providers)',
      examples: ['all'],
    }),
  ),
  partner_fee_pct: Type.Optional(PercentInput),
});

export const OnrampQuoteRequest = Type.Object({ user_uuid: Uuid, ...PricingRequest.properties });

const SettlementNotificationInput = Type.Boolean({
  description: 'true limits matching to providers that confirm by themselves that fiat has arrived',
});

/** Fields that only the way out of crypto has, on estimate and quote alike. */
export const OfframpPricingRequest = Type.Object({
  ...PricingRequest.properties,
  has_fiat_settlement_notification: Type.Optional(SettlementNotificationInput),
});

export const SENDER_RECIPIENT_RELATIONSHIPS = [
  'self',
  'family',
  'friend',
  'employee',
  'supplier',
  'customer',
  'other',
] as const;

export const PURPOSES_OF_PAYMENT = [
  'family_support',
  'salary',
  'goods',
  'services',
  'savings',
  'education',
  'medical',
  'rent',
  'gift',
  'other',
] as const;

export const OfframpQuoteRequest = Type.Object({
  ...OfframpPricingRequest.properties,
  user_uuid: Type.Optional(Uuid),
  payment_details_id: Type.Optional(
    Type.Union([NumericId, Type.String({ pattern: '^[1-9][0-9]{0,17}$' })], {
      description: 'Own payment profile: the customer’s saved payment details',
      examples: [42],
    }),
  ),
  sender_id: Type.Optional(Uuid),
  recipient_id: Type.Optional(Uuid),
  recipient_destination_id: Type.Optional(Uuid),
  sender_recipient_relationship: Type.Optional(literals(SENDER_RECIPIENT_RELATIONSHIPS)),
  purpose_of_payment: Type.Optional(literals(PURPOSES_OF_PAYMENT)),
});

/** The figures that estimates and quotes share. */
export const PricedSchema = Type.Object({
  rate: DecimalString,
  crypto_amount: DecimalString,
  fiat_amount: DecimalString,
  fee_breakdown: FeeBreakdownSchema,
  payment_method_slug: Type.String(),
  payment_network_slug: Type.String(),
});

export const QuoteSchema = Type.Object({
  quote_id: Uuid,
  ...PricedSchema.properties,
  has_fiat_settlement_notification: Type.Boolean({
    description: 'The provider confirms by itself when fiat reaches the recipient',
  }),
  expires_at: Timestamp,
});

export const ANCHOR_TYPES = ['fiat', 'crypto'] as const;

export const OfframpQuoteSchema = Type.Object({
  ...QuoteSchema.properties,
  anchor_type: literals(ANCHOR_TYPES),
});

export const EstimateSchema = Type.Object({
  ...PricedSchema.properties,
  provider_scope: Type.String(),
  is_indicative: Type.Literal(true),
});
