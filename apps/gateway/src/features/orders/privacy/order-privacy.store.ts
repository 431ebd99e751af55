import { statement } from '../../../db/statement.ts';

/** The SQL of what orders keep of people, and of erasing it. */

export const countOpenOrders = statement<[userId: string, ended: readonly string[]], { open: string }>(
  'orders.count_open_of_user',
  'SELECT count(*) AS open FROM orders WHERE user_id = $1 AND status <> ALL($2::text[])',
);

export const countOpenPayouts = statement<[recipientId: string, ended: readonly string[]], { open: string }>(
  'orders.count_open_to_recipient',
  'SELECT count(*) AS open FROM orders WHERE recipient_id = $1 AND status <> ALL($2::text[])',
);

export const saveStopReason = statement<[orderId: string, partnerId: string, reasonSealed: string]>(
  'orders.save_stop_reason',
  `INSERT INTO order_stop_reasons (order_id, partner_id, reason_sealed) VALUES ($1, $2, $3)
   ON CONFLICT (order_id) DO UPDATE SET reason_sealed = excluded.reason_sealed`,
);

/** Of an order's parties nothing stays but their ids; a slip and a reason may name both, so they go with either. */
export const eraseParties = statement<[userId: string]>(
  'orders.erase_parties',
  `WITH mine AS (SELECT order_id FROM orders WHERE user_id = $1),
     proofs AS (DELETE FROM payment_proofs WHERE order_id IN (SELECT order_id FROM mine)),
     reasons AS (DELETE FROM order_stop_reasons WHERE order_id IN (SELECT order_id FROM mine))
   UPDATE orders SET payer_details_sealed = NULL, vendor_payment_details_sealed = NULL
    WHERE user_id = $1 AND num_nonnulls(payer_details_sealed, vendor_payment_details_sealed) > 0`,
);

export const erasePayee = statement<[recipientId: string]>(
  'orders.erase_payee',
  `WITH paid AS (SELECT order_id FROM orders WHERE recipient_id = $1),
     proofs AS (DELETE FROM payment_proofs WHERE order_id IN (SELECT order_id FROM paid))
   DELETE FROM order_stop_reasons WHERE order_id IN (SELECT order_id FROM paid)`,
);
