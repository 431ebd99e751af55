import { statement } from '../../db/statement.ts';
import type { IntentKind } from '../../engine/effects.ts';
import type { Json } from '../../engine/intent.ts';

/** SQL of the sandbox's own calls; what it begins with is in seed.ts. */

export interface ClockRow {
  offset_ms: string;
  resets: number;
}

export const readClock = statement<[], ClockRow>(
  'sandbox.read_clock',
  'SELECT offset_ms::text, resets FROM business_clock',
);

export const advanceClock = statement<[ms: number], ClockRow>(
  'sandbox.advance_clock',
  'UPDATE business_clock SET offset_ms = offset_ms + $1 RETURNING offset_ms::text, resets',
);

/** Answers how far ahead the clock was. */
export const resetClock = statement<[], ClockRow>(
  'sandbox.reset_clock',
  `UPDATE business_clock SET offset_ms = 0, resets = business_clock.resets + 1
     FROM (SELECT offset_ms FROM business_clock FOR UPDATE) AS before
   RETURNING before.offset_ms::text, resets`,
);

/** What waits for a time keeps the time that it has left. */
export const BRING_FORWARD = [
  ['intents', 'run_at', 'settled_at IS NULL'],
  ['webhook_deliveries', 'run_at', 'settled_at IS NULL'],
  ['orders', 'deadline_at', 'deadline_at IS NOT NULL'],
  ['orders', 'held_at', 'held_at IS NOT NULL'],
  ['orders', 'offered_at', 'offered_at IS NOT NULL'],
].map(([table, column, waiting]) =>
  statement<[ms: string]>(
    `sandbox.bring_forward_${table}_${column}`,
    `UPDATE ${table} SET ${column} = ${column} - $1::bigint * interval '1 millisecond' WHERE ${waiting}`,
  ),
);

export interface AheadRow {
  /** How many rows of the caller's lie ahead of the clock. */
  count: string;
  latest: Date | null;
}

/** Of the caller's own rows: read in its scope. */
function rowsAhead(table: string, column: string) {
  return statement<[now: Date], AheadRow>(
    `sandbox.${table}_ahead`,
    `SELECT count(*)::text AS count, max(${column}) AS latest FROM ${table} WHERE ${column} > $1`,
  );
}

export const ordersAhead = rowsAhead('orders', 'updated_at');
export const quotesAhead = rowsAhead('quotes', 'created_at');
export const eventsAhead = rowsAhead('events', 'created_at');

export interface EffectState {
  settled: boolean;
  result: Json;
  last_error: string | null;
}

/** What became of an effect that a caller waits for. */
export const effectState = statement<[kind: IntentKind, dedupeKey: string], EffectState>(
  'sandbox.effect_state',
  `SELECT settled_at IS NOT NULL AS settled, result, last_error FROM intents WHERE kind = $1 AND dedupe_key = $2`,
);

/** Whether a simulated actor has done this to the order before. */
export const hasActed = statement<[orderId: string, result: string], { acted: boolean }>(
  'sandbox.has_acted',
  `SELECT EXISTS (SELECT FROM intents
                   WHERE payload->>'order_id' = $1 AND kind = 'sandbox.act' AND result = to_jsonb($2::text)) AS acted`,
);

/** Of an order that a person opened in a widget session the quote says so; what the sandbox opened itself has none. */
export const sessionOfOrder = statement<[orderId: string], { session_id: string | null }>(
  'sandbox.session_of_order',
  'SELECT q.session_id FROM orders o JOIN quotes q USING (quote_id) WHERE o.order_id = $1',
);
