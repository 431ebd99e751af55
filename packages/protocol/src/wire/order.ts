import { Type } from 'typebox';
import {
  CANCELLERS,
  type Canceller,
  FAILURE_CODES,
  type FailureCode,
  HOLD_REASON_CODES,
  type HoldReason,
} from '../failures/index.ts';
import {
  additiveStatuses,
  NEXT_ACTIONS,
  ORDER_STATUSES,
  type OrderStatus,
  PARTNER_ACTIONS,
} from '../machines/index.ts';
import { ForwardRequestInput } from './authorization.ts';
import { DecimalString, literals, Nullable, NumericId, Timestamp, TimestampInput, Uuid } from './common.ts';
import { PageInput, PageSchema } from './paging.ts';
import { ANCHOR_TYPES, FeeBreakdownSchema } from './quote.ts';
import { DestinationSchema, RecipientSchema } from './recipient.ts';

const ADDITIONS = additiveStatuses('onramp').join(' and ');

export const OrderStatusSchema = Type.Unsafe<OrderStatus>({
  ...literals(ORDER_STATUSES),
  description: `Additions to the contract's list: an on-ramp order passes through ${ADDITIONS} between fiat_transfer_pending and completed. Treat a status you do not know as "wait". No webhook carries one.`,
});

/** Why an order ended without a trade. */
export const OrderFailureSchema = Type.Object({
  code: Type.Unsafe<FailureCode>({
    ...literals(FAILURE_CODES),
    description: 'From the catalogue of failures; new codes may be added',
    examples: ['NO_VENDOR_ACCEPTED'],
  }),
  message: Type.String({
    description: 'For people; may be reworded at any time',
    examples: ['No vendor accepted the order in time.'],
  }),
  retryable: Type.Boolean({ description: 'Whether a new order with the same request may succeed' }),
});

export const OrderHoldSchema = Type.Object({
  reason: Type.Unsafe<HoldReason>({
    ...literals(HOLD_REASON_CODES),
    description: 'From the catalogue of hold reasons; new ones may be added',
    examples: ['COMPLIANCE_REVIEW'],
  }),
  since: Timestamp,
});

/** Why the order is as it is: additions to the contract, the same in REST and in every order event. */
export const OrderReasonsSchema = Type.Object({
  failure: Type.Union([OrderFailureSchema, Type.Null()], {
    description: 'Set where the order is cancelled or failed; null otherwise',
  }),
  cancelled_by: Type.Union([Type.Unsafe<Canceller>(literals(CANCELLERS)), Type.Null()], {
    description: 'Who ended a cancelled order; system: its time was up. Null unless it is cancelled',
  }),
  hold: Type.Union([OrderHoldSchema, Type.Null()], {
    description:
      'Set while the order is held for review: money stays where it is until an operator releases it',
  }),
  expires_at: Type.Union([Timestamp, Type.Null()], {
    description:
      'When the current wait times out; null where the status has no time-out, or a hold or a proof under review has stopped it',
  }),
});

export const OrderSchema = Type.Object({
  order_id: Uuid,
  status: OrderStatusSchema,
  quote_id: Uuid,
  user_id: Uuid,
  reference_id: Nullable(Type.String()),
  order_type: literals(['onramp', 'offramp', 'payment_request']),
  payment_request: Type.Boolean(),
  fiat_funding_source: Type.Optional(literals(['own_iban', 'vendor_details'])),
  has_fiat_settlement_notification: Type.Boolean(),
  anchor_type: Type.Optional(literals(ANCHOR_TYPES)),
  amounts: Type.Object({
    crypto_amount: DecimalString,
    fiat_amount: DecimalString,
    crypto_currency: Type.String(),
    fiat_currency: Type.String(),
    rate: DecimalString,
  }),
  fee_breakdown: FeeBreakdownSchema,
  payment_method_slug: Type.String(),
  payment_network_slug: Type.String(),
  timeline: Type.Array(Type.Object({ status: OrderStatusSchema, at: Timestamp })),
  allowed_actions: Type.Array(literals(PARTNER_ACTIONS)),
  next_action: literals(NEXT_ACTIONS),
  action_required: Nullable(
    Type.Object({
      method: Type.Literal('POST'),
      endpoint: Type.String(),
      parameters_endpoint: Type.Optional(Type.String()),
    }),
  ),
  vendor_payment_details: Type.Optional(Type.Record(Type.String(), Type.String())),
  payment_details_id: Type.Optional(Type.Integer()),
  recipient_context: Type.Optional(
    Nullable(Type.Object({ recipient: RecipientSchema, destination: DestinationSchema })),
  ),
  ...OrderReasonsSchema.properties,
  tx_hash: Nullable(Type.String()),
  send_out_tx_hash: Type.Optional(Nullable(Type.String())),
  created_at: Timestamp,
  updated_at: Timestamp,
});

/** What an action answers: enough to go on, without the fees. */
export const CompactOrderSchema = Type.Object({ order_id: Uuid, status: OrderStatusSchema });

export const OrderQuery = Type.Object({
  ...PageInput.properties,
  status: Type.Optional(
    Type.Array(OrderStatusSchema, { maxItems: 30, description: 'May be repeated; any of them matches' }),
  ),
  order_type: Type.Optional(literals(['onramp', 'offramp', 'payment_request'])),
  user_uuid: Type.Optional(Uuid),
  reference_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  created_from: Type.Optional(TimestampInput('Inclusive')),
  created_to: Type.Optional(TimestampInput('Exclusive')),
});

export const OrderListSchema = Type.Object({ orders: Type.Array(OrderSchema), pagination: PageSchema });

export const InitiateInput = Type.Object({
  quote_id: Uuid,
  reference_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
});

/** Any text: what is no signature is refused as a wrong one, once the order is known to want one. */
export const GivenSignature = Type.String({
  maxLength: 1_000,
  description: 'EIP-712 signature, 65 bytes as hex with 0x prefix',
});

export const RefundAnswerSchema = Type.Object({
  order_id: Uuid,
  status: OrderStatusSchema,
  tx_hash: Type.Optional(Type.String({ description: 'Absent while the refund is in flight' })),
});

/** The body may be left out. */
export const CancelOrderInput = Type.Optional(
  Type.Union([Type.Object({ reason: Type.Optional(Type.String({ maxLength: 500 })) }), Type.Null()]),
);

export const PayerDetailsInput = Type.Object({
  payment_details_id: Type.Optional(NumericId),
  payment_details: Type.Optional(Type.Record(Type.String({ maxLength: 100 }), Type.Unknown())),
});

export const SignatureInput = Type.Object({ signature: GivenSignature });

export const TransferAuthorizationInput = Type.Object({
  forward_request: ForwardRequestInput,
  signature: GivenSignature,
});

const sendOutDestination = {
  destination_chain: Type.String({ maxLength: 100, examples: ['arbitrum-one'] }),
  destination_address: Type.String({ maxLength: 100 }),
};

export const BridgeAuthorizationQuery = Type.Partial(Type.Object(sendOutDestination));

export const BridgeAuthorizationInput = Type.Object({
  ...sendOutDestination,
  forward_request: ForwardRequestInput,
  signature: GivenSignature,
});

/** What the signature of an owner of an escrow pays out. */
export const EscrowPurpose = literals(['refund', 'release']);

export const EscrowPurposeQuery = Type.Object({
  purpose: Type.Unsafe<'refund' | 'release'>({ ...EscrowPurpose, examples: ['refund'] }),
});
