import { DEPOSIT_RETURNING } from '@causeway/protocol';
import { sqlWords, statement } from '../../../db/statement.ts';
import { OPEN_DEPOSITS_SQL } from '../deposits/deposit.store.ts';
import type { OrderRow } from '../lifecycle/order.ts';

/** What the books say, for comparing with the chain. */

export const bookSums = statement<[], { asset: string; sum: string }>(
  'reconcile.books',
  'SELECT asset, sum(amount)::text AS sum FROM ledger_postings GROUP BY asset ORDER BY asset',
);

export interface BookedEscrowRow {
  order_id: string;
  partner_id: string;
  status: OrderRow['status'];
  direction: OrderRow['direction'];
  escrow_state: OrderRow['facts']['escrow'];
  chain: string;
  crypto_currency: string;
  crypto_decimals: number;
  address: `0x${string}`;
  /** The order's, and what is held beside it. */
  booked: string;
  /** Of that, what is on its way back to the payer. */
  returning: string;
}

/** Escrows that hold or await something, or all there ever were; oldest first. */
export const bookedEscrows = statement<
  [openStatuses: readonly string[] | null, after: string | null, limit: number],
  BookedEscrowRow
>(
  'reconcile.escrows',
  `SELECT o.order_id, o.partner_id, o.status, o.direction, o.facts->>'escrow' AS escrow_state, o.chain, o.crypto_currency,
          o.crypto_decimals, o.escrow->>'address' AS address,
          coalesce((SELECT sum(p.amount) FROM ledger_postings p
                     WHERE p.account IN ('escrow:' || o.order_id, 'held:' || o.order_id)
                       AND p.asset = o.crypto_currency || '@' || o.chain), 0)::text AS booked,
          coalesce((SELECT sum(d.return_amount) FROM deposit_observations d
                     WHERE d.order_id = o.order_id AND d.disposition = ${sqlWords(DEPOSIT_RETURNING)}), 0)::text AS returning
     FROM orders o
    WHERE o.escrow IS NOT NULL AND ($2::uuid IS NULL OR o.order_id > $2)
      AND ($1::text[] IS NULL OR o.status = ANY($1) OR o.facts->>'escrow' IN ('funded', 'releasing', 'refunding')
           OR EXISTS (SELECT FROM deposit_observations d
                       WHERE d.order_id = o.order_id AND d.disposition IN (${OPEN_DEPOSITS_SQL})))
    ORDER BY o.order_id LIMIT $3`,
);

/** Orders that are over, as far as their escrow goes: it has paid out, or nothing was paid before they ended. */
export const overWithOpenWatch = statement<
  [openStatuses: readonly string[], limit: number],
  { order_id: string }
>(
  'reconcile.over_with_open_watch',
  `SELECT o.order_id FROM escrow_watches w JOIN orders o ON o.order_id = w.order_id
    WHERE w.closed_at IS NULL
      AND (o.facts->>'escrow' = 'emptied' OR (o.facts->>'escrow' = 'none' AND o.status <> ALL($1::text[])))
    LIMIT $2`,
);
