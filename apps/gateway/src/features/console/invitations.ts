import { CausewayError } from '@causeway/protocol';
import type { Desk, Role } from '@causeway/protocol/console';
import { type Database, SYSTEM } from '../../db/database.ts';
import { type Intent, prepareIntent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { schedule } from '../../lib/backoff.ts';
import { randomToken, type Sealer, sha256Hex, TOKEN_PREFIX } from '../../lib/crypto.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import { hashPassword } from '../../lib/password-hash.ts';
import type { MailPort } from '../../ports/mail.ts';
import { deliver } from '../widget/mail/mail.effect.ts';
import {
  type ConsoleUserRow,
  findConsoleUser,
  findConsoleUserByEmail,
  insertConsoleUser,
  listOwners,
  type OwnerRow,
  readmitConsoleUser,
} from './console-user.store.ts';
import {
  acceptInvitation,
  countInvitationsOf,
  findInvitation,
  findInvitationByToken,
  forgetLink,
  type InvitationRow,
  insertInvitation,
  lockInvitationsOf,
  withdrawInvitationsOf,
} from './invitation.store.ts';
import { normalEmail, unlock } from './lock-out.ts';
import { requireGoodPassword } from './password-rules.ts';

/** Links that make a user, once. They lead to one desk with one role, and carry their token where no server logs it. */
export interface InvitationDeps {
  readonly db: Database;
  readonly ids: IdGenerator;
  readonly sealer: Sealer;
  readonly wall: () => number;
  readonly baseUrl: string;
  readonly sandbox: boolean;
  readonly mail: MailPort | undefined;
}

/** A desk: the partner’s, the vendor’s, or the operator’s where both are null. */
export interface DeskOwner {
  readonly partnerId: string | null;
  readonly vendorId: string | null;
}

const VALID_MS = 7 * 24 * 60 * 60_000;
const COUNTED_MS = 24 * 60 * 60_000;
const MOST_TO_ADDRESS = 5;
const MOST_OF_DESK = 100;
const RETRY_SECONDS = 3_600;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const LANGUAGE = 'en';
/** A server that greylists wants some minutes, one that is down some hours. */
const PATIENT = schedule([5, 30, 120, 600, 1800], { maxAttempts: 20, jitterPct: 20 });

export const linkContext = (invitationId: string) => `console_invitations.link:${invitationId}`;

/** In a unit of the system: an invitation goes into one desk, whoever writes it. */
export async function invite(
  deps: InvitationDeps,
  unit: UnitOfWork,
  owner: DeskOwner,
  given: { readonly email: string; readonly role: Role },
  invitedBy: string,
) {
  const email = normalEmail(given.email);
  if (!EMAIL.test(email)) throw invalidRequest('email', 'must be an e-mail address');
  const [known] = await unit.tx.query(findConsoleUserByEmail, [email]);
  const isMember = known?.partner_id === owner.partnerId && known?.vendor_id === owner.vendorId;
  // Of another desk nothing is told here: the person who opens the link hears of it.
  if (isMember && known?.disabled_at === null) throw new CausewayError('EMAIL_IN_USE');
  const at = new Date(deps.wall());
  await requireFewInvitations(unit, owner, email, at);
  const expiresAt = new Date(at.getTime() + VALID_MS);
  const invitationId = unit.ids.uuid();
  const token = randomToken(TOKEN_PREFIX.consoleInvitation);
  const url = `${deps.baseUrl}/console/invitation#${token}`;
  // A sandbox keeps its mails by partner.
  const mailed = deps.mail !== undefined && (!deps.sandbox || owner.partnerId !== null);
  unit.tx.defer(withdrawInvitationsOf, [owner.partnerId, owner.vendorId, email, at]);
  unit.tx.defer(insertInvitation, [
    ...([invitationId, owner.partnerId, owner.vendorId, email, given.role, sha256Hex(token)] as const),
    ...([mailed ? deps.sealer.seal(url, linkContext(invitationId)) : null, invitedBy] as const),
    ...([at, expiresAt] as const),
  ]);
  if (mailed) {
    prepareIntent(unit, {
      kind: 'mail.send-invitation',
      dedupeKey: invitationId,
      partnerId: owner.partnerId,
      payload: { invitation_id: invitationId },
    });
  }
  return { invitation_id: invitationId, url, expires_at: expiresAt.toISOString(), mailed };
}

/** Whoever manages a team must not use our mail to pester anybody, nor have us write to the whole world. */
async function requireFewInvitations(
  { tx }: UnitOfWork,
  { partnerId, vendorId }: DeskOwner,
  email: string,
  at: Date,
): Promise<void> {
  const since = new Date(at.getTime() - COUNTED_MS);
  await tx.query(lockInvitationsOf, [partnerId ?? vendorId]);
  const [count] = await tx.query(countInvitationsOf, [partnerId, vendorId, email, since]);
  const { of_address = 0, of_desk = 0 } = count ?? {};
  if (of_address < MOST_TO_ADDRESS && of_desk < MOST_OF_DESK) return;
  const who = of_desk < MOST_OF_DESK ? 'This address was invited' : 'This desk has invited people';
  const message = `${who} too often in the last day; try again later.`;
  throw new CausewayError('RATE_LIMITED', { message, details: { retry_after: RETRY_SECONDS } });
}

/** Which desk an operator means; throws where there is no such partner or vendor. */
export async function deskOwnerOf(
  unit: Pick<UnitOfWork, 'tx'>,
  desk: Desk,
  ownerId: string | undefined,
): Promise<DeskOwner> {
  if (desk === 'operator') {
    if (ownerId !== undefined) throw invalidRequest('owner_id', 'is not for the operator’s desk');
    return { partnerId: null, vendorId: null };
  }
  if (ownerId === undefined) throw invalidRequest('owner_id', 'is required for this desk');
  const [owner] = await unit.tx.query(listOwners, [[ownerId]]);
  if (owner?.desk !== desk) {
    throw new CausewayError(desk === 'partner' ? 'PARTNER_NOT_FOUND' : 'VENDOR_NOT_FOUND');
  }
  return desk === 'partner' ? { partnerId: ownerId, vendorId: null } : { partnerId: null, vendorId: ownerId };
}

export async function readInvitation(deps: InvitationDeps, token: string): Promise<InvitationRow> {
  const [row] = await deps.db.query(SYSTEM, findInvitationByToken, [sha256Hex(token), new Date(deps.wall())]);
  if (row === undefined) throw new CausewayError('INVITATION_EXPIRED');
  return row;
}

/**
 * A new user; or one of the desk that was disabled since, such as for a forgotten password, who keeps the second factor.
 * The password is judged first: a link that leads nowhere yet can be tried again with a better one.
 */
export async function makeUserOfInvitation(
  deps: InvitationDeps,
  given: { readonly token: string; readonly name: string; readonly password: string },
): Promise<ConsoleUserRow> {
  const { email } = await readInvitation(deps, given.token);
  requireGoodPassword('password', given.password, email);
  const hash = await hashPassword(given.password);
  const at = new Date(deps.wall());
  const user = await deps.db.transaction(SYSTEM, async (tx) => {
    const [row] = await tx.query(acceptInvitation, [sha256Hex(given.token), at]);
    if (row === undefined) throw new CausewayError('INVITATION_EXPIRED');
    const desk = [row.partner_id, row.vendor_id, row.email] as const;
    const chosen = [given.name, row.role, hash, at] as const;
    const [readmitted] = await tx.query(readmitConsoleUser, [...desk, ...chosen]);
    const [made] =
      readmitted === undefined
        ? await tx.query(insertConsoleUser, [deps.ids.uuid(), ...desk, ...chosen])
        : [readmitted];
    if (made === undefined) throw new CausewayError('EMAIL_IN_USE');
    const [present] = await tx.query(findConsoleUser, [made.user_id]);
    return present as ConsoleUserRow;
  });
  await unlock(deps, email);
  return user;
}

export async function invitationViews(db: Database, rows: readonly InvitationRow[]) {
  const owners = await ownersOf(db, rows);
  return rows.map((row) => ({
    invitation_id: row.invitation_id,
    ...deskOf(row),
    owner_id: row.partner_id ?? row.vendor_id,
    owner_name: owners.get(row.partner_id ?? row.vendor_id ?? '')?.name ?? null,
    email: row.email,
    role: row.role,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  }));
}

interface Owned {
  readonly partner_id: string | null;
  readonly vendor_id: string | null;
}

export function deskOf({ partner_id, vendor_id }: Owned): { readonly desk: Desk } {
  if (partner_id !== null) return { desk: 'partner' };
  return { desk: vendor_id !== null ? 'vendor' : 'operator' };
}

/** Partners and vendors by id. */
export async function ownersOf(db: Database, rows: readonly Owned[]): Promise<ReadonlyMap<string, OwnerRow>> {
  const ids = [...new Set(rows.map((row) => row.partner_id ?? row.vendor_id))].filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const owners = await db.query(SYSTEM, listOwners, [ids]);
  return new Map(owners.map((owner) => [owner.owner_id, owner]));
}

export interface InvitationMailDeps {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly mail: MailPort;
  readonly wall: () => number;
}

export function sendInvitationHandler(deps: InvitationMailDeps): IntentHandler<'mail.send-invitation'> {
  async function perform({ payload }: Intent<'mail.send-invitation'>): Promise<Outcome> {
    const { invitation_id: invitationId } = payload;
    const [row] = await deps.db.query(SYSTEM, findInvitation, [invitationId, new Date(deps.wall())]);
    // Used, withdrawn or over meanwhile.
    if (row === undefined || row.link_sealed === null) return { kind: 'confirmed' };
    const url = deps.sealer.open(row.link_sealed, linkContext(invitationId));
    const owner = (await ownersOf(deps.db, [row])).get(row.partner_id ?? row.vendor_id ?? '');
    const outcome = await deliver(deps.mail, {
      partnerId: row.partner_id,
      to: row.email,
      fromName: owner?.name ?? 'Causeway',
      ...mailText(owner?.name ?? 'the operator', row, url),
      language: LANGUAGE,
    });
    if (outcome.kind === 'confirmed') await deps.db.query(SYSTEM, forgetLink, [invitationId]);
    return outcome;
  }
  return { schedule: PATIENT, perform };
}

function mailText(team: string, { role, expires_at }: InvitationRow, url: string) {
  const until = `${expires_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    subject: `You are invited to the console of ${team}`,
    text: [
      `You are invited to the team of ${team} at the Causeway console, as ${role}.`,
      `Choose your password here:\n${url}`,
      `The link is good once, until ${until}. Do not pass it on: whoever opens it joins in your name.`,
      'If you did not expect it, you can ignore this message.\n',
    ].join('\n\n'),
  };
}
