import type { ReconciliationVerdict } from '@causeway/protocol';
import { DIFFERENCE_KINDS } from '@causeway/protocol/console';
import { Gauge, type Registry } from 'prom-client';
import type { Chains } from '../../chain/chains.ts';
import { SYSTEM } from '../../db/database.ts';
import type { Difference, ReconciliationPart, SecondLook } from '../../engine/reconciliation-part.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { type OutsideWork, UNREMEMBERED } from '../../http/idempotency.ts';
import type { BankingPort } from '../../ports/banking.ts';
import { ledgerAccountOf } from '../fiat-accounts/fiat-account.ts';
import { bookedPaymentPart, reportedPaymentPart } from '../fiat-accounts/reconcile-payments.ts';
import { bookPart, escrowPart } from '../orders/escrow/reconcile-escrows.ts';
import { orderPart } from '../orders/lifecycle/reconcile-orders.ts';
import { eventPart } from '../webhooks/reconcile-events.ts';
import {
  beginRun,
  countDifferences,
  type DifferenceRow,
  dropDifference,
  findDifference,
  finishRun,
  keepDifference,
  lastRun,
  listDifferences,
  readCursors,
  saveCursor,
  staleDifferences,
} from './difference.store.ts';

/**
 * The reconciliation as a worker does it by itself. Each run looks again at what differed, and at so many rows more of each
 * part; what differs is kept until it agrees again.
 */
export interface ReconciliationDeps extends UnitDeps {
  readonly chains: Chains;
  /** None where no fiat accounts are opened. */
  readonly bank: BankingPort | undefined;
  readonly config: { readonly eventRetentionDays: number };
}

function partsOf(deps: ReconciliationDeps): readonly ReconciliationPart[] {
  const { bank } = deps;
  const withBank = bank === undefined ? undefined : { ...deps, bank };
  return [
    bookPart(deps),
    escrowPart(deps),
    orderPart({ ...deps, depositAccountOf: ledgerAccountOf }),
    eventPart(deps),
    ...(withBank === undefined ? [] : [bookedPaymentPart(withBank), reportedPaymentPart(withBank)]),
  ];
}

/** How many known differences a run looks at again, and how many a caller is shown. */
const LOOKED_AT_AGAIN = 500;

async function keep(unit: UnitOfWork, part: ReconciliationPart, one: Difference): Promise<void> {
  await part.mend?.(unit, one);
  unit.tx.defer(keepDifference, [
    unit.ids.uuid(),
    one.kind,
    one.subject,
    one.orderId,
    one.about,
    one.asset,
    one.escrowAddress,
    one.expected,
    one.found,
    one.difference,
    unit.at,
  ]);
}

/** Its own words for what it is about, without the kind. */
const subjectOf = ({ kind, subject }: DifferenceRow) => subject.slice(kind.length + 1);

async function lookAgain(
  deps: ReconciliationDeps,
  known: DifferenceRow,
  outside: OutsideWork = UNREMEMBERED,
): Promise<ReconciliationVerdict> {
  const part = partsOf(deps).find(({ kinds }) => kinds.includes(known.kind));
  // A kind of a part that is switched off, or of another release: nothing here can say that it still differs.
  const look: SecondLook = (await part?.again(subjectOf(known), known.kind)) ?? { verdict: 'equal' };
  const { verdict, found } = look;
  if (verdict === 'unreachable' || (verdict === 'different' && found === undefined)) return verdict;
  await unitOfWork(deps, SYSTEM, async (unit) => {
    if (part === undefined || found === undefined) unit.tx.defer(dropDifference, [known.difference_id]);
    else await keep(unit, part, found);
    outside.written(unit);
  });
  return verdict;
}

/** Two records may be read while a third process changes them: what differs is looked at again before it is told. */
async function confirmed(part: ReconciliationPart, found: readonly Difference[]): Promise<Difference[]> {
  const looks = [];
  for (const { subject, kind } of found) looks.push(await part.again(subject, kind));
  return looks.flatMap((look) => (look.found === undefined ? [] : [look.found]));
}

/** One run. Answers how many rows it looked at. */
export async function reconcileAll(deps: ReconciliationDeps): Promise<number> {
  for (const known of await deps.db.query(SYSTEM, staleDifferences, [LOOKED_AT_AGAIN]))
    await lookAgain(deps, known);
  const cursors = new Map(
    (await deps.db.query(SYSTEM, readCursors, [])).map(({ part, cursor }) => [part, cursor]),
  );
  let checked = 0;
  let unreachable = 0;
  for (const part of partsOf(deps)) {
    const sweep = await part.sweep(cursors.get(part.name) ?? null);
    const found = await confirmed(part, sweep.found);
    checked += sweep.checked;
    unreachable += sweep.unreachable;
    await unitOfWork(deps, SYSTEM, async (unit) => {
      for (const one of found) await keep(unit, part, one);
      unit.tx.defer(saveCursor, [part.name, sweep.next, unit.at]);
    });
  }
  await deps.db.query(SYSTEM, finishRun, [deps.clock.date(), checked, unreachable]);
  return checked;
}

export function scheduledReconciliation(
  deps: ReconciliationDeps & { readonly wall: () => number; readonly registry: Registry },
  everySeconds: number,
): () => Promise<void> {
  const gauge = new Gauge({
    name: 'reconciliation_differences',
    help: 'Where two records of one thing differ, as the last reconciliation found, by kind.',
    labelNames: ['kind'],
    registers: [deps.registry],
  });
  return async () => {
    const at = deps.wall();
    const [mine] = await deps.db.query(SYSTEM, beginRun, [new Date(at), new Date(at - everySeconds * 1_000)]);
    if (mine !== undefined) await reconcileAll(deps);
    const counts = new Map(
      (await deps.db.query(SYSTEM, countDifferences, [])).map(({ kind, total }) => [kind, total]),
    );
    for (const kind of DIFFERENCE_KINDS) gauge.set({ kind }, counts.get(kind) ?? 0);
  };
}

export async function readDifference(
  { db }: Pick<UnitDeps, 'db'>,
  differenceId: string,
): Promise<DifferenceRow | undefined> {
  return (await db.query(SYSTEM, findDifference, [differenceId]))[0];
}

/** What is known to differ, and of the last run. */
export async function readReconciliation({ db }: Pick<UnitDeps, 'db'>) {
  const [differences, [run]] = await Promise.all([
    db.query(SYSTEM, listDifferences, [LOOKED_AT_AGAIN]),
    db.query(SYSTEM, lastRun, []),
  ]);
  return { differences, run };
}

/** As it is told to operators. */
export function differenceView({ subject: _, first_seen_at, last_seen_at, ...rest }: DifferenceRow) {
  return { ...rest, first_seen_at: first_seen_at.toISOString(), last_seen_at: last_seen_at.toISOString() };
}

/** Looks at one difference again now; where the records agree, it is gone. Null where there is none any more. */
export async function checkDifference(
  deps: ReconciliationDeps,
  differenceId: string,
  outside: OutsideWork,
): Promise<ReconciliationVerdict | null> {
  const known = await readDifference(deps, differenceId);
  // A check whose answer was lost has ended it.
  if (known === undefined) return outside.isWritten ? 'equal' : null;
  return lookAgain(deps, known, outside);
}
