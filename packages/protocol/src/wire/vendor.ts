import { Type } from 'typebox';
import { RefundAuthorizationParametersSchema } from './authorization.ts';
import { DecimalString, EvmAddress, literals, Timestamp, Uuid } from './common.ts';
import { OrderStatusSchema } from './order.ts';

/** An order as its vendor sees it: what moves and until when, and nothing of the partner's customer. */
export const VendorOrderSchema = Type.Object({
  order_id: Uuid,
  direction: literals(['onramp', 'offramp']),
  payment_request: Type.Boolean(),
  status: OrderStatusSchema,
  crypto_currency: Type.String(),
  crypto_amount: DecimalString,
  platform_fee: DecimalString,
  fiat_currency: Type.String(),
  fiat_amount: DecimalString,
  rate: DecimalString,
  payment_method_slug: Type.String(),
  payment_network_slug: Type.String(),
  chain: Type.String(),
  escrow_address: Type.Union([EvmAddress, Type.Null()], {
    description: 'On-ramp: send exactly crypto_amount here, from the vendor’s own wallet',
  }),
  held_for_review: Type.Boolean(),
  deadline_at: Type.Union([Timestamp, Type.Null()]),
  created_at: Timestamp,
});

export const VendorSigningSchema = Type.Object({
  order_id: Uuid,
  purpose: literals(['refund', 'release']),
  escrow_address: EvmAddress,
  safe_tx_hash: Type.String(),
  typed_data: RefundAuthorizationParametersSchema.properties.typed_data,
});
