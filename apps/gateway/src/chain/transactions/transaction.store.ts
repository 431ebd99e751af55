import { CHAIN_TRANSACTION_DISPLACED, type ChainTransactionStatus } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { sqlWords, statement } from '../../db/statement.ts';
import type { Address, ContractCall, Hex } from '../chain-settings.ts';
import type { Fees } from './transaction-fees.ts';

/** All SQL of the transactor. */

export interface SignedVersion extends Fees {
  version: number;
  txHash: Hex;
  raw: Hex;
  signedAt: Date;
}

export interface TransactionRecord {
  transactionId: string;
  chainId: number;
  sender: Address;
  nonce: number;
  call: ContractCall;
  gas: bigint;
  /** Null until it is mined deep enough to be final. */
  minedHash: Hex | null;
  /** Something else has used its nonce for good. */
  isDisplaced: boolean;
  /** Oldest first. */
  versions: readonly SignedVersion[];
}

export interface Allocation {
  transactionId: string;
  effectKey: string;
  chainId: number;
  sender: Address;
  call: ContractCall;
  gas: bigint;
  /** What the chain itself says; higher than our count only if the key was used elsewhere. */
  observedNonce: number;
  at: Date;
}

interface RecordRow {
  transaction_id: string;
  chain_id: string;
  sender: Address;
  nonce: string;
  to_address: Address;
  data: Hex;
  value: string;
  gas: string;
  mined_hash: Hex | null;
  status: ChainTransactionStatus;
  version: number | null;
  tx_hash: Hex | null;
  raw: Hex | null;
  max_fee_per_gas: string | null;
  max_priority_fee_per_gas: string | null;
  signed_at: Date | null;
}

const selectByEffect = statement<[effectKey: string], RecordRow>(
  'chain.transaction_by_effect',
  `SELECT transaction_id, chain_id::text, sender, nonce::text, to_address, data, value::text, gas::text, mined_hash,
          status, version::int, tx_hash, raw, max_fee_per_gas::text, max_priority_fee_per_gas::text, signed_at
     FROM chain_transactions LEFT JOIN chain_signed_versions USING (transaction_id)
    WHERE effect_key = $1 ORDER BY version`,
);

const ensureNonceRow = statement<[chainId: number, sender: string]>(
  'chain.ensure_nonce_row',
  `INSERT INTO chain_nonces (chain_id, sender, next_nonce) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING`,
);

const lockNonce = statement<[chainId: number, sender: string], { next_nonce: string }>(
  'chain.lock_nonce',
  `SELECT next_nonce::text FROM chain_nonces WHERE chain_id = $1 AND sender = $2 FOR UPDATE`,
);

const advanceNonce = statement<[chainId: number, sender: string, nextNonce: number]>(
  'chain.advance_nonce',
  `UPDATE chain_nonces SET next_nonce = $3 WHERE chain_id = $1 AND sender = $2`,
);

const insertTransaction = statement<
  [
    transactionId: string,
    effectKey: string,
    chainId: number,
    sender: string,
    nonce: number,
    to: string,
    data: string,
    value: bigint,
    gas: bigint,
    at: Date,
  ]
>(
  'chain.insert_transaction',
  `INSERT INTO chain_transactions
     (transaction_id, effect_key, chain_id, sender, nonce, to_address, data, value, gas, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

const insertVersion = statement<
  [
    transactionId: string,
    version: number,
    txHash: string,
    raw: string,
    maxFeePerGas: bigint,
    maxPriorityFeePerGas: bigint,
    at: Date,
  ],
  { tx_hash: string }
>(
  'chain.insert_signed_version',
  `INSERT INTO chain_signed_versions
     (transaction_id, version, tx_hash, raw, max_fee_per_gas, max_priority_fee_per_gas, signed_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (transaction_id, version) DO NOTHING
   RETURNING tx_hash`,
);

const settleTransaction = statement<
  [transactionId: string, status: string, minedHash: string, blockNumber: bigint, blockHash: string, at: Date]
>(
  'chain.settle_transaction',
  `UPDATE chain_transactions
      SET status = $2, mined_hash = $3, block_number = $4, block_hash = $5, settled_at = $6
    WHERE transaction_id = $1 AND status = 'open'`,
);

const displaceTransaction = statement<[transactionId: string, at: Date], { transaction_id: string }>(
  'chain.displace_transaction',
  `UPDATE chain_transactions SET status = ${sqlWords(CHAIN_TRANSACTION_DISPLACED)}, settled_at = $2
    WHERE transaction_id = $1 AND status = 'open' RETURNING transaction_id`,
);

const countOpenBySender = statement<[chainId: number], { sender: Address; open: string }>(
  'chain.open_by_sender',
  `SELECT sender, count(*)::text AS open FROM chain_transactions
    WHERE chain_id = $1 AND status = 'open' GROUP BY sender`,
);

const selectSenders = statement<[chainId: number], { sender: Address; next_nonce: string }>(
  'chain.senders',
  'SELECT sender, next_nonce::text FROM chain_nonces WHERE chain_id = $1',
);

export interface OpenTransaction {
  readonly nonce: number;
  readonly txHash: string | null;
  readonly versions: number;
  readonly createdAt: Date;
}

const selectOpen = statement<
  [chainId: number, sender: string, limit: number],
  { nonce: string; tx_hash: string | null; versions: number; created_at: Date }
>(
  'chain.open_of_sender',
  `SELECT t.nonce::text, (array_agg(v.tx_hash ORDER BY v.version DESC))[1] AS tx_hash, count(v.version)::int AS versions,
          t.created_at
     FROM chain_transactions t LEFT JOIN chain_signed_versions v USING (transaction_id)
    WHERE t.chain_id = $1 AND t.sender = $2 AND t.status = 'open'
    GROUP BY t.transaction_id ORDER BY t.nonce LIMIT $3`,
);

const MOST_OPEN = 100;

/** What a wallet has sent and the chain has not made final, lowest nonce first. */
export async function openTransactions(
  db: Database,
  chainId: number,
  sender: Address,
): Promise<OpenTransaction[]> {
  const rows = await db.query(SYSTEM, selectOpen, [chainId, sender, MOST_OPEN]);
  return rows.map((row) => ({
    nonce: Number(row.nonce),
    txHash: row.tx_hash,
    versions: row.versions,
    createdAt: row.created_at,
  }));
}

/** Effects of orders and signatures of their owners are told by the key; what else was sent pays for no order. */
const selectGasOfOrders = statement<[chainId: number, latest: number], { gas: string; orders: number }>(
  'chain.gas_of_orders',
  `WITH latest AS (
     SELECT effect_key, gas FROM chain_transactions WHERE chain_id = $1 AND status = 'succeeded'
      ORDER BY settled_at DESC LIMIT $2),
   named AS (
     SELECT i.payload ->> 'order_id' AS order_id, l.gas FROM latest l
       JOIN intents i ON i.intent_id = CASE WHEN l.effect_key ~ '^[0-9a-f]{8}-' THEN left(l.effect_key, 36)::uuid END
      WHERE i.payload ? 'order_id'
     UNION ALL
     SELECT a.order_id::text, l.gas FROM latest l
       JOIN forward_authorizations a
         ON a.authorization_id = CASE WHEN starts_with(l.effect_key, 'forward:') THEN substr(l.effect_key, 9, 36)::uuid END)
   SELECT coalesce(sum(gas), 0)::text AS gas, count(DISTINCT order_id)::int AS orders FROM named`,
);

const MEASURED = 500;

/** What the latest transactions for orders reserved, and for how many orders. */
export async function gasPerOrder(
  db: Database,
  chainId: number,
): Promise<{ readonly gas: bigint; readonly orders: number }> {
  const [row] = await db.query(SYSTEM, selectGasOfOrders, [chainId, MEASURED]);
  return { gas: BigInt(row?.gas ?? 0), orders: row?.orders ?? 0 };
}

/** How many transactions of each sender are not final yet. */
export async function countOpen(db: Database, chainId: number): Promise<ReadonlyMap<Address, number>> {
  const rows = await db.query(SYSTEM, countOpenBySender, [chainId]);
  return new Map(rows.map(({ sender, open }) => [sender, Number(open)]));
}

/** Everyone who ever sent something here, and the nonce after the last one taken. */
export async function listSenders(
  db: Database,
  chainId: number,
): Promise<{ sender: Address; nextNonce: number }[]> {
  const rows = await db.query(SYSTEM, selectSenders, [chainId]);
  return rows.map((row) => ({ sender: row.sender, nextNonce: Number(row.next_nonce) }));
}

export async function findTransaction(
  db: Database,
  effectKey: string,
): Promise<TransactionRecord | undefined> {
  return recordFromRows(await db.query(SYSTEM, selectByEffect, [effectKey]));
}

/**
 * Takes the sender's next nonce for this effect. The lock on the nonce row puts racing processes in line, and the
 * second look under it lets only the first of them take a nonce for the same effect.
 */
export async function allocateTransaction(db: Database, allocation: Allocation): Promise<TransactionRecord> {
  const { transactionId, effectKey, chainId, sender, call, gas, observedNonce, at } = allocation;
  return db.transaction(SYSTEM, async (tx) => {
    tx.defer(ensureNonceRow, [chainId, sender]);
    const [[locked], existing] = await tx.queryBoth(lockNonce, [chainId, sender], selectByEffect, [
      effectKey,
    ]);
    const record = recordFromRows(existing);
    if (record !== undefined) return record;
    const nonce = Math.max(Number(locked?.next_nonce ?? 0), observedNonce);
    tx.defer(advanceNonce, [chainId, sender, nonce + 1]);
    tx.defer(insertTransaction, [
      transactionId,
      effectKey,
      chainId,
      sender,
      nonce,
      call.to,
      call.data,
      call.value,
      gas,
      at,
    ]);
    return {
      transactionId,
      chainId,
      sender,
      nonce,
      call,
      gas,
      minedHash: null,
      isDisplaced: false,
      versions: [],
    };
  });
}

/** False when another process stored this version first: its bytes are then the ones to send. */
export async function storeVersion(
  db: Database,
  transactionId: string,
  signed: SignedVersion,
): Promise<boolean> {
  const { version, txHash, raw, maxFeePerGas, maxPriorityFeePerGas, signedAt } = signed;
  const stored = await db.query(SYSTEM, insertVersion, [
    transactionId,
    version,
    txHash,
    raw,
    maxFeePerGas,
    maxPriorityFeePerGas,
    signedAt,
  ]);
  return stored.length > 0;
}

export async function settle(
  db: Database,
  transactionId: string,
  mined: { succeeded: boolean; txHash: Hex; blockNumber: bigint; blockHash: Hex; at: Date },
): Promise<void> {
  await db.query(SYSTEM, settleTransaction, [
    transactionId,
    mined.succeeded ? 'succeeded' : 'reverted',
    mined.txHash,
    mined.blockNumber,
    mined.blockHash,
    mined.at,
  ]);
}

/** False where another process has found it out first. */
export async function settleDisplaced(db: Database, transactionId: string, at: Date): Promise<boolean> {
  return (await db.query(SYSTEM, displaceTransaction, [transactionId, at])).length > 0;
}

function recordFromRows(rows: readonly RecordRow[]): TransactionRecord | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    transactionId: first.transaction_id,
    chainId: Number(first.chain_id),
    sender: first.sender,
    nonce: Number(first.nonce),
    call: { to: first.to_address, data: first.data, value: BigInt(first.value) },
    gas: BigInt(first.gas),
    minedHash: first.mined_hash,
    isDisplaced: first.status === CHAIN_TRANSACTION_DISPLACED,
    versions: rows.flatMap(versionFromRow),
  };
}

function versionFromRow(row: RecordRow): SignedVersion[] {
  const { version, tx_hash: txHash, raw, signed_at: signedAt } = row;
  const { max_fee_per_gas: maxFee, max_priority_fee_per_gas: maxPriorityFee } = row;
  // A transaction that was never signed comes as one row without a version.
  if (version === null || txHash === null || raw === null || signedAt === null) return [];
  if (maxFee === null || maxPriorityFee === null) return [];
  return [
    {
      version,
      txHash,
      raw,
      signedAt,
      maxFeePerGas: BigInt(maxFee),
      maxPriorityFeePerGas: BigInt(maxPriorityFee),
    },
  ];
}
