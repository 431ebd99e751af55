import { type Database, SYSTEM } from '../../db/database.ts';
import { purgeAttempts, purgeChallenges, purgeConsoleSessions, purgeInvitations } from './challenge.store.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Sessions and invitations that are over are kept for questions about them. */
const KEPT_MS = 30 * DAY_MS;

/** Deletes what is over; what users did is kept. Run by workers. */
export async function purgeConsole({
  db,
  wall,
}: {
  readonly db: Database;
  readonly wall: () => number;
}): Promise<void> {
  const at = wall();
  await db.query(SYSTEM, purgeChallenges, [new Date(at)]);
  // Beyond the longest lock, so that the next one is still longer.
  await db.query(SYSTEM, purgeAttempts, [new Date(at - DAY_MS)]);
  await db.query(SYSTEM, purgeConsoleSessions, [new Date(at - KEPT_MS)]);
  await db.query(SYSTEM, purgeInvitations, [new Date(at - KEPT_MS)]);
}
