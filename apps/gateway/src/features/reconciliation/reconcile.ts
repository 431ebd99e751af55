import { Gauge, type Registry } from 'prom-client';
import type { Chains } from '../../../chain/chains.ts';
import { SYSTEM } from '../../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import {
  checkBooks,
  compareEscrow,
  compareEscrows,
  type EscrowComparison,
  type Verdict,
} from './reconcile-escrows.ts';
import {
  beginRun,
  countDifferences,
  type DifferenceRow,
  dropDifference,
  dropOtherDifferences,
  findDifference,
  finishRun,
  keepDifference,
} from './reconciliation.store.ts';

/** The reconciliation as a worker does it by itself: what differs is kept until it agrees again. */

export interface ReconciliationDeps extends UnitDeps {
  readonly chains: Chains;
}

const PAGE = 200;

interface Found {
  readonly subject: string;
  readonly orderId: string | null;
  readonly asset: string;
  readonly escrowAddress: string | null;
  readonly booked: string;
  readonly found: string;
  readonly difference: string;
}

const bookSubject = (asset: string) => `book:${asset}`;

/** A payment may be booked between the two looks at an escrow: what differs is looked at again before it is told. */
async function lookAtEscrows(deps: ReconciliationDeps) {
  const different: EscrowComparison[] = [];
  const unreachable: string[] = [];
  let checked = 0;
  for (let after: string | null = null; ; ) {
    const page: EscrowComparison[] = await compareEscrows(deps, 'open', { after, limit: PAGE });
    checked += page.length;
    for (const one of page) {
      const again = one.verdict === 'different' ? await compareEscrow(deps, one.order_id) : one;
      if (again?.verdict === 'different') different.push(again);
      if (again?.verdict === 'unreachable') unreachable.push(one.order_id);
    }
    after = page.at(-1)?.order_id ?? null;
    if (page.length < PAGE) return { checked, different, unreachable };
  }
}

function ofEscrow(one: EscrowComparison): Found {
  return {
    subject: one.order_id,
    orderId: one.order_id,
    asset: one.asset,
    escrowAddress: one.escrow_address,
    booked: one.booked,
    found: one.on_chain ?? '0',
    difference: one.difference ?? '0',
  };
}

function keep(unit: UnitOfWork, one: Found): void {
  unit.tx.defer(keepDifference, [
    unit.ids.uuid(),
    one.subject,
    one.orderId,
    one.asset,
    one.escrowAddress,
    one.booked,
    one.found,
    one.difference,
    unit.at,
  ]);
}

/** Looks at the books and at every open escrow, and keeps what differs. Answers how much does. */
export async function reconcileAll(deps: ReconciliationDeps): Promise<number> {
  const [books, { checked, different, unreachable }] = await Promise.all([
    checkBooks(deps.db),
    lookAtEscrows(deps),
  ]);
  const unbalanced = books
    .filter(({ balanced }) => !balanced)
    .map(({ asset, sum }): Found => {
      const subject = bookSubject(asset);
      return { subject, orderId: null, asset, escrowAddress: null, booked: '0', found: sum, difference: sum };
    });
  const found = [...unbalanced, ...different.map(ofEscrow)];
  await unitOfWork(deps, SYSTEM, async (unit) => {
    unit.tx.defer(dropOtherDifferences, [[...found.map(({ subject }) => subject), ...unreachable]]);
    for (const one of found) keep(unit, one);
    unit.tx.defer(finishRun, [unit.at, checked, found.length, unreachable.length]);
  });
  return found.length;
}

export function scheduledReconciliation(
  deps: ReconciliationDeps & { readonly wall: () => number; readonly registry: Registry },
  everySeconds: number,
): () => Promise<void> {
  const gauge = new Gauge({
    name: 'reconciliation_differences',
    help: 'Where the books differ from the chain or from themselves, as the last reconciliation found.',
    registers: [deps.registry],
  });
  return async () => {
    const at = deps.wall();
    const [mine] = await deps.db.query(SYSTEM, beginRun, [new Date(at), new Date(at - everySeconds * 1_000)]);
    if (mine !== undefined) await reconcileAll(deps);
    const [count] = await deps.db.query(SYSTEM, countDifferences, []);
    gauge.set(count?.total ?? 0);
  };
}

export async function readDifference(
  { db }: Pick<UnitDeps, 'db'>,
  differenceId: string,
): Promise<DifferenceRow | undefined> {
  return (await db.query(SYSTEM, findDifference, [differenceId]))[0];
}

/** Looks at one difference again now; where the books agree, it is gone. Null where there is none any more. */
export async function checkDifference(
  deps: ReconciliationDeps,
  differenceId: string,
): Promise<Verdict | null> {
  const known = await readDifference(deps, differenceId);
  if (known === undefined) return null;
  const { verdict, found } = await lookAgain(deps, known);
  if (verdict === 'unreachable') return verdict;
  await unitOfWork(deps, SYSTEM, async (unit) => {
    if (found === null) unit.tx.defer(dropDifference, [known.subject]);
    else keep(unit, found);
  });
  return verdict;
}

async function lookAgain(
  deps: ReconciliationDeps,
  known: DifferenceRow,
): Promise<{ readonly verdict: Verdict; readonly found: Found | null }> {
  if (known.order_id === null) {
    const sum = (await checkBooks(deps.db)).find(({ asset }) => asset === known.asset)?.sum ?? '0';
    if (sum === '0') return { verdict: 'equal', found: null };
    const { subject, asset } = known;
    const found = {
      subject,
      orderId: null,
      asset,
      escrowAddress: null,
      booked: '0',
      found: sum,
      difference: sum,
    };
    return { verdict: 'different', found };
  }
  const compared = await compareEscrow(deps, known.order_id);
  if (compared === null) return { verdict: 'equal', found: null };
  return { verdict: compared.verdict, found: compared.verdict === 'different' ? ofEscrow(compared) : null };
}
