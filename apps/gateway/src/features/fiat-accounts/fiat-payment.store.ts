import {
  FIAT_PAYMENT_HELD,
  FIAT_PAYMENT_RECEIVED,
  type FiatPaymentStatus,
  orderStatusesThatKnow,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';

/** SQL of what is paid into accounts. Amounts are minor units as decimal text. */

const HELD = sqlWords(FIAT_PAYMENT_HELD);

export interface PaymentRow {
  payment_id: string;
  partner_id: string;
  user_id: string;
  account_number: string;
  currency: string;
  currency_decimals: number;
  amount: string;
  status: FiatPaymentStatus;
  order_id: string | null;
  candidate_order_ids: string[];
  held_order_ids: string[];
  settlement_id: string | null;
  details_sealed: string | null;
  received_at: Date;
}

const COLUMNS = `f.payment_id, f.partner_id, f.user_id, f.account_number::text, f.currency, f.currency_decimals,
  f.amount::text, f.status, f.order_id, f.candidate_order_ids::text[], f.held_order_ids::text[], f.settlement_id,
  f.details_sealed, f.received_at`;

/** One at a time for a customer and a currency: whatever matches, holds or collects waits here. */
export const lockFunds = statement<[userId: string, currency: string]>(
  'fiat_payments.lock_funds',
  `SELECT pg_advisory_xact_lock(hashtextextended('fiat:' || $1::text || ':' || $2::text, 0))`,
);

export const paymentByTransaction = statement<[bankTransactionId: string], PaymentRow>(
  'fiat_payments.find_by_transaction',
  `SELECT ${COLUMNS} FROM fiat_payments f WHERE f.bank_transaction_id = $1`,
);

export const insertPayment = statement<
  [
    paymentId: string,
    partnerId: string,
    userId: string,
    accountNumber: string,
    bankTransactionId: string,
    currency: string,
    decimals: number,
    amount: string,
    status: FiatPaymentStatus,
    orderId: string | null,
    candidates: readonly string[],
    held: readonly string[],
    settlementId: string | null,
    detailsSealed: string | null,
    at: Date,
  ]
>(
  'fiat_payments.insert',
  `INSERT INTO fiat_payments (payment_id, partner_id, user_id, account_number, bank_transaction_id, currency,
     currency_decimals, amount, status, order_id, candidate_order_ids, held_order_ids, settlement_id, details_sealed,
     received_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::uuid[], $12::uuid[], $13, $14, $15, $15)`,
);

export const findPayment = statement<[paymentId: string], PaymentRow>(
  'fiat_payments.find',
  `SELECT ${COLUMNS} FROM fiat_payments f WHERE f.payment_id = $1`,
);

export const paymentOfOrder = statement<[orderId: string], PaymentRow & { account_reference: string | null }>(
  'fiat_payments.find_of_order',
  `SELECT ${COLUMNS}, a.bank_reference AS account_reference
     FROM fiat_payments f JOIN fiat_accounts a USING (account_number) WHERE f.order_id = $1`,
);

export const paymentToCollect = statement<
  [settlementId: string],
  PaymentRow & { account_reference: string | null }
>(
  'fiat_payments.find_to_collect',
  `SELECT ${COLUMNS}, a.bank_reference AS account_reference
     FROM fiat_payments f JOIN fiat_accounts a USING (account_number)
    WHERE f.settlement_id = $1 AND f.status = ${sqlWords(FIAT_PAYMENT_RECEIVED)}`,
);

export const listPayments = statement<[accountNumber: string, limit: number, offset: number], PaymentRow>(
  'fiat_payments.list',
  `SELECT ${COLUMNS} FROM fiat_payments f WHERE f.account_number = $1
    ORDER BY f.received_at DESC, f.payment_id DESC LIMIT $2 OFFSET $3`,
);

export const countPayments = statement<[accountNumber: string], { total: string }>(
  'fiat_payments.count',
  'SELECT count(*) AS total FROM fiat_payments WHERE account_number = $1',
);

export const listHeldPayments = statement<[limit: number, offset: number], PaymentRow>(
  'fiat_payments.list_held',
  `SELECT ${COLUMNS} FROM fiat_payments f WHERE f.status = ${HELD}
    ORDER BY f.received_at, f.payment_id LIMIT $1 OFFSET $2`,
);

export const countHeldPayments = statement<[], { total: string }>(
  'fiat_payments.count_held',
  `SELECT count(*) AS total FROM fiat_payments WHERE status = ${HELD}`,
);

/** Orders of a customer that wait for exactly this amount on its own account. */
export const ordersThatWaitFor = statement<
  [userId: string, currency: string, amount: string],
  { order_id: string }
>(
  'fiat_payments.orders_that_wait_for',
  `SELECT order_id FROM orders
    WHERE user_id = $1 AND fiat_currency = $2 AND fiat_amount = $3
      AND status IN (${sqlWords(orderStatusesThatKnow('deposit_matched'))}) AND facts->>'fundingSource' = 'own_iban'
    ORDER BY order_id`,
);

export const movePayment = statement<
  [
    paymentId: string,
    status: FiatPaymentStatus,
    orderId: string | null,
    settlementId: string | null,
    at: Date,
  ]
>(
  'fiat_payments.move',
  `UPDATE fiat_payments SET status = $2, order_id = $3, settlement_id = $4, updated_at = $5 WHERE payment_id = $1`,
);

/** Orders that a payment put on hold and that no undecided payment could still pay. */
export const ordersToRelease = statement<[paymentId: string], { order_id: string }>(
  'fiat_payments.orders_to_release',
  `SELECT DISTINCT candidate.order_id::text
     FROM fiat_payments decided, unnest(decided.candidate_order_ids) AS candidate (order_id)
    WHERE decided.payment_id = $1
      AND EXISTS (SELECT FROM fiat_payments f
                   WHERE f.user_id = decided.user_id AND candidate.order_id = ANY (f.held_order_ids))
      AND NOT EXISTS (SELECT FROM fiat_payments f
                       WHERE f.user_id = decided.user_id AND f.payment_id <> $1 AND f.status = ${HELD}
                         AND candidate.order_id = ANY (f.candidate_order_ids))
    ORDER BY 1`,
);

export interface LedgerRow {
  entry_id: string;
  kind: string;
  order_id: string | null;
  created_at: Date;
  amount: string;
  balance_after: string;
  payment_id: string | null;
  settlement_id: string | null;
  details_sealed: string | null;
}

/** Newest first. Entries of one instant are in the order in which their process wrote them. */
export const ledgerOfAccount = statement<
  [account: string, currency: string, limit: number, offset: number],
  LedgerRow
>(
  'fiat_payments.ledger',
  `SELECT l.*, f.payment_id, f.settlement_id, f.details_sealed
     FROM (SELECT e.entry_id, e.kind, e.order_id, e.dedupe_key, e.created_at, p.amount::text,
                  sum(p.amount) OVER (ORDER BY e.created_at, e.entry_id)::text AS balance_after
             FROM ledger_postings p JOIN ledger_entries e USING (entry_id)
            WHERE p.account = $1 AND p.asset = $2) l
     LEFT JOIN fiat_payments f
       ON f.payment_id = CASE WHEN starts_with(l.dedupe_key, 'fiat_payment:') THEN split_part(l.dedupe_key, ':', 2)::uuid END
    ORDER BY l.created_at DESC, l.entry_id DESC LIMIT $3 OFFSET $4`,
);

export const balanceOfAccount = statement<
  [account: string, currency: string],
  { balance: string; total: string }
>(
  'fiat_payments.balance',
  `SELECT coalesce(sum(amount), 0)::text AS balance, count(*) AS total FROM ledger_postings
    WHERE account = $1 AND asset = $2`,
);

export const readCursor = statement<[], { cursor: string }>(
  'fiat_payments.read_cursor',
  `SELECT value ->> 'cursor' AS cursor FROM deployment_facts WHERE name = 'bank_payments'`,
);

export const saveCursor = statement<[cursor: string, at: Date]>(
  'fiat_payments.save_cursor',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ('bank_payments', jsonb_build_object('cursor', $1::text), $2)
   ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
);

/** Payments as the bank would know them, for comparing. */
export interface KnownPaymentRow {
  payment_id: string;
  bank_transaction_id: string;
  account_number: string;
  /** What the bank calls the account. */
  account_reference: string | null;
  order_id: string | null;
  currency: string;
  currency_decimals: number;
  amount: string;
}

const KNOWN = `SELECT payment_id, bank_transaction_id, account_number::text, order_id, currency, currency_decimals, amount::text,
       (SELECT a.bank_reference FROM fiat_accounts a WHERE a.account_number = p.account_number) AS account_reference
     FROM fiat_payments p`;

export const knownPayments = statement<[after: string | null, limit: number], KnownPaymentRow>(
  'reconcile.payments',
  `${KNOWN} WHERE $1::uuid IS NULL OR payment_id > $1 ORDER BY payment_id LIMIT $2`,
);

export const knownPayment = statement<[paymentId: string], KnownPaymentRow>(
  'reconcile.payment',
  `${KNOWN} WHERE payment_id = $1`,
);

export const paymentsOfTransactions = statement<
  [transactionIds: readonly string[]],
  { bank_transaction_id: string }
>(
  'reconcile.payments_of_transactions',
  'SELECT bank_transaction_id FROM fiat_payments WHERE bank_transaction_id = ANY($1::text[])',
);
