import { type Announcement, statement } from '../db/statement.ts';
import type { IntentKind, IntentPayload } from './effects.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** JSON as it is stored in an intent's result: amounts in it are decimal strings. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A call that will leave the process, of a registered kind, written in the transaction that decided it. */
export type IntentDraft = {
  [K in IntentKind]: { readonly kind: K; readonly payload: IntentPayload<K> };
}[IntentKind] & {
  /** One effect a key: deciding twice still writes one intent. */
  readonly dedupeKey: string;
  readonly partnerId: string | null;
  /** Business time before which it is not attempted; at once by default. */
  readonly runAt?: Date;
};

export interface Intent<K extends IntentKind = IntentKind> {
  readonly intentId: string;
  readonly kind: K;
  readonly dedupeKey: string;
  readonly partnerId: string | null;
  readonly payload: IntentPayload<K>;
  readonly attempts: number;
  readonly createdAt: Date;
}

const INTENTS_WRITTEN: Announcement = { channel: 'intents_written', payload: '' };

type IntentParams = [
  intentId: string,
  partnerId: string | null,
  kind: string,
  dedupeKey: string,
  payload: string,
  runAt: Date,
  createdAt: Date,
];

/** Writes an intent in the unit that decides it. */
export type PrepareIntent = (unit: UnitOfWork, draft: IntentDraft) => void;

/** Writes it only where a condition holds at that moment, in SQL with the partner as $2. */
export function preparingIntent(name: string, condition: string): PrepareIntent {
  const insertIntent = statement<IntentParams>(
    name,
    `INSERT INTO intents (intent_id, partner_id, kind, dedupe_key, payload, run_at, created_at)
     SELECT $1::uuid, $2::uuid, $3, $4, $5::jsonb, $6::timestamptz, $7::timestamptz WHERE ${condition}
     ON CONFLICT (kind, dedupe_key) DO NOTHING`,
    // One for later is found by looking when its time has come.
    ([, , , , , runAt, createdAt]) => (runAt <= createdAt ? [INTENTS_WRITTEN] : []),
  );
  return (unit, draft) =>
    unit.tx.defer(insertIntent, [
      unit.ids.uuid(),
      draft.partnerId,
      draft.kind,
      draft.dedupeKey,
      JSON.stringify(draft.payload),
      draft.runAt ?? unit.at,
      unit.at,
    ]);
}

export const prepareIntent = preparingIntent('intents.insert', 'true');

/**
 * How many transactions one intent may need, one after the other. A third party can be first twice, in deploying an escrow
 * and in emptying it, and something else can use the nonce of one; more than that is something else.
 */
export const MAX_TRANSACTIONS = 4;

/** Under which each of them is known to the transactor. */
export function transactionKey(effectKey: string, attempt: number): string {
  return attempt === 1 ? effectKey : `${effectKey}:${attempt}`;
}

/** The same for a query: all keys that an effect's transactions can have. */
export function transactionKeysOf(effectKeyColumn: string): string {
  const keys = Array.from({ length: MAX_TRANSACTIONS }, (_, index) =>
    index === 0 ? `${effectKeyColumn}::text` : `${effectKeyColumn} || ':${index + 1}'`,
  );
  return `ARRAY[${keys.join(', ')}]`;
}
