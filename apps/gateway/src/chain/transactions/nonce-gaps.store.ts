import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Address, Hex } from '../chain-settings.ts';

/** SQL of nonces that the chain still expects though later ones are taken. */

/** Begins the key of a transaction that only uses a nonce up. */
const FILLER = 'gap:';

const selectSignedFrom = statement<
  [chainId: number, sender: string, fromNonce: number, signedBefore: Date, limit: number],
  { nonce: string; raw: Hex }
>(
  'chain.signed_from_nonce',
  `SELECT DISTINCT ON (nonce) nonce::text, raw
     FROM chain_transactions JOIN chain_signed_versions USING (transaction_id)
    WHERE chain_id = $1 AND sender = $2 AND nonce >= $3 AND signed_at < $4
    ORDER BY nonce, version DESC LIMIT $5`,
);

const selectFirstTaken = statement<
  [chainId: number, sender: string, fromNonce: number],
  { nonce: string; created_at: Date }
>(
  'chain.first_nonce_taken_from',
  `SELECT nonce::text, created_at FROM chain_transactions
    WHERE chain_id = $1 AND sender = $2 AND nonce >= $3 ORDER BY nonce LIMIT 1`,
);

const insertFillers = statement<
  [
    transactionIds: readonly string[],
    effectKeys: readonly string[],
    nonces: readonly number[],
    chainId: number,
    sender: string,
    gas: bigint,
    at: Date,
  ]
>(
  'chain.insert_gap_fillers',
  `INSERT INTO chain_transactions
     (transaction_id, effect_key, chain_id, sender, nonce, to_address, data, value, gas, created_at)
   SELECT transaction_id, effect_key, $4, $5, nonce, $5, '0x', 0, $6, $7
     FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS filler (transaction_id, effect_key, nonce)
   ON CONFLICT DO NOTHING`,
);

const selectOpenFillers = statement<
  [chainId: number, senders: readonly string[], limit: number],
  { effect_key: string }
>(
  'chain.open_gap_fillers',
  `SELECT effect_key FROM chain_transactions
    WHERE chain_id = $1 AND status = 'open' AND sender = ANY($2::text[]) AND starts_with(effect_key, '${FILLER}')
    ORDER BY sender, nonce LIMIT $3`,
);

/** The newest signed bytes of each nonce from this one on, settled or not. */
export async function signedFrom(
  db: Database,
  chainId: number,
  sender: Address,
  fromNonce: number,
  signedBefore: Date,
  limit: number,
): Promise<{ nonce: number; raw: Hex }[]> {
  const rows = await db.query(SYSTEM, selectSignedFrom, [chainId, sender, fromNonce, signedBefore, limit]);
  return rows.map(({ nonce, raw }) => ({ nonce: Number(nonce), raw }));
}

/** The lowest nonce from this one on that something of ours has, and since when. */
export async function firstTaken(
  db: Database,
  chainId: number,
  sender: Address,
  fromNonce: number,
): Promise<{ nonce: number; since: Date } | undefined> {
  const [row] = await db.query(SYSTEM, selectFirstTaken, [chainId, sender, fromNonce]);
  return row && { nonce: Number(row.nonce), since: row.created_at };
}

/** Payments of nothing from the wallet to itself. Never beside anything else at one nonce: the table admits one. */
export async function insertGapFillers(
  db: Database,
  { chainId, sender, gas, at }: { chainId: number; sender: Address; gas: bigint; at: Date },
  fillers: readonly { readonly transactionId: string; readonly nonce: number }[],
): Promise<void> {
  await db.query(SYSTEM, insertFillers, [
    fillers.map(({ transactionId }) => transactionId),
    fillers.map(({ nonce }) => `${FILLER}${chainId}:${sender}:${nonce}`),
    fillers.map(({ nonce }) => nonce),
    chainId,
    sender,
    gas,
    at,
  ]);
}

/** The effect keys of those that are not final yet. */
export async function openGapFillers(
  db: Database,
  chainId: number,
  senders: readonly Address[],
  limit: number,
): Promise<string[]> {
  const rows = await db.query(SYSTEM, selectOpenFillers, [chainId, senders, limit]);
  return rows.map(({ effect_key }) => effect_key);
}
