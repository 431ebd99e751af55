import type { Role } from '@causeway/protocol/console';
import { statement } from '../../db/statement.ts';

export interface InvitationRow {
  invitation_id: string;
  partner_id: string | null;
  vendor_id: string | null;
  email: string;
  role: Role;
  link_sealed: string | null;
  created_at: Date;
  expires_at: Date;
}

const COLUMNS = 'invitation_id, partner_id, vendor_id, email, role, link_sealed, created_at, expires_at';
const OPEN = 'accepted_at IS NULL AND withdrawn_at IS NULL';
const OF_DESK = 'partner_id IS NOT DISTINCT FROM $1 AND vendor_id IS NOT DISTINCT FROM $2';

export const insertInvitation = statement<
  [
    invitationId: string,
    partnerId: string | null,
    vendorId: string | null,
    email: string,
    role: Role,
    tokenHash: string,
    linkSealed: string | null,
    invitedBy: string,
    at: Date,
    expiresAt: Date,
  ]
>(
  'console_invitations.insert',
  `INSERT INTO console_invitations (invitation_id, partner_id, vendor_id, email, role, token_hash, link_sealed, invited_by,
     created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

/** Invitations of a desk are counted and written one after another; a desk without an owner is the operator’s. */
export const lockInvitationsOf = statement<[ownerId: string | null]>(
  'console_invitations.lock_of',
  `SELECT pg_advisory_xact_lock(hashtextextended('invitations:' || coalesce($1::uuid::text, ''), 0))`,
);

/** Withdrawn and taken ones too: each was a mail. */
export const countInvitationsOf = statement<
  [partnerId: string | null, vendorId: string | null, email: string, since: Date],
  { of_desk: number; of_address: number }
>(
  'console_invitations.count_of',
  `SELECT count(*)::int AS of_desk, (count(*) FILTER (WHERE email = $3))::int AS of_address
     FROM console_invitations WHERE ${OF_DESK} AND created_at > $4`,
);

/** A new link takes the place of one that is still open. */
export const withdrawInvitationsOf = statement<
  [partnerId: string | null, vendorId: string | null, email: string, at: Date]
>(
  'console_invitations.withdraw_of',
  `UPDATE console_invitations SET withdrawn_at = $4, link_sealed = NULL WHERE ${OF_DESK} AND email = $3 AND ${OPEN}`,
);

export const withdrawInvitation = statement<[invitationId: string, at: Date], { invitation_id: string }>(
  'console_invitations.withdraw',
  `UPDATE console_invitations SET withdrawn_at = $2, link_sealed = NULL
    WHERE invitation_id = $1 AND expires_at > $2 AND ${OPEN} RETURNING invitation_id`,
);

/** Of the own desk only, for those who see more than it. */
export const withdrawInvitationOfDesk = statement<
  [partnerId: string | null, vendorId: string | null, invitationId: string, at: Date],
  { invitation_id: string }
>(
  'console_invitations.withdraw_of_desk',
  `UPDATE console_invitations SET withdrawn_at = $4, link_sealed = NULL
    WHERE ${OF_DESK} AND invitation_id = $3 AND expires_at > $4 AND ${OPEN} RETURNING invitation_id`,
);

export const listInvitationsOf = statement<
  [partnerId: string | null, vendorId: string | null, at: Date],
  InvitationRow
>(
  'console_invitations.list_of',
  `SELECT ${COLUMNS} FROM console_invitations WHERE ${OF_DESK} AND expires_at > $3 AND ${OPEN} ORDER BY created_at DESC`,
);

export const listAllInvitations = statement<[at: Date, cursor: string | null, limit: number], InvitationRow>(
  'console_invitations.list_all',
  `SELECT ${COLUMNS} FROM console_invitations
    WHERE expires_at > $1 AND ${OPEN}
      AND ($2::uuid IS NULL OR (created_at, invitation_id) <
        (SELECT c.created_at, c.invitation_id FROM console_invitations c WHERE c.invitation_id = $2))
    ORDER BY created_at DESC, invitation_id DESC LIMIT $3`,
);

export const findInvitationByToken = statement<[tokenHash: string, at: Date], InvitationRow>(
  'console_invitations.find_by_token',
  `SELECT ${COLUMNS} FROM console_invitations WHERE token_hash = $1 AND expires_at > $2 AND ${OPEN}`,
);

export const findInvitation = statement<[invitationId: string, at: Date], InvitationRow>(
  'console_invitations.find',
  `SELECT ${COLUMNS} FROM console_invitations WHERE invitation_id = $1 AND expires_at > $2 AND ${OPEN}`,
);

/** Single use: of several at the same time one gets it. */
export const acceptInvitation = statement<[tokenHash: string, at: Date], InvitationRow>(
  'console_invitations.accept',
  `UPDATE console_invitations SET accepted_at = $2, link_sealed = NULL
    WHERE token_hash = $1 AND expires_at > $2 AND ${OPEN} RETURNING ${COLUMNS}`,
);

export const forgetLink = statement<[invitationId: string]>(
  'console_invitations.forget_link',
  'UPDATE console_invitations SET link_sealed = NULL WHERE invitation_id = $1',
);
