import {
  decide,
  type FiatPaymentFacts,
  type FiatPaymentGuard,
  type FiatPaymentStatus,
  type FiatPaymentTrigger,
  fiatPaymentMachine,
  formatFixed,
  NEW,
} from '@causeway/protocol';
import { execute, type MachineAdapter } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { accountIdOf, collectionPostings, depositPostings, returnPostings } from './fiat-account.ts';
import { insertPayment, movePayment, type PaymentRow } from './fiat-payment.store.ts';

/** A payment as it was found, before the first status is written. */
export type PaymentDraft = Omit<PaymentRow, 'status'>;

interface PaymentCase {
  readonly payment: PaymentDraft & { readonly status?: FiatPaymentStatus };
  /** Of a payment that is not written yet. */
  readonly bankTransactionId?: string;
  readonly at: Date;
  /** The order that it paid no longer. */
  readonly undone?: PaidOrder;
}

/** An order that a payment had paid, and whose vendor never had the money. */
export interface PaidOrder {
  readonly order_id: string;
  readonly vendor_id: string | null;
}

const paymentAdapter: MachineAdapter<
  PaymentCase,
  FiatPaymentStatus,
  FiatPaymentTrigger,
  FiatPaymentFacts,
  FiatPaymentGuard
> = {
  machine: fiatPaymentMachine,
  statusOf: ({ payment }) => payment.status ?? NEW,
  factsOf: ({ payment }) => ({ collecting: payment.settlement_id !== null }),

  write(unit, { payment: before, bankTransactionId, at, undone }, { status, facts }) {
    const payment: PaymentRow = {
      ...before,
      status,
      settlement_id: facts.collecting ? before.settlement_id : null,
      order_id: undone === undefined ? before.order_id : null,
    };
    if (bankTransactionId === undefined) {
      const { payment_id, order_id, settlement_id } = payment;
      unit.tx.defer(movePayment, [payment_id, status, order_id, settlement_id, unit.at]);
    } else {
      insert(unit, payment, bankTransactionId);
    }
    return { payment, at, ...(undone === undefined ? {} : { undone }) };
  },

  eventFor({ payment, at }, eventType) {
    if (eventType !== 'retail.settlement.completed') throw new Error(`a payment does not send ${eventType}`);
    const data = {
      settlement_id: settlementOf(payment),
      payment_id: payment.payment_id,
      user_id: payment.user_id,
      fiat_account_id: accountIdOf(payment.account_number),
      amount: formatFixed(BigInt(payment.amount), payment.currency_decimals),
      currency: payment.currency,
      collected_at: at.toISOString(),
    };
    return { eventType, partnerId: payment.partner_id, subjectId: payment.payment_id, data };
  },

  intentFor({ payment }, effect) {
    if (effect !== 'bank.collect') throw new Error(`a payment does not start ${effect}`);
    const settlementId = settlementOf(payment);
    return {
      kind: effect,
      dedupeKey: settlementId,
      partnerId: payment.partner_id,
      payload: { settlement_id: settlementId },
    };
  },

  entryFor({ payment, undone }, posting) {
    if (undone !== undefined) {
      return {
        kind: posting,
        // A payment may pay another order afterwards, which may stop too.
        dedupeKey: `fiat_payment:${payment.payment_id}:returned:${undone.order_id}`,
        partnerId: payment.partner_id,
        orderId: undone.order_id,
        postings: returnPostings(payment, undone.vendor_id ?? ''),
      };
    }
    const isReceipt = posting === 'fiat_deposit_received';
    return {
      kind: posting,
      dedupeKey: `fiat_payment:${payment.payment_id}:${isReceipt ? 'received' : 'collected'}`,
      partnerId: payment.partner_id,
      orderId: null,
      postings: isReceipt ? depositPostings(payment) : collectionPostings(payment),
    };
  },
};

/** Only a payment that is being collected has one. */
function settlementOf({ settlement_id: settlementId }: Pick<PaymentRow, 'settlement_id'>): string {
  if (settlementId === null) throw new Error('the payment is not being collected');
  return settlementId;
}

function insert(unit: UnitOfWork, payment: PaymentRow, bankTransactionId: string): void {
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

/** Writes a payment that the bank reports, and books it. */
export function writePayment(
  unit: UnitOfWork,
  payment: PaymentDraft,
  bankTransactionId: string,
  trigger: 'payment_received' | 'payment_matched' | 'payment_ambiguous',
): PaymentRow {
  const written = move(unit, { payment, bankTransactionId, at: unit.at }, trigger, 'bank');
  if (written === undefined) throw new Error(`a new payment refuses ${trigger}`);
  return written;
}

/** Reports something about a payment whose funds are locked; undefined where the table refuses it. */
export function reportOnPayment(
  unit: UnitOfWork,
  payment: PaymentRow,
  trigger: FiatPaymentTrigger,
  actor: 'bank' | 'operator' | 'system',
): PaymentRow | undefined {
  return move(unit, { payment, at: unit.at }, trigger, actor);
}

/** Gives a payment back to its customer: the order that it had paid has stopped. */
export function undoMatch(unit: UnitOfWork, payment: PaymentRow, undone: PaidOrder): void {
  const { kind } = execute(unit, paymentAdapter, { payment, at: unit.at, undone }, 'match_undone', 'system');
  if (kind === 'refused') throw new Error('a payment that has paid an order refuses to be given back');
}

/** Whether an operator may match it, before anything is done for it. */
export function mayMatch(payment: PaymentRow): boolean {
  const facts = { collecting: payment.settlement_id !== null };
  return decide(fiatPaymentMachine, payment.status, 'payment_matched', facts, 'operator').kind === 'moved';
}

function move(
  unit: UnitOfWork,
  one: PaymentCase,
  trigger: FiatPaymentTrigger,
  actor: 'bank' | 'operator' | 'system',
): PaymentRow | undefined {
  const { kind, row } = execute(unit, paymentAdapter, one, trigger, actor);
  const { payment } = row;
  return kind === 'refused' || payment.status === undefined
    ? undefined
    : { ...payment, status: payment.status };
}
