import { CausewayError, type DestinationSchema, type RecipientSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Vaults } from '../privacy/vault.ts';
import { type DestinationTools, destinationContext, requireEligible } from './add-destination.ts';
import { type DestinationRow, findDestination } from './destination.store.ts';
import {
  lockActiveRecipient,
  lockAnyRecipient,
  openCurrent,
  recipientKeyOwner,
  vaultOfRecipient,
} from './load-recipient.ts';
import type { CurrentRecipientRow } from './recipient.store.ts';
import { destinationView, recipientView } from './recipient.view.ts';

/** Who is paid and where, as it was when a quote was made. Masked: it is what a partner reads on the order. */
export interface RecipientContext {
  readonly recipient: Static<typeof RecipientSchema>;
  readonly destination: Static<typeof DestinationSchema>;
}

export interface RecipientSnapshot {
  readonly recipientId: string;
  readonly recipientVersion: number;
  readonly destinationId: string;
  readonly destinationVersion: number;
  readonly rail: string;
  readonly currency: string;
  readonly countryCode: string;
  readonly institutionId: string | null;
  readonly formatId: string | null;
  readonly context: RecipientContext;
  /** What a quote or an order keeps: nothing that happens to the recipient later changes it. */
  readonly contextSealed: string;
}

const snapshotContext = (recipientId: string) => `recipient_snapshot:${recipientId}`;

/** For quotes and orders: only an active recipient can be paid, screened clear like the account's holder. */
export async function snapshotRecipient(
  tools: DestinationTools,
  unit: UnitOfWork,
  recipientId: string,
  destinationId: string,
): Promise<RecipientSnapshot> {
  if (!isUuid(recipientId)) throw new CausewayError('RECIPIENT_NOT_FOUND');
  const recipient = await lockActiveRecipient(unit, recipientId);
  const [destination] = isUuid(destinationId)
    ? await unit.tx.query(findDestination, [destinationId, recipientId])
    : [];
  if (destination === undefined) throw new CausewayError('DESTINATION_NOT_FOUND');
  return takeSnapshot(tools, recipient, destination);
}

/** The same of rows that are at hand. */
export function takeSnapshot(
  tools: DestinationTools,
  recipient: CurrentRecipientRow,
  destination: DestinationRow,
): RecipientSnapshot {
  if (recipient.screening_status !== 'clear' || destination.screening_status !== 'clear') {
    throw new CausewayError('RECIPIENT_NOT_CLEARED');
  }
  requireEligible(tools.detailsCheck, destination.rail, recipient);
  const recipientId = recipient.recipient_id;
  const destinationId = destination.recipient_destination_id;
  const vault = vaultOfRecipient(tools.vaults, recipient);
  const details = JSON.parse(
    vault.open(destination.details_sealed, destinationContext(destinationId)),
  ) as Record<string, string>;
  const context = {
    recipient: recipientView(recipient, openCurrent(tools.vaults, recipient)),
    destination: destinationView(tools.detailsCheck, destination, details),
  };
  return {
    recipientId,
    recipientVersion: recipient.current_version,
    destinationId,
    destinationVersion: destination.version,
    rail: destination.rail,
    currency: destination.currency,
    countryCode: destination.country_code,
    institutionId: destination.institution_id,
    formatId: destination.format_id,
    context,
    contextSealed: vault.seal(JSON.stringify(context), snapshotContext(recipientId)),
  };
}

/** What a quote or an order kept; gone with the person once the recipient is forgotten. */
export async function openRecipientSnapshot(
  tools: Pick<DestinationTools, 'vaults'>,
  unit: UnitOfWork,
  recipientId: string,
  contextSealed: string,
): Promise<RecipientContext> {
  const recipient = await lockAnyRecipient(unit, recipientId);
  const vault = vaultOfRecipient(tools.vaults, recipient);
  return JSON.parse(vault.open(contextSealed, snapshotContext(recipientId))) as RecipientContext;
}

/** The same for those who read the recipient's data key together with what was kept. */
export function openSnapshot(
  vaults: Vaults,
  dataKeySealed: string,
  recipientId: string,
  contextSealed: string,
): RecipientContext {
  const vault = vaults.open(dataKeySealed, recipientKeyOwner(recipientId));
  return JSON.parse(vault.open(contextSealed, snapshotContext(recipientId))) as RecipientContext;
}
