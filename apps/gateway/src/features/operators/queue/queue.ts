import { CausewayError, formatFixed, HOLD_REASONS, type QueueCaseSchema } from '@causeway/protocol';
import {
  DIFFERENCE_MEANINGS,
  type DifferenceKind,
  QUEUE_CLAIM_MINUTES,
  QUEUE_KINDS,
  type QueueKind,
} from '@causeway/protocol/console';
import type { Static } from 'typebox';
import { type Reading, reading, SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { effectOf } from '../../../engine/effects.ts';
import type { UnitDeps, UnitOfWork } from '../../../engine/unit-of-work.ts';
import type { OperatorPrincipal } from '../../../http/principals.ts';
import { lateBefore } from '../system/stuck-effects.ts';
import {
  claimCase,
  countQueue,
  findQueueCase,
  listQueue,
  measureQueue,
  type QueueCountRow,
  type QueueRow,
  releaseCase,
  snoozeCase,
} from './queue.store.ts';

/** What waits for a person: finding it, and saying who works on it. Deciding it is the business of each kind’s own routes. */

export type QueueTargets = Readonly<Record<QueueKind, number>>;

export interface QueueDeps extends UnitDeps {
  /** Minutes. */
  readonly queueTargets: QueueTargets;
}

export type QueueCase = Static<typeof QueueCaseSchema>;

const MINUTE_MS = 60_000;
const CLAIM_MS = QUEUE_CLAIM_MINUTES * MINUTE_MS;

function common(at: Date, targets: QueueTargets) {
  return [
    at,
    QUEUE_KINDS.map((kind) => targets[kind] * 60),
    new Date(at.getTime() - CLAIM_MS),
    lateBefore(at),
  ] as const;
}

export interface QueueFilter {
  readonly kinds: readonly QueueKind[] | null;
  readonly partnerId: string | null;
  readonly assignee: 'me' | 'none' | null;
  readonly overdue: boolean;
  readonly snoozed: boolean;
  readonly cursor: string | null;
  readonly limit: number;
}

export async function readQueue(
  { db, clock, queueTargets }: QueueDeps,
  me: string,
  filter: QueueFilter,
): Promise<{ readonly cases: readonly QueueCase[]; readonly at: Date; readonly nextCursor: string | null }> {
  const at = clock.date();
  const [due = null, id = null] = filter.cursor?.split('_') ?? [];
  const rows = await db.query(SYSTEM, listQueue, [
    ...common(at, queueTargets),
    filter.kinds,
    filter.partnerId,
    filter.assignee,
    me,
    filter.overdue,
    filter.snoozed,
    due,
    id,
    filter.limit + 1,
  ]);
  const page = rows.slice(0, filter.limit);
  const last = page.at(-1);
  return {
    cases: page.map((row) => caseView(row, at)),
    at,
    nextCursor: rows.length > filter.limit && last ? `${last.due_key}_${last.subject_id}` : null,
  };
}

export async function countWaiting(
  { db, clock, queueTargets }: QueueDeps,
  me: string,
  partnerId: string | null,
): Promise<readonly QueueCountRow[]> {
  return db.query(SYSTEM, countQueue, [...common(clock.date(), queueTargets), me, partnerId]);
}

/** Of every kind, also where nothing waits. */
export async function measureWaiting({
  db,
  clock,
  queueTargets,
}: Pick<QueueDeps, 'db' | 'clock' | 'queueTargets'>) {
  const rows = await db.query(SYSTEM, measureQueue, [...common(clock.date(), queueTargets)]);
  return QUEUE_KINDS.map(
    (kind) => rows.find((row) => row.kind === kind) ?? { kind, waiting: 0, overdue: 0, oldest_seconds: 0 },
  );
}

export async function readCase(deps: QueueDeps, kind: QueueKind, subjectId: string): Promise<QueueCase> {
  const at = deps.clock.date();
  return caseView(await requireCase(reading(deps.db, SYSTEM), at, deps.queueTargets, kind, subjectId), at);
}

async function requireCase(
  reads: Reading,
  at: Date,
  targets: QueueTargets,
  kind: QueueKind,
  subjectId: string,
): Promise<QueueRow> {
  const [row] = await reads.query(findQueueCase[kind], [...common(at, targets), subjectId]);
  if (row === undefined) throw new CausewayError('QUEUE_CASE_NOT_FOUND');
  return row;
}

export interface CaseOfQueue {
  readonly kind: QueueKind;
  readonly subjectId: string;
}

/** Claiming again makes the claim last longer. */
export async function claim(
  { queueTargets }: QueueDeps,
  unit: UnitOfWork,
  operator: OperatorPrincipal,
  { kind, subjectId }: CaseOfQueue,
): Promise<QueueCase> {
  const { since } = await requireCase(unit.tx, unit.at, queueTargets, kind, subjectId);
  const claimedSince = new Date(unit.at.getTime() - CLAIM_MS);
  const [claimed] = await unit.tx.query(claimCase, [
    kind,
    subjectId,
    operator.keyId,
    unit.at,
    claimedSince,
    since,
  ]);
  if (claimed === undefined) throw new CausewayError('QUEUE_CASE_CLAIMED');
  return caseView(await requireCase(unit.tx, unit.at, queueTargets, kind, subjectId), unit.at);
}

/** What another has claimed stays so; a case that no one has is released already. */
export async function release(
  { queueTargets }: QueueDeps,
  unit: UnitOfWork,
  operator: OperatorPrincipal,
  { kind, subjectId }: CaseOfQueue,
): Promise<QueueCase> {
  await unit.tx.query(releaseCase, [kind, subjectId, operator.keyId]);
  const row = await requireCase(unit.tx, unit.at, queueTargets, kind, subjectId);
  if (row.claimed_by !== null) throw new CausewayError('QUEUE_CASE_CLAIMED');
  return caseView(row, unit.at);
}

/** Puts a case off; it is back when the time is over, or when it begins to wait anew. */
export async function snooze(
  { queueTargets }: QueueDeps,
  unit: UnitOfWork,
  operator: OperatorPrincipal,
  { kind, subjectId }: CaseOfQueue,
  { minutes, reason }: { readonly minutes: number; readonly reason: string },
): Promise<QueueCase> {
  await requireCase(unit.tx, unit.at, queueTargets, kind, subjectId);
  const until = new Date(unit.at.getTime() + minutes * MINUTE_MS);
  await unit.tx.query(
    snoozeCase,
    minutes === 0
      ? [kind, subjectId, null, null, null, null]
      : [kind, subjectId, operator.keyId, unit.at, until, reason],
  );
  recordAction(unit, operator, {
    action: minutes === 0 ? 'queue.wake' : 'queue.snooze',
    subject: `queue/${kind}/${subjectId}`,
    reason,
    after: { until: minutes === 0 ? null : until.toISOString() },
  });
  return caseView(await requireCase(unit.tx, unit.at, queueTargets, kind, subjectId), unit.at);
}

function caseView(row: QueueRow, at: Date): QueueCase {
  const { amount, decimals, claimed_by: by, claimed_at: claimedAt, snoozed_until: until } = row;
  return {
    kind: row.kind,
    subject_id: row.subject_id,
    order_id: row.order_id,
    partner_id: row.partner_id,
    says: SAYS[row.kind](row.facts),
    amount: amount === null || decimals === null ? amount : formatFixed(BigInt(amount), decimals),
    currency: row.currency,
    created_at: row.since.toISOString(),
    due_at: row.due_at.toISOString(),
    overdue: row.due_at < at,
    assignee:
      by === null || claimedAt === null
        ? null
        : {
            id: by,
            name: row.claimant ?? by,
            until: new Date(claimedAt.getTime() + CLAIM_MS).toISOString(),
          },
    snoozed:
      until === null || row.snooze_reason === null
        ? null
        : { until: until.toISOString(), reason: row.snooze_reason },
  };
}

type Facts = QueueRow['facts'];

const DEPOSIT_SAYS: Readonly<Record<string, string>> = {
  short: 'Less was paid into an escrow than its order needs.',
  excess: 'More was paid into an escrow than its order needs.',
  double: 'An escrow was paid a second time.',
  wrong_token: 'Another token was paid into an escrow than its order trades.',
  foreign_sender: 'An escrow was paid by another wallet than the one expected.',
};
const SUBJECT_SAYS: Readonly<Record<string, string>> = {
  wallet: 'A wallet may be on a sanctions list.',
  destination: 'The holder of a recipient’s account may be on a sanctions list.',
  payment_details: 'The holder of a customer’s account may be on a sanctions list.',
};

/** What partners read of a compliance review tells them to ask whoever reads this. */
const COMPLIANCE_SAYS =
  'An operator holds it, or a name or wallet of it is not screened clear; its history says which.';

function holdSays({ hold_reason: reason }: Facts): string {
  const known =
    reason === 'COMPLIANCE_REVIEW' ? undefined : HOLD_REASONS[reason as keyof typeof HOLD_REASONS];
  return `An order is on hold. ${known?.when ?? COMPLIANCE_SAYS}`;
}

function confirmationSays({ direction, awarded, held }: Facts): string {
  if (awarded === true) {
    return `A dispute was decided for the buyer, and the signature that pays it does not come.${held ? ' The order is on hold as well.' : ''}`;
  }
  return direction === 'onramp'
    ? 'The customer says that it has paid, and the vendor does not confirm that the money has arrived.'
    : 'The vendor has proved its payment, and nobody confirms that the money has arrived.';
}

function paymentSays(orders: number): string {
  if (orders === 0) return 'The bank wants a person to look at a payment that no order waits for.';
  return `A payment could pay ${orders === 1 ? 'an order that is on hold' : `${orders} orders`}.`;
}

function effectSays({ effect, late, status, attempts }: Facts): string {
  const does = effectOf(String(effect))?.does ?? `Work of a kind that is not known here: ${effect}.`;
  const stands = late
    ? 'no worker takes it on'
    : status === 'unknown'
      ? 'it is not known whether it happened'
      : 'it failed';
  return `${does} After ${attempts} ${attempts === 1 ? 'try' : 'tries'} ${stands}.`;
}

/** A sentence each: what it is, not what to do. */
const SAYS: Readonly<Record<QueueKind, (facts: Facts) => string>> = {
  kyc: () => 'The documents of a customer wait for a review.',
  proof: ({ rejections }) =>
    Number(rejections) > 0
      ? `A vendor proves again that it has paid; ${rejections} of its proofs ${rejections === 1 ? 'was' : 'were'} refused.`
      : 'A vendor says that it has paid the customer, and hands in a proof.',
  hold: holdSays,
  dispute: ({ held }) =>
    `Buyer and seller disagree about an order.${held ? ' The order is on hold as well: release it first.' : ''}`,
  overdue_confirmation: confirmationSays,
  recipient_screening: () => 'The name of a recipient resembles one on a sanctions list.',
  screening_case: ({ subject_kind }) =>
    SUBJECT_SAYS[String(subject_kind)] ?? 'Something may be on a sanctions list.',
  deposit: ({ deposit_kind }) =>
    DEPOSIT_SAYS[String(deposit_kind)] ?? 'A deposit is not what its order awaited.',
  fiat_payment: ({ unmatched, orders }) =>
    unmatched
      ? 'A payment came before its order waited for it, and has paid none.'
      : paymentSays(Number(orders)),
  offer: ({ vendor, side, crypto, fiat }) =>
    `${vendor} wants to ${String(side).toLowerCase()} ${crypto} for ${fiat}.`,
  effect: effectSays,
  reconciliation: ({ difference_kind, asset, about }) => {
    const says = DIFFERENCE_MEANINGS[difference_kind as DifferenceKind] ?? 'Two records of one thing differ.';
    return [says, asset ?? about].filter((part) => typeof part === 'string').join(' ');
  },
};
