import { prepareIntent } from '../../engine/intent.ts';
import { postEntry } from '../../engine/ledger.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { IncomingPayment } from '../../upstream/banking.port.ts';
import type { OrderHosts } from '../orders/order.host.ts';
import type { OrderRow } from '../orders/order.types.ts';
import { holdForDeposit, ordersAwaitingDeposit, payByDeposit } from '../orders/pay-by-deposit.ts';
import type { Vaults } from '../privacy/vault.ts';
import { userKeyOwner } from '../users/load-user.ts';
import { accountByReference, type PaidAccountRow } from './fiat-account.store.ts';
import { depositPostings, ledgerAccountOf } from './fiat-account.ts';
import { insertPayment, lockFunds, type PaymentRow, paymentByTransaction } from './fiat-payment.store.ts';
import { paymentContext } from './load-account.ts';

export interface DepositTools {
  readonly orderHosts: OrderHosts;
  readonly vaults: Vaults;
}

export const COLLECT = 'bank.collect';

/**
 * Takes a transfer that the bank reports, once however often it does. Under one lock of customer and currency: the one
 * order that waits for this amount is paid by it; where there are several, or the one is held, a person decides; where
 * there is none the money stays on the account, or goes to the partner where collection is switched on. Undefined where
 * it is no payment into an account of ours.
 */
export async function takeDeposit(
  tools: DepositTools,
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
  const payment = draftPayment(tools, unit, account, given);
  postEntry(unit, {
    kind: 'fiat_deposit_received',
    dedupeKey: `fiat_payment:${payment.payment_id}:received`,
    partnerId: payment.partner_id,
    orderId: null,
    postings: depositPostings(payment),
  });
  const taken = decideOn(tools, unit, account, payment, orders);
  writePayment(unit, taken, given.transactionId);
  if (taken.settlement_id !== null) askForCollection(unit, taken);
  return taken;
}

const LONGEST_ID = 200;

/** What a bank reports is looked at before it is believed: one odd report must not keep all later ones waiting. */
function isSound({ amount, transactionId }: IncomingPayment): boolean {
  return amount > 0n && transactionId.length > 0 && transactionId.length <= LONGEST_ID;
}

function draftPayment(
  { vaults }: DepositTools,
  unit: UnitOfWork,
  account: PaidAccountRow,
  given: IncomingPayment,
): PaymentRow {
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
    status: 'received',
    order_id: null,
    candidate_order_ids: [],
    held_order_ids: [],
    settlement_id: null,
    // Of somebody who is forgotten nothing is written down again; the money is booked all the same.
    details_sealed:
      key === null
        ? null
        : vaults.open(key, userKeyOwner(account.user_id)).seal(details, paymentContext(paymentId)),
    received_at: unit.at,
  };
}

function decideOn(
  { orderHosts }: DepositTools,
  unit: UnitOfWork,
  account: PaidAccountRow,
  payment: PaymentRow,
  orders: readonly OrderRow[],
): PaymentRow {
  const [order, another] = orders;
  if (order === undefined) {
    return account.collection_enabled ? { ...payment, settlement_id: unit.ids.uuid() } : payment;
  }
  if (another === undefined && !order.facts.held) {
    payByDeposit(unit, orderHosts, order, ledgerAccountOf(account.account_number), 'bank');
    return { ...payment, status: 'matched', order_id: order.order_id };
  }
  return {
    ...payment,
    status: 'held_for_review',
    candidate_order_ids: orders.map(({ order_id }) => order_id),
    held_order_ids: orders
      .filter((one) => holdForDeposit(unit, orderHosts, one))
      .map(({ order_id }) => order_id),
  };
}

function writePayment(unit: UnitOfWork, payment: PaymentRow, bankTransactionId: string): void {
  unit.tx.defer(insertPayment, [
    payment.payment_id,
    payment.partner_id,
    payment.user_id,
    payment.account_number,
    bankTransactionId,
    payment.currency,
    payment.currency_decimals,
    payment.amount,
    payment.status,
    payment.order_id,
    payment.candidate_order_ids,
    payment.held_order_ids,
    payment.settlement_id,
    payment.details_sealed,
    payment.received_at,
  ]);
}

function askForCollection(unit: UnitOfWork, { settlement_id: settlementId, partner_id }: PaymentRow): void {
  if (settlementId === null) return;
  prepareIntent(unit, {
    kind: COLLECT,
    dedupeKey: settlementId,
    partnerId: partner_id,
    payload: { settlement_id: settlementId },
  });
}
