import { type Actor, CausewayError, NEW, type ScreeningTrigger } from '@causeway/protocol';
import { type Execution, execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vault } from '../privacy/vault.ts';
import { lockAnyRecipient } from './load-recipient.ts';
import { screeningHost } from './recipient.host.ts';
import { type CurrentRecipientRow, insertScreening } from './recipient.store.ts';
import type { RecipientData } from './recipient-fields.ts';
import type { ScreeningResult, ScreeningSubject } from './screening/screening.port.ts';

/** Reports something about a recipient's screening. The caller holds the row's lock. */
export function moveScreening(
  unit: UnitOfWork,
  row: CurrentRecipientRow,
  trigger: ScreeningTrigger,
  actor: Actor,
): { readonly kind: Execution<never>['kind']; readonly row: CurrentRecipientRow } {
  const execution = execute(unit, screeningHost, { ...row, isNew: false }, trigger, actor);
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
  // A person or a sandbox user may have decided meanwhile; then the machine refuses and their word stands.
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
    throw new CausewayError('INVALID_STATUS', {
      message: `The screening status ${row.screening_status} does not allow this.`,
      details: { status: row.screening_status, allowed_actions: [] },
    });
  }
  return row;
}
