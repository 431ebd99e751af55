import {
  type Actor,
  actionsInStatus,
  CausewayError,
  NEW,
  type New,
  SCREENING_DECISION_TRIGGERS,
  SCREENING_IN_REVIEW,
  SCREENING_RESULTS,
  type ScreeningCaseFacts,
  type ScreeningCaseGuard,
  type ScreeningStatus,
  type ScreeningTrigger,
  screeningCaseMachine,
} from '@causeway/protocol';
import { type Execution, execute, type MachineAdapter } from '../../engine/execute.ts';
import type { IntentDraft } from '../../engine/intent.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type {
  ScreeningHit,
  ScreeningPort,
  ScreeningResult,
  ScreeningSubject,
} from '../../ports/name-screening.ts';
import type { Vault } from '../../vault/vault.ts';
import {
  insertCase,
  lockCase,
  recordScreening,
  type ScreeningCaseRow,
  setCase,
} from './screening-case.store.ts';

/** A case on its way through its machine; a new one has no status yet. */
export type Case = Omit<ScreeningCaseRow, 'screening_status'> & {
  readonly screening_status: ScreeningStatus | New;
};

const movesNoMoney = (): never => {
  throw new Error('a screening case moves no money and sends no event');
};

const caseAdapter: MachineAdapter<
  Case,
  ScreeningStatus,
  ScreeningTrigger,
  ScreeningCaseFacts,
  ScreeningCaseGuard
> = {
  machine: screeningCaseMachine,
  statusOf: ({ screening_status }) => screening_status,
  factsOf: ({ decided_by_person }) => ({ decidedByPerson: decided_by_person }),
  write(unit, before, { status, facts, transition }) {
    const isNew = before.screening_status === NEW;
    const asked = transition.on === 'screening_requested' || isNew ? 1 : 0;
    const after: Case = {
      ...before,
      screening_status: status,
      screening_round: before.screening_round + asked,
      decided_by_person: facts.decidedByPerson,
      updated_at: unit.at,
    };
    const { case_id, screening_round, decided_by_person } = after;
    if (!isNew) unit.tx.defer(setCase, [case_id, status, screening_round, decided_by_person, unit.at]);
    else {
      unit.tx.defer(insertCase, [
        case_id,
        after.partner_id,
        after.subject_kind,
        after.subject_key,
        status,
        screening_round,
        after.list_version,
        after.hits_sealed,
        after.listed,
        after.screened_at,
        unit.at,
      ]);
    }
    return after;
  },
  eventFor: movesNoMoney,
  intentFor({ case_id, partner_id: partnerId, screening_round: round, ...row }, effect): IntentDraft {
    if (effect === 'screening.screen') {
      return { kind: effect, dedupeKey: `${case_id}:${round}`, partnerId, payload: { case_id, round } };
    }
    if (effect !== 'screening.hold-orders') throw new Error(`a screening case does not start ${effect}`);
    return {
      kind: effect,
      dedupeKey: `${case_id}:${row.screening_status}:${row.updated_at.getTime()}`,
      partnerId,
      payload: { subject_kind: row.subject_kind, subject_key: row.subject_key },
    };
  },
  entryFor: movesNoMoney,
};

/** Reports something about a case. The caller holds its lock, or has just drafted it. */
export function moveCase(
  unit: UnitOfWork,
  row: Case,
  trigger: ScreeningTrigger,
  actor: Actor,
): { readonly kind: Execution<never>['kind']; readonly row: ScreeningCaseRow } {
  const execution = execute(unit, caseAdapter, row, trigger, actor);
  const { screening_status } = execution.row;
  if (screening_status === NEW) throw new Error('a case was not opened');
  return { kind: execution.kind, row: { ...execution.row, screening_status } };
}

export function draftCase(
  unit: UnitOfWork,
  subject: Pick<ScreeningCaseRow, 'partner_id' | 'subject_kind' | 'subject_key'>,
): Case {
  return {
    ...subject,
    case_id: unit.ids.uuid(),
    screening_status: NEW,
    screening_round: 0,
    decided_by_person: false,
    list_version: null,
    hits_sealed: null,
    listed: [],
    screened_at: null,
    created_at: unit.at,
    updated_at: unit.at,
  };
}

export const RESULT_TRIGGERS: Readonly<Record<ScreeningResult['status'], ScreeningTrigger>> = {
  clear: 'screening_cleared',
  review: 'screening_matched',
  blocked: 'screening_blocked',
};

/** A person whose name a bank will read, and the key under which what is found of them is kept. */
export interface Holder {
  readonly subjects: readonly ScreeningSubject[];
  readonly vault: Vault;
}

const HOLDER_KEY = /(^|_)(name|holder)(_|$)/;
const INSTITUTION_KEY = /^(bank|branch|institution)_/;

/** The names in payment details that are a person's or a company's; a bank's own is not. */
export function holderSubjects(
  details: Readonly<Record<string, string>>,
  kind: ScreeningSubject['kind'],
): ScreeningSubject[] {
  return Object.entries(details)
    .filter(([key]) => HOLDER_KEY.test(key) && !INSTITUTION_KEY.test(key))
    .map(([, name]) => ({ kind, name }));
}

/**
 * Opens the case of an account holder in the transaction that keeps the account. A screening that answers from memory is
 * asked at once, and the account can be quoted when its partner hears of it; otherwise it waits for the worker.
 */
export function openHolderCase(
  { screening }: { readonly screening: ScreeningPort },
  unit: UnitOfWork,
  subject: {
    readonly kind: 'destination' | 'payment_details';
    readonly key: string;
    readonly partnerId: string;
  },
  holder: Holder,
): ScreeningStatus {
  const draft = draftCase(unit, {
    partner_id: subject.partnerId,
    subject_kind: subject.kind,
    subject_key: subject.key,
  });
  const { screenAtOnce } = screening;
  if (screenAtOnce === undefined) {
    return moveCase(unit, draft, 'screening_requested', 'system').row.screening_status;
  }
  const result = strictestOf(holder.subjects.map((one) => screenAtOnce(one)));
  const answered: Case = {
    ...draft,
    list_version: result.listVersion,
    hits_sealed: sealHits(holder.vault, draft.case_id, result.hits),
    screened_at: unit.at,
  };
  return moveCase(unit, answered, RESULT_TRIGGERS[result.status], 'provider').row.screening_status;
}

/** Of several names the worst result counts. An account without a name cannot be cleared by a machine. */
export function strictestOf(results: readonly ScreeningResult[]): ScreeningResult {
  const status =
    SCREENING_RESULTS.find((one) => results.some((result) => result.status === one)) ?? SCREENING_IN_REVIEW;
  return {
    status,
    hits: results.flatMap(({ hits }) => hits),
    listVersion: results[0]?.listVersion ?? 'none',
  };
}

const hitsContext = (caseId: string) => `screening_cases:${caseId}`;

export function sealHits(vault: Vault, caseId: string, hits: readonly ScreeningHit[]): string {
  return vault.seal(JSON.stringify(hits), hitsContext(caseId));
}

export function openHits(vault: Vault, { case_id, hits_sealed }: ScreeningCaseRow): ScreeningHit[] {
  return hits_sealed === null
    ? []
    : (JSON.parse(vault.open(hits_sealed, hitsContext(case_id))) as ScreeningHit[]);
}

/** Keeps what a screening found beside the case that it was about. */
export function keepFinding(
  unit: UnitOfWork,
  caseId: string,
  found: { readonly listVersion: string; readonly hitsSealed?: string; readonly listed?: readonly string[] },
): void {
  const { listVersion, hitsSealed = null, listed = [] } = found;
  unit.tx.defer(recordScreening, [caseId, listVersion, hitsSealed, listed, unit.at]);
}

/** An operator's decision; the machine says whether it can be made. */
export async function decideCase(
  unit: UnitOfWork,
  caseId: string,
  trigger: ScreeningTrigger,
): Promise<{ readonly before: ScreeningCaseRow; readonly after: ScreeningCaseRow }> {
  const [before] = await unit.tx.query(lockCase, [caseId]);
  if (before === undefined) throw new CausewayError('SCREENING_CASE_NOT_FOUND');
  const { kind, row: after } = moveCase(unit, before, trigger, 'operator');
  if (kind === 'refused') {
    const { screening_status: status } = before;
    throw new CausewayError('INVALID_STATUS', {
      message: `The screening status ${status} does not allow this.`,
      details: {
        status,
        allowed_actions: actionsInStatus(
          screeningCaseMachine,
          status,
          'operator',
          SCREENING_DECISION_TRIGGERS,
        ),
      },
    });
  }
  return { before, after };
}
