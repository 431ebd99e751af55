import type {
  OperatorLoggedRequestSchema,
  OperatorRequestLogSchema,
  RequestLogQuery,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Database, Scope } from '../../db/database.ts';
import { latestOfAll, latestOfOwner, READERS, type ReadsBy, type RequestRow } from './request-log.store.ts';

type Query = Static<typeof RequestLogQuery>;

/** Whose requests: those of one partner or vendor, or, for an operator, of all. */
export interface WhoseRequests {
  readonly scope: Scope;
  readonly ownerId: string | null;
}

/**
 * A page of the log. With `after` it is read oldest first, and says where to go on even where nothing has followed yet:
 * at the last row of a full page, else behind all that was there before the rows were read. Numbers become visible in
 * their order (request_log_counters), so nothing can appear in front of that.
 */
async function readPage(
  db: Database,
  { scope, ownerId }: WhoseRequests,
  query: Query,
): Promise<{ readonly rows: readonly RequestRow[]; readonly nextCursor: string | null }> {
  const { limit } = query;
  const isTail = query.after !== undefined;
  const position = query.cursor ?? query.after ?? null;
  const latest = isTail ? await latestCursor(db, { scope, ownerId }) : null;
  const [least, most] = statusRange(query.status);
  const reader = READERS[ownerId === null ? 'all' : 'owner'][readsBy(query)][isTail ? 'oldest' : 'newest'];
  const found = await db.query(scope, reader, [
    ownerId,
    position,
    least,
    most,
    query.error_code ?? null,
    query.method ?? null,
    query.order_id ?? null,
    query.request_id ?? null,
    dateOf(query.from),
    dateOf(query.to),
    limit + 1,
  ]);
  const rows = found.slice(0, limit);
  const last = rows.at(-1)?.cursor;
  if (found.length > limit) return { rows, nextCursor: last ?? null };
  return { rows, nextCursor: latest === null ? null : furthest(position, last, latest) };
}

async function latestCursor(db: Database, { scope, ownerId }: WhoseRequests): Promise<string> {
  const [row] =
    ownerId === null
      ? await db.query(scope, latestOfAll, [])
      : await db.query(scope, latestOfOwner, [ownerId]);
  return row?.cursor ?? '0';
}

/** Rows may have come since the latest was read; and all that was there may have been purged. */
function furthest(position: string | null, last: string | undefined, latest: string): string {
  return [position ?? '0', last ?? '0', latest].reduce((a, b) => (BigInt(a) >= BigInt(b) ? a : b));
}

function readsBy({ order_id, request_id, from, to }: Query): ReadsBy {
  if (request_id !== undefined) return 'request';
  if (order_id !== undefined) return 'order';
  return from === undefined && to === undefined ? 'any' : 'period';
}

function statusRange(status: string | undefined): readonly [number | null, number | null] {
  if (status === undefined) return [null, null];
  if (!status.endsWith('xx')) return [Number(status), Number(status)];
  const least = Number(status[0]) * 100;
  return [least, least + 99];
}

function dateOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}

/** As an operator sees it; the answer to an owner leaves out whose it is. */
export async function readRequests(
  db: Database,
  whose: WhoseRequests,
  query: Query,
): Promise<Static<typeof OperatorRequestLogSchema>> {
  const { rows, nextCursor } = await readPage(db, whose, query);
  return { requests: rows.map(view), pagination: { limit: query.limit, next_cursor: nextCursor } };
}

function view({
  key_id,
  key_hint,
  at,
  status_code,
  duration_us,
  ...row
}: RequestRow): Static<typeof OperatorLoggedRequestSchema> {
  return {
    ...row,
    at: at.toISOString(),
    key: { key_id, hint: key_hint },
    status: status_code,
    duration_ms: Math.round(Number(duration_us) / 100) / 10,
  };
}
