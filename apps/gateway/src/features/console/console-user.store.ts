import type { Desk, Role } from '@causeway/protocol/console';
import { statement } from '../../db/statement.ts';

export interface ConsoleUserRow {
  user_id: string;
  partner_id: string | null;
  vendor_id: string | null;
  desk: Desk;
  email: string;
  name: string;
  role: Role;
  password_hash: string | null;
  password_changed_at: Date | null;
  totp_secret_sealed: string | null;
  totp_confirmed_at: Date | null;
  recovery_codes_left: number;
  has_passkey: boolean;
  created_at: Date;
  last_signed_in_at: Date | null;
  disabled_at: Date | null;
}

const COLUMNS = `u.user_id, u.partner_id, u.vendor_id, u.desk, u.email, u.name, u.role, u.password_hash,
  u.password_changed_at, u.totp_secret_sealed, u.totp_confirmed_at,
  cardinality(u.recovery_code_hashes) AS recovery_codes_left,
  EXISTS (SELECT FROM console_passkeys k WHERE k.user_id = u.user_id) AS has_passkey,
  u.created_at, u.last_signed_in_at, u.disabled_at`;
const FROM = 'FROM console_users u';

export const findConsoleUserByEmail = statement<[email: string], ConsoleUserRow>(
  'console_users.find_by_email',
  `SELECT ${COLUMNS} ${FROM} WHERE u.email = $1`,
);

export const findConsoleUser = statement<[userId: string], ConsoleUserRow>(
  'console_users.find',
  `SELECT ${COLUMNS} ${FROM} WHERE u.user_id = $1`,
);

/** Those that a sandbox was seeded with, the operator’s desk first. */
export const listSandboxUsers = statement<[emails: readonly string[]], ConsoleUserRow>(
  'console_users.list_sandbox',
  `SELECT ${COLUMNS} ${FROM} WHERE u.email = ANY ($1) AND u.disabled_at IS NULL ORDER BY array_position($1, u.email)`,
);

export const insertConsoleUser = statement<
  [
    userId: string,
    partnerId: string | null,
    vendorId: string | null,
    email: string,
    name: string,
    role: Role,
    passwordHash: string | null,
    at: Date,
  ],
  { user_id: string }
>(
  'console_users.insert',
  `INSERT INTO console_users (user_id, partner_id, vendor_id, email, name, role, password_hash, password_changed_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING RETURNING user_id`,
);

/** A disabled user of this desk, with a new password; what else proves who it is stays as it was. */
export const readmitConsoleUser = statement<
  [
    partnerId: string | null,
    vendorId: string | null,
    email: string,
    name: string,
    role: Role,
    passwordHash: string,
    at: Date,
  ],
  { user_id: string }
>(
  'console_users.readmit',
  `UPDATE console_users SET name = $4, role = $5, password_hash = $6, password_changed_at = $7, disabled_at = NULL
    WHERE email = $3 AND partner_id IS NOT DISTINCT FROM $1 AND vendor_id IS NOT DISTINCT FROM $2
      AND disabled_at IS NOT NULL RETURNING user_id`,
);

export const noteSignIn = statement<[userId: string, at: Date]>(
  'console_users.note_sign_in',
  'UPDATE console_users SET last_signed_in_at = $2 WHERE user_id = $1',
);

export interface OwnerRow {
  owner_id: string;
  name: string;
  desk: Desk;
}

/** Partners and vendors; for the system’s scope, because neither sees the other’s table. */
export const listOwners = statement<[ownerIds: readonly string[]], OwnerRow>(
  'console_users.list_owners',
  `SELECT partner_id AS owner_id, name, 'partner' AS desk FROM partners WHERE partner_id = ANY ($1)
   UNION ALL SELECT vendor_id, name, 'vendor' FROM vendors WHERE vendor_id = ANY ($1)`,
);

export const changeName = statement<[userId: string, name: string]>(
  'console_users.change_name',
  'UPDATE console_users SET name = $2 WHERE user_id = $1',
);

export const changePassword = statement<[userId: string, hash: string, at: Date]>(
  'console_users.change_password',
  'UPDATE console_users SET password_hash = $2, password_changed_at = $3 WHERE user_id = $1',
);

export const setTotp = statement<
  [userId: string, sealed: string, step: string, recoveryHashes: readonly string[], at: Date]
>(
  'console_users.set_totp',
  `UPDATE console_users SET totp_secret_sealed = $2, totp_last_step = $3, recovery_code_hashes = $4, totp_confirmed_at = $5
    WHERE user_id = $1`,
);

export const clearTotp = statement<[userId: string]>(
  'console_users.clear_totp',
  `UPDATE console_users SET totp_secret_sealed = NULL, totp_last_step = NULL, recovery_code_hashes = '{}',
     totp_confirmed_at = NULL WHERE user_id = $1`,
);

export const setRecoveryCodes = statement<[userId: string, hashes: readonly string[]]>(
  'console_users.set_recovery_codes',
  'UPDATE console_users SET recovery_code_hashes = $2 WHERE user_id = $1 AND totp_confirmed_at IS NOT NULL',
);

/** No code is good twice, nor one before the last that was taken. */
export const useTotpStep = statement<[userId: string, step: string], { user_id: string }>(
  'console_users.use_totp_step',
  `UPDATE console_users SET totp_last_step = $2
    WHERE user_id = $1 AND totp_confirmed_at IS NOT NULL AND coalesce(totp_last_step, -1) < $2::bigint RETURNING user_id`,
);

export const useRecoveryCode = statement<[userId: string, hash: string], { user_id: string }>(
  'console_users.use_recovery_code',
  `UPDATE console_users SET recovery_code_hashes = array_remove(recovery_code_hashes, $2)
    WHERE user_id = $1 AND $2 = ANY (recovery_code_hashes) RETURNING user_id`,
);

/** What is waiting to be used by somebody whose password or second factor was just changed. */
export const deleteChallengesOfUser = statement<[userId: string]>(
  'console_challenges.delete_of_user',
  'DELETE FROM console_challenges WHERE user_id = $1',
);

// The team of a desk: of the partner, of the vendor, or of the operator where both are null.

const OF_DESK = 'u.partner_id IS NOT DISTINCT FROM $1 AND u.vendor_id IS NOT DISTINCT FROM $2';

export const listTeam = statement<
  [partnerId: string | null, vendorId: string | null, at: Date, idleSince: Date],
  ConsoleUserRow & { open_sessions: number }
>(
  'console_users.list_team',
  `SELECT ${COLUMNS},
          (SELECT count(*)::int FROM console_sessions s
            WHERE s.user_id = u.user_id AND s.ended_at IS NULL AND s.expires_at > $3 AND s.seen_at > $4) AS open_sessions
     ${FROM} WHERE ${OF_DESK} ORDER BY u.disabled_at IS NOT NULL, u.email`,
);

/** Locked while somebody’s role is changed: two admins who demote each other at the same time do not both succeed. */
export const lockAdmins = statement<[partnerId: string | null, vendorId: string | null], { user_id: string }>(
  'console_users.lock_admins',
  `SELECT u.user_id FROM console_users u
    WHERE ${OF_DESK} AND u.role = 'admin' AND u.disabled_at IS NULL ORDER BY u.user_id FOR UPDATE`,
);

export const changeMember = statement<[userId: string, role: Role, disabledAt: Date | null]>(
  'console_users.change_member',
  'UPDATE console_users SET role = $2, disabled_at = $3 WHERE user_id = $1',
);
