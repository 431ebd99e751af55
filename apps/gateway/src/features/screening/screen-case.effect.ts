import { SCREENING_PENDING } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { IntentPayload } from '../../engine/effects.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { ScreeningPort, ScreeningResult } from '../../ports/name-screening.ts';
import type { WalletScreeningPort } from '../../ports/wallet-screening.ts';
import { findCase, lockCase, type ScreeningCaseRow } from './screening-case.store.ts';
import {
  type Holder,
  keepFinding,
  moveCase,
  RESULT_TRIGGERS,
  sealHits,
  strictestOf,
} from './screening-case.ts';

/** Who holds an account, by its key; none where the person is erased. */
export type HolderReader = (key: string) => Promise<Holder | undefined>;

export interface ScreenCaseDeps {
  readonly db: Database;
  readonly screening: ScreeningPort;
  readonly walletScreening: WalletScreeningPort;
  readonly holders: Readonly<Record<'destination' | 'payment_details', HolderReader>>;
}

interface Finding {
  readonly status: ScreeningResult['status'];
  readonly listVersion: string;
  readonly hitsSealed?: string;
  readonly listed?: readonly string[];
}

const DONE = { kind: 'confirmed' } as const satisfies Outcome;

const isAsked = (row: ScreeningCaseRow | undefined, round: number): row is ScreeningCaseRow =>
  row?.screening_status === SCREENING_PENDING && row.screening_round === round;

/** Asks the screening about a holder or a wallet. Asking twice is harmless: only the first answer of a round counts. */
export function screenCaseHandler(deps: ScreenCaseDeps): IntentHandler<'screening.screen'> {
  async function carryOut({ payload }: Intent<'screening.screen'>): Promise<Outcome> {
    const [row] = await deps.db.query(SYSTEM, findCase, [payload.case_id]);
    if (!isAsked(row, payload.round)) return DONE;
    let finding: Finding | undefined;
    try {
      finding = await look(deps, row);
    } catch (error) {
      return { kind: 'retry', error: error instanceof Error ? error.name : 'the screening failed' };
    }
    if (finding === undefined) return { ...DONE, result: 'the person is erased' };
    const found = finding;
    return { ...DONE, followUp: (unit) => take(unit, payload, found) };
  }
  return {
    // Until it is screened nothing is paid to it.
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: carryOut,
  };
}

async function look(deps: ScreenCaseDeps, row: ScreeningCaseRow): Promise<Finding | undefined> {
  if (row.subject_kind === 'wallet') return deps.walletScreening.screen(row.subject_key);
  const holder = await deps.holders[row.subject_kind](row.subject_key);
  if (holder === undefined) return undefined;
  const results = await Promise.all(holder.subjects.map((subject) => deps.screening.screen(subject)));
  const { hits, ...result } = strictestOf(results);
  return { ...result, hitsSealed: sealHits(holder.vault, row.case_id, hits) };
}

async function take(
  unit: UnitOfWork,
  { case_id, round }: IntentPayload<'screening.screen'>,
  found: Finding,
): Promise<void> {
  const [row] = await unit.tx.query(lockCase, [case_id]);
  // A person may have decided meanwhile: their word stands.
  if (!isAsked(row, round)) return;
  moveCase(unit, row, RESULT_TRIGGERS[found.status], 'provider');
  keepFinding(unit, case_id, found);
}
