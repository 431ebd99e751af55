import { orderStatusesThatKnow } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';
import { ORDER_COLUMNS, ORDER_TABLES } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

const AWAITING = orderStatusesThatKnow('deposit_matched')
  .map((status) => `'${status}'`)
  .join(', ');

/** Locked in one order, so that two who want several of them never wait for each other in a circle. */
export const lockOrdersAwaitingDeposit = statement<
  [userId: string, currency: string, amount: string],
  OrderRow
>(
  'orders.lock_awaiting_deposit',
  `SELECT ${ORDER_COLUMNS} ${ORDER_TABLES}
    WHERE o.user_id = $1 AND o.fiat_currency = $2 AND o.fiat_amount = $3 AND o.status IN (${AWAITING})
      AND o.direction = 'onramp' AND o.facts->>'fundingSource' = 'own_iban'
    ORDER BY o.order_id FOR UPDATE OF o FOR SHARE OF u`,
);
