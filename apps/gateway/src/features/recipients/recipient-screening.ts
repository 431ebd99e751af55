import {
  type Actor,
  actionsInStatus,
  CausewayError,
  NEW,
  type New,
  type NoFacts,
  type RecipientStatus,
  type RecipientTrigger,
  recipientMachine,
  SCREENING_DECISION_TRIGGERS,
  type ScreeningStatus,
  type ScreeningTrigger,
  screeningMachine,
} from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { IntentPayload } from '../../engine/effects.ts';
import { type Execution, execute, type MachineAdapter } from '../../engine/execute.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { ScreeningPort, ScreeningResult, ScreeningSubject } from '../../ports/name-screening.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import {
  type CurrentRecipientRow,
  findRecipient,
  insertScreening,
  lockRecipient,
  type RecipientRow,
  setRecipientStatus,
  setScreening,
} from './recipient.store.ts';
import { lockAnyRecipient, openCurrent, type RecipientData, vaultOfRecipient } from './recipient.ts';

/** A recipient on its way through its two machines; a new one has no status yet, and its row is written afterwards. */
export type RecipientSubject = Omit<RecipientRow, 'status' | 'screening_status'> & {
  readonly status: RecipientStatus | New;
  readonly screening_status: ScreeningStatus | New;
  readonly isNew: boolean;
};

const movesNoMoney = (): never => {
  throw new Error('a recipient moves no money and sends no event');
};

export const recipientAdapter: MachineAdapter<
  RecipientSubject,
  RecipientStatus,
  RecipientTrigger,
  NoFacts,
  never
> = {
  machine: recipientMachine,
  statusOf: ({ status }) => status,
  factsOf: () => ({}),
  write(unit, subject, { status, statusChanged }) {
    if (!subject.isNew && statusChanged) {
      unit.tx.defer(setRecipientStatus, [subject.recipient_id, status, unit.at]);
    }
    return { ...subject, status, updated_at: unit.at };
  },
  eventFor: movesNoMoney,
  intentFor: movesNoMoney,
  entryFor: movesNoMoney,
};

export const screeningAdapter: MachineAdapter<
  RecipientSubject,
  ScreeningStatus,
  ScreeningTrigger,
  NoFacts,
  never
> = {
  machine: screeningMachine,
  statusOf: ({ screening_status }) => screening_status,
  factsOf: () => ({}),
  write(unit, subject, { status, actor }) {
    // A result that was asked for earlier must not be taken for the one that is asked for now, nor overrule what a person
    // or a sandbox user has decided since.
    const screening_round = subject.screening_round + (actor === 'provider' ? 0 : 1);
    if (!subject.isNew) {
      unit.tx.defer(setScreening, [subject.recipient_id, status, screening_round, unit.at]);
    }
    return { ...subject, screening_status: status, screening_round, updated_at: unit.at };
  },
  eventFor: movesNoMoney,
  intentFor({ recipient_id, partner_id: partnerId, screening_round: round, ...subject }, effect) {
    if (effect === 'recipient.screen') {
      const payload = { recipient_id, round };
      return { kind: effect, dedupeKey: `${recipient_id}:${round}`, partnerId, payload };
    }
    if (effect !== 'screening.hold-orders') throw new Error(`a recipient does not start ${effect}`);
    return {
      kind: effect,
      dedupeKey: `${recipient_id}:${subject.screening_status}:${subject.updated_at.getTime()}`,
      partnerId,
      payload: { subject_kind: 'recipient', subject_key: recipient_id },
    };
  },
  entryFor: movesNoMoney,
};

/** Reports something about a recipient's screening. The caller holds the row's lock. */
export function moveScreening(
  unit: UnitOfWork,
  row: CurrentRecipientRow,
  trigger: ScreeningTrigger,
  actor: Actor,
): { readonly kind: Execution<never>['kind']; readonly row: CurrentRecipientRow } {
  const execution = execute(unit, screeningAdapter, { ...row, isNew: false }, trigger, actor);
  const { screening_status, screening_round, updated_at } = execution.row;
  if (screening_status === NEW) throw new Error('a recipient that exists is not new');
  return { kind: execution.kind, row: { ...row, screening_status, screening_round, updated_at } };
}

export const RESULT_TRIGGERS: Readonly<Record<ScreeningResult['status'], ScreeningTrigger>> = {
  clear: 'screening_cleared',
  review: 'screening_matched',
  blocked: 'screening_blocked',
};

export const hitsContext = (recipientId: string, round: number) =>
  `recipient_screenings:${recipientId}:${round}`;

export function subjectOf(kind: ScreeningSubject['kind'], data: RecipientData): ScreeningSubject {
  return { kind, name: data.recipient_name, nativeName: data.recipient_native_name ?? undefined };
}

/** What a screening says of a recipient whose lock the caller holds. */
export function takeResult(
  unit: UnitOfWork,
  row: CurrentRecipientRow,
  vault: Vault,
  result: ScreeningResult,
): CurrentRecipientRow {
  // What was answered at once is not answered again; the machine refuses.
  const moved = moveScreening(unit, row, RESULT_TRIGGERS[result.status], 'provider');
  unit.tx.defer(insertScreening, [
    row.recipient_id,
    row.screening_round,
    row.partner_id,
    result.status,
    result.listVersion,
    vault.seal(JSON.stringify(result.hits), hitsContext(row.recipient_id, row.screening_round)),
    unit.at,
  ]);
  return moved.row;
}

/** A decision by a person or by a sandbox user; the machine says whether it can be made. */
export async function decideScreening(
  unit: UnitOfWork,
  recipientId: string,
  trigger: ScreeningTrigger,
  actor: Actor,
): Promise<CurrentRecipientRow> {
  const before = await lockAnyRecipient(unit, recipientId);
  const { kind, row } = moveScreening(unit, before, trigger, actor);
  if (kind === 'refused') {
    const { screening_status: status } = row;
    throw new CausewayError('INVALID_STATUS', {
      message: `The screening status ${status} does not allow this.`,
      details: {
        status,
        allowed_actions: actionsInStatus(screeningMachine, status, actor, SCREENING_DECISION_TRIGGERS),
      },
    });
  }
  return row;
}

export interface ScreenRecipientDeps {
  readonly db: Database;
  readonly vaults: Vaults;
  readonly screening: ScreeningPort;
}

/** Asks the screening about a recipient. Asking twice is harmless: only the first answer of a round counts. */
export function screenRecipientHandler(deps: ScreenRecipientDeps): IntentHandler<'recipient.screen'> {
  async function carryOut({ payload }: Intent<'recipient.screen'>): Promise<Outcome> {
    const [row] = await deps.db.query(SYSTEM, findRecipient, [payload.recipient_id]);
    if (row === undefined || row.screening_round !== payload.round) return { kind: 'confirmed' };
    const data = openCurrent(deps.vaults, row);
    let result: ScreeningResult;
    try {
      result = await deps.screening.screen(subjectOf(row.recipient_kind, data));
    } catch (error) {
      return { kind: 'retry', error: error instanceof Error ? error.name : 'the screening failed' };
    }
    const vault = vaultOfRecipient(deps.vaults, row);
    return { kind: 'confirmed', followUp: (unit) => takeAnswer(unit, vault, payload, result) };
  }
  return {
    // Until it is screened a recipient is pending and cannot be paid.
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: carryOut,
  };
}

async function takeAnswer(
  unit: UnitOfWork,
  vault: Vault,
  { recipient_id, round }: IntentPayload<'recipient.screen'>,
  result: ScreeningResult,
): Promise<void> {
  const [row] = await unit.tx.query(lockRecipient, [recipient_id]);
  if (row === undefined || row.screening_round !== round) return;
  takeResult(unit, row, vault, result);
}
