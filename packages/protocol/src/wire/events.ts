import { type Static, type TObject, Type } from 'typebox';
import { type MachineEventType, PUBLISHED_ORDER_STATUSES } from '../machines/index.ts';
import { DecimalString, literals, Nullable, Timestamp, Uuid } from './common.ts';
import { OrderReasonsSchema, OrderStatusSchema } from './order.ts';
import { VendorOrderSchema } from './vendor.ts';

/** The registry of events: what is sent, when, and what each carries in `data`. */

interface EventEntry {
  /** When it is sent, in one sentence: the reference and OpenAPI show it. */
  readonly when: string;
  readonly data: TObject;
}

export const EventId = Type.String({
  pattern: '^evt_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  examples: ['evt_0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
});

const OrderStatusChangedData = Type.Object({
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
  reference_id: Nullable(
    Type.String({ description: 'Your own reference of the order', examples: ['payout-1'] }),
  ),
  ...OrderReasonsSchema.properties,
});

/** The statuses in which the machines send an event that is not sent in all. */
export const REFUND_REQUIRED_STATUSES = ['cancelled', 'failed'] as const;
export const RELEASE_REQUIRED_STATUSES = ['dispute_started'] as const;
export const KYC_UPDATED_STATUSES = ['VERIFIED', 'REJECTED', 'UNDER_REVIEW'] as const;

const EXAMPLE_ORDER_PATH = '/api/v1/partner/orders/0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';

const OrderRefundRequiredData = Type.Object({
  ...OrderStatusChangedData.properties,
  status: literals(REFUND_REQUIRED_STATUSES),
  action_required: Type.Object({
    method: Type.Literal('POST'),
    endpoint: Type.String({
      description: 'authorize-refund of this order',
      examples: [`${EXAMPLE_ORDER_PATH}/authorize-refund`],
    }),
    parameters_endpoint: Type.String({
      description: 'refund-authorization-parameters of this order',
      examples: [`${EXAMPLE_ORDER_PATH}/refund-authorization-parameters`],
    }),
  }),
});

const OrderReleaseRequiredData = Type.Object({
  ...OrderStatusChangedData.properties,
  status: literals(RELEASE_REQUIRED_STATUSES),
  action_required: Type.Object({
    method: Type.Literal('POST'),
    endpoint: Type.String({
      description: 'authorize-release of this order',
      examples: [`${EXAMPLE_ORDER_PATH}/authorize-release`],
    }),
    parameters_endpoint: Type.String({
      description: 'release-authorization-parameters of this order',
      examples: [`${EXAMPLE_ORDER_PATH}/release-authorization-parameters`],
    }),
  }),
});

const UserKycUpdatedData = Type.Object({
  user_id: Uuid,
  kyc_status: literals(KYC_UPDATED_STATUSES),
  rejection_reasons: Type.Optional(Type.Array(Type.String())),
});

const RetailSettlementCompletedData = Type.Object({
  settlement_id: Type.String(),
  payment_id: Type.String(),
  user_id: Uuid,
  fiat_account_id: Type.String({ examples: ['retail_42'] }),
  amount: DecimalString,
  currency: Type.String(),
  collected_at: Timestamp,
});

const WebhookTestData = Type.Object({ message: Type.String() });

/** What partners are sent by webhook and read from their stream. An event that a machine can publish must be here. */
export const PARTNER_EVENTS = {
  'order.status.changed': { when: 'An order moved to a new status', data: OrderStatusChangedData },
  'order.refund.required': {
    when: 'An off-ramp order stopped without payout and its crypto is still in escrow',
    data: OrderRefundRequiredData,
  },
  'order.release.required': {
    when: 'A dispute about an on-ramp order was decided for you; your signature releases the crypto',
    data: OrderReleaseRequiredData,
  },
  'user.kyc.updated': {
    when: 'A customer’s KYC became VERIFIED, REJECTED or UNDER_REVIEW',
    data: UserKycUpdatedData,
  },
  'retail.settlement.completed': {
    when: 'A deposit on an issued account was collected into your master account',
    data: RetailSettlementCompletedData,
  },
  'webhook.test': { when: 'You asked for a test event', data: WebhookTestData },
} as const satisfies Readonly<Record<MachineEventType, EventEntry> & Record<string, EventEntry>>;

export type PartnerEventType = keyof typeof PARTNER_EVENTS;
export type PartnerEventData<T extends PartnerEventType> = Static<(typeof PARTNER_EVENTS)[T]['data']>;
export const PARTNER_EVENT_TYPES = Object.keys(PARTNER_EVENTS) as readonly PartnerEventType[];

const VendorEventData = Type.Object({
  order_id: Uuid,
  status: Type.Unsafe<string>({ ...OrderStatusSchema, description: 'The order’s status at that moment' }),
  at: Timestamp,
  order: Type.Union([VendorOrderSchema, Type.Null()], {
    description: 'The order as it is now; null where it is no longer this vendor’s',
  }),
});

/** What vendors read from their stream. The database writes them with the order (vendor_events). */
export const VENDOR_EVENTS = {
  'order.offered': { when: 'An order was offered to the vendor', data: VendorEventData },
  'order.changed': { when: 'An order of the vendor’s changed', data: VendorEventData },
  'order.withdrawn': { when: 'An order is no longer the vendor’s', data: VendorEventData },
} as const satisfies Readonly<Record<string, EventEntry>>;

export type VendorEventType = keyof typeof VENDOR_EVENTS;
export const VENDOR_EVENT_TYPES = Object.keys(VENDOR_EVENTS) as readonly VendorEventType[];

export const VendorEventSchema = Type.Object({
  cursor: Type.String({ examples: ['42'] }),
  event_type: literals(VENDOR_EVENT_TYPES),
  ...VendorEventData.properties,
});

export const VendorEventListSchema = Type.Object({
  events: Type.Array(VendorEventSchema),
  next_cursor: Type.String({ examples: ['42'] }),
  has_more: Type.Boolean(),
});
