import type { OrderStatus } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';
import { ORDER_COLUMNS, ORDER_TABLES } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

/**
 * Lists of a partner's orders; row-level security narrows them to the partner. A page is found in an index alone and only
 * its rows are read, so a late page costs little more than the first. A kept plan knows no values: a customer or a reference
 * written as "null or equal" would be looked for among all orders of the partner, so each has statements of its own.
 */
export type OrderFilters = [
  statuses: readonly OrderStatus[] | null,
  orderType: string | null,
  createdFrom: Date | '-infinity',
  createdTo: Date | 'infinity',
  userId: string | null,
  referenceId: string | null,
];

const MATCHES = `($1::text[] IS NULL OR o.status = ANY($1)) AND ($2::text IS NULL OR o.order_type = $2)
  AND o.created_at >= $3::timestamptz AND o.created_at < $4::timestamptz`;

function listOf(name: string, sought: string) {
  return {
    // An array, because its rows are then found one by one, however long the planner expects the page to be.
    page: statement<[...OrderFilters, limit: number, offset: number], OrderRow>(
      `orders.list${name}`,
      `SELECT ${ORDER_COLUMNS} ${ORDER_TABLES} WHERE o.order_id = ANY(ARRAY(
         SELECT o.order_id FROM orders o WHERE ${MATCHES} AND ${sought}
          ORDER BY o.created_at DESC, o.order_id DESC LIMIT $7 OFFSET $8))
        ORDER BY o.created_at DESC, o.order_id DESC`,
    ),
    count: statement<OrderFilters, { total: string }>(
      `orders.count${name}`,
      `SELECT count(*)::text AS total FROM orders o WHERE ${MATCHES} AND ${sought}`,
    ),
  };
}

export const allOrders = listOf('', '$5::uuid IS NULL AND $6::text IS NULL');
export const ordersOfUser = listOf('_of_user', 'o.user_id = $5 AND $6::text IS NULL');
export const ordersByReference = listOf(
  '_by_reference',
  'o.reference_id = $6 AND ($5::uuid IS NULL OR o.user_id = $5)',
);
