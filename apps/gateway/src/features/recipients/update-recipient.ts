import { CausewayError } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { lockActiveRecipient, lockAnyRecipient, openCurrent, vaultOfRecipient } from './load-recipient.ts';
import { recipientHost } from './recipient.host.ts';
import { type CurrentRecipientRow, moveToVersion } from './recipient.store.ts';
import { applyChanges, isSame, type RecipientChanges, type RecipientData } from './recipient-fields.ts';
import { moveScreening, RESULT_TRIGGERS, subjectOf } from './screen-recipient.ts';
import type { ScreeningPort } from './screening/screening.port.ts';
import { type RecipientTools, writeVersion } from './write-version.ts';

/** Writes the next version; whoever was cleared under another name is screened again. */
export async function updateRecipient(
  tools: RecipientTools & { readonly screening: ScreeningPort },
  unit: UnitOfWork,
  recipientId: string,
  changes: RecipientChanges,
): Promise<{ readonly row: CurrentRecipientRow; readonly data: RecipientData }> {
  const before = await lockActiveRecipient(unit, recipientId);
  const known = openCurrent(tools.vaults, before);
  const data = applyChanges(known, changes);
  if (isSame(known, data)) return { row: before, data };
  const subject = { ...before, isNew: false };
  if (execute(unit, recipientHost, subject, 'recipient_updated', 'partner').kind === 'refused') {
    throw new CausewayError('RECIPIENT_NOT_FOUND');
  }
  const version = before.current_version + 1;
  const vault = vaultOfRecipient(tools.vaults, before);
  writeVersion(tools, unit, vault, { recipientId, partnerId: before.partner_id, version }, data);
  unit.tx.defer(moveToVersion, [recipientId, version, data.recipient_country, unit.at]);
  // A blocked recipient stays blocked: the machine refuses, and that is the answer.
  const asked = moveScreening(unit, before, 'screening_requested', 'system');
  // Where the answer is in memory it counts at once: a change must not stop orders for as long as a worker needs. The
  // worker asks all the same and keeps what was found.
  const atOnce = tools.screening.screenAtOnce?.(subjectOf(before.recipient_kind, data));
  const { row } =
    asked.kind === 'refused' || atOnce === undefined
      ? asked
      : moveScreening(unit, asked.row, RESULT_TRIGGERS[atOnce.status], 'provider');
  return {
    row: {
      ...row,
      current_version: version,
      recipient_country: data.recipient_country,
      recipient_id_type: data.recipient_id_type,
      updated_at: unit.at,
    },
    data,
  };
}

/** Archives a recipient. Doing it again is harmless. */
export async function archiveRecipient(unit: UnitOfWork, recipientId: string): Promise<void> {
  const row = await lockAnyRecipient(unit, recipientId);
  execute(unit, recipientHost, { ...row, isNew: false }, 'recipient_archived', 'partner');
}
