import { type Announcement, statement } from '../db/statement.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** JSON as it is stored in an intent's payload and result: amounts in it are decimal strings. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A call that will leave the process, written in the transaction that decided it. */
export interface IntentDraft {
  readonly kind: string;
  /** One effect a key: deciding twice still writes one intent. */
  readonly dedupeKey: string;
  readonly partnerId: string | null;
  readonly payload: JsonObject;
  /** First attempts of one lane are made in the order they were written. */
  readonly lane?: string;
  /** Business time before which it is not attempted; at once by default. */
  readonly runAt?: Date;
}

export interface Intent<Payload = JsonObject> {
  readonly intentId: string;
  readonly kind: string;
  readonly dedupeKey: string;
  readonly partnerId: string | null;
  readonly payload: Payload;
  readonly attempts: number;
  readonly createdAt: Date;
}

const INTENTS_WRITTEN: Announcement = { channel: 'intents_written', payload: '' };

const insertIntent = statement<
  [
    intentId: string,
    partnerId: string | null,
    kind: string,
    dedupeKey: string,
    lane: string | null,
    payload: string,
    runAt: Date,
    createdAt: Date,
  ]
>(
  'intents.insert',
  `INSERT INTO intents (intent_id, partner_id, kind, dedupe_key, lane, payload, run_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8)
   ON CONFLICT (kind, dedupe_key) DO NOTHING`,
  () => [INTENTS_WRITTEN],
);

export function prepareIntent(unit: UnitOfWork, draft: IntentDraft): void {
  unit.tx.defer(insertIntent, [
    unit.ids.uuid(),
    draft.partnerId,
    draft.kind,
    draft.dedupeKey,
    draft.lane ?? null,
    JSON.stringify(draft.payload),
    draft.runAt ?? unit.at,
    unit.at,
  ]);
}

/**
 * How many transactions one intent may need, one after the other. A stranger can be first twice, in deploying an escrow
 * and in emptying it; more than that is something else.
 */
export const MAX_TRANSACTIONS = 4;

/** Under which each of them is known to the transactor. */
export function transactionKey(intentId: string, attempt: number): string {
  return attempt === 1 ? intentId : `${intentId}:${attempt}`;
}

/** The same for a query: all keys that an intent's transactions can have. */
export function transactionKeysOf(intentIdColumn: string): string {
  const keys = Array.from({ length: MAX_TRANSACTIONS }, (_, index) =>
    index === 0 ? `${intentIdColumn}::text` : `${intentIdColumn} || ':${index + 1}'`,
  );
  return `ARRAY[${keys.join(', ')}]`;
}
