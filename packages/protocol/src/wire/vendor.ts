import { Type } from 'typebox';
import { DEPOSIT_STATUSES } from '../machines/index.ts';
import { RefundAuthorizationParametersSchema } from './authorization.ts';
import { DecimalString, EvmAddress, literals, Timestamp, TimestampInput, Uuid } from './common.ts';
import { DEPOSIT_KINDS, EscrowOwnersSchema } from './funds.ts';
import { KYC_CONTENT_TYPES } from './kyc.ts';
import { GivenSignature, OrderReasonsSchema, OrderStatusSchema } from './order.ts';
import { ListingPageQuery } from './paging.ts';

/** What a vendor can do with an order, by the name of the endpoint. */
export const VENDOR_ACTIONS = [
  'accept',
  'decline',
  'fiat-confirmed',
  'payment-proof',
  'fiat-settled',
  'dispute',
  'sign-release',
  'dispute-statements',
] as const;

export const VENDOR_DECLINE_REASONS = [
  'no_balance',
  'bank_unavailable',
  'price_moved',
  'too_busy',
  'risk',
  'other',
] as const;
export type VendorDeclineReason = (typeof VENDOR_DECLINE_REASONS)[number];

const Slug = (example: string) => Type.String({ examples: [example] });
const Direction = literals(['onramp', 'offramp']);

/** An order as its vendor sees it: what moves and until when, and nothing of the partner's customer. */
export const VendorOrderSchema = Type.Object({
  order_id: Uuid,
  direction: Direction,
  payment_request: Type.Boolean({
    description: 'The vendor requests the payment from the payer instead of giving payment details',
  }),
  status: OrderStatusSchema,
  crypto_currency: Slug('USDC'),
  crypto_amount: DecimalString,
  platform_fee: DecimalString,
  fiat_currency: Slug('EUR'),
  fiat_amount: DecimalString,
  rate: DecimalString,
  payment_method_slug: Slug('sepa'),
  payment_network_slug: Slug('iban-sepa'),
  chain: Slug('base-mainnet'),
  escrow_address: Type.Union([EvmAddress, Type.Null()], {
    description: 'On-ramp: send exactly crypto_amount here, from the vendor’s own wallet',
  }),
  held_for_review: Type.Boolean(),
  allowed_actions: Type.Array(literals(VENDOR_ACTIONS), {
    description: 'What the vendor can do now',
  }),
  offered_at: Timestamp,
  respond_by: Type.Union([Timestamp, Type.Null()], {
    description: 'Accept or decline until then, or the next vendor is asked; null once decided',
  }),
  deadline_at: Type.Union([Timestamp, Type.Null()], {
    description: 'When the current status times out; null without a time-out',
  }),
  ...OrderReasonsSchema.properties,
  tx_hash: Type.Union([Type.String(), Type.Null()], {
    description: 'The latest transaction that moved the order’s crypto',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const EscrowFundingSchema = Type.Object(
  {
    chain: Slug('base-mainnet'),
    chain_id: Type.Integer({ examples: [8453] }),
    token_address: EvmAddress,
    escrow_address: EvmAddress,
    from_address: EvmAddress,
    owners: EscrowOwnersSchema,
    amount: DecimalString,
    amount_atomic: Type.String({ examples: ['108108108'] }),
    confirmations: Type.Integer({ description: 'After so many blocks a payment counts', examples: [12] }),
    state: literals(['awaited', 'funded', 'releasing', 'refunding', 'emptied']),
    deposits: Type.Array(
      Type.Object({
        tx_hash: Type.String(),
        deposit_id: Uuid,
        kind: literals(DEPOSIT_KINDS),
        disposition: literals(DEPOSIT_STATUSES),
        token_address: EvmAddress,
        sender: EvmAddress,
        amount_atomic: Type.String(),
        block_number: Type.String(),
        observed_at: Timestamp,
      }),
      { description: 'What was found on chain, final. Anything but the exact amount waits for the operator' },
    ),
  },
  {
    description:
      'How the escrow is filled: on-ramp by the vendor itself, off-ramp by the partner, whose payment shows here',
  },
);

/** That a vendor said something in a dispute; the words may name persons. */
export const DisputeStatementRecordSchema = Type.Object({
  statement_id: Uuid,
  vendor_id: Uuid,
  proof_id: Type.Union([Uuid, Type.Null()], { description: 'The payment proof that it refers to' }),
  created_at: Timestamp,
});

/** As the vendor itself and the operator who decides read it. */
export const DisputeStatementSchema = Type.Object({
  ...DisputeStatementRecordSchema.properties,
  text: Type.String({ examples: ['The payment arrived from another name, 20 EUR short.'] }),
});

export const DisputeStatementInput = Type.Object({
  text: Type.String({
    minLength: 1,
    maxLength: 4_000,
    pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$',
    description: 'What happened, for the operator who decides. It is stored encrypted',
    examples: ['The payment arrived from another name, 20 EUR short.'],
  }),
  proof_id: Type.Optional(
    Type.Unsafe<string>({ ...Uuid, description: 'A payment proof that you submitted for this order' }),
  ),
});

export const VendorDeclineInput = Type.Optional(
  Type.Union([
    Type.Object({
      reason: Type.Optional(
        Type.Unsafe<VendorDeclineReason>({
          ...literals(VENDOR_DECLINE_REASONS),
          description: 'Told to the operator, not to the partner',
          examples: ['no_balance'],
        }),
      ),
    }),
    Type.Null(),
  ]),
);

export const VendorProofSchema = Type.Object({
  proof_id: Uuid,
  vendor_id: Uuid,
  verdict: Type.Union([literals(['accepted', 'rejected']), Type.Null()]),
  submitted_at: Timestamp,
  reviewed_at: Type.Union([Timestamp, Type.Null()]),
});

/** One order, with what the vendor needs to go on. */
export const VendorOrderDetailSchema = Type.Object({
  ...VendorOrderSchema.properties,
  funding: Type.Union([EscrowFundingSchema, Type.Null()], { description: 'Null until the escrow is known' }),
  signed: Type.Object(
    { refund: Type.Boolean(), release: Type.Boolean() },
    { description: 'What this vendor’s wallet has signed for the order’s escrow' },
  ),
  proofs: Type.Array(VendorProofSchema, { description: 'Payment proofs that this vendor submitted' }),
  dispute_statements: Type.Array(DisputeStatementSchema, {
    description: 'What this vendor said in a dispute',
  }),
});

export const VendorSigningSchema = Type.Object({
  order_id: Uuid,
  purpose: literals(['refund', 'release']),
  escrow_address: EvmAddress,
  chain: Slug('base-mainnet'),
  owners: EscrowOwnersSchema,
  partner_address: Type.Union([EvmAddress, Type.Null()], {
    description: 'Where the partner’s fee goes if its customer’s own wallet is an owner; null otherwise',
  }),
  safe_tx_hash: Type.String(),
  typed_data: RefundAuthorizationParametersSchema.properties.typed_data,
});

export const VendorEventQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,18}$',
      description: 'The cursor of the last event you have',
      examples: ['41'],
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 100, examples: [100] })),
});

export const VendorMovementSchema = Type.Object({
  asset: Type.String({
    description: 'A currency, or a token and the chain it is on',
    examples: ['USDC@base-mainnet'],
  }),
  received: DecimalString,
  paid: DecimalString,
});

export const VendorStatementSchema = Type.Object({
  lines: Type.Array(
    Type.Object({
      direction: Direction,
      chain: Slug('base-mainnet'),
      crypto_currency: Slug('USDC'),
      fiat_currency: Slug('EUR'),
      orders: Type.Integer({ examples: [3] }),
      crypto_amount: Type.String({ description: 'Sold on-ramp, bought off-ramp', examples: ['324.324324'] }),
      fiat_amount: Type.String({ description: 'Received on-ramp, paid off-ramp', examples: ['300.00'] }),
    }),
    { description: 'The period by pair' },
  ),
  totals: Type.Array(VendorMovementSchema, {
    description: 'The period by asset, exact to the smallest unit',
  }),
  entries: Type.Array(
    Type.Object({
      order_id: Uuid,
      direction: Direction,
      crypto: VendorMovementSchema,
      fiat: VendorMovementSchema,
      rate: DecimalString,
      tx_hash: Type.Union([Type.String(), Type.Null()]),
      settled_at: Timestamp,
    }),
    { description: 'The period order by order, latest first' },
  ),
  pagination: Type.Object({
    total: Type.Integer({ examples: [3] }),
    limit: Type.Integer({ examples: [20] }),
    offset: Type.Integer({ examples: [0] }),
  }),
});

export const VendorProfileSchema = Type.Object({
  vendor_id: Uuid,
  name: Type.String({ examples: ['Harbour Liquidity'] }),
  wallet_address: EvmAddress,
  kind: literals(['p2p', 'direct']),
  active: Type.Boolean({ description: 'Set by the operator' }),
  online: Type.Boolean({ description: 'Set by the vendor, with PUT /vendor/online' }),
});

export const VendorOrderQuery = Type.Object({
  status: Type.Optional(
    Type.Array(OrderStatusSchema, {
      maxItems: 30,
      description: 'May be repeated; any of them matches',
      examples: [['awaiting_liquidity_provider']],
    }),
  ),
  direction: Type.Optional(
    Type.Unsafe<'onramp' | 'offramp'>({ ...literals(['onramp', 'offramp']), examples: ['onramp'] }),
  ),
  ...ListingPageQuery.properties,
});

export const VendorOrderListSchema = Type.Object({
  orders: Type.Array(VendorOrderSchema),
  pagination: VendorStatementSchema.properties.pagination,
});

export const PaymentInstructionsSchema = Type.Object({
  order_id: Uuid,
  details: Type.Record(Type.String(), Type.String(), {
    examples: [{ full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' }],
  }),
});

export const VendorStatementQuery = Type.Object({
  from: Type.Optional(TimestampInput('Inclusive')),
  to: Type.Optional(TimestampInput('Exclusive')),
  ...ListingPageQuery.properties,
});

const ReceivingDetails = Type.Record(
  Type.String({ maxLength: 100 }),
  Type.String({ minLength: 1, maxLength: 500, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }),
  { maxProperties: 50, examples: [{ full_name: 'Harbour Liquidity', iban: 'DE02120300000000202051' }] },
);

export const VendorAcceptanceInput = Type.Object({
  refund_signature: GivenSignature,
  payment_details: Type.Optional(ReceivingDetails),
});

export const RefundSignatureInput = Type.Object({ refund_signature: GivenSignature });

export const ReleaseSignatureInput = Type.Object({ release_signature: GivenSignature });

export const PaymentProofInput = Type.Object({
  payment_reference: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f]+$',
    description: 'What the bank calls the payment',
    examples: ['E2E-20261115-0042'],
  }),
  content_type: Type.Optional(
    Type.Unsafe<(typeof KYC_CONTENT_TYPES)[number]>({
      type: 'string',
      enum: [...KYC_CONTENT_TYPES],
      description: 'Needed with content, and checked against it',
      examples: ['application/pdf'],
    }),
  ),
  content: Type.Optional(
    Type.String({ minLength: 1, description: 'The slip as base64; the request may have 10 MiB' }),
  ),
  release_signature: GivenSignature,
});
