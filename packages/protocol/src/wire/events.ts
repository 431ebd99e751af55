import { Type } from 'typebox';
import { PUBLISHED_ORDER_STATUSES } from '../machines/index.ts';
import { DecimalString, literals, Uuid } from './common.ts';

export const OrderStatusChangedData = Type.Object({
  order_id: Uuid,
  status: literals(PUBLISHED_ORDER_STATUSES),
  user_id: Uuid,
  crypto_amount: DecimalString,
  crypto_currency: Type.String(),
  partner_fee: Type.String({ description: 'Shortest form: 1, 0, 0.5' }),
  partner_fee_pct: Type.Number(),
  fiat_amount: DecimalString,
  fiat_currency: Type.String(),
  provider: Type.String({ examples: ['p2p'] }),
  payment_details_id: Type.Optional(Type.String()),
});

export const UserKycUpdatedData = Type.Object({
  user_id: Uuid,
  kyc_status: literals(['VERIFIED', 'REJECTED', 'UNDER_REVIEW']),
  rejection_reasons: Type.Optional(Type.Array(Type.String())),
});
