import { type OrderStatus, type TestOutcome, testOutcomeOfAmount } from '@causeway/protocol';
import { SYSTEM } from '../../db/database.ts';
import { depositOf } from '../orders/escrow/escrow.ts';
import { actOnOrder } from '../orders/lifecycle/act-on-order.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import { declineOrder } from '../vendors/serve-order.ts';
import { hasActed } from './sandbox.store.ts';
import { ACTS, type Act, byVendor, DONE, fundEscrowWith, inOneUnit, judgeProof } from './simulated-actors.ts';

/**
 * How the simulated actors treat an order whose amount is a test value (packages/protocol/src/test-values): what they do
 * in a status instead of their usual act. An event that a sandbox user asks for is not bound by it.
 */
type Conduct = Partial<Record<OrderStatus, Act>>;

const nothing: Act = async () => DONE;

const decline = byVendor((deps, unit, order) => declineOrder(deps, unit, order.order_id));

const failEscrow = inOneUnit((deps, unit, order) =>
  actOnOrder(unit, deps.orderAdapters, order.order_id, 'escrow_failed', 'system'),
);

const exceedCost = inOneUnit((deps, unit, order) =>
  actOnOrder(unit, deps.orderAdapters, order.order_id, 'cost_bound_exceeded', 'system'),
);

const dispute = byVendor((deps, unit, order) =>
  actOnOrder(unit, deps.orderAdapters, order.order_id, 'dispute_opened', 'vendor'),
);

const placeHold = inOneUnit((deps, unit, order) =>
  actOnOrder(unit, deps.orderAdapters, order.order_id, 'hold_placed', 'operator'),
);

const HELD = 'held for review';

/** Once: when an operator has released the hold, the order goes on as any other. */
const holdOnce: Act = async (deps, order, vendor) => {
  const [before] = await deps.db.query(SYSTEM, hasActed, [order.order_id, HELD]);
  if (before?.acted === true) {
    return (await ACTS[order.direction][order.status]?.(deps, order, vendor)) ?? DONE;
  }
  await placeHold(deps, order, vendor);
  return { kind: 'confirmed', result: HELD };
};

const lateTransfer = fundEscrowWith('sandbox-late-funding', depositOf);

/** An order that was cancelled before a vendor accepted it has no escrow to be late for. */
const fundLate: Act = (deps, order, vendor) =>
  order.escrow === null ? nothing(deps, order, vendor) : lateTransfer(deps, order, vendor);

const rejectOnce: Act = (deps, order, vendor) =>
  judgeProof(order.facts.proofRejections === 0 ? 'rejected' : 'accepted')(deps, order, vendor);

const ONRAMP: Readonly<Record<TestOutcome<'onramp_amount'>, Conduct>> = {
  vendor_never_accepts: { awaiting_liquidity_provider: nothing },
  vendor_declines: { awaiting_liquidity_provider: decline },
  vendor_never_funds: { awaiting_vendor_escrow_funding: nothing },
  vendor_funds_late: {
    awaiting_vendor_escrow_funding: nothing,
    cancelled: fundLate,
  },
  vendor_funds_short: {
    awaiting_vendor_escrow_funding: fundEscrowWith(
      'sandbox-short-funding',
      (order) => (depositOf(order) * 9n) / 10n,
    ),
  },
  vendor_funds_over: {
    awaiting_vendor_escrow_funding: fundEscrowWith(
      'sandbox-over-funding',
      (order) => (depositOf(order) * 11n) / 10n,
    ),
  },
  order_held: { awaiting_fiat_transfer: holdOnce },
  escrow_error: { awaiting_vendor_escrow_funding: failEscrow },
  vendor_never_confirms: { fiat_transfer_pending: nothing },
  vendor_disputes: { fiat_transfer_pending: dispute },
};

const OFFRAMP: Readonly<Record<TestOutcome<'offramp_amount'>, Conduct>> = {
  vendor_never_pays: { crypto_received: nothing },
  proof_refused_once: { fiat_payment_review_started: rejectOnce },
  proof_refused: { fiat_payment_review_started: judgeProof('rejected') },
  payout_returned: { awaiting_fiat_received_confirmation: dispute },
  cost_exceeded: { crypto_received: exceedCost },
  escrow_error: { crypto_received: failEscrow },
  order_held: { crypto_received: holdOnce },
};

/** Only the amount that was asked for is a test value, never one that was computed from it. */
function conductOf({ direction, facts, fiat_amount, fiat_decimals }: OrderRow): Conduct {
  if (facts.anchor !== 'fiat') return {};
  const amount = { atomic: BigInt(fiat_amount), decimals: fiat_decimals };
  if (direction === 'onramp') {
    const outcome = testOutcomeOfAmount('onramp_amount', amount);
    return outcome === undefined ? {} : ONRAMP[outcome];
  }
  const outcome = testOutcomeOfAmount('offramp_amount', amount);
  return outcome === undefined ? {} : OFFRAMP[outcome];
}

/** What the simulated actors do by themselves in the order's present status. */
export function ownActOn(order: OrderRow): Act | undefined {
  return conductOf(order)[order.status] ?? ACTS[order.direction][order.status];
}
