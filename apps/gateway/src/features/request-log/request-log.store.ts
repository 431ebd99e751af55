import { type Statement, statement } from '../../db/statement.ts';

/** SQL of the request log: one statement writes a batch; reads by owner or of all, newest or oldest first. */

/** Counts all rows; no partner or vendor has it. */
const ALL = '00000000-0000-0000-0000-000000000000';

/** A row as it is written. */
export interface NewRequestRow {
  readonly partner_id: string | null;
  readonly vendor_id: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly request_id: string;
  readonly key_id: string;
  readonly method: string;
  readonly route: string | null;
  readonly path: string;
  readonly query: string | null;
  readonly status_code: number;
  readonly error_code: string | null;
  readonly error_fields: readonly string[];
  readonly duration_us: number;
  readonly order_id: string | null;
  readonly idempotency_key: boolean;
  readonly idempotent_replay: boolean;
  readonly api_version: string | null;
  readonly caller_network: string | null;
  readonly user_agent: string | null;
}

const TYPES: Readonly<Record<keyof NewRequestRow, string>> = {
  partner_id: 'uuid',
  vendor_id: 'uuid',
  at: 'bigint',
  request_id: 'text',
  key_id: 'uuid',
  method: 'text',
  route: 'text',
  path: 'text',
  query: 'text',
  status_code: 'smallint',
  error_code: 'text',
  error_fields: 'text[]',
  duration_us: 'bigint',
  order_id: 'uuid',
  idempotency_key: 'boolean',
  idempotent_replay: 'boolean',
  api_version: 'text',
  caller_network: 'text',
  user_agent: 'text',
};
const COLUMNS = Object.keys(TYPES) as (keyof NewRequestRow)[];
const DECLARED = COLUMNS.map((column) => `${column} ${TYPES[column]}`).join(', ');
const written = (column: string) => (column === 'at' ? AT : `b.${column}`);
const AT = `to_timestamp(b.at / 1000.0)`;

/**
 * The counters give the numbers and hold the other batches back until this one is committed: that of all rows comes first
 * in the order of ids, so that no two batches wait for each other.
 */
const writing = (condition: string) => `
  WITH batch AS (
    SELECT b.*, coalesce(b.partner_id, b.vendor_id) AS owner_id
      FROM ROWS FROM (json_to_recordset($1::json) AS (${DECLARED})) WITH ORDINALITY AS b (${COLUMNS.join(', ')}, nth)
     WHERE ${condition}),
  counted AS (
    SELECT owner_id, count(*) AS rows
      FROM (SELECT owner_id FROM batch UNION ALL SELECT '${ALL}'::uuid FROM batch) AS counting GROUP BY owner_id),
  numbered AS (
    INSERT INTO request_log_counters AS c (owner_id, last_number)
    SELECT owner_id, rows FROM counted ORDER BY owner_id
    ON CONFLICT (owner_id) DO UPDATE SET last_number = c.last_number + excluded.last_number
    RETURNING owner_id, last_number),
  bases AS (
    SELECT owner_id, last_number - rows AS base FROM numbered JOIN counted USING (owner_id)),
  used AS (
    INSERT INTO api_key_uses AS u (key_id, owner_id, last_used_at)
    SELECT b.key_id, k.owner_id, max(${AT}) FROM batch b JOIN api_keys k USING (key_id) GROUP BY b.key_id, k.owner_id
    ON CONFLICT (key_id) DO UPDATE SET last_used_at = greatest(u.last_used_at, excluded.last_used_at))
  INSERT INTO request_log (position, sequence, key_hint, ${COLUMNS.join(', ')})
  SELECT everything.base + row_number() OVER (ORDER BY b.nth),
         own.base + row_number() OVER (PARTITION BY b.owner_id ORDER BY b.nth),
         k.hint,
         ${COLUMNS.map(written).join(', ')}
    FROM batch b JOIN bases own USING (owner_id) JOIN bases everything ON everything.owner_id = '${ALL}'
    LEFT JOIN api_keys k ON k.key_id = b.key_id`;

/** One text for all rows: arrays of columns took the program twice as long to make. */
export const writeRequests = statement<[rows: string]>('request_log.write', writing('true'));

/** For rows whose first writing failed and may have been committed all the same. */
export const writeRequestsAgain = statement<[rows: string]>(
  'request_log.write_again',
  writing(`NOT EXISTS (SELECT FROM request_log l
    WHERE l.request_id = b.request_id AND l.key_id = b.key_id AND l.at = ${AT} AND l.path = b.path)`),
);

export interface RequestRow {
  cursor: string;
  partner_id: string | null;
  vendor_id: string | null;
  at: Date;
  request_id: string;
  key_id: string;
  key_hint: string | null;
  method: string;
  route: string | null;
  path: string;
  query: string | null;
  status_code: number;
  error_code: string | null;
  error_fields: string[];
  duration_us: string;
  order_id: string | null;
  idempotency_key: boolean;
  idempotent_replay: boolean;
  api_version: string | null;
  caller_network: string | null;
  user_agent: string | null;
}

export type RequestFilters = [
  ownerId: string | null,
  position: string | null,
  leastStatus: number | null,
  mostStatus: number | null,
  errorCode: string | null,
  method: string | null,
  orderId: string | null,
  requestId: string | null,
  from: Date | null,
  to: Date | null,
  limit: number,
];

export type RequestReader = Statement<RequestFilters, RequestRow>;
export type ReadsBy = 'any' | 'order' | 'request' | 'period';
export type ReadsOf = 'owner' | 'all';
export type Direction = 'newest' | 'oldest';

const optional = (parameter: string, condition: string) => `(${parameter} IS NULL OR ${condition})`;

/** Which index finds the rows is said without a way out, so that no plan for all cases passes it over. */
function reading(of: ReadsOf, by: ReadsBy, direction: Direction): RequestReader {
  const number = of === 'owner' ? 'sequence' : 'position';
  const behind =
    direction === 'newest' ? '< coalesce($2::bigint, 9223372036854775807)' : '> coalesce($2::bigint, 0)';
  return statement(
    `request_log.read_${of}_${by}_${direction}`,
    `SELECT ${number}::text AS cursor, partner_id, vendor_id, at, request_id, key_id, key_hint, method, route, path, query,
            status_code, error_code, error_fields, duration_us::text, order_id, idempotency_key, idempotent_replay,
            api_version, caller_network, user_agent
       FROM request_log
      WHERE ${of === 'owner' ? 'owner_id = $1::uuid' : '$1::uuid IS NULL'}
        AND ${number} ${behind}
        AND ${optional('$3::int', 'status_code >= $3')} AND ${optional('$4::int', 'status_code <= $4')}
        AND ${optional('$5::text', 'error_code = $5')} AND ${optional('$6::text', 'method = $6')}
        AND ${by === 'order' ? 'order_id = $7::uuid' : optional('$7::uuid', 'order_id = $7')}
        AND ${by === 'request' ? 'request_id = $8::text' : optional('$8::text', 'request_id = $8')}
        AND ${
          by === 'period'
            ? `at >= coalesce($9::timestamptz, '-infinity') AND at < coalesce($10::timestamptz, 'infinity')`
            : `${optional('$9::timestamptz', 'at >= $9')} AND ${optional('$10::timestamptz', 'at < $10')}`
        }
      ORDER BY ${number} ${direction === 'newest' ? 'DESC' : 'ASC'} LIMIT $11`,
  );
}

const readersOf = (of: ReadsOf, by: ReadsBy) => ({
  newest: reading(of, by, 'newest'),
  oldest: reading(of, by, 'oldest'),
});

const readersBy = (of: ReadsOf) => ({
  any: readersOf(of, 'any'),
  order: readersOf(of, 'order'),
  request: readersOf(of, 'request'),
  period: readersOf(of, 'period'),
});

export const READERS: Readonly<Record<ReadsOf, Record<ReadsBy, Record<Direction, RequestReader>>>> = {
  owner: readersBy('owner'),
  all: readersBy('all'),
};

/** Read before the rows: what is visible then has been seen by whoever goes on behind it. */
export const latestOfOwner = statement<[ownerId: string], { cursor: string }>(
  'request_log.latest_of_owner',
  `SELECT coalesce(max(sequence), 0)::text AS cursor FROM request_log WHERE owner_id = $1`,
);

export const latestOfAll = statement<[], { cursor: string }>(
  'request_log.latest_of_all',
  'SELECT coalesce(max(position), 0)::text AS cursor FROM request_log',
);

/** Positions follow the time but for seconds, so that the oldest rows need no index of their own. */
export const purgeRequests = statement<[before: Date, limit: number], { purged: number }>(
  'request_log.purge',
  `WITH gone AS (
     DELETE FROM request_log WHERE position IN (
       SELECT position FROM (SELECT position, at FROM request_log ORDER BY position LIMIT $2) AS oldest WHERE at < $1)
     RETURNING 1)
   SELECT count(*)::int AS purged FROM gone`,
);
