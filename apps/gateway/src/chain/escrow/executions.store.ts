import { AUTHORIZATION_LIVE } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { sqlWords, statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { giveWay } from '../../lib/pacing.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { EscrowExecution, ForwardExecution } from '../watcher/chain-facts.ts';

/** SQL of what escrows and forward requests executed, whichever account sent it. */

const ROWS_A_STATEMENT = 200;

const insertExecutions = statement<
  [
    chainId: number,
    addresses: readonly string[],
    safeTxHashes: readonly string[],
    orderIds: readonly string[],
    partnerIds: readonly string[],
    txHashes: readonly string[],
    blockNumbers: readonly string[],
    at: Date,
  ]
>(
  'chain.insert_executions',
  `INSERT INTO escrow_executions
     (chain_id, address, safe_tx_hash, order_id, partner_id, tx_hash, block_number, observed_at)
   SELECT $1, address, safe_tx_hash, order_id, partner_id, tx_hash, block_number, $8
     FROM unnest($2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::bigint[])
       AS executed (address, safe_tx_hash, order_id, partner_id, tx_hash, block_number)
   ON CONFLICT (chain_id, address, safe_tx_hash)
   DO UPDATE SET tx_hash = excluded.tx_hash, block_number = excluded.block_number`,
);

const selectExecution = statement<
  [chainId: number, address: string, safeTxHash: string],
  { tx_hash: Hex | null; read_to: string | null }
>(
  'chain.execution',
  `SELECT (SELECT tx_hash FROM escrow_executions WHERE chain_id = $1 AND address = $2 AND safe_tx_hash = $3),
          (SELECT block_number::text FROM chain_cursors WHERE chain_id = $1) AS read_to`,
);

const selectExecutions = statement<
  [chainId: number, address: string, safeTxHashes: readonly string[]],
  { safe_tx_hash: Hex; tx_hash: Hex }
>(
  'chain.executions',
  `SELECT safe_tx_hash, tx_hash FROM escrow_executions
    WHERE chain_id = $1 AND address = $2 AND safe_tx_hash = ANY($3::text[])`,
);

const selectSigners = statement<[chainId: number, forwarder: string], { sender: Address }>(
  'chain.known_signers',
  'SELECT DISTINCT sender FROM forwarder_nonces WHERE chain_id = $1 AND forwarder = $2',
);

const selectSigned = statement<
  [chainId: number, forwarder: string, senders: readonly string[]],
  { sender: Address; nonce: string }
>(
  'chain.signed_forwards',
  `SELECT sender, nonce::text FROM forward_authorizations
    WHERE chain_id = $1 AND forwarder = $2 AND status = ${sqlWords(AUTHORIZATION_LIVE)} AND sender = ANY($3::text[])`,
);

/**
 * Told again where a local chain was rolled back: the transaction may then be another. One a hash: the owners of an escrow can
 * have it log the same execution as often as they pay for.
 */
export async function recordExecutions(
  unit: UnitOfWork,
  chainId: number,
  executions: readonly EscrowExecution[],
): Promise<void> {
  const byHash = new Map(executions.map((fact) => [`${fact.escrow}:${fact.safeTxHash}`, fact]));
  const each = [...byHash.values()];
  for (let start = 0; start < each.length; start += ROWS_A_STATEMENT) {
    await giveWay(start);
    const some = each.slice(start, start + ROWS_A_STATEMENT);
    unit.tx.defer(insertExecutions, [
      chainId,
      some.map(({ escrow }) => escrow),
      some.map(({ safeTxHash }) => safeTxHash),
      some.map(({ orderId }) => orderId),
      some.map(({ partnerId }) => partnerId),
      some.map(({ txHash }) => txHash),
      some.map(({ blockNumber }) => `${blockNumber}`),
      unit.at,
    ]);
  }
}

/** The transaction in which an escrow executed this, whichever account sent it, as far as the chain has been read. */
export async function findExecution(
  db: Database,
  chainId: number,
  escrow: Address,
  safeTxHash: Hex,
): Promise<{ readonly txHash: Hex | null; readonly readTo: bigint }> {
  const [row] = await db.query(SYSTEM, selectExecution, [chainId, escrow, safeTxHash]);
  return { txHash: row?.tx_hash ?? null, readTo: BigInt(row?.read_to ?? -1) };
}

/** Which of these an escrow has executed, and in which transactions. */
export async function findExecutions(
  unit: UnitOfWork,
  chainId: number,
  escrow: Address,
  safeTxHashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, Hex>> {
  const rows = await unit.tx.query(selectExecutions, [chainId, escrow, safeTxHashes]);
  return new Map(rows.map((row) => [row.safe_tx_hash, row.tx_hash]));
}

/** Wallets that were shown a request to sign. A request of any other wallet is not ours. */
export async function listSigners(db: Database, chainId: number, forwarder: Address): Promise<Address[]> {
  return (await db.query(SYSTEM, selectSigners, [chainId, forwarder])).map(({ sender }) => sender);
}

/** Which of the executed requests were signed here and are not settled. */
export async function signedForwards(
  unit: UnitOfWork,
  chainId: number,
  forwarder: Address,
  executed: readonly ForwardExecution[],
): Promise<readonly ForwardExecution[]> {
  if (executed.length === 0) return [];
  const senders = [...new Set(executed.map(({ signer }) => signer))];
  const rows = await unit.tx.query(selectSigned, [chainId, forwarder, senders]);
  const signed = new Set(rows.map(({ sender, nonce }) => `${sender}:${nonce}`));
  return executed.filter(({ signer, nonce }) => signed.has(`${signer}:${nonce}`));
}
