import { Type } from 'typebox';
import { PUBLISHED_ORDER_STATUSES } from '../machines/index.ts';
import { DecimalString, literals, Timestamp, Uuid } from './common.ts';

/** What each event carries in `data`. */

export const PARTNER_EVENT_TYPES = [
  'order.status.changed',
  'order.refund.required',
  'order.release.required',
  'user.kyc.updated',
  'retail.settlement.completed',
  'webhook.test',
] as const;

export const EventId = Type.String({
  pattern: '^evt_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  examples: ['evt_0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
});

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
  payment_details_id: Type.String({
    description: 'Off-ramp to the customer’s own profile: its id; empty otherwise',
    examples: ['42'],
  }),
});

export const OrderRefundRequiredData = Type.Object({
  ...OrderStatusChangedData.properties,
  status: literals(['cancelled']),
  action_required: Type.Object({
    method: Type.Literal('POST'),
    endpoint: Type.String({ description: 'authorize-refund of this order' }),
    parameters_endpoint: Type.String({ description: 'refund-authorization-parameters of this order' }),
  }),
});

export const OrderReleaseRequiredData = Type.Object({
  ...OrderStatusChangedData.properties,
  status: literals(['dispute_started']),
  action_required: Type.Object({
    method: Type.Literal('POST'),
    endpoint: Type.String({ description: 'authorize-release of this order' }),
    parameters_endpoint: Type.String({ description: 'release-authorization-parameters of this order' }),
  }),
});

export const UserKycUpdatedData = Type.Object({
  user_id: Uuid,
  kyc_status: literals(['VERIFIED', 'REJECTED', 'UNDER_REVIEW']),
  rejection_reasons: Type.Optional(Type.Array(Type.String())),
});

export const RetailSettlementCompletedData = Type.Object({
  settlement_id: Type.String(),
  payment_id: Type.String(),
  user_id: Uuid,
  fiat_account_id: Type.String({ examples: ['retail_42'] }),
  amount: DecimalString,
  currency: Type.String(),
  collected_at: Timestamp,
});

export const WebhookTestData = Type.Object({ message: Type.String() });
