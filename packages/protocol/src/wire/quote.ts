import { Type } from 'typebox';
import {
  AmountInput,
  CountryCodeInput,
  CurrencyCodeInput,
  DecimalString,
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

export const OnrampQuoteRequest = Type.Object({
  user_uuid: Uuid,
  crypto_currency: CurrencyCodeInput,
  fiat_currency: CurrencyCodeInput,
  fiat_amount: Type.Optional(AmountInput),
  crypto_amount: Type.Optional(AmountInput),
  payment_method_slug: Type.Optional(SlugInput),
  payment_network_slug: Type.Optional(SlugInput),
  country_code: Type.Optional(CountryCodeInput),
  partner_fee_pct: Type.Optional(PercentInput),
});

export const QuoteSchema = Type.Object({
  quote_id: Uuid,
  rate: DecimalString,
  crypto_amount: DecimalString,
  fiat_amount: DecimalString,
  fee_breakdown: FeeBreakdownSchema,
  payment_method_slug: Type.String(),
  payment_network_slug: Type.String(),
  expires_at: Timestamp,
});
