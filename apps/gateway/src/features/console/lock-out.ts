import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { sha256Hex } from '../../lib/crypto.ts';
import { clearAttempts, findLock, giveAttemptBack, listLocks, takeAttempt } from './challenge.store.ts';

/**
 * Guessing is bounded for each e-mail address, whether or not it is a user’s: the answers tell nothing about that. A passkey
 * cannot be guessed and is not counted, so that locking somebody out keeps no owner of a passkey out.
 */
interface LockDeps {
  readonly db: Database;
  readonly wall: () => number;
}

const LOCKS_EACH = 10;

export const normalEmail = (email: string) => email.trim().toLowerCase();

/** One attempt, counted before it is judged. */
export interface Attempt {
  /** It was right, and more is asked for. */
  giveBack(): Promise<void>;
  /** Somebody is signed in. */
  clear(): Promise<void>;
}

/** Throws where the address is locked. */
export async function beginAttempt({ db, wall }: LockDeps, email: string): Promise<Attempt> {
  const addressHash = sha256Hex(normalEmail(email));
  const [taken] = await db.query(SYSTEM, takeAttempt, [addressHash, new Date(wall())]);
  if (taken === undefined) {
    const [lock] = await db.query(SYSTEM, findLock, [addressHash]);
    const left = (lock?.locked_until?.getTime() ?? wall()) - wall();
    throw new CausewayError('SIGN_IN_LOCKED', {
      details: { retry_after_seconds: Math.max(1, Math.ceil(left / 1_000)) },
    });
  }
  return {
    giveBack: async () => {
      await db.query(SYSTEM, giveAttemptBack, [addressHash, taken.failures % LOCKS_EACH === 0]);
    },
    clear: async () => {
      await db.query(SYSTEM, clearAttempts, [addressHash]);
    },
  };
}

export async function unlock({ db }: Pick<LockDeps, 'db'>, email: string): Promise<void> {
  await db.query(SYSTEM, clearAttempts, [sha256Hex(normalEmail(email))]);
}

/** By address; only those that are locked now. */
export async function locksOf(
  { db, wall }: LockDeps,
  emails: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const byHash = new Map(emails.map((email) => [sha256Hex(normalEmail(email)), email]));
  const rows = await db.query(SYSTEM, listLocks, [[...byHash.keys()], new Date(wall())]);
  return new Map(rows.map((row) => [byHash.get(row.address_hash) ?? '', row.locked_until]));
}
