import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address, Hex } from '../chain-settings.ts';

/** All SQL of the sandbox's simulated bridge. */

/** How the solver treats one quote: a real one would pay, be slow, or give the money back. */
export type SolverConduct = 'pays' | 'waits' | 'refuses';

export interface SimulatedQuote {
  readonly quoteId: Hex;
  readonly fromChainId: number;
  readonly toChainId: number;
  readonly fromToken: Address;
  readonly toToken: Address;
  readonly amount: bigint;
  readonly toAmount: bigint;
  readonly sender: Address;
  readonly recipient: Address;
  readonly conduct: SolverConduct;
  readonly status: 'quoted' | 'deposited' | 'settled' | 'returned';
  readonly payoutTxHash: Hex | null;
}

interface QuoteRow {
  quote_id: Hex;
  from_chain_id: string;
  to_chain_id: string;
  from_token: Address;
  to_token: Address;
  amount: string;
  to_amount: string;
  sender: Address;
  recipient: Address;
  conduct: SolverConduct;
  status: SimulatedQuote['status'];
  payout_tx_hash: Hex | null;
}

const COLUMNS = `quote_id, from_chain_id::text, to_chain_id::text, from_token, to_token, amount::text, to_amount::text,
  sender, recipient, conduct, status, payout_tx_hash`;

const insertQuote = statement<
  [
    quoteId: string,
    fromChainId: number,
    toChainId: number,
    fromToken: string,
    toToken: string,
    amount: bigint,
    toAmount: bigint,
    sender: string,
    recipient: string,
    conduct: string,
    at: Date,
    expiresAt: Date,
  ]
>(
  'bridge.insert_quote',
  `INSERT INTO simulated_bridge_quotes (quote_id, from_chain_id, to_chain_id, from_token, to_token, amount, to_amount,
     sender, recipient, conduct, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);

const selectQuote = statement<[quoteId: string], QuoteRow>(
  'bridge.quote',
  `SELECT ${COLUMNS} FROM simulated_bridge_quotes WHERE quote_id = $1`,
);

const markDeposited = statement<[quoteId: string, txHash: string], { quote_id: string }>(
  'bridge.mark_deposited',
  `UPDATE simulated_bridge_quotes SET status = 'deposited', deposit_tx_hash = $2
    WHERE quote_id = $1 AND status = 'quoted' RETURNING quote_id`,
);

const updateConduct = statement<[quoteId: string, conduct: string]>(
  'bridge.set_conduct',
  'UPDATE simulated_bridge_quotes SET conduct = $2 WHERE quote_id = $1',
);

const finishQuote = statement<[quoteId: string, status: string, txHash: string]>(
  'bridge.finish_quote',
  `UPDATE simulated_bridge_quotes SET status = $2, payout_tx_hash = $3
    WHERE quote_id = $1 AND status = 'deposited'`,
);

export async function storeQuote(
  db: Database,
  quote: SimulatedQuote,
  at: Date,
  expiresAt: Date,
): Promise<void> {
  await db.query(SYSTEM, insertQuote, [
    quote.quoteId,
    quote.fromChainId,
    quote.toChainId,
    quote.fromToken,
    quote.toToken,
    quote.amount,
    quote.toAmount,
    quote.sender,
    quote.recipient,
    quote.conduct,
    at,
    expiresAt,
  ]);
}

export async function findQuote(db: Database, quoteId: Hex): Promise<SimulatedQuote | undefined> {
  const [row] = await db.query(SYSTEM, selectQuote, [quoteId]);
  return row && fromRow(row);
}

export async function readQuote(unit: UnitOfWork, quoteId: Hex): Promise<SimulatedQuote | undefined> {
  const [row] = await unit.tx.query(selectQuote, [quoteId]);
  return row && fromRow(row);
}

/** False where the deposit was taken before. */
export async function takeDeposit(unit: UnitOfWork, quoteId: Hex, txHash: Hex): Promise<boolean> {
  return (await unit.tx.query(markDeposited, [quoteId, txHash])).length > 0;
}

/** Changes what the solver will do with a quote it has not finished; for the sandbox's bridge events. */
export function setSolverConduct(unit: UnitOfWork, quoteId: Hex, conduct: SolverConduct): void {
  unit.tx.defer(updateConduct, [quoteId, conduct]);
}

export function recordFinished(
  unit: UnitOfWork,
  quoteId: Hex,
  status: 'settled' | 'returned',
  txHash: Hex,
): void {
  unit.tx.defer(finishQuote, [quoteId, status, txHash]);
}

function fromRow(row: QuoteRow): SimulatedQuote {
  return {
    quoteId: row.quote_id,
    fromChainId: Number(row.from_chain_id),
    toChainId: Number(row.to_chain_id),
    fromToken: row.from_token,
    toToken: row.to_token,
    amount: BigInt(row.amount),
    toAmount: BigInt(row.to_amount),
    sender: row.sender,
    recipient: row.recipient,
    conduct: row.conduct,
    status: row.status,
    payoutTxHash: row.payout_tx_hash,
  };
}
