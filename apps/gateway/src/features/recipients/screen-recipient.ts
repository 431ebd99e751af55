import { type Actor, CausewayError, NEW, type ScreeningTrigger } from '@causeway/protocol';
import { type Execution, execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { lockAnyRecipient } from './load-recipient.ts';
import { screeningHost } from './recipient.host.ts';
import type { CurrentRecipientRow } from './recipient.store.ts';

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
