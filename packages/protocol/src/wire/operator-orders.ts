import { Type } from 'typebox';
import { CHAIN_TRANSACTION_STATUSES } from '../machines/not-machines.ts';
import { DecimalString, EvmAddress, literals, Nullable, Timestamp, TimestampInput, Uuid } from './common.ts';
import { OrderFundsSchema } from './funds.ts';
import { oneOf, Reason } from './operator.ts';
import { AuditActor, AuditState, EffectSchema } from './operator-system.ts';
import { EscrowPurpose, GivenSignature, OrderReasonsSchema, OrderStatusSchema } from './order.ts';
import { CursorPage, CursorQuery, OffsetPage } from './paging.ts';
import {
  DisputeStatementRecordSchema,
  DisputeStatementSchema,
  VENDOR_DECLINE_REASONS,
  VendorOrderDetailSchema,
  VendorProofSchema,
} from './vendor.ts';

/** Orders as an operator reads and decides them. */

const Text = (example: string) => Type.String({ examples: [example] });

/** An order as the operator sees it: everything but the people. */
export const OperatorOrderSchema = Type.Object({
  order_id: Uuid,
  partner_id: Uuid,
  user_id: Uuid,
  quote_id: Uuid,
  vendor_id: Nullable(Uuid),
  order_type: literals(['onramp', 'offramp', 'payment_request']),
  direction: literals(['onramp', 'offramp']),
  origin: literals(['api', 'widget']),
  reference_id: Nullable(Type.String()),
  status: OrderStatusSchema,
  held_for_review: Type.Boolean(),
  kyc_status: Text('VERIFIED'),
  crypto_currency: Text('USDC'),
  crypto_amount: DecimalString,
  fiat_currency: Text('EUR'),
  fiat_amount: DecimalString,
  rate: DecimalString,
  platform_fee: DecimalString,
  partner_fee: DecimalString,
  payment_method_slug: Text('sepa'),
  payment_network_slug: Text('iban-sepa'),
  chain: Text('base-mainnet'),
  escrow_address: Nullable(EvmAddress),
  escrow_state: literals(['none', 'funded', 'releasing', 'refunding', 'emptied']),
  tx_hash: Nullable(Type.String()),
  send_out_tx_hash: Nullable(Type.String()),
  deadline_at: Nullable(Timestamp),
  ...OrderReasonsSchema.properties,
  created_at: Timestamp,
  updated_at: Timestamp,
});

const Funding = VendorOrderDetailSchema.properties.funding.anyOf[0];

/** Everything that was written about an order, in one answer. */
export const OrderAuditTrailSchema = Type.Object({
  order: OperatorOrderSchema,
  timeline: Type.Array(
    Type.Object({
      status: OrderStatusSchema,
      at: Timestamp,
      decision: Type.Optional(
        Type.Literal('kyc_waived', {
          description: 'Not a change of status: an operator let the payout go on without the customer’s KYC',
        }),
      ),
    }),
  ),
  facts: Type.Record(Type.String(), Type.Union([Type.String(), Type.Boolean(), Type.Number()]), {
    description: 'What besides the status decides what may happen next',
    examples: [{ held: false, escrow: 'funded', proofRejections: 0 }],
  }),
  allowed_actions: Type.Array(Type.String(), {
    description: 'What an operator can do with it now: endpoint and decision',
    examples: [['hold:place', 'dispute:open']],
  }),
  funds: OrderFundsSchema,
  signatures: Type.Array(Type.Object({ purpose: literals(['refund', 'release']), signer: EvmAddress }), {
    description: 'Of the escrow’s owners other than the service',
  }),
  deposits: Funding.properties.deposits,
  authorizations: Type.Array(
    Type.Object({
      purpose: literals(['funding', 'bridge']),
      status: literals(['issued', 'authorized', 'spent', 'lapsed']),
      nonce: Text('4'),
      amount_atomic: Text('108108108'),
      recipient: EvmAddress,
      tx_hash: Nullable(Type.String()),
      issued_at: Timestamp,
      expires_at: Timestamp,
    }),
  ),
  effects: Type.Array(EffectSchema),
  transactions: Type.Array(
    Type.Object({
      effect: Text('escrow.release'),
      chain_id: Type.Integer({ examples: [8453] }),
      status: literals(CHAIN_TRANSACTION_STATUSES),
      sender: EvmAddress,
      nonce: Type.Integer({ examples: [17] }),
      tx_hash: Nullable(Type.String()),
      versions: Type.Integer({
        description: 'How often it was signed, each time for more gas',
        examples: [1],
      }),
      created_at: Timestamp,
      settled_at: Nullable(Timestamp),
    }),
  ),
  webhooks: Type.Array(
    Type.Object({
      event_id: Text('evt_0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'),
      event_type: Text('order.status.changed'),
      status: Nullable(Type.String()),
      created_at: Timestamp,
      deliveries: Type.Array(
        Type.Object({
          id: Uuid,
          status: literals(['pending', 'delivered', 'failed', 'cancelled']),
          attempts: Type.Integer({ examples: [1] }),
          http_status: Nullable(Type.Integer({ examples: [200] })),
        }),
      ),
    }),
  ),
  proofs: Type.Array(VendorProofSchema),
  dispute_statements: Type.Array(DisputeStatementRecordSchema, {
    description: 'When vendors said something in a dispute; the words are shown by reveal',
  }),
  declines: Type.Array(
    Type.Object({ vendor_id: Uuid, reason: literals(VENDOR_DECLINE_REASONS), at: Timestamp }),
    { description: 'Vendors that left the order to others and said why' },
  ),
  compliance_case_id: Nullable(Uuid),
  audit: Type.Array(
    Type.Object({
      operator_key_id: Nullable(Uuid),
      operator_user_id: Nullable(Uuid),
      actor: AuditActor,
      action: Text('order.hold.place'),
      reason: Text('Documents checked by hand, ticket 4711'),
      before: AuditState,
      after: AuditState,
      at: Timestamp,
    }),
  ),
});

export const OperatorOrderQuery = Type.Object({
  status: Type.Optional(
    Type.Array(OrderStatusSchema, {
      maxItems: 30,
      description: 'May be repeated; any of them matches',
      examples: [['dispute_started']],
    }),
  ),
  partner_id: Type.Optional(Uuid),
  vendor_id: Type.Optional(Uuid),
  user_uuid: Type.Optional(Uuid),
  reference_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'The partner’s own', examples: ['payout-1'] }),
  ),
  direction: Type.Optional(oneOf(['onramp', 'offramp'])),
  held: Type.Optional(Type.Boolean({ description: 'Held for review', examples: [true] })),
  stuck: Type.Optional(
    Type.Boolean({
      description: 'Has an effect that failed, is unknown or late, or a mismatched deposit',
      examples: [true],
    }),
  ),
  created_from: Type.Optional(TimestampInput('Inclusive')),
  created_to: Type.Optional(TimestampInput('Exclusive')),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Anything that names orders: an id of the order, its quote, effect, deposit, customer, partner or vendor; a transaction’s hash; an escrow’s address; the partner’s reference',
      examples: ['0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
    }),
  ),
  ...CursorQuery.properties,
});

export const OperatorOrderListSchema = Type.Object({
  orders: Type.Array(OperatorOrderSchema),
  pagination: CursorPage,
});

export const ProofReviewListSchema = Type.Object({
  reviews: Type.Array(
    Type.Object({
      proof_id: Uuid,
      order_id: Uuid,
      partner_id: Uuid,
      vendor_id: Uuid,
      order_status: OrderStatusSchema,
      submitted_at: Timestamp,
    }),
  ),
  pagination: OffsetPage,
});

export const RevealedProofSchema = Type.Object({
  proof_id: Uuid,
  order_id: Uuid,
  payment_reference: Type.String({ examples: ['E2E-20261115-0042'] }),
  content_type: Type.Union([Type.String(), Type.Null()], { examples: ['application/pdf'] }),
  content: Type.Union([Type.String(), Type.Null()], { description: 'Base64' }),
});

export const RevealedDisputeStatementsSchema = Type.Object({
  order_id: Uuid,
  statements: Type.Array(DisputeStatementSchema),
});

export const OrderHoldInput = Type.Object({
  decision: literals(['place', 'release']),
  override_kyc: Type.Optional(Type.Boolean({ description: 'With release only', examples: [false] })),
  reason: Reason,
});

export const OrderDisputeInput = Type.Object({
  decision: literals(['open', 'for_buyer', 'for_seller']),
  reason: Reason,
});

export const ProofReviewInput = Type.Object({
  decision: literals(['start', 'accepted', 'rejected']),
  reason: Reason,
});

export const OwnerSignatureInput = Type.Object({
  purpose: EscrowPurpose,
  signature: GivenSignature,
  reason: Reason,
});

export const SendOutDecisionInput = Type.Object({
  outcome: literals(['settled', 'failed']),
  tx_hash: Type.Optional(
    Type.String({
      pattern: '^0x[0-9a-fA-F]{64}$',
      description: 'The payout on the other chain; with settled, and only with it',
      examples: [`0x${'5c'.repeat(32)}`],
    }),
  ),
  reason: Reason,
});
