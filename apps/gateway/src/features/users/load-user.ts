import { CausewayError } from '@causeway/protocol';
import { type Database, type Reading, reading, type Scope } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { countUnderReview, findUser, listUnderReview, lockUser } from './user.store.ts';
import type { UserRow } from './user.types.ts';
import type { UserProfile } from './user-profile.ts';

/** How other features come to a customer: in the caller's scope, or not at all. */
export function readUser(db: Database, scope: Scope, userId: string): Promise<UserRow> {
  return readUserBy(reading(db, scope), userId);
}

export async function readUserBy(reads: Reading, userId: string): Promise<UserRow> {
  const [user] = await reads.query(findUser, [userId]);
  if (user === undefined) throw new CausewayError('USER_NOT_FOUND');
  return user;
}

export async function lockUserIfAny(unit: UnitOfWork, userId: string): Promise<UserRow | undefined> {
  const [user] = await unit.tx.query(lockUser, [userId]);
  return user;
}

export async function lockUserRow(unit: UnitOfWork, userId: string): Promise<UserRow> {
  const user = await lockUserIfAny(unit, userId);
  if (user === undefined) throw new CausewayError('USER_NOT_FOUND');
  return user;
}

/** The name under which a customer's data key is wrapped. */
export function userKeyOwner(userId: string): string {
  return `users:${userId}`;
}

export function vaultOfUser(vaults: Vaults, user: UserRow): Vault {
  if (user.data_key_sealed === null) throw new CausewayError('USER_NOT_FOUND');
  return vaults.open(user.data_key_sealed, userKeyOwner(user.user_id));
}

export function profileContext(userId: string): string {
  return `users.profile:${userId}`;
}

export function profileOf(vaults: Vaults, user: UserRow): UserProfile {
  if (user.profile_sealed === null) throw new CausewayError('USER_NOT_FOUND');
  const text = vaultOfUser(vaults, user).open(user.profile_sealed, profileContext(user.user_id));
  return JSON.parse(text) as UserProfile;
}

export async function usersUnderReview(
  db: Database,
  scope: Scope,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ users: UserRow[]; total: number }> {
  const [users, [count]] = await db.transaction(scope, (tx) =>
    tx.queryBoth(listUnderReview, [page.limit, page.offset], countUnderReview, []),
  );
  return { users, total: Number(count?.total ?? 0) };
}
