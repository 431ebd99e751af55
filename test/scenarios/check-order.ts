import { expect } from 'vitest';
import {
  type Direction,
  expiryOf,
  publishedOf,
  readingOf,
  type Situation,
  type Stop,
} from './order-contract.ts';

// biome-ignore lint/suspicious/noExplicitAny: orders are read as the wire has them
export type WireOrder = any;

export interface StoredEvent {
  readonly event_type: string;
  readonly body: string;
}

const pathOf = (orderId: string) => `/api/v1/partner/orders/${orderId}`;

/** `allowed_actions`, `next_action` and `action_required` are the contract's. */
export function checkReading(direction: Direction, order: WireOrder, situation: Situation): void {
  const { allowed, next, required } = readingOf(direction, order.status, situation);
  const { status, allowed_actions, next_action, action_required } = order;
  expect({ status, allowed_actions: [...allowed_actions].sort(), next_action, action_required }).toEqual({
    status,
    allowed_actions: [...allowed].sort(),
    next_action: next,
    action_required: required === undefined ? null : requiredOf(order.order_id, required),
  });
}

function requiredOf(orderId: string, required: { action: string; parameters?: string }) {
  const { action, parameters } = required;
  return {
    method: 'POST',
    endpoint: `${pathOf(orderId)}/${action}`,
    ...(parameters === undefined ? {} : { parameters_endpoint: `${pathOf(orderId)}/${parameters}` }),
  };
}

/** D13: why it stopped, why it is held and until when it waits, as far as the present moment goes. */
export function checkReasons(
  direction: Direction,
  order: WireOrder,
  situation: Situation,
  stopped: Stop | undefined,
): void {
  const { failure, cancelled_by, hold, expires_at, timeline } = order;
  const isPaused =
    situation.held === true || (order.status === 'fiat_payment_started' && situation.proofPending !== false);
  expect({ failure, cancelled_by, hold, expires_at }).toEqual({
    failure:
      stopped === undefined
        ? null
        : {
            code: stopped.failure,
            message: expect.stringMatching(/^[A-Z].+\.$/),
            retryable: stopped.retryable,
          },
    cancelled_by: stopped?.cancelledBy ?? null,
    hold: situation.held
      ? {
          reason: situation.holdReason ?? 'COMPLIANCE_REVIEW',
          since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        }
      : null,
    expires_at: isPaused
      ? null
      : situation.wasHeld
        ? expect.any(String)
        : expiryOf(direction, timeline.at(-1)),
  });
  if (situation.wasHeld) expect(expires_at > (expiryOf(direction, timeline.at(-1)) ?? '')).toBe(true);
}

export function checkTimeline(order: WireOrder, expected: readonly string[]): void {
  const entries: { status: string; at: string }[] = order.timeline;
  expect(entries.map(({ status }) => status)).toEqual(expected);
  const times = entries.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
}

/** Each published status once and in order, the refund asked for once where it is owed, nothing else. */
export function checkOutbox(
  order: WireOrder,
  stored: readonly StoredEvent[],
  timeline: readonly string[],
  refund: 'asked for' | 'perhaps asked for' | 'never asked for',
  wasHeld = false,
): void {
  const events = stored.map(({ event_type, body }) => ({ type: event_type, envelope: JSON.parse(body) }));
  const changes = events.filter(({ type }) => type === 'order.status.changed');
  const refunds = events.filter(({ type }) => type === 'order.refund.required');
  expect(changes.map(({ envelope }) => envelope.data.status)).toEqual(publishedOf(timeline));
  expect(refunds.length).toBeLessThanOrEqual(refund === 'never asked for' ? 0 : 1);
  expect(refunds.length).toBeGreaterThanOrEqual(refund === 'asked for' ? 1 : 0);
  expect(events).toHaveLength(changes.length + refunds.length);
  for (const { type, envelope } of events) checkEvent(order, type, envelope);
  for (const { envelope } of events) checkEventReasons(order, envelope.data);
  // Written with the status, so it tells of the same wait; a hold or a proof may have stopped that since.
  const latest = changes.at(-1)?.envelope.data;
  if (latest?.status === order.status && order.expires_at !== null && !wasHeld) {
    expect(latest.expires_at).toBe(order.expires_at);
  }
}

/** C6, field by field, against what the partner reads. */
function checkEvent(order: WireOrder, type: string, envelope: WireOrder): void {
  expect(envelope).toMatchObject({
    event_id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
    event_type: type,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  });
  const { amounts, fee_breakdown: fees, payment_details_id: detailsId } = order;
  expect(envelope.data).toMatchObject({
    order_id: order.order_id,
    user_id: order.user_id,
    crypto_amount: amounts.crypto_amount,
    crypto_currency: amounts.crypto_currency,
    partner_fee: fees.partner_fee.replace(/\.?0+$/, '') || '0',
    partner_fee_pct: fees.partner_fee_pct,
    fiat_amount: amounts.fiat_amount,
    fiat_currency: amounts.fiat_currency,
    provider: expect.stringMatching(/^(p2p|direct)$/),
    payment_details_id: detailsId === undefined ? '' : String(detailsId),
  });
  if (type !== 'order.refund.required') return;
  expect(envelope.data).toMatchObject({
    status: expect.stringMatching(/^(cancelled|failed)$/),
    action_required: {
      endpoint: `${pathOf(order.order_id)}/authorize-refund`,
      parameters_endpoint: `${pathOf(order.order_id)}/refund-authorization-parameters`,
    },
  });
}

/** D13: an event says what was true when it was written; what stopped the order stays true. */
function checkEventReasons(order: WireOrder, data: WireOrder): void {
  const isStopped = data.status === 'cancelled' || data.status === 'failed';
  expect(data).toMatchObject({
    reference_id: order.reference_id,
    failure: isStopped ? order.failure : null,
    cancelled_by: isStopped ? order.cancelled_by : null,
  });
  for (const field of ['hold', 'expires_at']) expect(data).toHaveProperty(field);
}
