import type { Desk, Role } from '@causeway/protocol/console';
import { type Database, SYSTEM } from '../../db/database.ts';
import { hashPassword } from '../../lib/password-hash.ts';
import { findConsoleUserByEmail, insertConsoleUser } from './console-user.store.ts';

/** Somebody whom a sandbox begins with. */
export interface SeededUser {
  readonly id: string;
  readonly desk: Desk;
  readonly ownerId: string | null;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly password: string;
}

/** A password is hashed only where its user is new: hashing is slow by design, and a start is not. */
export async function seedConsoleUsers(
  { db, at }: { readonly db: Database; readonly at: Date },
  users: readonly SeededUser[],
): Promise<void> {
  for (const { id, desk, ownerId, email, name, role, password } of users) {
    const [known] = await db.query(SYSTEM, findConsoleUserByEmail, [email]);
    if (known !== undefined) continue;
    await db.query(SYSTEM, insertConsoleUser, [
      id,
      desk === 'partner' ? ownerId : null,
      desk === 'vendor' ? ownerId : null,
      email,
      name,
      role,
      await hashPassword(password),
      at,
    ]);
  }
}
