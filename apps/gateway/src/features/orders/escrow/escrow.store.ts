import {
  DEPOSIT_RETURNING,
  DEPOSIT_STATUSES,
  type DepositStatus,
  depositMachine,
  isTerminal,
  orderStatusesThatKnow,
} from '@causeway/protocol';
import type { Address, Hex } from '../../../chain/chain-settings.ts';
import type { DepositKind } from '../../../chain/watcher/chain-facts.ts';
import { sqlWords, statement } from '../../../db/statement.ts';
import { ORDER_COLUMNS, ORDER_TABLES } from '../lifecycle/order.store.ts';
import type { OrderRow } from '../lifecycle/order.ts';

/** SQL of deposits into escrows: what was found, what was decided, and what became of it. */

export interface DepositRow {
  deposit_id: string;
  order_id: string;
  partner_id: string;
  chain_id: string;
  address: Address;
  tx_hash: Hex;
  log_index: number;
  block_number: string;
  token: Address;
  sender: Address;
  amount: string;
  kind: DepositKind;
  disposition: DepositStatus;
  note: string;
  credited_amount: string;
  return_to: Address | null;
  return_amount: string | null;
  return_nonce: string | null;
  return_signature: Hex | null;
  /** How often its return was begun. */
  return_attempts: number;
  return_tx_hash: Hex | null;
  decided_at: Date | null;
  observed_at: Date;
}

const COLUMNS = `d.deposit_id, d.order_id, d.partner_id, d.chain_id::text, d.address, d.tx_hash, d.log_index,
  d.block_number::text, d.token, d.sender, d.amount::text, d.kind, d.disposition, d.note, d.credited_amount::text,
  d.return_to, d.return_amount::text, d.return_nonce::text, d.return_signature, d.return_attempts, d.return_tx_hash, d.decided_at,
  d.observed_at`;

/** Something still has to happen to these. */
export const OPEN_DEPOSITS = DEPOSIT_STATUSES.filter((status) => !isTerminal(depositMachine, status));
export const OPEN_DEPOSITS_SQL = sqlWords(OPEN_DEPOSITS);

/** What was paid into an order's escrow, whatever it was: each is final when it is seen here. */
export const depositsOfOrder = statement<[orderId: string], DepositRow>(
  'deposits.of_order',
  `SELECT ${COLUMNS} FROM deposit_observations d WHERE d.order_id = $1 ORDER BY d.block_number, d.log_index`,
);

/** After the order's own lock, so that a decision about one sees the others unchanged. */
export const lockDepositsOfOrder = statement<[orderId: string], DepositRow>(
  'deposits.lock_of_order',
  `SELECT ${COLUMNS} FROM deposit_observations d WHERE d.order_id = $1
    ORDER BY d.block_number, d.log_index FOR UPDATE`,
);

export const findDeposit = statement<[depositId: string], DepositRow>(
  'deposits.find',
  `SELECT ${COLUMNS} FROM deposit_observations d WHERE d.deposit_id = $1`,
);

type Filters = [
  statuses: readonly string[] | null,
  kind: string | null,
  orderId: string | null,
  partnerId: string | null,
];

const MATCHES = `($1::text[] IS NULL OR d.disposition = ANY($1)) AND ($2::text IS NULL OR d.kind = $2)
  AND ($3::uuid IS NULL OR d.order_id = $3) AND ($4::uuid IS NULL OR d.partner_id = $4)`;

export interface ListedDepositRow extends DepositRow {
  chain: string;
  order_status: OrderRow['status'];
  direction: OrderRow['direction'];
  crypto_currency: string;
  crypto_decimals: number;
  escrow_state: OrderRow['facts']['escrow'];
  expected_token: Address;
  expected_amount: string;
  expected_sender: Address;
}

/** Longest first. */
export const listDeposits = statement<[...Filters, limit: number, offset: number], ListedDepositRow>(
  'deposits.list',
  `SELECT ${COLUMNS}, o.chain, o.status AS order_status, o.direction, o.crypto_currency, o.crypto_decimals,
          o.facts->>'escrow' AS escrow_state, w.token AS expected_token, w.expected_amount::text, w.expected_sender
     FROM deposit_observations d JOIN orders o USING (order_id)
     JOIN escrow_watches w ON w.chain_id = d.chain_id AND w.address = d.address
    WHERE ${MATCHES} ORDER BY d.observed_at, d.deposit_id LIMIT $5 OFFSET $6`,
);

export const countDeposits = statement<Filters, { total: string }>(
  'deposits.count',
  `SELECT count(*)::text AS total FROM deposit_observations d WHERE ${MATCHES}`,
);

/** By an operator, or by the chain. */
export const setDeposit = statement<
  [
    depositId: string,
    disposition: DepositStatus,
    note: string,
    creditedAmount: string,
    returnTo: string | null,
    returnAmount: string | null,
    returnNonce: string | null,
    returnSignature: string | null,
    returnTxHash: string | null,
    decidedAt: Date | null,
    returnAttempts: number,
  ]
>(
  'deposits.set',
  `UPDATE deposit_observations SET disposition = $2, note = left($3, 500), credited_amount = $4, return_to = $5,
          return_amount = $6, return_nonce = $7, return_signature = $8, return_tx_hash = $9, decided_at = $10,
          return_attempts = $11
    WHERE deposit_id = $1`,
);

/** By an owner of the escrow, who can change nothing else about it. */
export const signDeposit = statement<
  [depositId: string, disposition: DepositStatus, nonce: string, signature: string, attempts: number]
>(
  'deposits.sign',
  `UPDATE deposit_observations SET disposition = $2, return_nonce = $3, return_signature = $4,
          return_attempts = $5
    WHERE deposit_id = $1`,
);

/** With the order's lock, as its deposit is accepted. */
export const setShortfall = statement<[orderId: string, shortfall: string]>(
  'deposits.set_shortfall',
  'UPDATE orders SET deposit_shortfall = $2 WHERE order_id = $1',
);

export const dropRefundSignatures = statement<[orderId: string]>(
  'deposits.drop_refund_signatures',
  `DELETE FROM escrow_signatures WHERE order_id = $1 AND purpose = 'refund'`,
);

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

/** What an escrow has executed, as far as the chain has been read, last first. Its owners can make thousands of these. */
export const executionsOf = statement<
  [chainId: number, address: string],
  { safe_tx_hash: Hex; tx_hash: Hex }
>(
  'escrow.executions',
  'SELECT safe_tx_hash, tx_hash FROM escrow_executions WHERE chain_id = $1 AND address = $2 ORDER BY block_number DESC LIMIT 20',
);

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

const BOOKED_ESCROW = `SELECT o.order_id, o.partner_id, o.status, o.direction, o.facts->>'escrow' AS escrow_state, o.chain,
          o.crypto_currency, o.crypto_decimals, o.escrow->>'address' AS address,
          coalesce((SELECT sum(p.amount) FROM ledger_postings p
                     WHERE p.account IN ('escrow:' || o.order_id, 'held:' || o.order_id)
                       AND p.asset = o.crypto_currency || '@' || o.chain), 0)::text AS booked,
          coalesce((SELECT sum(d.return_amount) FROM deposit_observations d
                     WHERE d.order_id = o.order_id AND d.disposition = ${sqlWords(DEPOSIT_RETURNING)}), 0)::text AS returning
     FROM orders o`;

/** Escrows that hold or await something, or all there ever were; oldest first. */
export const bookedEscrows = statement<
  [openStatuses: readonly string[] | null, after: string | null, limit: number],
  BookedEscrowRow
>(
  'reconcile.escrows',
  `${BOOKED_ESCROW}
    WHERE o.escrow IS NOT NULL AND ($2::uuid IS NULL OR o.order_id > $2)
      AND ($1::text[] IS NULL OR o.status = ANY($1) OR o.facts->>'escrow' IN ('funded', 'releasing', 'refunding')
           OR EXISTS (SELECT FROM deposit_observations d
                       WHERE d.order_id = o.order_id AND d.disposition IN (${OPEN_DEPOSITS_SQL})))
    ORDER BY o.order_id LIMIT $3`,
);

export const bookedEscrow = statement<[orderId: string], BookedEscrowRow>(
  'reconcile.escrow',
  `${BOOKED_ESCROW} WHERE o.order_id = $1 AND o.escrow IS NOT NULL`,
);

/**
 * Orders that are over, as far as their escrow goes: it has paid out, or nothing was paid before they ended; and nothing that
 * was paid into it still waits for a person or its way back, which anyone may carry out.
 */
export const overWithOpenWatch = statement<
  [openStatuses: readonly string[], limit: number],
  { order_id: string }
>(
  'reconcile.over_with_open_watch',
  `SELECT o.order_id FROM escrow_watches w JOIN orders o ON o.order_id = w.order_id
    WHERE w.closed_at IS NULL
      AND (o.facts->>'escrow' = 'emptied' OR (o.facts->>'escrow' = 'none' AND o.status <> ALL($1::text[])))
      AND NOT EXISTS (SELECT FROM deposit_observations d
                       WHERE d.order_id = o.order_id AND d.disposition IN (${OPEN_DEPOSITS_SQL}))
    LIMIT $2`,
);
