import { CausewayError } from '@causeway/protocol';
import type { Database, Scope } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import {
  type CurrentRecipientRow,
  findRecipient,
  lockRecipient,
  type RecipientRow,
  type VersionRow,
} from './recipient.store.ts';
import type { RecipientData, RecipientFields } from './recipient-fields.ts';

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

/** Active or archived, but not forgotten. */
export async function lockAnyRecipient(unit: UnitOfWork, recipientId: string): Promise<CurrentRecipientRow> {
  const [row] = await unit.tx.query(lockRecipient, [recipientId]);
  if (row === undefined) throw new CausewayError('RECIPIENT_NOT_FOUND');
  return row;
}

function active(row: CurrentRecipientRow | undefined): CurrentRecipientRow {
  if (row === undefined || row.status !== 'active') throw new CausewayError('RECIPIENT_NOT_FOUND');
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
