import { statement } from '../../../db/statement.ts';
import { transactionKeysOf } from '../../../engine/intent.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import type { DepositRow } from '../escrow/escrow.store.ts';
import { RETURN, returnKey } from './deposit.adapter.ts';

/** What was sent to pay a deposit back. */

const selectTransactions = statement<
  [kind: string, dedupeKeys: readonly string[]],
  { transaction_id: string }
>(
  'deposits.return_transactions',
  `SELECT t.transaction_id FROM intents i JOIN chain_transactions t ON t.effect_key = ANY(${transactionKeysOf('i.intent_id')})
    WHERE i.kind = $1 AND i.dedupe_key = ANY($2::text[]) LIMIT 1`,
);

/** Whether any attempt to return it, this one or an earlier one, came as far as a transaction. */
export async function hasTransaction(unit: UnitOfWork, deposit: DepositRow): Promise<boolean> {
  const attempts = Array.from({ length: deposit.return_attempts }, (_, index) => index + 1);
  const keys = attempts.map((attempt) => returnKey(deposit, attempt));
  return (await unit.tx.query(selectTransactions, [RETURN, keys])).length > 0;
}
