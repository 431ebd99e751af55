import { CausewayError, RECIPIENT_ACTIVE } from '@causeway/protocol';
import type { Database, Scope } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidFields } from '../../http/errors.ts';
import { ISO_COUNTRIES } from '../../lib/iso-codes.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import {
  type CurrentRecipientRow,
  findRecipient,
  lockRecipient,
  type RecipientRow,
  type VersionRow,
} from './recipient.store.ts';

/** What is personal of a recipient: kept sealed, version by version. */
export interface RecipientFields {
  readonly recipient_name: string;
  readonly recipient_native_name: string | null;
  readonly recipient_id_number: string | null;
  readonly recipient_business_registration_number: string | null;
}

export interface RecipientData extends RecipientFields {
  readonly recipient_country: string;
  readonly recipient_id_type: string | null;
}

/** Fields as they were sent; an absent one leaves what is there, a null takes it away. */
export interface RecipientChanges {
  readonly recipient_name?: string;
  readonly recipient_country?: string;
  readonly recipient_native_name?: string | null;
  readonly recipient_id_type?: string | null;
  readonly recipient_id_number?: string | null;
  readonly recipient_business_registration_number?: string | null;
}

const NOBODY: RecipientData = {
  recipient_name: '',
  recipient_native_name: null,
  recipient_country: '',
  recipient_id_type: null,
  recipient_id_number: null,
  recipient_business_registration_number: null,
};

export function newRecipientData(input: RecipientChanges): RecipientData {
  return applyChanges(NOBODY, input);
}

/** The next version of what is known, in the form that is kept, or everything that is wrong with it. */
export function applyChanges(before: RecipientData, changes: RecipientChanges): RecipientData {
  const after: RecipientData = {
    recipient_name: textOf(changes.recipient_name, before.recipient_name) ?? '',
    recipient_native_name: textOf(changes.recipient_native_name, before.recipient_native_name),
    recipient_country: (changes.recipient_country ?? before.recipient_country).toUpperCase(),
    recipient_id_type: textOf(changes.recipient_id_type, before.recipient_id_type),
    recipient_id_number: textOf(changes.recipient_id_number, before.recipient_id_number),
    recipient_business_registration_number: textOf(
      changes.recipient_business_registration_number,
      before.recipient_business_registration_number,
    ),
  };
  const problems: { path: string; message: string }[] = [];
  if (after.recipient_name === '') problems.push({ path: 'recipient_name', message: 'is required' });
  if (!ISO_COUNTRIES.has(after.recipient_country)) {
    problems.push({ path: 'recipient_country', message: 'must be an ISO 3166-1 alpha-2 code' });
  }
  for (const [path, value] of Object.entries(after)) {
    if (typeof value === 'string' && !value.isWellFormed()) {
      problems.push({ path, message: 'is not well-formed text' });
    }
  }
  if (problems.length > 0) throw invalidFields(problems);
  return after;
}

export function isSame(one: RecipientData, other: RecipientData): boolean {
  return (Object.keys(NOBODY) as (keyof RecipientData)[]).every((key) => one[key] === other[key]);
}

function textOf(sent: string | null | undefined, kept: string | null): string | null {
  if (sent === undefined) return kept;
  const text = sent?.trim() ?? '';
  return text === '' ? null : text;
}

/** A recipient that can still be used; an archived one is found only by those who keep the books. */
export async function readRecipient(
  db: Database,
  scope: Scope,
  recipientId: string,
): Promise<CurrentRecipientRow> {
  const [row] = await db.query(scope, findRecipient, [recipientId]);
  return active(row);
}

export async function lockActiveRecipient(
  unit: UnitOfWork,
  recipientId: string,
): Promise<CurrentRecipientRow> {
  const [row] = await unit.tx.query(lockRecipient, [recipientId]);
  return active(row);
}

/** Active or archived, but not erased. */
export async function lockAnyRecipient(unit: UnitOfWork, recipientId: string): Promise<CurrentRecipientRow> {
  const [row] = await unit.tx.query(lockRecipient, [recipientId]);
  if (row === undefined) throw new CausewayError('RECIPIENT_NOT_FOUND');
  return row;
}

function active(row: CurrentRecipientRow | undefined): CurrentRecipientRow {
  if (row === undefined || row.status !== RECIPIENT_ACTIVE) throw new CausewayError('RECIPIENT_NOT_FOUND');
  return row;
}

/** The name under which a recipient's data key is wrapped. */
export const recipientKeyOwner = (recipientId: string) => `recipients:${recipientId}`;

export function vaultOfRecipient(vaults: Vaults, row: RecipientRow): Vault {
  if (row.data_key_sealed === null) throw new CausewayError('RECIPIENT_NOT_FOUND');
  return vaults.open(row.data_key_sealed, recipientKeyOwner(row.recipient_id));
}

export const versionContext = (recipientId: string, version: number) =>
  `recipient_versions:${recipientId}:${version}`;

export function openVersion(vault: Vault, version: VersionRow): RecipientData {
  const text = vault.open(version.fields_sealed, versionContext(version.recipient_id, version.version));
  return {
    ...(JSON.parse(text) as RecipientFields),
    recipient_country: version.recipient_country,
    recipient_id_type: version.recipient_id_type,
  };
}

export function openCurrent(vaults: Vaults, row: CurrentRecipientRow): RecipientData {
  return openVersion(vaultOfRecipient(vaults, row), { ...row, version: row.current_version });
}
