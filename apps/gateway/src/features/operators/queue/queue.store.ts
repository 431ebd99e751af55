import {
  DEPOSIT_HELD,
  FIAT_PAYMENT_HELD,
  FIAT_PAYMENT_RECEIVED,
  KYC_IN_REVIEW,
  ORDER_DISPUTED,
  orderStatusesThatKnow,
  SCREENING_CLEAR,
  SCREENING_IN_REVIEW,
} from '@causeway/protocol';
import { QUEUE_KINDS, type QueueKind } from '@causeway/protocol/console';
import { type Statement, sqlWords, statement } from '../../../db/statement.ts';
import { LATE_INTENTS, STUCK_INTENTS } from '../../../engine/stuck-intents.store.ts';

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

/** How one kind is found. All but `where` are columns. */
interface Source {
  readonly from: string;
  readonly where: string;
  readonly id: string;
  /** Since when it waits; with `id` the order of the kind’s index. */
  readonly since: string;
  readonly partner?: string;
  readonly order?: string;
  readonly amount?: readonly [amount: string, decimals: string, currency: string];
  readonly facts?: string;
}

const HELD = `(o.facts->>'held')::boolean`;
const DISPUTED = `o.status = ${sqlWords(ORDER_DISPUTED)}`;
const ORDER_FACTS = `jsonb_build_object('direction', o.direction, 'hold_reason', o.hold_reason, 'held', ${HELD})`;
const CRYPTO = ['o.crypto_amount::text', 'o.crypto_decimals', 'o.crypto_currency'] as const;
const AWAITING_DEPOSIT = sqlWords(orderStatusesThatKnow('deposit_matched'));
const PROOF_DECIDABLE = sqlWords([
  ...new Set([...orderStatusesThatKnow('proof_review_started'), ...orderStatusesThatKnow('proof_accepted')]),
]);
/** A payment that came before its order waited for it can be matched by a person; later nothing waits for it. */
const UNMATCHED_DAYS = 30;

function sources({
  now,
  late,
}: {
  readonly now: string;
  readonly late: string;
}): Record<QueueKind, readonly Source[]> {
  const payment = {
    from: 'fiat_payments f',
    id: 'f.payment_id',
    since: 'f.received_at',
    partner: 'f.partner_id',
    amount: ['f.amount::text', 'f.currency_decimals', 'f.currency'],
  } as const;
  const effect = {
    from: 'intents i',
    id: 'i.intent_id',
    partner: 'i.partner_id',
    order: `(i.payload->>'order_id')::uuid`,
  } as const;
  return {
    kyc: [
      {
        from: 'users u',
        where: `u.kyc_status = ${sqlWords(KYC_IN_REVIEW)} AND u.erased_at IS NULL`,
        id: 'u.user_id',
        since: 'u.kyc_updated_at',
        partner: 'u.partner_id',
      },
    ],
    proof: [
      {
        from: 'payment_proofs p JOIN orders o ON o.order_id = p.order_id',
        where: `p.verdict IS NULL AND (o.facts->>'proofPending')::boolean AND o.status IN (${PROOF_DECIDABLE})`,
        id: 'p.proof_id',
        since: 'p.submitted_at',
        partner: 'p.partner_id',
        order: 'p.order_id',
        amount: ['o.fiat_amount::text', 'o.fiat_decimals', 'o.fiat_currency'],
        facts: `jsonb_build_object('rejections', (o.facts->>'proofRejections')::int, 'held', ${HELD})`,
      },
    ],
    hold: [
      {
        from: 'orders o',
        // A disputed order is one case, its dispute; a hold that a payment placed is decided with the payment.
        where: `${HELD} AND NOT ${DISPUTED} AND NOT (coalesce((o.facts->>'heldForDeposit')::boolean, false)
          AND EXISTS (SELECT FROM fiat_payments f WHERE f.status = ${sqlWords(FIAT_PAYMENT_HELD)}
                         AND o.order_id = ANY(f.held_order_ids)))`,
        id: 'o.order_id',
        since: 'coalesce(o.held_at, o.updated_at)',
        partner: 'o.partner_id',
        order: 'o.order_id',
        amount: CRYPTO,
        facts: ORDER_FACTS,
      },
    ],
    dispute: [
      {
        from: 'orders o',
        // Decided for the buyer, it waits for a signature and for no operator.
        where: `${DISPUTED} AND NOT coalesce((o.facts->>'awardedToBuyer')::boolean, false)`,
        id: 'o.order_id',
        since: `(o.timeline->-1->>'at')::timestamptz`,
        partner: 'o.partner_id',
        order: 'o.order_id',
        amount: CRYPTO,
        facts: ORDER_FACTS,
      },
    ],
    recipient_screening: [
      {
        from: 'recipients r',
        where: `r.screening_status = ${sqlWords(SCREENING_IN_REVIEW)} AND r.erased_at IS NULL`,
        id: 'r.recipient_id',
        since: 'r.updated_at',
        partner: 'r.partner_id',
      },
    ],
    screening_case: [
      {
        from: 'screening_cases c',
        where: `c.screening_status = ${sqlWords(SCREENING_IN_REVIEW)} AND c.screening_status <> ${sqlWords(SCREENING_CLEAR)}`,
        id: 'c.case_id',
        since: 'c.updated_at',
        partner: 'c.partner_id',
        facts: `jsonb_build_object('subject_kind', c.subject_kind)`,
      },
    ],
    deposit: [
      {
        from: 'deposit_observations d JOIN orders o ON o.order_id = d.order_id',
        where: `d.disposition = ${sqlWords(DEPOSIT_HELD)}`,
        id: 'd.deposit_id',
        since: 'd.observed_at',
        partner: 'd.partner_id',
        order: 'd.order_id',
        amount: [
          `CASE WHEN d.kind <> 'wrong_token' THEN d.amount::text END`,
          'o.crypto_decimals',
          `CASE WHEN d.kind <> 'wrong_token' THEN o.crypto_currency END`,
        ],
        facts: `jsonb_build_object('deposit_kind', d.kind)`,
      },
    ],
    fiat_payment: [
      {
        ...payment,
        where: `f.status = ${sqlWords(FIAT_PAYMENT_HELD)}`,
        facts: `jsonb_build_object('unmatched', false, 'orders', cardinality(f.candidate_order_ids))`,
      },
      {
        ...payment,
        where: `f.status = ${sqlWords(FIAT_PAYMENT_RECEIVED)} AND f.settlement_id IS NULL
          AND f.received_at > ${now}::timestamptz - interval '${UNMATCHED_DAYS} days'
          AND EXISTS (SELECT FROM orders o WHERE o.user_id = f.user_id AND o.status IN (${AWAITING_DEPOSIT})
                         AND o.fiat_currency = f.currency AND o.fiat_amount = f.amount
                         AND o.facts->>'fundingSource' = 'own_iban')`,
        facts: `jsonb_build_object('unmatched', true)`,
      },
    ],
    offer: [
      {
        from: 'offers f JOIN vendors v ON v.vendor_id = f.vendor_id',
        where: 'NOT f.authorized AND NOT f.withdrawn',
        id: 'f.offer_id',
        since: 'f.created_at',
        facts: `jsonb_build_object('vendor', v.name, 'side', f.side, 'crypto', f.crypto_currency, 'fiat', f.fiat_currency)`,
      },
    ],
    effect: [
      {
        ...effect,
        where: STUCK_INTENTS,
        since: 'coalesce(i.settled_at, i.created_at)',
        facts: `jsonb_build_object('effect', i.kind, 'status', i.status, 'attempts', i.attempts, 'late', false)`,
      },
      {
        ...effect,
        where: LATE_INTENTS(late),
        since: 'i.run_at',
        facts: `jsonb_build_object('effect', i.kind, 'status', i.status, 'attempts', i.attempts, 'late', true)`,
      },
    ],
    reconciliation: [
      {
        from: 'reconciliation_differences x LEFT JOIN orders o ON o.order_id = x.order_id',
        where: 'true',
        id: 'x.difference_id',
        since: 'x.first_seen_at',
        partner: 'o.partner_id',
        order: 'x.order_id',
        amount: [
          'x.difference',
          'NULL::smallint',
          `CASE WHEN x.difference IS NOT NULL THEN split_part(x.asset, '@', 1) END`,
        ],
        facts: `jsonb_build_object('difference_kind', x.kind, 'asset', x.asset, 'about', x.about)`,
      },
    ],
  };
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
