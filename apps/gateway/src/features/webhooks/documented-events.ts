import {
  OrderRefundRequiredData,
  OrderReleaseRequiredData,
  OrderStatusChangedData,
  RetailSettlementCompletedData,
  UserKycUpdatedData,
  WebhookTestData,
} from '@causeway/protocol';
import type { DocumentedEvent } from '../../http/openapi.ts';

/** Every event a partner can receive, as the reference publishes it. */
export const DOCUMENTED_EVENTS: readonly DocumentedEvent[] = [
  {
    eventType: 'order.status.changed',
    summary: 'An order moved to a new status',
    data: OrderStatusChangedData,
  },
  {
    eventType: 'order.refund.required',
    summary: 'An off-ramp order stopped without payout and its crypto is still in escrow',
    data: OrderRefundRequiredData,
  },
  {
    eventType: 'order.release.required',
    summary: 'A dispute about an on-ramp order was decided for you; your signature releases the crypto',
    data: OrderReleaseRequiredData,
  },
  {
    eventType: 'user.kyc.updated',
    summary: 'A customer’s KYC became VERIFIED, REJECTED or UNDER_REVIEW',
    data: UserKycUpdatedData,
  },
  {
    eventType: 'retail.settlement.completed',
    summary: 'A deposit on an issued account was collected into your master account',
    data: RetailSettlementCompletedData,
  },
  {
    eventType: 'webhook.test',
    summary: 'You asked for a test event',
    data: WebhookTestData,
  },
];
