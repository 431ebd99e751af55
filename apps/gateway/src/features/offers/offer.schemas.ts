import {
  AmountInput,
  CountryCodeInput,
  CurrencyCodeInput,
  DecimalString,
  literals,
  SlugInput,
  Timestamp,
  Uuid,
} from '@causeway/protocol';
import { Type } from 'typebox';

const PaymentOption = Type.Object({
  network_slug: SlugInput,
  method_slugs: Type.Optional(
    Type.Array(SlugInput, {
      minItems: 1,
      maxItems: 500,
      description: 'The preferred one first; without it every live method of the network',
    }),
  ),
});

const price = Type.Optional(
  Type.String({ maxLength: 80, description: 'Fiat for 1 crypto; instead of margin_pct', examples: ['0.92'] }),
);
const margin_pct = Type.Optional(
  Type.String({
    maxLength: 40,
    description: 'Percent of the market’s rate that the vendor keeps, at most 6 decimals; instead of price',
    examples: ['0.5'],
  }),
);
const ranged = {
  min_amount: AmountInput,
  max_amount: AmountInput,
  payment_options: Type.Array(PaymentOption, { minItems: 1, maxItems: 50 }),
  countries: Type.Array(CountryCodeInput, { minItems: 1, maxItems: 260 }),
  available_balance: Type.String({
    maxLength: 80,
    description: 'Crypto still to be sold or bought, beyond what open orders hold',
    examples: ['2500'],
  }),
};

export const NewOffer = Type.Object({
  side: literals(['SELL', 'BUY']),
  crypto_currency: CurrencyCodeInput,
  fiat_currency: CurrencyCodeInput,
  price,
  margin_pct,
  ...ranged,
});

/** What is not named stays; another pair or side is another offer. */
export const OfferChange = Type.Object(
  {
    price,
    margin_pct,
    min_amount: Type.Optional(ranged.min_amount),
    max_amount: Type.Optional(ranged.max_amount),
    payment_options: Type.Optional(ranged.payment_options),
    countries: Type.Optional(ranged.countries),
    available_balance: Type.Optional(ranged.available_balance),
  },
  { additionalProperties: false, minProperties: 1 },
);

export const OfferSchema = Type.Object({
  offer_id: Uuid,
  side: literals(['SELL', 'BUY']),
  crypto_currency: Type.String(),
  fiat_currency: Type.String(),
  price: Type.Union([DecimalString, Type.Null()]),
  margin_pct: Type.Union([DecimalString, Type.Null()]),
  min_amount: DecimalString,
  max_amount: DecimalString,
  payment_options: Type.Array(PaymentOption),
  countries: Type.Array(Type.String()),
  available_balance: DecimalString,
  authorized: Type.Boolean({ description: 'By the operator; nothing is matched with it before' }),
  version: Type.Integer({ description: 'Grows with every change, also of the balance' }),
  created_at: Timestamp,
});

export const ReviewedOfferSchema = Type.Object({
  ...OfferSchema.properties,
  vendor_id: Uuid,
  vendor_name: Type.String(),
});
