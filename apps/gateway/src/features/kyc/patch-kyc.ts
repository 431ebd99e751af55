import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vaults } from '../privacy/vault.ts';
import { lockUserRow, vaultOfUser } from '../users/load-user.ts';
import { readKycPatch } from './kyc-patch.ts';
import { identityOf, mergeKycFields } from './kyc-profile.ts';

/** Supplies fields that a corridor asks for; answers the names of those that were written. */
export async function patchKyc(
  tools: { readonly vaults: Vaults },
  unit: UnitOfWork,
  userId: string,
  body: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const user = await lockUserRow(unit, userId);
  const { kyc } = await identityOf(unit.tx, tools.vaults, user);
  const changes = readKycPatch(body, kyc);
  const names = Object.keys(changes);
  if (names.length > 0) await mergeKycFields(unit, vaultOfUser(tools.vaults, user), user, changes);
  return names;
}
