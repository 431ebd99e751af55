import { AUTHORIZATION_ISSUED } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { sqlWords, statement } from '../../db/statement.ts';
import { transactionKeysOf } from '../../engine/intent.ts';
import type { BridgeLeg } from '../authorization/authorization.ts';
import type { Address, Hex } from '../chain-settings.ts';

/** All SQL of looking at an order on chain: what our records say. */

export interface InspectedOrder {
  direction: 'onramp' | 'offramp';
  status: string;
  held: boolean;
  chain: string;
  crypto_currency: string;
  crypto_decimals: number;
  escrow: {
    address: Address;
    service: Address;
    seller: Address;
    buyer: Address;
    partner?: Address;
    treasury?: Address;
  } | null;
  send_out_tx_hash: Hex | null;
}

export interface InspectedWatch {
  chain_id: string;
  address: Address;
  token: Address;
  expected_amount: string;
  expected_sender: Address;
}

export interface InspectedDeposit {
  tx_hash: Hex;
  kind: string;
  disposition: string;
  amount: string;
  sender: Address;
  token: Address;
  block_number: string;
  note: string;
}

export interface InspectedAuthorization {
  purpose: 'funding' | 'bridge';
  status: string;
  sender: Address;
  nonce: string;
  amount: string;
  recipient: Address;
  deadline: string;
  tx_hash: Hex | null;
  succeeded: boolean | null;
  bridge: BridgeLeg | null;
  deposit_tx_hash: Hex | null;
  overdue_at: Date | null;
}

export interface InspectedTransaction {
  chain_id: string;
  sender: Address;
  nonce: string;
  tx_hash: Hex;
  version: number;
}

export interface InspectedIntent {
  kind: string;
  status: string;
  attempts: number;
  last_error: string | null;
}

const selectOrder = statement<[orderId: string], InspectedOrder>(
  'inspect.order',
  `SELECT direction, status, (facts->>'held')::boolean AS held, chain, crypto_currency, crypto_decimals::int, escrow,
          send_out_tx_hash
     FROM orders WHERE order_id = $1`,
);
const selectWatches = statement<[orderId: string], InspectedWatch>(
  'inspect.watches',
  `SELECT chain_id::text, address, token, expected_amount::text, expected_sender
     FROM escrow_watches WHERE order_id = $1 ORDER BY chain_id`,
);
const selectDeposits = statement<[orderId: string], InspectedDeposit>(
  'inspect.deposits',
  `SELECT tx_hash, kind, disposition, amount::text, sender, token, block_number::text, note
     FROM deposit_observations WHERE order_id = $1 ORDER BY block_number, log_index`,
);
const selectAuthorizations = statement<[orderId: string], InspectedAuthorization>(
  'inspect.authorizations',
  `SELECT purpose, status, sender, nonce::text, amount::text, recipient, deadline::text, tx_hash, succeeded, bridge,
          deposit_tx_hash, overdue_at
     FROM forward_authorizations WHERE order_id = $1 AND status <> ${sqlWords(AUTHORIZATION_ISSUED)} ORDER BY issued_at`,
);
const selectTransactions = statement<[orderId: string], InspectedTransaction>(
  'inspect.transactions',
  `SELECT chain_id::text, sender, nonce::text, tx_hash, version::int
     FROM chain_transactions JOIN chain_signed_versions USING (transaction_id)
    WHERE effect_key IN (SELECT unnest(${transactionKeysOf('intent_id')}) FROM intents
                          WHERE payload->>'order_id' = $1::text)
       OR effect_key IN (SELECT unnest(${transactionKeysOf("('forward:' || authorization_id)")}) FROM forward_authorizations
                          WHERE order_id = $1::uuid)
       OR effect_key = 'sandbox-funding:' || $1::text
    ORDER BY created_at, version`,
);
const selectByStrangers = statement<[orderId: string], { chain_id: string; tx_hash: Hex }>(
  'inspect.executed_by_strangers',
  `SELECT chain_id::text, tx_hash FROM escrow_executions e
    WHERE order_id = $1 AND NOT EXISTS (SELECT FROM chain_signed_versions v WHERE v.tx_hash = e.tx_hash)
    ORDER BY block_number`,
);
const countGaps = statement<[orderId: string], { gaps: number }>(
  'inspect.foreign_token_gaps',
  `SELECT count(*)::integer AS gaps FROM foreign_token_gaps g
    WHERE EXISTS (SELECT FROM escrow_watches w WHERE w.order_id = $1 AND w.chain_id = g.chain_id
                     AND w.registered_at <= g.recorded_at)`,
);
const selectOpenIntents = statement<[orderId: string], InspectedIntent>(
  'inspect.open_intents',
  `SELECT kind, status, attempts::int, last_error FROM intents
    WHERE payload->>'order_id' = $1::text AND status <> 'confirmed' ORDER BY created_at`,
);

export interface OrderRecords {
  readonly order: InspectedOrder;
  readonly watches: readonly InspectedWatch[];
  readonly deposits: readonly InspectedDeposit[];
  /** Those that were signed. */
  readonly authorizations: readonly InspectedAuthorization[];
  readonly transactions: readonly InspectedTransaction[];
  /** What the escrow executed in transactions that are not ours. */
  readonly byStrangers: readonly { readonly chain_id: string; readonly tx_hash: Hex }[];
  /** Stretches of blocks, since the escrow is watched, in which not all foreign tokens were looked for. */
  readonly foreignTokenGaps: number;
  /** What is under way, or has failed. */
  readonly intents: readonly InspectedIntent[];
}

export async function readRecords(db: Database, orderId: string): Promise<OrderRecords | undefined> {
  const [[order], watches, deposits, authorizations, transactions, byStrangers, [gaps], intents] =
    await Promise.all([
      db.query(SYSTEM, selectOrder, [orderId]),
      db.query(SYSTEM, selectWatches, [orderId]),
      db.query(SYSTEM, selectDeposits, [orderId]),
      db.query(SYSTEM, selectAuthorizations, [orderId]),
      db.query(SYSTEM, selectTransactions, [orderId]),
      db.query(SYSTEM, selectByStrangers, [orderId]),
      db.query(SYSTEM, countGaps, [orderId]),
      db.query(SYSTEM, selectOpenIntents, [orderId]),
    ]);
  if (order === undefined) return undefined;
  return {
    ...{ order, watches, deposits, authorizations, transactions, byStrangers, intents },
    foreignTokenGaps: gaps?.gaps ?? 0,
  };
}
