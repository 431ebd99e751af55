import { statement } from '../../db/statement.ts';

/** The SQL of forgetting people in orders. */

export const countOpenOrders = statement<[userId: string, ended: readonly string[]], { open: string }>(
  'orders.count_open_of_user',
  'SELECT count(*) AS open FROM orders WHERE user_id = $1 AND status <> ALL($2::text[])',
);

export const forgetPayerDetails = statement<[userId: string]>(
  'orders.forget_payer_details',
  'UPDATE orders SET payer_details_sealed = NULL WHERE user_id = $1 AND payer_details_sealed IS NOT NULL',
);
