import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vaults } from '../privacy/vault.ts';
import { destinationContext } from './add-destination.ts';
import { findDestination } from './destination.store.ts';
import { lockAnyRecipient, vaultOfRecipient } from './load-recipient.ts';

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
