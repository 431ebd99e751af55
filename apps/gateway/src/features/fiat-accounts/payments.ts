import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { IncomingPayment } from '../../ports/banking.ts';
import type { Vaults } from '../../vault/vault.ts';
import { loadOrderForAction } from '../orders/lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../orders/lifecycle/order.adapter.ts';
import { hasStopped, type OrderRow } from '../orders/lifecycle/order.ts';
import {
  holdForDeposit,
  ordersAwaitingDeposit,
  payByDeposit,
  releaseDepositHold,
  releaseIfAwaiting,
} from '../orders/lifecycle/payment-request.ts';
import { lockUserIfAny, userKeyOwner, vaultOfUser } from '../users/user.ts';
import { isSound, matchDeposit } from './deposit-matching.ts';
import { accountByReference, type PaidAccountRow } from './fiat-account.store.ts';
import { ledgerAccountOf, type PaymentDetails, paymentContext, paymentDetailsOf } from './fiat-account.ts';
import {
  mayMatch,
  type PaymentDraft,
  reportOnPayment,
  undoMatch,
  writePayment,
} from './fiat-payment.adapter.ts';
import {
  countHeldPayments,
  findPayment,
  listHeldPayments,
  lockFunds,
  ordersThatWaitFor,
  ordersToRelease,
  type PaymentRow,
  paymentByTransaction,
  paymentOfOrder,
} from './fiat-payment.store.ts';

export interface DepositDeps {
  readonly orderAdapters: OrderAdapters;
  readonly vaults: Vaults;
}

/**
 * Takes a transfer that the bank reports, once however often it does. Under one lock of customer and currency: the one
 * order that waits for this amount is paid by it; where there are several, the one is held, or the bank asks for a review,
 * a person decides; where there is none the money stays on the account, or goes to the partner where collection is switched on. Undefined where
 * it is no payment into an account of ours.
 */
export async function takeDeposit(
  deps: DepositDeps,
  unit: UnitOfWork,
  given: IncomingPayment,
): Promise<PaymentRow | undefined> {
  if (!isSound(given)) return undefined;
  const [account] = await unit.tx.query(accountByReference, [given.accountReference]);
  if (account === undefined || account.currency !== given.currency) return undefined;
  const [, [known]] = await unit.tx.queryBoth(
    lockFunds,
    [account.user_id, account.currency],
    paymentByTransaction,
    [given.transactionId],
  );
  if (known !== undefined) return known;
  const orders = await ordersAwaitingDeposit(unit, account.user_id, account.currency, given.amount);
  return take(deps, unit, account, given, orders);
}

function draftPayment(
  { vaults }: DepositDeps,
  unit: UnitOfWork,
  account: PaidAccountRow,
  given: IncomingPayment,
): PaymentDraft {
  const paymentId = unit.ids.uuid();
  const key = account.data_key_sealed;
  const details = JSON.stringify({ sender_name: given.senderName, reference: given.reference });
  return {
    payment_id: paymentId,
    partner_id: account.partner_id,
    user_id: account.user_id,
    account_number: account.account_number,
    currency: account.currency,
    currency_decimals: account.currency_decimals,
    amount: given.amount.toString(),
    order_id: null,
    candidate_order_ids: [],
    held_order_ids: [],
    settlement_id: null,
    // of a person who is erased nothing is written down again; the money is booked all the same.
    details_sealed:
      key === null
        ? null
        : vaults.open(key, userKeyOwner(account.user_id)).seal(details, paymentContext(paymentId)),
    received_at: unit.at,
  };
}

function take(
  deps: DepositDeps,
  unit: UnitOfWork,
  account: PaidAccountRow,
  given: IncomingPayment,
  orders: readonly OrderRow[],
): PaymentRow {
  const { orderAdapters } = deps;
  const payment = draftPayment(deps, unit, account, given);
  const match = matchDeposit(orders, given);
  if (match.kind === 'none') {
    const settlementId = account.collection_enabled ? unit.ids.uuid() : null;
    const received = { ...payment, settlement_id: settlementId };
    return writePayment(unit, received, given.transactionId, 'payment_received');
  }
  if (match.kind === 'pays') {
    const matched = { ...payment, order_id: match.order.order_id };
    // Booked first: the order is paid out of what the account has received.
    const taken = writePayment(unit, matched, given.transactionId, 'payment_matched');
    payByDeposit(unit, orderAdapters, match.order, ledgerAccountOf(account.account_number), 'bank');
    return taken;
  }
  const ambiguous = {
    ...payment,
    candidate_order_ids: orders.map(({ order_id }) => order_id),
    held_order_ids: orders
      .filter((one) => holdForDeposit(unit, orderAdapters, one))
      .map(({ order_id }) => order_id),
  };
  return writePayment(unit, ambiguous, given.transactionId, 'payment_ambiguous');
}

/** What an operator does with a payment that no machine could match. */
export type PaymentDecision =
  | { readonly kind: 'match'; readonly orderId: string }
  | { readonly kind: 'leave' };

export async function heldPayments(
  db: Database,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly payments: readonly PaymentRow[]; readonly total: number }> {
  const [payments, [count]] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(listHeldPayments, [page.limit, page.offset], countHeldPayments, []),
  );
  return { payments, total: Number(count?.total ?? 0) };
}

/** One payment, with the orders it could pay: those it was held for, or those that wait for just this amount now. */
export async function paymentToReview(db: Database, paymentId: string): Promise<PaymentRow | undefined> {
  const [payment] = await db.query(SYSTEM, findPayment, [paymentId]);
  if (payment === undefined || payment.candidate_order_ids.length > 0) return payment;
  const { user_id, currency, amount } = payment;
  const waiting = await db.query(SYSTEM, ordersThatWaitFor, [user_id, currency, amount]);
  return { ...payment, candidate_order_ids: waiting.map(({ order_id }) => order_id) };
}

/**
 * Money that is on its way to the partner or has paid an order cannot be decided about any more. What came before its
 * order waited for it lies on the account undecided, so it may be matched without having been held.
 */
export async function decidePayment(
  { orderAdapters }: { readonly orderAdapters: OrderAdapters },
  unit: UnitOfWork,
  paymentId: string,
  decision: PaymentDecision,
): Promise<{ readonly before: PaymentRow; readonly after: PaymentRow }> {
  const before = await lockPayment(unit, paymentId);
  const after =
    decision.kind === 'match'
      ? await match(orderAdapters, unit, before, decision.orderId)
      : movedOrDecided(reportOnPayment(unit, before, 'match_dismissed', 'operator'));
  // Whatever this payment alone kept waiting goes on.
  for (const { order_id: orderId } of await unit.tx.query(ordersToRelease, [paymentId])) {
    if (orderId !== after.order_id) await releaseIfAwaiting(unit, orderAdapters, orderId);
  }
  return { before, after };
}

/** Whatever else would decide about it waits. */
export async function lockPayment(unit: UnitOfWork, paymentId: string): Promise<PaymentRow> {
  const [found] = await unit.tx.query(findPayment, [paymentId]);
  if (found === undefined) throw new CausewayError('FIAT_PAYMENT_NOT_FOUND');
  const [, [payment]] = await unit.tx.queryBoth(lockFunds, [found.user_id, found.currency], findPayment, [
    paymentId,
  ]);
  if (payment === undefined) throw new CausewayError('FIAT_PAYMENT_NOT_FOUND');
  return payment;
}

function movedOrDecided(moved: PaymentRow | undefined): PaymentRow {
  if (moved !== undefined) return moved;
  throw new CausewayError('OPERATION_NOT_ALLOWED', { message: 'The payment is decided already.' });
}

async function match(
  adapters: OrderAdapters,
  unit: UnitOfWork,
  payment: PaymentRow,
  orderId: string,
): Promise<PaymentRow> {
  const { user_id: userId, currency, amount } = payment;
  if (!mayMatch(payment)) return movedOrDecided(undefined);
  const waiting = await ordersAwaitingDeposit(unit, userId, currency, BigInt(amount));
  const order = waiting.find(({ order_id }) => order_id === orderId);
  if (order === undefined) throw await refusalOf(unit, payment, orderId);
  const released = releaseDepositHold(unit, adapters, order);
  if (released.facts.held) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The order is held for another reason; decide that hold first.',
    });
  }
  payByDeposit(unit, adapters, released, ledgerAccountOf(payment.account_number), 'operator');
  const matched = { ...payment, order_id: order.order_id };
  return movedOrDecided(reportOnPayment(unit, matched, 'payment_matched', 'operator'));
}

/** Another customer's order is as good as none; one of this customer's does not wait for this amount. */
async function refusalOf(unit: UnitOfWork, payment: PaymentRow, orderId: string): Promise<CausewayError> {
  const order = await loadOrderForAction(unit, orderId);
  if (order.user_id !== payment.user_id) return new CausewayError('ORDER_NOT_FOUND');
  return new CausewayError('OPERATION_NOT_ALLOWED', {
    message: 'The order does not wait for this amount on the customer’s own account.',
  });
}

/**
 * To be asked wherever an order stops, or the bank refuses to pay its vendor: once both are so, what the customer had paid is
 * on the account again, and can pay another order. Once, however often it is asked; the caller holds the order's lock.
 */
export async function returnUnspentDeposit(unit: UnitOfWork, order: OrderRow): Promise<void> {
  if (!hasStopped(order) || order.facts.vendorPayment !== 'refused') return;
  const [found] = await unit.tx.query(paymentOfOrder, [order.order_id]);
  if (found === undefined) return;
  undoMatch(unit, await lockPayment(unit, found.payment_id), order);
}

/** Who paid and with what words, in clear. Only callers that write an audit entry may ask. */
export async function revealPayment(
  { vaults }: { readonly vaults: Vaults },
  unit: UnitOfWork,
  paymentId: string,
): Promise<{ readonly payment: PaymentRow; readonly details: PaymentDetails }> {
  const [payment] = await unit.tx.query(findPayment, [paymentId]);
  if (payment === undefined) throw new CausewayError('FIAT_PAYMENT_NOT_FOUND');
  const user = await lockUserIfAny(unit, payment.user_id);
  const details =
    user === undefined
      ? { sender_name: null, reference: null }
      : paymentDetailsOf(vaultOfUser(vaults, user), payment);
  return { payment, details };
}
