import {
  DecimalString,
  EvmAddress,
  literals,
  OrderFundsSchema,
  OrderStatusSchema,
  Timestamp,
  Uuid,
  VendorOrderDetailSchema,
} from '@causeway/protocol';
import { Type } from 'typebox';
import { EffectSchema } from './system/stuck-effects.ts';

const Text = (example: string) => Type.String({ examples: [example] });
const OrNull = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** An order as the operator sees it: everything but the people. */
export const OperatorOrderSchema = Type.Object({
  order_id: Uuid,
  partner_id: Uuid,
  user_id: Uuid,
  quote_id: Uuid,
  vendor_id: OrNull(Uuid),
  order_type: literals(['onramp', 'offramp', 'payment_request']),
  direction: literals(['onramp', 'offramp']),
  origin: literals(['api', 'widget']),
  reference_id: OrNull(Type.String()),
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
  escrow_address: OrNull(EvmAddress),
  escrow_state: literals(['none', 'funded', 'releasing', 'refunding', 'emptied']),
  tx_hash: OrNull(Type.String()),
  send_out_tx_hash: OrNull(Type.String()),
  deadline_at: OrNull(Timestamp),
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
      tx_hash: OrNull(Type.String()),
      issued_at: Timestamp,
      expires_at: Timestamp,
    }),
  ),
  effects: Type.Array(EffectSchema),
  transactions: Type.Array(
    Type.Object({
      effect: Text('escrow.release'),
      chain_id: Type.Integer({ examples: [8453] }),
      status: literals(['open', 'succeeded', 'reverted']),
      sender: EvmAddress,
      nonce: Type.Integer({ examples: [17] }),
      tx_hash: OrNull(Type.String()),
      versions: Type.Integer({
        description: 'How often it was signed, each time for more gas',
        examples: [1],
      }),
      created_at: Timestamp,
      settled_at: OrNull(Timestamp),
    }),
  ),
  webhooks: Type.Array(
    Type.Object({
      event_id: Text('evt_0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'),
      event_type: Text('order.status.changed'),
      status: OrNull(Type.String()),
      created_at: Timestamp,
      deliveries: Type.Array(
        Type.Object({
          id: Uuid,
          status: literals(['pending', 'delivered', 'failed', 'cancelled']),
          attempts: Type.Integer({ examples: [1] }),
          http_status: OrNull(Type.Integer({ examples: [200] })),
        }),
      ),
    }),
  ),
  proofs: Type.Array(
    Type.Object({
      proof_id: Uuid,
      vendor_id: Uuid,
      verdict: OrNull(literals(['accepted', 'rejected'])),
      submitted_at: Timestamp,
      reviewed_at: OrNull(Timestamp),
    }),
  ),
  compliance_case_id: OrNull(Uuid),
  audit: Type.Array(
    Type.Object({
      operator_key_id: Uuid,
      action: Text('order.hold.place'),
      reason: Text('Documents checked by hand, ticket 4711'),
      at: Timestamp,
    }),
  ),
});
