import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import {
  type DetailsCheck,
  DetailsCheckUnavailable,
  type DetailsRequest,
} from '../payment-details/details-check.port.ts';
import { holderSubjects, openHolderCase } from '../screening/screening-case.ts';
import { countDestinations, type DestinationRow, insertDestination } from './destination.store.ts';
import { lockActiveRecipient, vaultOfRecipient } from './load-recipient.ts';
import { insertTokens, type RecipientRow } from './recipient.store.ts';
import type { ScreeningPort } from './screening/screening.port.ts';
import { identifierHashes, type RecipientTools } from './write-version.ts';

export interface DestinationTools extends RecipientTools {
  readonly detailsCheck: DetailsCheck;
  readonly screening: ScreeningPort;
}

export const MAX_DESTINATIONS = 100;

export const destinationContext = (destinationId: string) => `recipient_destinations:${destinationId}`;

/** Adds a place where a recipient can be paid. Third parties are never paid by details that nobody checked. */
export async function addDestination(
  tools: DestinationTools,
  unit: UnitOfWork,
  recipientId: string,
  request: DetailsRequest,
): Promise<{ readonly row: DestinationRow; readonly details: Readonly<Record<string, string>> }> {
  const recipient = await lockActiveRecipient(unit, recipientId);
  const checked = checkNow(() => tools.detailsCheck.check(request));
  requireEligible(tools.detailsCheck, checked.rail, recipient);
  const [count] = await unit.tx.query(countDestinations, [recipientId]);
  if (Number(count?.total ?? 0) >= MAX_DESTINATIONS) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: `A recipient has ${MAX_DESTINATIONS} destinations at most.`,
    });
  }
  const destinationId = unit.ids.uuid();
  const vault = vaultOfRecipient(tools.vaults, recipient);
  const sealed = vault.seal(JSON.stringify(checked.details), destinationContext(destinationId));
  const [row] = await unit.tx.query(insertDestination, [
    destinationId,
    recipient.partner_id,
    recipientId,
    checked.rail,
    checked.currency,
    checked.countryCode,
    checked.institutionId,
    checked.formatId,
    checked.beneficiaryType,
    sealed,
    unit.at,
  ]);
  if (row === undefined) throw new Error('a destination was not written');
  // Account numbers, wallets and addresses: whatever has a digit or an @ may be what somebody searches by.
  const identifiers = Object.values(checked.details).filter((value) => /[0-9@]/.test(value));
  const hashes = identifierHashes(tools.blindIndex, recipient.partner_id, identifiers);
  if (hashes.length > 0) {
    unit.tx.defer(insertTokens, [recipient.partner_id, recipientId, 'destination', hashes]);
  }
  const subject = { kind: 'destination', key: destinationId, partnerId: recipient.partner_id } as const;
  const subjects = holderSubjects(checked.details, checked.beneficiaryType);
  const screening_status = openHolderCase(tools, unit, subject, { subjects, vault });
  return { row: { ...row, screening_status }, details: checked.details };
}

/** Some wallets pay persons of their own country only. */
export function requireEligible(
  check: DetailsCheck,
  rail: string,
  { recipient_kind, recipient_country }: Pick<RecipientRow, 'recipient_kind' | 'recipient_country'>,
): void {
  const countries = checkNow(() => check.nationalsOf(rail));
  if (countries === null) return;
  const fields: { path: string; message: string }[] = [];
  if (recipient_kind !== 'individual') {
    fields.push({ path: 'recipient_kind', message: `must be individual on ${rail}` });
  }
  if (!countries.includes(recipient_country)) {
    fields.push({ path: 'recipient_country', message: `must be ${countries.join(' or ')} on ${rail}` });
  }
  if (fields.length > 0) throw new CausewayError('RECIPIENT_NOT_ELIGIBLE', { details: { fields } });
}

function checkNow<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof DetailsCheckUnavailable)) throw error;
    throw new CausewayError('SERVICE_UNAVAILABLE', { cause: error });
  }
}
