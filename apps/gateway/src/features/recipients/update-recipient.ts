import { CausewayError } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { lockActiveRecipient, lockAnyRecipient, openCurrent, vaultOfRecipient } from './load-recipient.ts';
import { recipientHost } from './recipient.host.ts';
import { type CurrentRecipientRow, moveToVersion } from './recipient.store.ts';
import { applyChanges, isSame, type RecipientChanges, type RecipientData } from './recipient-fields.ts';
import { moveScreening } from './screen-recipient.ts';
import { type RecipientTools, writeVersion } from './write-version.ts';

/** Writes the next version; whoever was cleared under another name is screened again. */
export async function updateRecipient(
  tools: RecipientTools,
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
  writeVersion(
    tools,
    unit,
    vaultOfRecipient(tools.vaults, before),
    { recipientId, partnerId: before.partner_id, version },
    data,
  );
  unit.tx.defer(moveToVersion, [recipientId, version, data.recipient_country, unit.at]);
  // A blocked recipient stays blocked: the machine refuses, and that is the answer.
  const { row } = moveScreening(unit, before, 'screening_requested', 'system');
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
