import type { DeliveryList, Estimate, ListedEvent, Order, OrderFunds } from '@causeway/sdk';
import { CODES } from '../generated/codes.ts';
import { cleanForeignText } from './redact.ts';

/** What a model is shown of the API's answers: named fields only, so that a field that is added tomorrow is not shown by itself. */

/** Movements, deposits and the like of one order; more are rare and would drown the rest. */
const MOST_PARTS = 20;

export type Shown = Record<string, unknown>;

export function orderView(order: Order): Shown {
  return {
    ...orderLine(order),
    quote_id: order.quote_id,
    user_uuid: order.user_id,
    fee_breakdown: order.fee_breakdown,
    payment_method_slug: order.payment_method_slug,
    payment_network_slug: order.payment_network_slug,
    ...(order.fiat_funding_source === undefined ? {} : { fiat_funding_source: order.fiat_funding_source }),
    timeline: order.timeline.map(({ status, at }) => ({ status, at })),
    allowed_actions: order.allowed_actions,
    action_required: order.action_required,
    // Which fields there are helps; what they say is somebody's account.
    vendor_payment_fields: Object.keys(order.vendor_payment_details ?? {}),
    ...(order.payment_details_id === undefined ? {} : { payment_details_id: order.payment_details_id }),
    ...recipientOf(order),
    tx_hash: order.tx_hash,
    send_out_tx_hash: order.send_out_tx_hash ?? null,
    updated_at: order.updated_at,
  };
}

/** An order in a list. */
export function orderLine(order: Order): Shown {
  const { failure, hold } = order;
  return {
    order_id: order.order_id,
    order_type: order.order_type,
    status: order.status,
    next_action: order.next_action,
    reference_id: order.reference_id === null ? null : cleanForeignText(order.reference_id, 100),
    amounts: order.amounts,
    failure: failure === null ? null : { ...failureOf(failure), explanation: explained(failure.code) },
    cancelled_by: order.cancelled_by,
    hold:
      hold === null ? null : { reason: hold.reason, since: hold.since, explanation: explained(hold.reason) },
    expires_at: order.expires_at,
    created_at: order.created_at,
  };
}

function failureOf({ code, message, retryable }: NonNullable<Order['failure']>): Shown {
  return { code, message, retryable };
}

function explained(code: string): string | null {
  return CODES[code]?.doc ?? null;
}

function recipientOf({ recipient_context: context }: Order): Shown {
  if (context === undefined || context === null) return {};
  const { recipient, destination } = context;
  return {
    recipient: {
      recipient_id: recipient.recipient_id,
      recipient_kind: recipient.recipient_kind,
      recipient_country: recipient.recipient_country,
      screening_status: recipient.screening_status,
      recipient_destination_id: destination.recipient_destination_id,
      rail: destination.rail,
      currency: destination.currency,
    },
  };
}

export function fundsView(funds: OrderFunds): Shown {
  const { escrow } = funds;
  return {
    order_id: funds.order_id,
    status: funds.status,
    summary: funds.summary,
    crypto_currency: funds.crypto_currency,
    chain: funds.chain,
    held_for_review: funds.held_for_review,
    escrow: escrow === null ? null : escrowOf(escrow),
    deposits: funds.deposits.slice(0, MOST_PARTS).map((deposit) => ({
      deposit_id: deposit.deposit_id,
      status: deposit.status,
      says: deposit.says,
      kind: deposit.kind,
      token: deposit.token,
      amount: deposit.amount,
      tx_hash: deposit.tx_hash,
      observed_at: deposit.observed_at,
    })),
    movements: funds.movements.slice(-MOST_PARTS).map(({ kind, at, postings }) => ({
      kind,
      at,
      postings: postings.map(({ account, asset, amount }) => ({ account, asset, amount })),
    })),
    waiting_for: funds.waiting_for,
    deadline_at: funds.deadline_at,
    who_can_move_it: funds.who_can_move_it,
    truncated: funds.deposits.length > MOST_PARTS || funds.movements.length > MOST_PARTS,
  };
}

function escrowOf({ balances, owners, ...escrow }: NonNullable<OrderFunds['escrow']>): Shown {
  return {
    address: escrow.address,
    state: escrow.state,
    expected_amount: escrow.expected_amount,
    booked_amount: escrow.booked_amount,
    balance_on_chain: escrow.balance_on_chain,
    held_amount: escrow.held_amount,
    balances: balances.slice(0, MOST_PARTS).map(({ token_address, token, amount, amount_atomic }) => ({
      ...{ token_address, token, amount, amount_atomic },
    })),
    owners: { service: owners.service, seller: owners.seller, buyer: owners.buyer },
  };
}

export function estimateView(estimate: Estimate): Shown {
  return {
    rate: estimate.rate,
    crypto_amount: estimate.crypto_amount,
    fiat_amount: estimate.fiat_amount,
    fee_breakdown: estimate.fee_breakdown,
    payment_method_slug: estimate.payment_method_slug,
    payment_network_slug: estimate.payment_network_slug,
    provider_scope: estimate.provider_scope,
    is_indicative: estimate.is_indicative,
  };
}

export function deliveryView(delivery: DeliveryList['deliveries'][number]): Shown {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpoint_id,
    event_id: delivery.event_id,
    event_type: delivery.event_type,
    subject_id: delivery.subject_id,
    status: delivery.status,
    attempts: delivery.attempts.slice(-5).map(({ at, http_status, duration_ms, error, response }) => ({
      at,
      http_status,
      duration_ms,
      error,
      response: response === null ? null : cleanForeignText(response, 200),
    })),
    attempts_made: delivery.attempts.length,
    next_attempt_at: delivery.next_attempt_at,
    replay_of: delivery.replay_of,
    created_at: delivery.created_at,
  };
}

/** Fields of all event types that say nothing about a person. */
const EVENT_FIELDS = [
  ...['order_id', 'status', 'user_id', 'crypto_amount', 'crypto_currency', 'fiat_amount', 'fiat_currency'],
  ...[
    'partner_fee',
    'partner_fee_pct',
    'payment_details_id',
    'failure',
    'cancelled_by',
    'hold',
    'expires_at',
  ],
  ...[
    'action_required',
    'kyc_status',
    'settlement_id',
    'payment_id',
    'fiat_account_id',
    'amount',
    'currency',
  ],
  ...['collected_at'],
];

export function eventView({ cursor, event_id, event_type, created_at, data }: ListedEvent): Shown {
  const known: Readonly<Record<string, unknown>> = { ...data };
  const shown = EVENT_FIELDS.filter((name) => name in known).map((name) => [name, known[name]]);
  return { cursor, event_id, event_type, created_at, data: Object.fromEntries(shown) };
}
