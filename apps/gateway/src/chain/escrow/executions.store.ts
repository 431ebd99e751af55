import { AUTHORIZATION_LIVE } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { sqlWords, statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { EscrowExecution, ForwardExecution } from '../watcher/chain-facts.ts';

/** SQL of what escrows and forward requests executed, whichever account sent it. */

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

const selectSigners = statement<[chainId: number, forwarder: string], { sender: Address }>(
  'chain.known_signers',
  'SELECT DISTINCT sender FROM forwarder_nonces WHERE chain_id = $1 AND forwarder = $2',
);

const selectAwaited = statement<
  [chainId: number, forwarder: string, senders: readonly string[]],
  { sender: Address; nonce: string }
>(
  'chain.awaited_forwards',
  `SELECT sender, nonce::text FROM forward_authorizations
    WHERE chain_id = $1 AND forwarder = $2 AND status = ${sqlWords(AUTHORIZATION_LIVE)} AND sender = ANY($3::text[])`,
);

/** Told again where a local chain was rolled back: the transaction may then be another. */
export function recordExecutions(
  unit: UnitOfWork,
  chainId: number,
  executions: readonly EscrowExecution[],
): void {
  if (executions.length === 0) return;
  unit.tx.defer(insertExecutions, [
    chainId,
    executions.map(({ escrow }) => escrow),
    executions.map(({ safeTxHash }) => safeTxHash),
    executions.map(({ orderId }) => orderId),
    executions.map(({ partnerId }) => partnerId),
    executions.map(({ txHash }) => txHash),
    executions.map(({ blockNumber }) => `${blockNumber}`),
    unit.at,
  ]);
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

/** Wallets that were shown a request to sign. A request of any other wallet is not ours. */
export async function listSigners(db: Database, chainId: number, forwarder: Address): Promise<Address[]> {
  return (await db.query(SYSTEM, selectSigners, [chainId, forwarder])).map(({ sender }) => sender);
}

/** Which of the executed requests matter: those that were signed here, and each wallet's last, which says how far it is. */
export async function awaitedForwards(
  unit: UnitOfWork,
  chainId: number,
  forwarder: Address,
  executed: readonly ForwardExecution[],
): Promise<ReadonlySet<ForwardExecution>> {
  if (executed.length === 0) return new Set();
  const lastOf = new Map(executed.map((fact) => [fact.signer, fact]));
  const rows = await unit.tx.query(selectAwaited, [chainId, forwarder, [...lastOf.keys()]]);
  const awaited = new Set(rows.map(({ sender, nonce }) => `${sender}:${nonce}`));
  return new Set(
    executed.filter(
      (fact) => lastOf.get(fact.signer) === fact || awaited.has(`${fact.signer}:${fact.nonce}`),
    ),
  );
}
