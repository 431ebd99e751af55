import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address, Hex } from '../chain-settings.ts';

/** SQL of what was recorded from blocks, for when some of them are gone. */

export interface RecordedBlock {
  readonly number: bigint;
  readonly hash: Hex;
}

export interface RecordedDeposit {
  deposit_id: string;
  order_id: string;
  tx_hash: Hex;
  log_index: number;
  block_number: string;
  block_hash: Hex;
  address: Address;
  token: Address;
  sender: Address;
  amount: string;
  kind: string;
  disposition: string;
}

export interface RecordedTransaction {
  effect_key: string;
  mined_hash: Hex;
  status: string;
  block_number: string;
  block_hash: Hex;
}

const selectBlocks = statement<
  [chainId: number, before: bigint, limit: number],
  { block_number: string; block_hash: Hex }
>(
  'chain.recorded_blocks',
  `SELECT block_number::text, block_hash FROM (
     SELECT block_number, block_hash FROM deposit_observations WHERE chain_id = $1 AND block_number < $2
      UNION
     SELECT block_number, block_hash FROM chain_transactions WHERE chain_id = $1 AND block_number < $2) recorded
    ORDER BY recorded.block_number DESC LIMIT $3`,
);

const selectDeposits = statement<[chainId: number, after: bigint], RecordedDeposit>(
  'chain.deposits_after',
  `SELECT deposit_id, order_id, tx_hash, log_index, block_number::text, block_hash, address, token, sender, amount::text,
          kind, disposition
     FROM deposit_observations WHERE chain_id = $1 AND block_number > $2
    ORDER BY deposit_observations.block_number, log_index`,
);

const selectTransactions = statement<[chainId: number, after: bigint], RecordedTransaction>(
  'chain.transactions_after',
  `SELECT effect_key, mined_hash, status, block_number::text, block_hash
     FROM chain_transactions WHERE chain_id = $1 AND block_number > $2 ORDER BY chain_transactions.block_number`,
);

/** Further than any block has logs: what moves by one place would meet the next. */
const setAside = statement<[depositIds: readonly string[]]>(
  'chain.set_deposits_aside',
  'UPDATE deposit_observations SET log_index = log_index + 1000000000 WHERE deposit_id = ANY($1::uuid[])',
);

const updateLocation = statement<
  [depositId: string, logIndex: number, blockNumber: bigint, blockHash: string]
>(
  'chain.move_deposit',
  'UPDATE deposit_observations SET log_index = $2, block_number = $3, block_hash = $4 WHERE deposit_id = $1',
);

/** Newest first. One height twice where two records of it disagree. */
export async function recordedBlocks(
  db: Database,
  chainId: number,
  before: bigint,
  limit: number,
): Promise<RecordedBlock[]> {
  const rows = await db.query(SYSTEM, selectBlocks, [chainId, before, limit]);
  return rows.map((row) => ({ number: BigInt(row.block_number), hash: row.block_hash }));
}

export const depositsAfter = (db: Database, chainId: number, block: bigint) =>
  db.query(SYSTEM, selectDeposits, [chainId, block]);

export const transactionsAfter = (db: Database, chainId: number, block: bigint) =>
  db.query(SYSTEM, selectTransactions, [chainId, block]);

export interface MovedDeposit {
  readonly depositId: string;
  readonly to: { readonly logIndex: number; readonly blockNumber: bigint; readonly blockHash: Hex };
}

/** Where the chain has them now: otherwise they would be read as further deposits. */
export function moveDeposits(unit: UnitOfWork, moved: readonly MovedDeposit[]): void {
  unit.tx.defer(setAside, [moved.map(({ depositId }) => depositId)]);
  for (const { depositId, to } of moved) {
    unit.tx.defer(updateLocation, [depositId, to.logIndex, to.blockNumber, to.blockHash]);
  }
}
