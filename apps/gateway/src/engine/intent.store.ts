import { statement } from '../db/statement.ts';
import type { IntentKind, IntentPayload } from './effects.ts';
import type { Intent } from './intent.ts';

/** All SQL of the intents' life after they are written. */

export interface ClaimedRow {
  intent_id: string;
  /** Only kinds are claimed that the worker has a handler for. */
  kind: IntentKind;
  dedupe_key: string;
  partner_id: string | null;
  /** As it was written; the worker checks that it fits the kind. */
  payload: IntentPayload<IntentKind>;
  attempts: number;
  created_at: Date;
  /** What it was when claimed; 'submitted' means that its worker died in the middle. */
  found_as: 'prepared' | 'submitted' | 'unknown';
}

/**
 * A prepared intent becomes submitted; one found submitted with its lease gone was in a worker's hands
 * when they died, so it becomes unknown and is reconciled, never blindly repeated.
 */
export const claimIntents = statement<
  [businessNow: Date, kinds: readonly IntentKind[], limit: number, leaseMs: number, owner: string],
  ClaimedRow
>(
  'intents.claim',
  `WITH due AS (
     SELECT intent_id, status FROM intents
      WHERE status IN ('prepared', 'submitted', 'unknown')
        AND run_at <= $1
        AND kind = ANY($2::text[])
        AND (leased_until IS NULL OR leased_until < clock_timestamp())
      ORDER BY run_at, position
      LIMIT $3
      FOR UPDATE SKIP LOCKED)
   UPDATE intents SET
     status = CASE WHEN due.status = 'prepared' THEN 'submitted' ELSE 'unknown' END,
     attempts = attempts + 1,
     leased_until = clock_timestamp() + $4::int * interval '1 millisecond',
     lease_owner = $5
   FROM due WHERE intents.intent_id = due.intent_id
   RETURNING intents.intent_id, kind, dedupe_key, partner_id, payload, attempts, created_at,
             due.status AS found_as`,
);

/** Only what is really in hand: an intent whose settling went wrong for a reason of its own must run out of its lease. */
export const renewLeases = statement<[owner: string, leaseMs: number, intentIds: readonly string[]]>(
  'intents.renew',
  `UPDATE intents SET leased_until = clock_timestamp() + $2::int * interval '1 millisecond'
    WHERE intent_id = ANY($3::uuid[]) AND lease_owner = $1 AND status IN ('submitted', 'unknown')`,
);

/** After an outage: what the owner has leased, as far as the database knows, and does not have in hand. It is reconciled. */
export const abandonLeases = statement<[owner: string, inHand: readonly string[]]>(
  'intents.abandon',
  `UPDATE intents SET leased_until = clock_timestamp()
    WHERE lease_owner = $1 AND intent_id <> ALL($2::uuid[]) AND status IN ('submitted', 'unknown')`,
);

/** Answers no row when the lease was lost: its present holder decides. */
export const settleIntent = statement<
  [
    intentId: string,
    owner: string,
    status: string,
    result: string | null,
    lastError: string | null,
    runAt: Date | null,
    attempts: number,
    settledAt: Date | null,
  ],
  { intent_id: string }
>(
  'intents.settle',
  `UPDATE intents SET status = $3, result = coalesce($4::jsonb, result), last_error = left($5, 2000),
          run_at = coalesce($6, run_at), attempts = $7, settled_at = $8, leased_until = NULL, lease_owner = NULL
    WHERE intent_id = $1 AND lease_owner = $2 AND status IN ('submitted', 'unknown')
    RETURNING intent_id`,
);

/** The last look did not tell whether it happened, or it has waited for too long. */
const UNKNOWN_WITH_ERROR = `status = 'unknown' AND last_error IS NOT NULL`;

export const countPending = statement<
  [businessNow: Date],
  { kind: string; pending: string; unknown: string; oldest_seconds: string }
>(
  'intents.pending',
  `SELECT kind, count(*)::text AS pending, count(*) FILTER (WHERE ${UNKNOWN_WITH_ERROR})::text AS unknown,
          greatest(0, extract(epoch FROM $1::timestamptz - min(run_at)))::bigint::text AS oldest_seconds
     FROM intents WHERE status IN ('prepared', 'submitted', 'unknown') GROUP BY kind`,
);

export function intentFromRow(row: ClaimedRow): Intent {
  return {
    intentId: row.intent_id,
    kind: row.kind,
    dedupeKey: row.dedupe_key,
    partnerId: row.partner_id,
    payload: row.payload,
    attempts: row.attempts,
    createdAt: row.created_at,
  };
}
