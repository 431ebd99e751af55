import { NEW } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { recipientKeyOwner } from './load-recipient.ts';
import { type RecipientSubject, recipientHost, screeningHost } from './recipient.host.ts';
import { type CurrentRecipientRow, insertRecipient } from './recipient.store.ts';
import { newRecipientData, type RecipientChanges, type RecipientData } from './recipient-fields.ts';
import { type RecipientTools, writeVersion } from './write-version.ts';

export interface NewRecipient extends RecipientChanges {
  readonly recipient_kind?: 'individual' | 'business';
}

/** Registers a recipient; its screening is asked for in the same transaction. */
export function registerRecipient(
  tools: RecipientTools,
  unit: UnitOfWork,
  partnerId: string,
  input: NewRecipient,
): { readonly row: Omit<CurrentRecipientRow, 'fields_sealed'>; readonly data: RecipientData } {
  const data = newRecipientData(input);
  const recipientId = unit.ids.uuid();
  const { wrappedKey, vault } = tools.vaults.create(recipientKeyOwner(recipientId));
  const draft: RecipientSubject = {
    recipient_id: recipientId,
    partner_id: partnerId,
    recipient_kind: input.recipient_kind ?? 'individual',
    status: NEW,
    screening_status: NEW,
    screening_round: 0,
    current_version: 1,
    recipient_country: data.recipient_country,
    data_key_sealed: wrappedKey,
    created_at: unit.at,
    updated_at: unit.at,
    isNew: true,
  };
  const registered = execute(unit, recipientHost, draft, 'recipient_registered', 'partner').row;
  const { isNew: _, ...subject } = execute(
    unit,
    screeningHost,
    registered,
    'screening_requested',
    'system',
  ).row;
  const { status, screening_status } = subject;
  if (status === NEW || screening_status === NEW) throw new Error('a recipient was not registered');
  unit.tx.defer(insertRecipient, [
    recipientId,
    partnerId,
    subject.recipient_kind,
    status,
    screening_status,
    subject.screening_round,
    data.recipient_country,
    wrappedKey,
    unit.at,
  ]);
  writeVersion(tools, unit, vault, { recipientId, partnerId, version: 1 }, data);
  return { row: { ...subject, status, screening_status, recipient_id_type: data.recipient_id_type }, data };
}
