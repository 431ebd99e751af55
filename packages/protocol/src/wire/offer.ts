import { Type } from 'typebox';
import {
  AmountInput,
  CountryCodeInput,
  CurrencyCodeInput,
  DecimalString,
  literals,
  SlugInput,
  Timestamp,
  Uuid,
} from './common.ts';
import { Reason } from './operator.ts';
import { OffsetPage, PageQuery } from './paging.ts';

/** What vendors offer, and how an operator authorizes it. */

export const OfferPaymentOptionSchema = Type.Object({
  network_slug: SlugInput,
  method_slugs: Type.Optional(
    Type.Array(SlugInput, {
      minItems: 1,
      maxItems: 500,
      description: 'The preferred one first; without it every live method of the network',
    }),
  ),
});

const offerPrice = Type.Optional(
  Type.String({ maxLength: 80, description: 'Fiat for 1 crypto; instead of margin_pct', examples: ['0.92'] }),
);

const offerMargin = Type.Optional(
  Type.String({
    maxLength: 40,
    description: 'Percent of the market’s rate that the vendor keeps, at most 6 decimals; instead of price',
    examples: ['0.5'],
  }),
);

const offerRange = {
  min_amount: AmountInput,
  max_amount: AmountInput,
  payment_options: Type.Array(OfferPaymentOptionSchema, { minItems: 1, maxItems: 50 }),
  countries: Type.Array(CountryCodeInput, { minItems: 1, maxItems: 260 }),
  available_balance: Type.String({
    maxLength: 80,
    description: 'Crypto still to be sold or bought, beyond what open orders hold',
    examples: ['2500'],
  }),
};

export const OfferInput = Type.Object({
  side: literals(['SELL', 'BUY']),
  crypto_currency: CurrencyCodeInput,
  fiat_currency: CurrencyCodeInput,
  price: offerPrice,
  margin_pct: offerMargin,
  ...offerRange,
});

/** What is not named stays; another pair or side is another offer. */
export const OfferPatchInput = Type.Object(
  {
    price: offerPrice,
    margin_pct: offerMargin,
    min_amount: Type.Optional(offerRange.min_amount),
    max_amount: Type.Optional(offerRange.max_amount),
    payment_options: Type.Optional(offerRange.payment_options),
    countries: Type.Optional(offerRange.countries),
    available_balance: Type.Optional(offerRange.available_balance),
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
  payment_options: Type.Array(OfferPaymentOptionSchema),
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

export const OfferListSchema = Type.Object({ offers: Type.Array(OfferSchema), pagination: OffsetPage });

export const WithdrawnOfferSchema = Type.Object({ offer_id: Uuid });

export const VendorOnlineInput = Type.Object({ online: Type.Boolean() });

export const VendorOnlineSchema = Type.Object({ online: Type.Boolean({ examples: [true] }) });

export const OfferReviewQuery = Type.Object({
  authorized: Type.Optional(Type.Boolean({ examples: [false] })),
  vendor_id: Type.Optional(Uuid),
  ...PageQuery.properties,
});

export const ReviewedOfferListSchema = Type.Object({
  offers: Type.Array(ReviewedOfferSchema),
  pagination: OffsetPage,
});

export const OfferAuthorizationInput = Type.Object({
  authorized: Type.Boolean(),
  reason: Reason,
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Refused with 409 where the offer has changed since',
    }),
  ),
});

export const OfferAuthorizationSchema = Type.Object({
  offer_id: Uuid,
  authorized: Type.Boolean(),
  version: Type.Integer(),
});
