import {
  type FiatAccountSchema,
  type FiatLedgerSchema,
  type FiatPaymentSchema,
  formatFixed,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Vault } from '../privacy/vault.ts';
import type { AccountRow } from './fiat-account.store.ts';
import { accountIdOf } from './fiat-account.ts';
import type { LedgerRow, PaymentRow } from './fiat-payment.store.ts';
import { accountDetailsOf, paymentDetailsOf } from './load-account.ts';

/** Rows as the wire has them. The bank's own names for things stay here. */

export function accountView(vault: Vault, account: AccountRow): Static<typeof FiatAccountSchema> {
  const details = accountDetailsOf(vault, account);
  return {
    id: accountIdOf(account.account_number),
    holder_type: 'retail',
    holder_id: account.user_id,
    currency: account.currency,
    jurisdiction: account.jurisdiction,
    status: account.status,
    iban: details?.iban ?? null,
    account_holder_name: details?.account_holder_name ?? null,
    bank_name: account.bank_name,
    bic: account.bic,
    created_at: account.created_at.toISOString(),
  };
}

export function paymentView(vault: Vault, payment: PaymentRow): Static<typeof FiatPaymentSchema> {
  const { sender_name, reference } = paymentDetailsOf(vault, payment);
  return {
    id: payment.payment_id,
    amount: formatFixed(BigInt(payment.amount), payment.currency_decimals),
    currency: payment.currency,
    sender_name,
    reference,
    status: payment.status,
    ...(payment.order_id === null ? {} : { order_id: payment.order_id }),
    received_at: payment.received_at.toISOString(),
  };
}

type LedgerEntry = Static<typeof FiatLedgerSchema>['entries'][number];

const KINDS: Readonly<Record<string, LedgerEntry['kind']>> = {
  fiat_deposit_received: 'deposit',
  customer_deposit_applied: 'order_payment',
  fiat_deposit_collected: 'collection',
};

export function ledgerEntryView(vault: Vault, decimals: number, row: LedgerRow): LedgerEntry {
  const amount = BigInt(row.amount);
  const kind = KINDS[row.kind];
  if (kind === undefined) throw new Error(`no entry of kind ${row.kind} belongs to a fiat account`);
  return {
    id: row.entry_id,
    direction: amount > 0n ? 'credit' : 'debit',
    amount: formatFixed(amount > 0n ? amount : -amount, decimals),
    balance_after: formatFixed(BigInt(row.balance_after), decimals),
    kind,
    reference: kind === 'collection' ? row.settlement_id : paymentDetailsOf(vault, row).reference,
    ...(row.order_id === null ? {} : { order_id: row.order_id }),
    created_at: row.created_at.toISOString(),
  };
}
