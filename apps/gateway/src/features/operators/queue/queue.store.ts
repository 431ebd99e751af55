import { QUEUE_KINDS, type QueueKind } from '@causeway/protocol/console';
import { type Statement, statement } from '../../../db/statement.ts';
import { type Source, sources } from './queue-sources.ts';

/**
 * SQL of the queue. Nothing is copied: each kind is read from the table that holds what waits, by an index over the waiting
 * rows alone, so that a decision takes a case off the queue in its own transaction.
 */

export interface QueueRow {
  kind: QueueKind;
  subject_id: string;
  partner_id: string | null;
  order_id: string | null;
  since: Date;
  due_at: Date;
  /** Microseconds, for the cursor. */
  due_key: string;
  /** Smallest units where `decimals` says how many, else as it is. */
  amount: string | null;
  decimals: number | null;
  currency: string | null;
  facts: Readonly<Record<string, string | number | boolean | null>>;
  claimed_by: string | null;
  claimed_at: Date | null;
  claimant: string | null;
  snoozed_until: Date | null;
  snooze_reason: string | null;
}

interface Places {
  readonly now: string;
  /** Seconds, one a kind in the order of QUEUE_KINDS. */
  readonly targets: string;
  readonly claimedSince: string;
  readonly late: string;
}

function targetOf(kind: QueueKind, { targets }: Places): string {
  return `(${targets}::int[])[${QUEUE_KINDS.indexOf(kind) + 1}] * interval '1 second'`;
}

/** A claim from before the wait, or too old, is none; so is what was put off before the wait. */
const claimed = (source: Source, { claimedSince }: Places) =>
  `coalesce(a.claimed_at > ${claimedSince} AND a.claimed_at >= ${source.since}, false)`;
const snoozed = (source: Source, { now }: Places) =>
  `coalesce(a.snoozed_until > ${now} AND a.snoozed_at >= ${source.since}, false)`;

function columnsOf(kind: QueueKind, source: Source, places: Places): string {
  const [amount, decimals, currency] = source.amount ?? ['NULL::text', 'NULL::smallint', 'NULL::text'];
  const isClaimed = claimed(source, places);
  const isSnoozed = snoozed(source, places);
  return `'${kind}'::text AS kind, ${source.id} AS subject_id, ${source.partner ?? 'NULL::uuid'} AS partner_id,
    ${source.order ?? 'NULL::uuid'} AS order_id, ${source.since} AS since,
    ${source.since} + ${targetOf(kind, places)} AS due_at, ${amount} AS amount, ${decimals} AS decimals,
    ${currency} AS currency, ${source.facts ?? `'{}'::jsonb`} AS facts,
    CASE WHEN ${isClaimed} THEN a.claimed_by END AS claimed_by, CASE WHEN ${isClaimed} THEN a.claimed_at END AS claimed_at,
    CASE WHEN ${isSnoozed} THEN a.snoozed_until END AS snoozed_until,
    CASE WHEN ${isSnoozed} THEN a.snooze_reason END AS snooze_reason`;
}

/** Each kind by itself, so that each is cut to a page along its own index before the kinds are sorted together. */
function eachKind(
  places: Places,
  kinds: readonly QueueKind[],
  narrow: (kind: QueueKind, source: Source) => string,
) {
  const found = sources(places);
  return kinds
    .flatMap((kind) =>
      found[kind].map(
        (source) =>
          `(SELECT ${columnsOf(kind, source, places)} FROM ${source.from}
              LEFT JOIN queue_assignments a ON a.kind = '${kind}' AND a.subject_id = ${source.id}
             WHERE ${source.where} ${narrow(kind, source)})`,
      ),
    )
    .join('\n UNION ALL ');
}

/** With the name of who has claimed it; only for the rows that are answered. */
function withClaimants(found: string): string {
  return `SELECT q.kind, q.subject_id, q.partner_id, q.order_id, q.since, q.due_at,
      (extract(epoch FROM q.due_at) * 1000000)::bigint::text AS due_key, q.amount, q.decimals::int, q.currency, q.facts,
      q.claimed_by, q.claimed_at, coalesce(cu.name, nullif(k.label, ''), k.hint) AS claimant, q.snoozed_until, q.snooze_reason
    FROM (${found}) q
    LEFT JOIN console_users cu ON cu.user_id = q.claimed_by LEFT JOIN api_keys k ON k.key_id = q.claimed_by`;
}

type Common = [now: Date, targets: readonly number[], claimedSince: Date, late: Date];
const COMMON: Places = { now: '$1', targets: '$2', claimedSince: '$3', late: '$4' };

export const listQueue = statement<
  [
    ...Common,
    kinds: readonly string[] | null,
    partnerId: string | null,
    assignee: 'me' | 'none' | null,
    me: string,
    overdue: boolean,
    snoozed: boolean,
    afterDue: string | null,
    afterId: string | null,
    limit: number,
  ],
  QueueRow
>(
  'queue.list',
  `${withClaimants(
    `SELECT * FROM (${eachKind(COMMON, QUEUE_KINDS, (kind, source) => {
      const target = targetOf(kind, COMMON);
      const isClaimed = claimed(source, COMMON);
      const mine = `${isClaimed} AND a.claimed_by = $8`;
      const after = `(timestamptz 'epoch' + $11::bigint * interval '1 microsecond' - ${target})`;
      return `AND ($5::text[] IS NULL OR '${kind}' = ANY($5))
        AND ($6::uuid IS NULL OR ${source.partner ?? 'NULL::uuid'} = $6)
        AND CASE $7::text WHEN 'me' THEN ${mine} WHEN 'none' THEN NOT ${isClaimed} ELSE true END
        AND (${source.since} < CASE WHEN $9::boolean THEN $1::timestamptz - ${target} ELSE 'infinity' END)
        AND ${snoozed(source, COMMON)} = $10::boolean
        AND (${source.since}, ${source.id}) > (coalesce(${after}, '-infinity'),
              coalesce($12::uuid, '00000000-0000-0000-0000-000000000000'))
        ORDER BY ${source.since}, ${source.id} LIMIT $13`;
    })}) every_kind ORDER BY due_at, subject_id LIMIT $13`,
  )} ORDER BY q.due_at, q.subject_id`,
);

export interface QueueCountRow {
  kind: QueueKind;
  waiting: number;
  overdue: number;
  mine: number;
  unassigned: number;
  snoozed: number;
}

export const countQueue = statement<[...Common, me: string, partnerId: string | null], QueueCountRow>(
  'queue.count',
  `SELECT kind, count(*) FILTER (WHERE snoozed_until IS NULL)::int AS waiting,
          count(*) FILTER (WHERE snoozed_until IS NULL AND due_at < $1)::int AS overdue,
          count(*) FILTER (WHERE snoozed_until IS NULL AND claimed_by = $5)::int AS mine,
          count(*) FILTER (WHERE snoozed_until IS NULL AND claimed_by IS NULL)::int AS unassigned,
          count(snoozed_until)::int AS snoozed
     FROM (${eachKind(COMMON, QUEUE_KINDS, (_, source) => `AND ($6::uuid IS NULL OR ${source.partner ?? 'NULL::uuid'} = $6)`)}) q
    GROUP BY kind`,
);

/** Without what is put off: of that somebody knows. */
export const measureQueue = statement<
  Common,
  { kind: QueueKind; waiting: number; overdue: number; oldest_seconds: number }
>(
  'queue.measure',
  `SELECT kind, count(*)::int AS waiting, count(*) FILTER (WHERE due_at < $1)::int AS overdue,
          greatest(0, extract(epoch FROM $1::timestamptz - min(since)))::float8 AS oldest_seconds
     FROM (${eachKind(COMMON, QUEUE_KINDS, () => '')}) q WHERE snoozed_until IS NULL GROUP BY kind`,
);

const ONE_OF: Places = { now: '$1', targets: '$2', claimedSince: '$3', late: '$4' };

/** One case of each kind, if it waits. */
export const findQueueCase: Readonly<Record<QueueKind, Statement<[...Common, subjectId: string], QueueRow>>> =
  Object.fromEntries(
    QUEUE_KINDS.map((kind) => [
      kind,
      statement<[...Common, subjectId: string], QueueRow>(
        `queue.find_${kind}`,
        // Kinds that do not ask for the late time name it all the same: each parameter must have a type.
        withClaimants(
          eachKind(ONE_OF, [kind], (_, source) => `AND ${source.id} = $5 AND $4::timestamptz IS NOT NULL`),
        ),
      ),
    ]),
  ) as Record<QueueKind, Statement<[...Common, subjectId: string], QueueRow>>;

/** One of two who claim at once gets it: the second waits for the row and finds the condition gone. */
export const claimCase = statement<
  [kind: string, subjectId: string, by: string, at: Date, claimedSince: Date, waitingSince: Date],
  { claimed_at: Date }
>(
  'queue.claim',
  `INSERT INTO queue_assignments AS a (kind, subject_id, claimed_by, claimed_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (kind, subject_id) DO UPDATE SET claimed_by = $3, claimed_at = $4
     WHERE a.claimed_by IS NULL OR a.claimed_by = $3 OR a.claimed_at <= $5 OR a.claimed_at < $6
   RETURNING claimed_at`,
);

export const releaseCase = statement<[kind: string, subjectId: string, by: string]>(
  'queue.release',
  `UPDATE queue_assignments SET claimed_by = NULL, claimed_at = NULL
    WHERE kind = $1 AND subject_id = $2 AND claimed_by = $3`,
);

/** Without an end it is brought back. */
export const snoozeCase = statement<
  [
    kind: string,
    subjectId: string,
    by: string | null,
    at: Date | null,
    until: Date | null,
    reason: string | null,
  ]
>(
  'queue.snooze',
  `INSERT INTO queue_assignments (kind, subject_id, snoozed_by, snoozed_at, snoozed_until, snooze_reason)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (kind, subject_id) DO UPDATE
     SET snoozed_by = $3, snoozed_at = $4, snoozed_until = $5, snooze_reason = $6`,
);
