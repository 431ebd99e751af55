import {
  CausewayError,
  type DestinationSchema,
  type RecipientSchema,
  SCREENING_CLEAR,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { ScreeningPort } from '../../ports/name-screening.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import {
  type AccountDetails,
  holderOfAccount,
  openAccount,
  sealAccount,
} from '../payment-details/account-details.ts';
import {
  type DetailsCheck,
  DetailsCheckUnavailable,
  type DetailsRequest,
} from '../payment-details/details-check.ts';
import { type Holder, holderSubjects, openHolderCase } from '../screening/screening-case.ts';
import {
  type CurrentRecipientRow,
  countDestinations,
  type DestinationRow,
  findDestination,
  holderOf,
  insertDestination,
  insertTokens,
  type RecipientRow,
} from './recipient.store.ts';
import {
  lockActiveRecipient,
  lockAnyRecipient,
  openCurrent,
  recipientKeyOwner,
  vaultOfRecipient,
} from './recipient.ts';
import { destinationView, recipientView } from './recipient.view.ts';
import { identifierHashes, type RecipientDeps } from './register-recipient.ts';

export interface DestinationDeps extends RecipientDeps {
  readonly detailsCheck: DetailsCheck;
  readonly screening: ScreeningPort;
}

export const MAX_DESTINATIONS = 100;

const destinationContext = (destinationId: string) => `recipient_destinations:${destinationId}`;

/** Adds a destination of a recipient. Third parties are never paid by details that were not checked. */
export async function addDestination(
  deps: DestinationDeps,
  unit: UnitOfWork,
  recipientId: string,
  request: DetailsRequest,
): Promise<{ readonly row: DestinationRow; readonly details: AccountDetails }> {
  const recipient = await lockActiveRecipient(unit, recipientId);
  const checked = checkNow(() => deps.detailsCheck.check(request));
  requireEligible(deps.detailsCheck, checked.rail, recipient);
  const [count] = await unit.tx.query(countDestinations, [recipientId]);
  if (Number(count?.total ?? 0) >= MAX_DESTINATIONS) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: `A recipient has ${MAX_DESTINATIONS} destinations at most.`,
    });
  }
  const destinationId = unit.ids.uuid();
  const vault = vaultOfRecipient(deps.vaults, recipient);
  const [row] = await unit.tx.query(insertDestination, [
    destinationId,
    recipient.partner_id,
    recipientId,
    ...sealAccount(vault, checked, destinationContext(destinationId)),
    unit.at,
  ]);
  if (row === undefined) throw new Error('a destination was not written');
  // Account numbers, wallets and addresses: whatever has a digit or an @ may be searched by.
  const identifiers = Object.values(checked.details).filter((value) => /[0-9@]/.test(value));
  const hashes = identifierHashes(deps.blindIndex, recipient.partner_id, identifiers);
  if (hashes.length > 0) {
    unit.tx.defer(insertTokens, [recipient.partner_id, recipientId, 'destination', hashes]);
  }
  const subject = { kind: 'destination', key: destinationId, partnerId: recipient.partner_id } as const;
  const subjects = holderSubjects(checked.details, checked.beneficiaryType);
  const screening_status = openHolderCase(deps, unit, subject, { subjects, vault });
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

/** A destination in clear, for those who pay to it. */
export async function openDestination(
  vaults: Vaults,
  unit: UnitOfWork,
  recipientId: string,
  destinationId: string,
): Promise<AccountDetails> {
  const recipient = await lockAnyRecipient(unit, recipientId);
  const [destination] = await unit.tx.query(findDestination, [destinationId, recipientId]);
  if (destination === undefined) throw new CausewayError('DESTINATION_NOT_FOUND');
  return openDestinationRow(vaultOfRecipient(vaults, recipient), destination);
}

/** The same of a row that is at hand. */
export function openDestinationRow(
  vault: Vault,
  row: Pick<DestinationRow, 'recipient_destination_id' | 'details_sealed'>,
): AccountDetails {
  return openAccount(vault, row, destinationContext(row.recipient_destination_id));
}

/** Whose account a destination is, for their screening. */
export async function holderOfDestination(
  deps: { readonly db: Database; readonly vaults: Vaults },
  destinationId: string,
): Promise<Holder | undefined> {
  const [row] = await deps.db.query(SYSTEM, holderOf, [destinationId]);
  if (row === undefined) return undefined;
  const vault = deps.vaults.open(row.data_key_sealed, recipientKeyOwner(row.recipient_id));
  return holderOfAccount(vault, row, destinationContext(destinationId));
}

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

/** For quotes and orders: only who is screened clear, like the account’s holder, can be paid. */
export function takeSnapshot(
  deps: DestinationDeps,
  recipient: CurrentRecipientRow,
  destination: DestinationRow,
): RecipientSnapshot {
  if (recipient.screening_status !== SCREENING_CLEAR || destination.screening_status !== SCREENING_CLEAR) {
    throw new CausewayError('RECIPIENT_NOT_CLEARED');
  }
  requireEligible(deps.detailsCheck, destination.rail, recipient);
  const recipientId = recipient.recipient_id;
  const destinationId = destination.recipient_destination_id;
  const vault = vaultOfRecipient(deps.vaults, recipient);
  const context = {
    recipient: recipientView(recipient, openCurrent(deps.vaults, recipient)),
    destination: destinationView(deps.detailsCheck, destination, openDestinationRow(vault, destination)),
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

/** What a quote or an order kept, for those who read the recipient's data key together with it; gone with the person once the recipient is erased. */
export function openSnapshot(
  vaults: Vaults,
  dataKeySealed: string,
  recipientId: string,
  contextSealed: string,
): RecipientContext {
  const vault = vaults.open(dataKeySealed, recipientKeyOwner(recipientId));
  return JSON.parse(vault.open(contextSealed, snapshotContext(recipientId))) as RecipientContext;
}
