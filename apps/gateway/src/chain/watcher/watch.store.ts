import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { EscrowWatch } from './chain-facts.ts';

/** How far the watcher has read, and which escrows it watches. */

export interface Cursor {
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

interface CursorRow {
  block_number: string;
  block_hash: Hex;
}

interface WatchRow {
  address: Address;
  order_id: string;
  partner_id: string;
  token: Address;
  expected_amount: string;
  expected_sender: Address;
}

/** Without a watch where only the horizon is new. */
type ChangedWatchRow = { horizon: string } & (
  | (WatchRow & { closed_at: Date | null })
  | { readonly address: null }
);

export interface KnownWatch extends EscrowWatch {
  readonly closedAt: Date | null;
}

export interface WatchChanges {
  readonly watches: readonly KnownWatch[];
  /** From which transaction on the next look has to ask. */
  readonly horizon: string;
}

const selectCursor = statement<[chainId: number], CursorRow>(
  'chain.cursor',
  'SELECT block_number::text, block_hash FROM chain_cursors WHERE chain_id = $1',
);

const lockCursor = statement<[chainId: number], CursorRow>(
  'chain.lock_cursor',
  'SELECT block_number::text, block_hash FROM chain_cursors WHERE chain_id = $1 FOR UPDATE',
);

const insertCursor = statement<[chainId: number, blockNumber: bigint, blockHash: string, at: Date]>(
  'chain.insert_cursor',
  `INSERT INTO chain_cursors (chain_id, block_number, block_hash, updated_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (chain_id) DO NOTHING`,
);

const updateCursor = statement<[chainId: number, blockNumber: bigint, blockHash: string, at: Date]>(
  'chain.move_cursor',
  'UPDATE chain_cursors SET block_number = $2, block_hash = $3, updated_at = $4 WHERE chain_id = $1',
);

const insertWatch = statement<
  [
    chainId: number,
    address: string,
    orderId: string,
    partnerId: string,
    token: string,
    expectedAmount: bigint,
    expectedSender: string,
    at: Date,
    knownSince: Date,
  ]
>(
  'chain.insert_watch',
  `INSERT INTO escrow_watches
     (chain_id, address, order_id, partner_id, token, expected_amount, expected_sender, registered_at,
      known_since)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (chain_id, address) DO NOTHING`,
);

const closeWatches = statement<[orderIds: readonly string[], at: Date]>(
  'chain.close_watches',
  'UPDATE escrow_watches SET closed_at = $2 WHERE order_id = ANY($1::uuid[]) AND closed_at IS NULL',
);

const reopenWatches = statement<[orderId: string]>(
  'chain.reopen_watches',
  'UPDATE escrow_watches SET closed_at = NULL WHERE order_id = $1 AND closed_at IS NOT NULL',
);

const WATCH_COLUMNS = 'address, order_id, partner_id, token, expected_amount::text, expected_sender';

const watchesWhere = (condition: string) =>
  `SELECT horizon, ${WATCH_COLUMNS}, closed_at
     FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon) h
     LEFT JOIN escrow_watches ON chain_id = $1 AND (${condition})`;

const selectWatches = statement<[chainId: number, closedAfter: Date], ChangedWatchRow>(
  'chain.watches',
  watchesWhere('closed_at IS NULL OR closed_at > $2'),
);

const selectChangedWatches = statement<[chainId: number, horizon: string], ChangedWatchRow>(
  'chain.changed_watches',
  watchesWhere('changed_in >= $2::xid8'),
);

const selectNewWatches = statement<
  [chainId: number, again: boolean, limit: number],
  WatchRow & { known_since: Date }
>(
  'chain.new_watches',
  `SELECT ${WATCH_COLUMNS}, coalesce(known_since, registered_at) AS known_since FROM escrow_watches
    WHERE chain_id = $1 AND NOT caught_up AND (searched_again_for IS NOT NULL) = $2 ORDER BY registered_at LIMIT $3`,
);

const markCaughtUp = statement<[chainId: number, addresses: readonly string[]]>(
  'chain.mark_caught_up',
  'UPDATE escrow_watches SET caught_up = true WHERE chain_id = $1 AND address = ANY($2::text[])',
);

const selectCaughtUpSince = statement<[chainId: number, horizon: string], { address: Address }>(
  'chain.caught_up_since',
  'SELECT address FROM escrow_watches WHERE chain_id = $1 AND changed_in >= $2::xid8 AND caught_up',
);

const searchWatch = statement<
  [orderId: string, address: string, balance: string, anew: boolean],
  { known_since: Date }
>(
  'chain.search_watch_again',
  `UPDATE escrow_watches w
      SET caught_up = false, closed_at = NULL, searched_again_for = $3,
          known_since = least(known_since, registered_at, (SELECT created_at FROM orders o WHERE o.order_id = w.order_id))
    WHERE w.order_id = $1 AND w.address = $2
      AND ($4 OR w.searched_again_for IS DISTINCT FROM $3)
   RETURNING w.known_since`,
);

const markNew = statement<[chainId: number, addresses: readonly string[]]>(
  'chain.mark_new',
  'UPDATE escrow_watches SET caught_up = false WHERE chain_id = $1 AND address = ANY($2::text[])',
);

export async function readCursor(db: Database, chainId: number): Promise<Cursor | undefined> {
  return cursorOf(await db.query(SYSTEM, selectCursor, [chainId]));
}

export async function startCursor(db: Database, chainId: number, cursor: Cursor, at: Date): Promise<void> {
  await db.query(SYSTEM, insertCursor, [chainId, cursor.blockNumber, cursor.blockHash, at]);
}

/** False when another process has moved on meanwhile: what was read is then its business. */
export async function holdCursor(unit: UnitOfWork, chainId: number, expected: Cursor): Promise<boolean> {
  const found = cursorOf(await unit.tx.query(lockCursor, [chainId]));
  return found?.blockNumber === expected.blockNumber && found.blockHash === expected.blockHash;
}

export function moveCursor(unit: UnitOfWork, chainId: number, to: Cursor): void {
  unit.tx.defer(updateCursor, [chainId, to.blockNumber, to.blockHash, unit.at]);
}

/** Makes an address known as an order's escrow, in the transaction that decided it. Registering again changes nothing. */
export function watchEscrow(
  unit: UnitOfWork,
  chainId: number,
  watch: EscrowWatch,
  knownSince: Date = unit.at,
): void {
  unit.tx.defer(insertWatch, [
    chainId,
    watch.address,
    watch.orderId,
    watch.partnerId,
    watch.token,
    watch.expectedAmount,
    watch.expectedSender,
    unit.at,
    knownSince,
  ]);
}

/** The orders are over: their escrows are watched for a while longer and then no more. */
export function stopWatching(unit: UnitOfWork, orderIds: readonly string[]): void {
  unit.tx.defer(closeWatches, [orderIds, unit.at]);
}

/** Something was paid into it after all: it is watched until its order is over again. */
export function watchAgain(unit: UnitOfWork, orderId: string): void {
  unit.tx.defer(reopenWatches, [orderId]);
}

/** Those that are open, or were closed later than that. */
export async function readWatches(db: Database, chainId: number, closedAfter: Date): Promise<WatchChanges> {
  return changesOf(await db.query(SYSTEM, selectWatches, [chainId, closedAfter]));
}

/** Those that were registered, closed or reopened since; some of them may be known already. */
export async function readChangedWatches(
  db: Database,
  chainId: number,
  horizon: string,
): Promise<WatchChanges> {
  return changesOf(await db.query(SYSTEM, selectChangedWatches, [chainId, horizon]));
}

/** New ones, or those that are searched again. Which blocks before the cursor may hold a deposit is told by `knownSince`. */
export async function listNewWatches(
  db: Database,
  chainId: number,
  search: 'first' | 'again',
  limit: number,
): Promise<(EscrowWatch & { readonly knownSince: Date })[]> {
  const rows = await db.query(SYSTEM, selectNewWatches, [chainId, search === 'again', limit]);
  return rows.map((row) => ({ ...watchOf(row), knownSince: row.known_since }));
}

export function finishCatchingUp(unit: UnitOfWork, chainId: number, watches: readonly EscrowWatch[]): void {
  unit.tx.defer(markCaughtUp, [chainId, watches.map(({ address }) => address)]);
}

/** Those that changed since, and count as searched up to the cursor. */
export async function caughtUpSince(unit: UnitOfWork, chainId: number, horizon: string): Promise<Address[]> {
  return (await unit.tx.query(selectCaughtUpSince, [chainId, horizon])).map(({ address }) => address);
}

/** The blocks behind the cursor are searched for them once more. */
export function catchUpAgain(unit: UnitOfWork, chainId: number, addresses: readonly Address[]): void {
  unit.tx.defer(markNew, [chainId, addresses]);
}

/**
 * All blocks since the order was opened are searched for its escrow, and it is watched again until the order is over: what a
 * node did not tell of, or what was paid when it was watched no longer, is found. Once for each balance, unless it is asked
 * for anew. Answers since when; null where there is nothing to do.
 */
export async function searchAgain(
  unit: UnitOfWork,
  escrow: { readonly orderId: string; readonly address: string; readonly balance: string },
  { anew }: { readonly anew: boolean },
): Promise<Date | null> {
  const { orderId, address, balance } = escrow;
  const [row] = await unit.tx.query(searchWatch, [orderId, address, balance, anew]);
  return row?.known_since ?? null;
}

function cursorOf(rows: readonly CursorRow[]): Cursor | undefined {
  const [row] = rows;
  return row && { blockNumber: BigInt(row.block_number), blockHash: row.block_hash };
}

function changesOf(rows: readonly ChangedWatchRow[]): WatchChanges {
  const [first] = rows;
  if (first === undefined) throw new Error('there is always a horizon');
  return {
    horizon: first.horizon,
    watches: rows.flatMap((row) =>
      row.address === null ? [] : [{ ...watchOf(row), closedAt: row.closed_at }],
    ),
  };
}

function watchOf(row: WatchRow): EscrowWatch {
  return {
    address: row.address,
    orderId: row.order_id,
    partnerId: row.partner_id,
    token: row.token,
    expectedAmount: BigInt(row.expected_amount),
    expectedSender: row.expected_sender,
  };
}
