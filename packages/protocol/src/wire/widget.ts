import { Type } from 'typebox';
import { ORDER_PHASES, type OrderPhase } from '../machines/index.ts';
import {
  AmountInput,
  CountryCodeInput,
  CurrencyCodeInput,
  DecimalString,
  EvmAddress,
  literals,
  Nullable,
  NumericId,
  PercentInput,
  Timestamp,
  Uuid,
} from './common.ts';
import { KYC_DOCUMENT_TYPES, KYC_METHODS } from './kyc.ts';
import { OptionalReason } from './operator.ts';
import { OrderReasonsSchema, OrderSchema, OrderStatusSchema } from './order.ts';
import { EstimateSchema, FeeBreakdownSchema, OfframpQuoteSchema, PricingRequest } from './quote.ts';
import { KycStatusSchema } from './user.ts';

/** What the embedded widget and its hosted page say and hear. The customer is the caller; the partner is only notified. */

export const WIDGET_TAG = 'Widget';

export const WIDGET_SIDES = ['onramp', 'offramp'] as const;
export const WIDGET_LOCALES = ['en', 'fr', 'es', 'pt', 'ar', 'hi', 'zh', 'sw'] as const;
export type WidgetLocale = (typeof WIDGET_LOCALES)[number];
export const WIDGET_COLOR_SCHEMES = ['light', 'dark', 'auto'] as const;

const UserReference = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Your own id of the customer or order',
});

/** What a session begins with. The customer may change all of it unless the partner’s server has fixed it. */
const startingPoint = {
  side: Type.Optional(literals(WIDGET_SIDES)),
  fiat_currency: Type.Optional(CurrencyCodeInput),
  crypto_currency: Type.Optional(CurrencyCodeInput),
  fiat_amount: Type.Optional(AmountInput),
  crypto_amount: Type.Optional(AmountInput),
  country_code: Type.Optional(CountryCodeInput),
  wallet_address: Type.Optional(EvmAddress),
  reference_id: Type.Optional(UserReference),
  locale: Type.Optional(literals(WIDGET_LOCALES)),
};

/** Started by a page with the publishable key. */
export const WidgetSessionInput = Type.Object(startingPoint);

/** Made by the partner’s server with its secret key, for a customer that it knows already. */
export const PartnerWidgetSessionInput = Type.Object({
  ...startingPoint,
  user_uuid: Type.Optional(Uuid),
  redirect_url: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: 'Where the hosted page leads back to; https, or http on localhost in a sandbox',
      examples: ['https://shop.example/thanks'],
    }),
  ),
  color_scheme: Type.Optional(literals(WIDGET_COLOR_SCHEMES)),
  partner_fee_pct: Type.Optional(PercentInput),
  locked: Type.Optional(
    Type.Boolean({ description: 'true (default): the customer cannot change what is given here' }),
  ),
});

export const PartnerWidgetSessionSchema = Type.Object({
  session_id: Uuid,
  url: Type.String({
    description:
      'The hosted page of this session. It opens once, within ten minutes; what opens it is in the fragment, which is sent to no server.',
    examples: ['https://ramp.example/widget/checkout?session=0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10#code'],
  }),
  expires_at: Timestamp,
});

export const WidgetOriginsInput = Type.Object({
  origins: Type.Array(Type.String({ maxLength: 300, examples: ['https://shop.example'] }), {
    maxItems: 50,
    description: 'Scheme, host and port of the pages that may show the widget; https only outside a sandbox',
  }),
  reason: OptionalReason,
});

export const WidgetOriginsSchema = Type.Object({
  origins: Type.Array(Type.String({ examples: ['https://shop.example'] })),
});

const SessionChainSchema = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  chain_id: Type.Integer(),
  rpc_url: Type.String(),
  explorer_url: Nullable(Type.String()),
  tokens: Type.Array(Type.Object({ code: Type.String(), address: EvmAddress, decimals: Type.Integer() })),
});

export const WidgetCustomerSchema = Type.Object({
  email: Type.String({ description: 'Masked', examples: ['a•••@example.com'] }),
  kyc_status: KycStatusSchema,
  is_verified: Type.Boolean(),
  rejection_reasons: Type.Array(Type.String()),
});

export const WidgetOrderSummarySchema = Type.Object({
  order_id: Uuid,
  side: literals(WIDGET_SIDES),
  status: OrderStatusSchema,
  crypto_amount: DecimalString,
  crypto_currency: Type.String(),
  fiat_amount: DecimalString,
  fiat_currency: Type.String(),
  is_open: Type.Boolean({ description: 'Something is still to come of it, a refund included' }),
  created_at: Timestamp,
});

export const WidgetSessionSchema = Type.Object({
  session_id: Uuid,
  expires_at: Timestamp,
  server_time: Type.Unsafe<string>({ ...Timestamp, description: 'The clock that quotes and waits end by' }),
  partner_name: Type.String(),
  sandbox: Type.Boolean(),
  chain: SessionChainSchema,
  start: Type.Object({
    ...Type.Partial(Type.Object(startingPoint)).properties,
    color_scheme: Type.Optional(literals(WIDGET_COLOR_SCHEMES)),
    redirect_url: Type.Optional(Type.String()),
  }),
  locked: Type.Boolean({ description: 'The customer cannot change what `start` gives' }),
  customer: Nullable(WidgetCustomerSchema),
  orders: Type.Array(WidgetOrderSummarySchema, {
    description: 'The customer’s own orders of this widget, newest first: the open ones and the last few',
  }),
});

/** The token is shown once, and is good for this session alone. */
export const StartedWidgetSessionSchema = Type.Object({ token: Type.String(), session: WidgetSessionSchema });

export const WidgetCodeInput = Type.Object({ code: Type.String({ minLength: 1, maxLength: 200 }) });

export const EmailCodeInput = Type.Object({ email: Type.String({ minLength: 3, maxLength: 320 }) });
export const EmailCodeSchema = Type.Object({
  expires_at: Timestamp,
  resend_after_seconds: Type.Integer(),
  sandbox_code: Type.Optional(
    Type.String({ description: 'The code itself: in a sandbox no e-mail leaves', examples: ['294117'] }),
  ),
});
export const IdentifyInput = Type.Object({
  email: EmailCodeInput.properties.email,
  code: Type.String({ minLength: 1, maxLength: 20, examples: ['294117'] }),
});

export const WidgetKycSchema = Type.Object({
  status: KycStatusSchema,
  rejection_reasons: Type.Array(Type.String()),
  method: Nullable(literals(KYC_METHODS)),
  required_documents: Type.Array(literals(KYC_DOCUMENT_TYPES), { description: 'Those still missing' }),
  verification_url: Nullable(Type.String({ description: 'Where a hosted verification goes on' })),
  missing_fields: Type.Array(Type.String(), {
    description: 'What a submission has to say; empty where all is known',
  }),
  updated_at: Timestamp,
});

export const WidgetPricingInput = Type.Object({
  side: literals(WIDGET_SIDES),
  ...Type.Omit(PricingRequest, ['provider_scope', 'partner_fee_pct']).properties,
});

/** What the customer pays and gets, fees included. */
const customerFigures = {
  pay_amount: DecimalString,
  pay_currency: Type.String(),
  receive_amount: DecimalString,
  receive_currency: Type.String(),
};

export const WidgetEstimateSchema = Type.Object({ ...EstimateSchema.properties, ...customerFigures });

export const WidgetQuoteInput = Type.Object({
  ...WidgetPricingInput.properties,
  payment_details_id: Type.Optional(NumericId),
});

export const WidgetQuoteSchema = Type.Object({
  ...Type.Partial(Type.Pick(OfframpQuoteSchema, ['anchor_type'])).properties,
  ...Type.Omit(OfframpQuoteSchema, ['anchor_type']).properties,
  ...customerFigures,
});

export const WidgetOrderInput = Type.Object({
  quote_id: Uuid,
  wallet_address: Type.Unsafe<string>({
    ...EvmAddress,
    description: 'On-ramp: where the crypto is delivered. Off-ramp: what it is paid from, and refunded to.',
  }),
});

export const CUSTOMER_ACTIONS = [
  'submit-payer-details',
  'confirm-payment-sent',
  'cancel',
  'authorize-crypto-transfer',
  'confirm-fiat-received',
  'authorize-refund',
  'authorize-release',
] as const;

export const WidgetOrderSchema = Type.Object({
  order_id: Uuid,
  side: literals(WIDGET_SIDES),
  status: OrderStatusSchema,
  phase: Type.Unsafe<OrderPhase>({
    ...literals(ORDER_PHASES),
    description: 'What the order asks of the customer now: it follows from what the customer may do',
  }),
  expected_seconds: Nullable(
    Type.Integer({
      description: 'How long this phase takes as a rule; null where it is the customer’s turn or the end',
    }),
  ),
  reference_id: Nullable(Type.String()),
  payment_request: Type.Boolean({ description: 'The payee asks the payer for the money' }),
  fiat_funding_source: Type.Optional(literals(['own_iban', 'vendor_details'])),
  ...customerFigures,
  ...Type.Pick(OrderSchema, ['order_type', 'amounts']).properties,
  rate: DecimalString,
  fee_breakdown: FeeBreakdownSchema,
  payment_method_slug: Type.String(),
  payment_network_slug: Type.String(),
  wallet_address: EvmAddress,
  chain: Type.String(),
  escrow_address: Nullable(EvmAddress),
  allowed_actions: Type.Array(literals(CUSTOMER_ACTIONS)),
  payment_instructions: Nullable(
    Type.Array(Type.Object({ field: Type.String(), label: Type.String(), value: Type.String() }), {
      description:
        'Where the customer pays, field by field as the rail names them; null before the crypto is locked',
    }),
  ),
  payout_account: Nullable(Type.String({ description: 'Off-ramp: where the fiat goes, masked' })),
  timeline: Type.Array(Type.Object({ status: OrderStatusSchema, at: Timestamp })),
  ...OrderReasonsSchema.properties,
  tx_hash: Nullable(Type.String()),
  refund_tx_hash: Nullable(Type.String()),
  server_time: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const WidgetOrderListSchema = Type.Object({ orders: Type.Array(WidgetOrderSummarySchema) });

const WalletTransactionSchema = Type.Object({
  amount_atomic: Type.String({
    description: 'What the router may take after it; 0 where an old allowance has to go first',
  }),
  chain_id: Type.Integer(),
  from: EvmAddress,
  to: EvmAddress,
  data: Type.String(),
  value: Type.String(),
});

/** Off-ramp: whether the customer’s wallet can pay, and what it has to send first. */
export const WidgetFundingSchema = Type.Object({
  wallet_address: EvmAddress,
  chain_id: Type.Integer(),
  token_address: EvmAddress,
  crypto_currency: Type.String(),
  amount_atomic: Type.String(),
  amount_human: DecimalString,
  balance_human: DecimalString,
  is_balance_sufficient: Type.Boolean(),
  shortfall: Type.Unsafe<string>({
    ...DecimalString,
    description: 'What an operator has accepted to be missing of the deposit; a refund pays that much less',
  }),
  approval: Nullable(
    Type.Unsafe<import('typebox').Static<typeof WalletTransactionSchema>>({
      ...WalletTransactionSchema,
      description:
        'Send it, then ask again: it lets the router take exactly this amount. Null where it already may. A token that changes no allowance but from 0 takes two',
    }),
  ),
  trust: Type.Object(
    {
      service: EvmAddress,
      seller: EvmAddress,
      buyer: EvmAddress,
      treasury: EvmAddress,
      partner: Nullable(EvmAddress),
      router: EvmAddress,
      forwarder: EvmAddress,
      contracts: Type.Record(Type.String(), Type.String()),
    },
    { description: 'What the widget holds every signature against before the wallet is asked' },
  ),
});
