import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address } from '../chain-settings.ts';

/** All SQL of looking for tokens that are not the chain's configured ones. */

/** A stretch of blocks in which not everything was looked at. */
export interface ForeignTokenGap {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Watched escrows that were not looked at. */
  readonly escrows: number;
  /** Deposits that were seen and are too many to keep. */
  readonly deposits: number;
}

const selectCursor = statement<[chainId: number], { block_number: string }>(
  'foreign_tokens.cursor',
  'SELECT block_number::text FROM foreign_token_cursors WHERE chain_id = $1',
);

const lockCursor = statement<[chainId: number], { block_number: string }>(
  'foreign_tokens.lock_cursor',
  'SELECT block_number::text FROM foreign_token_cursors WHERE chain_id = $1 FOR UPDATE',
);

const upsertCursor = statement<[chainId: number, blockNumber: bigint, at: Date]>(
  'foreign_tokens.move_cursor',
  `INSERT INTO foreign_token_cursors (chain_id, block_number, updated_at) VALUES ($1, $2, $3)
   ON CONFLICT (chain_id) DO UPDATE SET block_number = excluded.block_number, updated_at = excluded.updated_at`,
);

const countForeign = statement<
  [chainId: number, addresses: readonly string[], ownTokens: readonly string[]],
  { address: Address; deposits: number }
>(
  'foreign_tokens.count',
  `SELECT address, count(*)::integer AS deposits FROM deposit_observations
    WHERE chain_id = $1 AND address = ANY($2::text[]) AND token <> ALL($3::text[]) GROUP BY address`,
);

const insertGap = statement<
  [chainId: number, fromBlock: bigint, toBlock: bigint, escrows: number, deposits: number, at: Date]
>(
  'foreign_tokens.insert_gap',
  `INSERT INTO foreign_token_gaps (chain_id, from_block, to_block, escrows, deposits, recorded_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

const deleteOldGaps = statement<[chainId: number, before: Date]>(
  'foreign_tokens.purge_gaps',
  'DELETE FROM foreign_token_gaps WHERE chain_id = $1 AND recorded_at < $2',
);

export async function readForeignCursor(db: Database, chainId: number): Promise<bigint | undefined> {
  const [row] = await db.query(SYSTEM, selectCursor, [chainId]);
  return row && BigInt(row.block_number);
}

export async function startForeignCursor(
  db: Database,
  chainId: number,
  block: bigint,
  at: Date,
): Promise<void> {
  await db.query(SYSTEM, upsertCursor, [chainId, block, at]);
}

/** False when another process has looked meanwhile. */
export async function holdForeignCursor(
  unit: UnitOfWork,
  chainId: number,
  expected: bigint,
): Promise<boolean> {
  const [row] = await unit.tx.query(lockCursor, [chainId]);
  return row !== undefined && BigInt(row.block_number) === expected;
}

export function moveForeignCursor(unit: UnitOfWork, chainId: number, to: bigint): void {
  unit.tx.defer(upsertCursor, [chainId, to, unit.at]);
}

/** How many deposits of foreign tokens are on record for each of these escrows. */
export async function countForeignDeposits(
  unit: UnitOfWork,
  chainId: number,
  escrows: readonly Address[],
  ownTokens: readonly Address[],
): Promise<Map<Address, number>> {
  const rows = await unit.tx.query(countForeign, [chainId, escrows, ownTokens]);
  return new Map(rows.map(({ address, deposits }) => [address, deposits]));
}

/** Kept as long as escrows are watched after their order's end. */
export function recordGap(unit: UnitOfWork, chainId: number, gap: ForeignTokenGap, keptSince: Date): void {
  unit.tx.defer(insertGap, [chainId, gap.fromBlock, gap.toBlock, gap.escrows, gap.deposits, unit.at]);
  unit.tx.defer(deleteOldGaps, [chainId, keptSince]);
}
