import { statement } from '../../../db/statement.ts';
import { ORDER_COLUMNS, ORDER_TABLES } from './order.store.ts';
import type { OrderRow } from './order.ts';

/** SQL of orders beside everything else that was written with them. */

export interface BookedEntry {
  readonly kind: string;
  readonly postings: readonly { readonly account: string; readonly asset: string; readonly amount: string }[];
}

/** What an order takes from its quote, and keeps. */
export const QUOTED_FIGURES = [
  'crypto_amount',
  'fiat_amount',
  'platform_fee',
  'partner_fee',
  'rate',
] as const;
export type QuotedFigure = (typeof QUOTED_FIGURES)[number];

export interface RecordedOrderRow extends OrderRow {
  entries: readonly BookedEntry[];
  effects: readonly { readonly kind: string; readonly open: boolean }[];
  /** When its changes of status were written to the outbox, epoch milliseconds. */
  announced_at: readonly string[];
  /** What its quote promised. */
  quoted: Readonly<Record<QuotedFigure, string>>;
  /** The account whose payment has paid it. */
  paid_from: string | null;
}

/** One statement, so that all of it is of one moment. */
const RECORDED = `SELECT ${ORDER_COLUMNS},
    coalesce((SELECT jsonb_agg(jsonb_build_object('kind', e.kind, 'postings', (
                SELECT coalesce(jsonb_agg(jsonb_build_object('account', p.account, 'asset', p.asset, 'amount', p.amount::text)), '[]')
                  FROM ledger_postings p WHERE p.entry_id = e.entry_id)))
       FROM ledger_entries e WHERE e.order_id = o.order_id), '[]') AS entries,
    coalesce((SELECT jsonb_agg(jsonb_build_object('kind', i.kind, 'open', i.status <> 'confirmed'))
       FROM intents i WHERE i.payload ? 'order_id' AND i.payload->>'order_id' = o.order_id::text), '[]') AS effects,
    ARRAY(SELECT (extract(epoch FROM v.created_at) * 1000)::bigint::text
            FROM events v WHERE v.subject_id = o.order_id AND v.event_type = 'order.status.changed') AS announced_at,
    (SELECT jsonb_build_object(${QUOTED_FIGURES.map((name) => `'${name}', q.${name}::text`).join(', ')})
       FROM quotes q WHERE q.quote_id = o.quote_id) AS quoted,
    (SELECT f.account_number::text FROM fiat_payments f WHERE f.order_id = o.order_id) AS paid_from
  ${ORDER_TABLES}`;

export const recordedOrders = statement<[after: string | null, limit: number], RecordedOrderRow>(
  'reconcile.orders',
  `${RECORDED} WHERE $1::uuid IS NULL OR o.order_id > $1 ORDER BY o.order_id LIMIT $2`,
);

export const recordedOrder = statement<[orderId: string], RecordedOrderRow>(
  'reconcile.order',
  `${RECORDED} WHERE o.order_id = $1`,
);
