import { formatFixed, type RetailSettlementCompletedData } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import { postEntry } from '../../engine/ledger.ts';
import { emitEvent } from '../../engine/outbox.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { BankingPort } from '../../upstream/banking.port.ts';
import { askBank, BANK_SCHEDULE } from './bank-patience.ts';
import { accountIdOf, collectionPostings } from './fiat-account.ts';
import {
  collectionFailed,
  lockFunds,
  type PaymentRow,
  paymentCollected,
  paymentToCollect,
} from './fiat-payment.store.ts';
import { COLLECT } from './take-deposit.ts';

type Payload = { readonly settlement_id: string };

/** Moves what matched no order to the partner's master account. The partner hears of it once the bank has done it. */
export function collectPaymentHandler(tools: {
  readonly db: Database;
  readonly bank: BankingPort;
}): IntentHandler<Payload> {
  async function collect({ payload }: Intent<Payload>): Promise<Outcome> {
    const [payment] = await tools.db.query(SYSTEM, paymentToCollect, [payload.settlement_id]);
    if (payment === undefined) return { kind: 'confirmed', result: 'nothing to do' };
    const asked = await askBank(() =>
      tools.bank.transfer({
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
    kind: COLLECT,
    schedule: BANK_SCHEDULE,
    perform: collect,
    // By its key the bank makes one transfer, however often it is asked for.
    reconcile: collect,
    exhausted: (intent, unit) => giveUp(unit, intent.payload),
  };
}

async function stillToCollect(unit: UnitOfWork, { settlement_id }: Payload): Promise<PaymentRow | undefined> {
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

async function record(unit: UnitOfWork, payload: Payload): Promise<void> {
  const payment = await stillToCollect(unit, payload);
  if (payment === undefined) return;
  unit.tx.defer(paymentCollected, [payment.payment_id, unit.at]);
  postEntry(unit, {
    kind: 'fiat_deposit_collected',
    dedupeKey: `fiat_payment:${payment.payment_id}:collected`,
    partnerId: payment.partner_id,
    orderId: null,
    postings: collectionPostings(payment),
  });
  const data: Static<typeof RetailSettlementCompletedData> = {
    settlement_id: payload.settlement_id,
    payment_id: payment.payment_id,
    user_id: payment.user_id,
    fiat_account_id: accountIdOf(payment.account_number),
    amount: formatFixed(BigInt(payment.amount), payment.currency_decimals),
    currency: payment.currency,
    collected_at: unit.at.toISOString(),
  };
  emitEvent(unit, {
    eventType: 'retail.settlement.completed',
    partnerId: payment.partner_id,
    subjectId: payment.payment_id,
    data,
  });
}

/** It did not move, so it is on the account as before, and nobody is told of a settlement. */
async function giveUp(unit: UnitOfWork, payload: Payload): Promise<void> {
  const payment = await stillToCollect(unit, payload);
  if (payment !== undefined) unit.tx.defer(collectionFailed, [payment.payment_id, unit.at]);
}
