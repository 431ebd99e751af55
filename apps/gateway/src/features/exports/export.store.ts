import type { FailureCode, OrderStatus } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';
import type { earningView } from '../orders/lifecycle/list-orders.ts';

/**
 * SQL of exports. Amounts are atomic units as decimal text. Each is read page by page from one snapshot, oldest first. A
 * partner's and the operator's files have statements of their own: "null or equal" would keep a plan from its index.
 */
type Period = [from: Date, to: Date];
type PeriodOfPartner = [...Period, partnerId: string];

export interface ExportedOrder {
  order_id: string;
  partner_id: string;
  vendor_id: string | null;
  user_id: string;
  quote_id: string;
  order_type: string;
  reference_id: string | null;
  status: OrderStatus;
  origin: string;
  chain: string;
  crypto_currency: string;
  crypto_decimals: number;
  fiat_currency: string;
  fiat_decimals: number;
  rate: string;
  crypto_amount: string;
  fiat_amount: string;
  platform_fee: string;
  platform_fee_pct: string;
  partner_fee: string;
  partner_fee_pct: string;
  payment_method_slug: string;
  payment_network_slug: string;
  payment_details_id: string | null;
  recipient_id: string | null;
  tx_hash: string | null;
  send_out_tx_hash: string | null;
  created_at: Date;
  updated_at: Date;
  /** What the books say went through the order's escrow. */
  escrow_in: string;
  escrow_out: string;
  settled_at: Date | null;
  failure_code: FailureCode | null;
  cancelled_by: string | null;
}

const ordersOf = (
  sought: string,
) => `SELECT o.order_id, o.partner_id, o.vendor_id, o.user_id, o.quote_id, o.order_type, o.reference_id, o.status,
            o.facts ->> 'origin' AS origin, o.chain, o.crypto_currency, o.crypto_decimals, o.fiat_currency,
            o.fiat_decimals, o.rate, o.crypto_amount::text, o.fiat_amount::text, o.platform_fee::text, o.platform_fee_pct,
            o.partner_fee::text, o.partner_fee_pct, o.payment_method_slug, o.payment_network_slug,
            o.payment_details_id::text, o.recipient_id, o.tx_hash, o.send_out_tx_hash, o.created_at, o.updated_at,
            booked.escrow_in, booked.escrow_out, booked.settled_at,
            o.failure_code, o.cancelled_by
       FROM orders o CROSS JOIN LATERAL (
         SELECT coalesce(sum(p.amount) FILTER (WHERE p.amount > 0), 0)::text AS escrow_in,
                coalesce(-sum(p.amount) FILTER (WHERE p.amount < 0), 0)::text AS escrow_out,
                max(e.created_at) FILTER (WHERE e.kind = 'escrow_released') AS settled_at
           FROM ledger_postings p JOIN ledger_entries e USING (entry_id)
          WHERE p.account = 'escrow:' || o.order_id AND p.asset = o.crypto_currency || '@' || o.chain) booked
      WHERE o.created_at >= $1 AND o.created_at < $2 AND ${sought} ORDER BY o.created_at, o.order_id`;

/** Null: whatever it is. The period and the partner choose the index. */
export type OrderFilter = [
  statuses: readonly string[] | null,
  orderType: string | null,
  userId: string | null,
  referenceId: string | null,
];

export const ordersOfPartner = statement<[...PeriodOfPartner, ...OrderFilter], ExportedOrder>(
  'exports.orders_of_partner',
  ordersOf(`o.partner_id = $3 AND ($4::text[] IS NULL OR o.status = ANY ($4)) AND ($5::text IS NULL OR o.order_type = $5)
        AND ($6::uuid IS NULL OR o.user_id = $6) AND ($7::text IS NULL OR o.reference_id = $7)`),
);
export const ordersOfAll = statement<Period, ExportedOrder>('exports.orders_of_all', ordersOf('true'));

export interface ExportedFee {
  entry_id: string;
  booked_at: Date;
  order_id: string;
  reference_id: string | null;
  order_type: string;
  chain: string;
  crypto_currency: string;
  crypto_decimals: number;
  crypto_amount: string;
  /** As it was booked: what an operator forgave of a deposit was taken from it. */
  platform_fee: string;
  platform_fee_pct: string;
  partner_fee: string;
  partner_fee_pct: string;
}

export const feesOfPartner = statement<PeriodOfPartner, ExportedFee>(
  'exports.fees_of_partner',
  `SELECT e.entry_id, e.created_at AS booked_at, o.order_id, o.reference_id, o.order_type, o.chain, o.crypto_currency,
          o.crypto_decimals, o.crypto_amount::text, o.platform_fee_pct, o.partner_fee::text, o.partner_fee_pct,
          (SELECT coalesce(sum(p.amount), 0)::text FROM ledger_postings p
            WHERE p.entry_id = e.entry_id AND p.account = 'treasury:' || o.chain) AS platform_fee
     FROM ledger_entries e JOIN orders o USING (order_id)
    WHERE e.created_at >= $1 AND e.created_at < $2 AND e.partner_id = $3 AND e.kind = 'escrow_released'
    ORDER BY e.created_at, e.entry_id`,
);

export interface ExportedPosting {
  entry_id: string;
  line: number;
  partner_id: string;
  booked_at: Date;
  kind: string;
  order_id: string | null;
  reference_id: string | null;
  account: string;
  asset: string;
  amount: string;
  /** As the order has them; null where it does not trade the asset, or there is no order. */
  decimals: number | null;
}

const postingsOf = (
  sought: string,
) => `SELECT e.entry_id, p.line, e.partner_id, e.created_at AS booked_at, e.kind, e.order_id, o.reference_id, p.account,
            p.asset, p.amount::text,
            CASE p.asset WHEN o.crypto_currency || '@' || o.chain THEN o.crypto_decimals
                         WHEN o.fiat_currency THEN o.fiat_decimals END AS decimals
       FROM ledger_entries e JOIN ledger_postings p USING (entry_id) LEFT JOIN orders o ON o.order_id = e.order_id
      WHERE e.created_at >= $1 AND e.created_at < $2 AND ${sought} ORDER BY e.created_at, e.entry_id, p.line`;

export const postingsOfPartner = statement<PeriodOfPartner, ExportedPosting>(
  'exports.postings_of_partner',
  postingsOf('e.partner_id = $3'),
);
export const postingsOfAll = statement<Period, ExportedPosting>(
  'exports.postings_of_all',
  postingsOf('true'),
);

export interface StatementAccount {
  user_id: string;
  currency: string;
  currency_decimals: number;
  /** Null once the holder is erased: the money is still shown, and no reference. */
  data_key_sealed: string | null;
}

/** The number can be guessed: row-level security and the partner's own id leave it to its partner. */
export const accountOfPartner = statement<[accountNumber: string, partnerId: string], StatementAccount>(
  'exports.fiat_account',
  `SELECT a.user_id, a.currency, a.currency_decimals, u.data_key_sealed
     FROM fiat_accounts a JOIN users u USING (user_id) WHERE a.account_number = $1 AND a.partner_id = $2`,
);

export const balanceBefore = statement<[account: string, asset: string, before: Date], { balance: string }>(
  'exports.balance_before',
  `SELECT coalesce(sum(p.amount), 0)::text AS balance FROM ledger_postings p JOIN ledger_entries e USING (entry_id)
    WHERE p.account = $1 AND p.asset = $2 AND e.created_at < $3`,
);

export interface StatementEntry {
  entry_id: string;
  kind: string;
  order_id: string | null;
  booked_at: Date;
  amount: string;
  payment_id: string | null;
  settlement_id: string | null;
  details_sealed: string | null;
}

export const entriesOfAccount = statement<
  [account: string, asset: string, from: Date, to: Date],
  StatementEntry
>(
  'exports.entries_of_account',
  `SELECT e.entry_id, e.kind, e.order_id, e.created_at AS booked_at, p.amount::text, f.payment_id, f.settlement_id,
          f.details_sealed
     FROM ledger_postings p JOIN ledger_entries e USING (entry_id)
     LEFT JOIN fiat_payments f
       ON f.payment_id = CASE WHEN starts_with(e.dedupe_key, 'fiat_payment:') THEN split_part(e.dedupe_key, ':', 2)::uuid END
    WHERE p.account = $1 AND p.asset = $2 AND e.created_at >= $3 AND e.created_at < $4
    ORDER BY e.created_at, e.entry_id`,
);

export type ExportedEarning = Parameters<typeof earningView>[0];

/** An order counts when its escrow has paid out, at the time of the booking, as in GET /vendor/statement. */
export const earningsOfVendor = statement<[...Period, vendorId: string], ExportedEarning>(
  'exports.earnings_of_vendor',
  `SELECT o.order_id, o.direction, o.chain, o.crypto_currency, o.crypto_decimals, o.fiat_currency, o.fiat_decimals, o.rate,
          o.crypto_amount::text, o.platform_fee::text, o.fiat_amount::text, o.tx_hash, e.created_at AS settled_at
     FROM orders o JOIN ledger_entries e ON e.order_id = o.order_id AND e.kind = 'escrow_released'
    WHERE e.created_at >= $1 AND e.created_at < $2 AND o.vendor_id = $3 ORDER BY e.created_at, o.order_id`,
);
