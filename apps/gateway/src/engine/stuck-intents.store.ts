import { statement } from '../db/statement.ts';
import type { IntentKind } from './effects.ts';
import { transactionKeysOf } from './intent.ts';

/** SQL of intents that need a person. */

export interface BackofficeIntentRow {
  intent_id: string;
  kind: string;
  partner_id: string | null;
  order_id: string | null;
  status: 'prepared' | 'submitted' | 'unknown' | 'confirmed' | 'failed';
  attempts: number;
  last_error: string | null;
  run_at: Date;
  created_at: Date;
  settled_at: Date | null;
  closed_at: Date | null;
  /** In a worker's hands: until it is put back, even one whose lease has run out may still act. */
  is_leased: boolean;
  is_late: boolean;
  transaction: IntentTransaction | null;
}

/** The last that the transactor did for it: once it has a nonce, it may reach the chain. */
export interface IntentTransaction {
  readonly chain_id: number;
  readonly status: string;
  readonly sender: string;
  readonly nonce: number;
  readonly tx_hashes: readonly string[];
}

const COLUMNS = `i.intent_id, i.kind, i.partner_id, i.payload->>'order_id' AS order_id, i.status, i.attempts,
  left(i.last_error, 500) AS last_error, i.run_at, i.created_at, i.settled_at, i.closed_at,
  i.lease_owner IS NOT NULL AS is_leased,
  (SELECT jsonb_build_object('chain_id', t.chain_id, 'status', t.status, 'sender', t.sender, 'nonce', t.nonce,
            'tx_hashes', coalesce((SELECT jsonb_agg(v.tx_hash ORDER BY v.version) FROM chain_signed_versions v
                                    WHERE v.transaction_id = t.transaction_id), '[]'))
     FROM chain_transactions t WHERE t.effect_key = ANY(${transactionKeysOf('i.intent_id')})
    ORDER BY t.created_at DESC LIMIT 1) AS transaction`;

/** Due for so long that no worker can have had the chance; waiting for something outside is not late but unknown. */
const LATE = `(i.status IN ('prepared', 'submitted', 'unknown') AND i.run_at < $1)`;

/** One that failed and was started anew has been dealt with. */
const FAILED = `(i.status = 'failed' AND i.closed_at IS NULL AND NOT EXISTS (
  SELECT FROM intents later WHERE later.payload ? 'order_id' AND i.payload ? 'order_id'
     AND later.payload->>'order_id' = i.payload->>'order_id' AND later.kind = i.kind AND later.position > i.position))`;

/** Unknown with an error: the last look did not tell whether it happened, or it has waited for too long. */
const UNKNOWN = `(i.status = 'unknown' AND i.last_error IS NOT NULL)`;

/** The same in two parts, each along its own index: what has failed or is unknown, and what is only late. */
export const STUCK_INTENTS = `i.status IN ('failed', 'unknown') AND i.closed_at IS NULL AND (${FAILED} OR ${UNKNOWN})`;
export const LATE_INTENTS = (lateBefore: string) =>
  `i.status IN ('prepared', 'submitted', 'unknown') AND i.run_at < ${lateBefore} AND NOT ${UNKNOWN}`;

export const stuckIntents = statement<
  [
    lateBefore: Date,
    state: string | null,
    kind: string | null,
    orderId: string | null,
    partnerId: string | null,
    before: string | null,
    limit: number,
  ],
  BackofficeIntentRow
>(
  'intents.stuck',
  `SELECT ${COLUMNS}, ${LATE} AS is_late FROM intents i
    WHERE i.status IN ('prepared', 'submitted', 'unknown', 'failed')
      AND CASE $2::text WHEN 'failed' THEN ${FAILED} WHEN 'unknown' THEN ${UNKNOWN} WHEN 'late' THEN ${LATE}
               ELSE ${FAILED} OR ${UNKNOWN} OR ${LATE} END
      AND ($3::text IS NULL OR i.kind = $3) AND ($4::text IS NULL OR i.payload->>'order_id' = $4)
      AND ($5::uuid IS NULL OR i.partner_id = $5) AND ($6::uuid IS NULL OR i.intent_id < $6)
    ORDER BY i.intent_id DESC LIMIT $7`,
);

export const intentsOfOrder = statement<[lateBefore: Date, orderId: string], BackofficeIntentRow>(
  'intents.of_order',
  `SELECT ${COLUMNS}, ${LATE} AS is_late FROM intents i
    WHERE i.payload ? 'order_id' AND i.payload->>'order_id' = $2 ORDER BY i.position`,
);

export const lockStuckIntent = statement<[lateBefore: Date, intentId: string], BackofficeIntentRow>(
  'intents.lock_stuck',
  `SELECT ${COLUMNS}, ${LATE} AS is_late FROM intents i WHERE i.intent_id = $2 FOR UPDATE`,
);

export const findIntent = statement<[lateBefore: Date, intentId: string], BackofficeIntentRow>(
  'intents.find_for_operator',
  `SELECT ${COLUMNS}, ${LATE} AS is_late FROM intents i WHERE i.intent_id = $2`,
);

/** Due now. What failed begins anew; what is under way is looked at, never repeated. */
export const hurryIntent = statement<[intentId: string, at: Date]>(
  'intents.hurry',
  `UPDATE intents SET run_at = $2, attempts = CASE status WHEN 'failed' THEN 0 ELSE attempts END,
          settled_at = NULL, closed_at = NULL, status = CASE status WHEN 'failed' THEN 'prepared' ELSE status END
    WHERE intent_id = $1`,
);

/**
 * An operator knows what became of something that was only being asked about. A worker that is asking just now finds it
 * settled and reports nothing.
 */
export const answerIntent = statement<
  [kind: IntentKind, dedupeKey: string, status: 'confirmed' | 'failed', at: Date, note: string]
>(
  'intents.answer',
  `UPDATE intents SET status = $3, closed_at = $4, settled_at = $4, leased_until = NULL, lease_owner = NULL,
          last_error = left(concat_ws('; ', last_error, $5::text), 2000)
    WHERE kind = $1 AND dedupe_key = $2 AND status IN ('prepared', 'submitted', 'unknown')`,
);

export const closeIntent = statement<[intentId: string, at: Date, lastError: string]>(
  'intents.close',
  `UPDATE intents SET status = 'failed', closed_at = $2, settled_at = coalesce(settled_at, $2),
          last_error = left(concat_ws('; ', last_error, $3::text), 2000)
    WHERE intent_id = $1`,
);
