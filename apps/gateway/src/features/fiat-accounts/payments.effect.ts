import type { OrderTrigger } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { IntentPayload } from '../../engine/effects.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, IntentHandlers, Outcome } from '../../engine/intent-handler.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { Logger } from '../../lib/logger.ts';
import { BankingError, type BankingPort } from '../../ports/banking.ts';
import { readOrder, reportFacts } from '../orders/lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../orders/lifecycle/order.adapter.ts';
import { hasStopped, type OrderRow, vendorDetailsOf } from '../orders/lifecycle/order.ts';
import {
  askBank,
  BANK_SCHEDULE,
  openAccountHandler,
  type SubmitClientDeps,
  submitClientHandler,
} from './account-opening.effect.ts';
import { reportOnPayment } from './fiat-payment.adapter.ts';
import {
  lockFunds,
  type PaymentRow,
  paymentOfOrder,
  paymentToCollect,
  readCursor,
  saveCursor,
} from './fiat-payment.store.ts';
import { type DepositDeps, returnUnspentDeposit, takeDeposit } from './payments.ts';

type CollectPaymentPayload = IntentPayload<'bank.collect'>;

/** Moves what matched no order to the partner's master account. The partner hears of it once the bank has done it. */
export function collectPaymentHandler(deps: {
  readonly db: Database;
  readonly bank: BankingPort;
}): IntentHandler<'bank.collect'> {
  async function collect({ payload }: Intent<'bank.collect'>): Promise<Outcome> {
    const [payment] = await deps.db.query(SYSTEM, paymentToCollect, [payload.settlement_id]);
    if (payment === undefined) return { kind: 'confirmed', result: 'nothing to do' };
    const asked = await askBank(() =>
      deps.bank.transfer({
        key: `collect:${payload.settlement_id}`,
        fromAccount: payment.account_reference ?? '',
        to: { kind: 'partner_master', partnerId: payment.partner_id },
        currency: payment.currency,
        amount: BigInt(payment.amount),
      }),
    );
    if ('unavailable' in asked) return { kind: 'retry', error: asked.unavailable };
    if ('refused' in asked) {
      return { kind: 'failed', error: asked.refused, followUp: (unit) => giveUp(unit, payload) };
    }
    return { kind: 'confirmed', followUp: (unit) => record(unit, payload) };
  }

  return {
    schedule: BANK_SCHEDULE,
    // By its key the bank makes one transfer, however often it is asked for.
    perform: collect,
    exhausted: (intent, unit) => giveUp(unit, intent.payload),
  };
}

async function stillToCollect(
  unit: UnitOfWork,
  { settlement_id }: CollectPaymentPayload,
): Promise<PaymentRow | undefined> {
  const [found] = await unit.tx.query(paymentToCollect, [settlement_id]);
  if (found === undefined) return undefined;
  const [, [payment]] = await unit.tx.queryBoth(
    lockFunds,
    [found.user_id, found.currency],
    paymentToCollect,
    [settlement_id],
  );
  return payment;
}

async function record(unit: UnitOfWork, payload: CollectPaymentPayload): Promise<void> {
  const payment = await stillToCollect(unit, payload);
  if (payment !== undefined) reportOnPayment(unit, payment, 'payment_collected', 'bank');
}

/** It did not move, so it is on the account as before, and no settlement is announced. */
async function giveUp(unit: UnitOfWork, payload: CollectPaymentPayload): Promise<void> {
  const payment = await stillToCollect(unit, payload);
  if (payment !== undefined) reportOnPayment(unit, payment, 'collection_failed', 'system');
}

export interface PayVendorDeps extends UnitDeps {
  readonly bank: BankingPort;
  readonly sealer: Sealer;
  readonly orderAdapters: OrderAdapters;
}

/** A hold is over when a person ends it. */
const HELD_WAIT_MS = 5_000;

/**
 * Sends what a deposit brought on to the vendor of its order; the vendor says when it has arrived. Until the bank has
 * answered it may have done it, and the order keeps the vendor's crypto where it is. A hold keeps the fiat back too.
 */
export function payVendorHandler(deps: PayVendorDeps): IntentHandler<'bank.pay-vendor'> {
  type Payload = IntentPayload<'bank.pay-vendor'>;
  const report = (triggers: readonly OrderTrigger[], actor: 'bank' | 'system' = 'bank') => {
    return ({ order_id }: Payload, unit: UnitOfWork) => reportFacts(deps, unit, order_id, triggers, actor);
  };
  const start = report(['vendor_payment_started'], 'system');

  async function refused(payload: Payload, unit: UnitOfWork): Promise<void> {
    const order = await report(['vendor_payment_refused', 'hold_placed'])(payload, unit);
    if (order !== undefined) await returnUnspentDeposit(unit, order);
  }

  async function sent(payload: Payload, unit: UnitOfWork): Promise<void> {
    const order = await report(['vendor_payment_sent'])(payload, unit);
    // The crypto of an order that has stopped goes back to the vendor, who has the fiat now: a person decides.
    if (order !== undefined && hasStopped(order)) await report(['hold_placed'])(payload, unit);
  }

  async function pay({ payload }: Intent<'bank.pay-vendor'>): Promise<Outcome> {
    const order = await orderToPay(payload);
    const [payment] = await deps.db.query(SYSTEM, paymentOfOrder, [payload.order_id]);
    if (order === undefined || payment === undefined) {
      return { kind: 'failed', error: 'there is no such payment' };
    }
    if (order.facts.held) return { kind: 'waiting', afterMs: HELD_WAIT_MS };
    if (order.facts.vendorPayment !== 'sending') {
      const error = 'the order has stopped, and its vendor is not paid';
      // One that stopped under the release before, which left the deposit where it was.
      return { kind: 'failed', error, followUp: (unit) => giveBack(payload, unit) };
    }
    const asked = await askBank(() =>
      deps.bank.transfer({
        key: `order:${order.order_id}`,
        fromAccount: payment.account_reference ?? '',
        to: { kind: 'vendor', vendorId: order.vendor_id ?? '', details: vendorDetailsOf(deps, order) ?? {} },
        currency: payment.currency,
        amount: BigInt(payment.amount),
      }),
    );
    if ('unavailable' in asked) return { kind: 'retry', error: asked.unavailable };
    // The customer has paid and the vendor has not been: an operator has to sort that out.
    if ('refused' in asked) {
      return { kind: 'failed', error: asked.refused, followUp: (unit) => refused(payload, unit) };
    }
    return { kind: 'confirmed', followUp: (unit) => sent(payload, unit) };
  }

  async function giveBack(payload: Payload, unit: UnitOfWork): Promise<void> {
    const order = await report([])(payload, unit);
    if (order !== undefined) await returnUnspentDeposit(unit, order);
  }

  /** One that the bank refused is tried again as long as its order goes on. */
  async function orderToPay(payload: Payload): Promise<OrderRow | undefined> {
    const order = await readOrder(deps.db, SYSTEM, payload.order_id);
    if (order === undefined || order.facts.held || order.facts.vendorPayment === 'sending') return order;
    await unitOfWork(deps, SYSTEM, (unit) => start(payload, unit));
    return readOrder(deps.db, SYSTEM, payload.order_id);
  }

  return {
    schedule: BANK_SCHEDULE,
    perform: pay,
    exhausted: async ({ payload }, unit) => {
      await report(['hold_placed'])(payload, unit);
    },
  };
}

export interface FollowDeps extends UnitDeps, DepositDeps {
  readonly bank: BankingPort | undefined;
  readonly logger: Logger;
}

/**
 * Takes what the bank reports since the last time. The cursor moves after the payments are taken: a worker that dies in
 * between reports them again, and they are known then.
 */
export async function followPayments(deps: FollowDeps): Promise<number> {
  const { bank, db, clock, logger } = deps;
  if (bank === undefined) return 0;
  const [kept] = await db.query(SYSTEM, readCursor, []);
  const cursor = kept?.cursor ?? null;
  const page = await bank.paymentsAfter(cursor).catch((error: unknown) => {
    if (!(error instanceof BankingError)) throw error;
    logger.warn({ err: error }, 'the bank does not say what came in');
    return { payments: [], cursor };
  });
  for (const payment of page.payments) {
    const taken = await unitOfWork(deps, SYSTEM, (unit) => takeDeposit(deps, unit, payment));
    // There is no such account here, or it is no payment: the operator has to ask the bank.
    if (taken === undefined) {
      logger.error(
        { transaction_id: payment.transactionId },
        'the bank reports a payment that fits no account',
      );
    }
  }
  if (page.cursor !== null && page.cursor !== cursor) {
    await db.query(SYSTEM, saveCursor, [page.cursor, clock.date()]);
  }
  return page.payments.length;
}

type BankingDeps = Omit<PayVendorDeps & SubmitClientDeps, 'bank'> & {
  readonly bank: BankingPort | undefined;
};

type BankEffect = 'bank.submit-client' | 'bank.open-account' | 'bank.collect' | 'bank.pay-vendor';

/** Everything that a worker does at the bank; nothing where there is none. */
export function bankingHandlers({ bank, ...deps }: BankingDeps): Pick<IntentHandlers, BankEffect> {
  const withBank = bank === undefined ? undefined : { ...deps, bank };
  return {
    'bank.submit-client': withBank ? submitClientHandler(withBank) : null,
    'bank.open-account': withBank ? openAccountHandler(withBank) : null,
    'bank.collect': withBank ? collectPaymentHandler(withBank) : null,
    'bank.pay-vendor': withBank ? payVendorHandler(withBank) : null,
  };
}
