import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vaults } from '../privacy/vault.ts';
import { type Holder, holderSubjects } from '../screening/screening-case.ts';
import { destinationContext } from './add-destination.ts';
import { findDestination, holderOf } from './destination.store.ts';
import { lockAnyRecipient, recipientKeyOwner, vaultOfRecipient } from './load-recipient.ts';

/** A destination in clear, for those who pay to it. */
export async function openDestination(
  vaults: Vaults,
  unit: UnitOfWork,
  recipientId: string,
  destinationId: string,
): Promise<Readonly<Record<string, string>>> {
  const recipient = await lockAnyRecipient(unit, recipientId);
  const [destination] = await unit.tx.query(findDestination, [destinationId, recipientId]);
  if (destination === undefined) throw new CausewayError('DESTINATION_NOT_FOUND');
  const text = vaultOfRecipient(vaults, recipient).open(
    destination.details_sealed,
    destinationContext(destinationId),
  );
  return JSON.parse(text) as Record<string, string>;
}

/** Whose account a destination is, for their screening. */
export async function holderOfDestination(
  tools: { readonly db: Database; readonly vaults: Vaults },
  destinationId: string,
): Promise<Holder | undefined> {
  const [row] = await tools.db.query(SYSTEM, holderOf, [destinationId]);
  if (row === undefined) return undefined;
  const vault = tools.vaults.open(row.data_key_sealed, recipientKeyOwner(row.recipient_id));
  const details = JSON.parse(vault.open(row.details_sealed, destinationContext(destinationId)));
  return { vault, subjects: holderSubjects(details as Record<string, string>, row.beneficiary_type) };
}
