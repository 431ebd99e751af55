import type { Reading } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { profileOf, readUserBy, vaultOfUser } from '../users/load-user.ts';
import type { UserRow } from '../users/user.types.ts';
import type { KnownIdentity } from './identity.ts';
import { findKycProfile, saveKycProfile } from './kyc.store.ts';
import type { KycFieldValues } from './kyc-fields.ts';

const context = (userId: string) => `kyc_profiles.fields:${userId}`;

/** Adds to what is known of a customer. The caller holds the customer's lock. */
export async function mergeKycFields(
  unit: UnitOfWork,
  vault: Vault,
  user: UserRow,
  changes: KycFieldValues,
): Promise<KycFieldValues> {
  const [row] = await unit.tx.query(findKycProfile, [user.user_id]);
  const merged = { ...openFields(vault, user.user_id, row?.fields_sealed), ...changes };
  const sealed = vault.seal(JSON.stringify(merged), context(user.user_id));
  unit.tx.defer(saveKycProfile, [user.user_id, user.partner_id, sealed, unit.at]);
  return merged;
}

/** What is known of a customer; 404 when it is not the caller's. */
export async function readIdentity(
  reads: Reading,
  vaults: Vaults,
  userId: string,
): Promise<{ readonly user: UserRow; readonly identity: KnownIdentity }> {
  const user = await readUserBy(reads, userId);
  return { user, identity: await identityOf(reads, vaults, user) };
}

export async function identityOf(reads: Reading, vaults: Vaults, user: UserRow): Promise<KnownIdentity> {
  const [row] = await reads.query(findKycProfile, [user.user_id]);
  const kyc = openFields(vaultOfUser(vaults, user), user.user_id, row?.fields_sealed);
  return { kyc, profile: profileOf(vaults, user) };
}

function openFields(vault: Vault, userId: string, sealed: string | undefined): KycFieldValues {
  return sealed === undefined ? {} : (JSON.parse(vault.open(sealed, context(userId))) as KycFieldValues);
}
