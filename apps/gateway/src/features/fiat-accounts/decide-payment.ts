import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { loadOrderForAction } from '../orders/act-on-order.ts';
import type { OrderHosts } from '../orders/order.host.ts';
import {
  ordersAwaitingDeposit,
  payByDeposit,
  releaseDepositHold,
  releaseIfAwaiting,
} from '../orders/pay-by-deposit.ts';
import type { Vaults } from '../privacy/vault.ts';
import { lockUserIfAny, vaultOfUser } from '../users/load-user.ts';
import { ledgerAccountOf } from './fiat-account.ts';
import {
  countHeldPayments,
  findPayment,
  leavePayment,
  listHeldPayments,
  lockFunds,
  matchPayment,
  ordersToRelease,
  type PaymentRow,
} from './fiat-payment.store.ts';
import { type PaymentDetails, paymentDetailsOf } from './load-account.ts';

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

/**
 * Money that is on its way to the partner or has paid an order is nobody's to decide any more. What came before its
 * order waited for it lies on the account undecided, so it may be matched without having been held.
 */
export async function decidePayment(
  { orderHosts }: { readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  paymentId: string,
  decision: PaymentDecision,
): Promise<{ readonly before: PaymentRow; readonly after: PaymentRow }> {
  const before = await lockPayment(unit, paymentId);
  const isOpen = before.status === 'held_for_review' || before.status === 'received';
  const mayDecide = decision.kind === 'match' ? isOpen : before.status === 'held_for_review';
  if (!mayDecide || before.settlement_id !== null) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', { message: 'The payment is decided already.' });
  }
  const after =
    decision.kind === 'match' ? await match(orderHosts, unit, before, decision.orderId) : leave(unit, before);
  // Whatever this payment alone kept waiting goes on.
  for (const { order_id: orderId } of await unit.tx.query(ordersToRelease, [paymentId])) {
    if (orderId !== after.order_id) await releaseIfAwaiting(unit, orderHosts, orderId);
  }
  return { before, after };
}

async function lockPayment(unit: UnitOfWork, paymentId: string): Promise<PaymentRow> {
  const [found] = await unit.tx.query(findPayment, [paymentId]);
  if (found === undefined) throw new CausewayError('FIAT_PAYMENT_NOT_FOUND');
  const [, [payment]] = await unit.tx.queryBoth(lockFunds, [found.user_id, found.currency], findPayment, [
    paymentId,
  ]);
  if (payment === undefined) throw new CausewayError('FIAT_PAYMENT_NOT_FOUND');
  return payment;
}

async function match(
  hosts: OrderHosts,
  unit: UnitOfWork,
  payment: PaymentRow,
  orderId: string,
): Promise<PaymentRow> {
  const { user_id: userId, currency, amount } = payment;
  const waiting = await ordersAwaitingDeposit(unit, userId, currency, BigInt(amount));
  const order = waiting.find(({ order_id }) => order_id === orderId.toLowerCase());
  if (order === undefined) throw await refusalOf(unit, payment, orderId);
  const released = releaseDepositHold(unit, hosts, order);
  if (released.facts.held) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The order is held for another reason; decide that hold first.',
    });
  }
  payByDeposit(unit, hosts, released, ledgerAccountOf(payment.account_number), 'operator');
  unit.tx.defer(matchPayment, [payment.payment_id, order.order_id, unit.at]);
  return { ...payment, status: 'matched', order_id: order.order_id };
}

/** Another customer's order is as good as none; one of this customer's does not wait for this amount. */
async function refusalOf(unit: UnitOfWork, payment: PaymentRow, orderId: string): Promise<CausewayError> {
  const order = await loadOrderForAction(unit, orderId);
  if (order.user_id !== payment.user_id) return new CausewayError('ORDER_NOT_FOUND');
  return new CausewayError('OPERATION_NOT_ALLOWED', {
    message: 'The order does not wait for this amount on the customer’s own account.',
  });
}

function leave(unit: UnitOfWork, payment: PaymentRow): PaymentRow {
  unit.tx.defer(leavePayment, [payment.payment_id, unit.at]);
  return { ...payment, status: 'received' };
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
