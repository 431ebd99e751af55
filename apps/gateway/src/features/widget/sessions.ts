import { CausewayError, type PartnerWidgetSessionInput, type WidgetSessionInput } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Chains } from '../../chain/chains.ts';
import { type Database, partnerScope, SYSTEM } from '../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import type { PartnerPrincipal, SessionPrincipal, WidgetPrincipal } from '../../http/principals.ts';
import { randomToken, type Sealer, sha256Hex, TOKEN_PREFIX } from '../../lib/crypto.ts';
import type { Currencies } from '../../ports/currencies.ts';
import { readUserBy } from '../users/user.ts';
import { readServerStart, readStart, type StartContext } from './starting-point.ts';
import {
  deleteEmailCode,
  dropCustomer,
  endSessionsOfUser,
  eraseMailbox,
  exchangeCode,
  findSession,
  insertSession,
  purgeCodeCounts,
  purgeEmailCodes,
  purgeSandboxMails,
  purgeSessions,
  type SessionRow,
} from './widget.store.ts';

export type { SessionRow } from './widget.store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Long enough for a bank transfer and a look at the documents; a customer who comes later confirms the e-mail again. */
export const SESSION_MS = 4 * HOUR_MS;
/** From the partner’s server to the customer’s browser. */
export const LINK_MS = 10 * MINUTE_MS;
/** A browser whose answer was lost, or that loads the page again at once, sends the code again. */
const REPEAT_MS = MINUTE_MS;

export interface SessionDeps extends UnitDeps {
  readonly chains: Chains;
  readonly currencies: Currencies;
  readonly sandbox: boolean;
  readonly sealer: Sealer;
}

function contextOf(deps: SessionDeps, settlementChain: string): StartContext {
  return {
    catalogue: deps.currencies.current().reference.catalogue,
    tokens: deps.chains.get(settlementChain).settings.tokens,
    sandbox: deps.sandbox,
  };
}

export const widgetKeyContext = (sessionId: string) => `widget_sessions.widget_key:${sessionId}`;

export interface StartedSession {
  /** Shown once; only its hash is kept. */
  readonly token: string;
  readonly row: SessionRow;
}

/** Begins a session for a page that carries the publishable key. Repeating it begins another one, which does no harm. */
export function startSession(
  deps: SessionDeps,
  { keyId, partnerId, partner }: WidgetPrincipal,
  widgetKey: string,
  input: Static<typeof WidgetSessionInput>,
): Promise<StartedSession> {
  const start = readStart(input, contextOf(deps, partner.settlementChain));
  const token = randomToken(TOKEN_PREFIX.session);
  return unitOfWork(deps, partnerScope(partnerId), async (unit) => {
    const sessionId = unit.ids.uuid();
    const [row] = await unit.tx.query(insertSession, [
      sessionId,
      partnerId,
      keyId,
      deps.sealer.seal(widgetKey, widgetKeyContext(sessionId)),
      null,
      sha256Hex(token),
      null,
      null,
      JSON.stringify(start),
      false,
      null,
      new Date(unit.at.getTime() + SESSION_MS),
      unit.at,
    ]);
    return { token, row: written(row) };
  });
}

/** A session that the partner’s server makes for a customer: the code in the fragment of its address opens it. */
export async function makeSession(
  deps: SessionDeps & { readonly publicBaseUrl: string },
  unit: UnitOfWork,
  { partnerId, partner }: PartnerPrincipal,
  input: Static<typeof PartnerWidgetSessionInput>,
): Promise<{ readonly session_id: string; readonly url: string; readonly expires_at: string }> {
  const { start, locked, partnerFeePct } = readServerStart(input, contextOf(deps, partner.settlementChain));
  // Another partner’s customer and none at all are the same to the caller.
  const userId = input.user_uuid === undefined ? null : (await readUserBy(unit.tx, input.user_uuid)).user_id;
  const code = randomToken(TOKEN_PREFIX.widgetCode);
  const opensUntil = new Date(unit.at.getTime() + LINK_MS);
  const [row] = await unit.tx.query(insertSession, [
    unit.ids.uuid(),
    partnerId,
    null,
    null,
    userId,
    null,
    sha256Hex(code),
    opensUntil,
    JSON.stringify(start),
    locked,
    partnerFeePct,
    new Date(unit.at.getTime() + SESSION_MS),
    unit.at,
  ]);
  const { session_id: sessionId } = written(row);
  return {
    session_id: sessionId,
    // A fragment is sent to no server and stands in no log.
    url: `${deps.publicBaseUrl}/widget/checkout?session=${sessionId}#${code}`,
    expires_at: opensUntil.toISOString(),
  };
}

/**
 * Wrong, used and expired codes are told the same: a caller that tries them learns nothing. Sent again before the token was
 * used, a code gives another token, and the one before is good for nothing.
 */
export function openSession(deps: UnitDeps, sessionId: string, code: string): Promise<StartedSession> {
  const token = randomToken(TOKEN_PREFIX.session);
  // The caller has no key yet, and so no scope: the code alone says whose session it is.
  return unitOfWork(deps, SYSTEM, async (unit) => {
    const hashes = [sha256Hex(code), sha256Hex(token)] as const;
    const repeatedUntil = new Date(unit.at.getTime() + REPEAT_MS);
    const [row] = await unit.tx.query(exchangeCode, [sessionId, ...hashes, unit.at, repeatedUntil]);
    if (row === undefined) throw new CausewayError('WIDGET_SESSION_NOT_FOUND');
    return { token, row };
  });
}

export async function readSession(
  db: Database,
  { partnerId, sessionId }: SessionPrincipal,
): Promise<SessionRow> {
  const [row] = await db.query(partnerScope(partnerId), findSession, [sessionId]);
  return written(row);
}

export async function readSessionBy(
  { tx }: UnitOfWork,
  { sessionId }: SessionPrincipal,
): Promise<SessionRow> {
  const [row] = await tx.query(findSession, [sessionId]);
  return written(row);
}

/** Ends the customer’s part: the session goes on without one. */
export async function signOut(unit: UnitOfWork, { sessionId }: SessionPrincipal): Promise<SessionRow> {
  unit.tx.defer(deleteEmailCode, [sessionId]);
  const [row] = await unit.tx.query(dropCustomer, [sessionId]);
  return written(row);
}

/** The session’s customer; a session that does not know it yet may do nothing in a customer’s name. */
export function customerOf(session: SessionPrincipal): string {
  if (session.userId === null) throw new CausewayError('EMAIL_NOT_CONFIRMED');
  return session.userId;
}

/**
 * Of a customer that is erased: its sessions end, and neither they nor its mailbox keep anything of the person. Before the
 * customer’s own row is erased, by which the mailbox is found.
 */
export function eraseSessionsOf(unit: UnitOfWork, userId: string): void {
  unit.tx.defer(eraseMailbox, [userId]);
  unit.tx.defer(endSessionsOfUser, [userId, unit.at]);
}

const PURGED_AT_ONCE = 5_000;
const BATCHES_A_TURN = 20;
/** A session that has ended is kept for questions about it. */
const KEPT_MS = 24 * HOUR_MS;

/** Deletes sessions that are over, codes that were not used and what a sandbox has sent. Run by workers. */
export async function purgeOldSessions({ db, clock }: Pick<UnitDeps, 'db' | 'clock'>): Promise<number> {
  const now = clock.date();
  const before = new Date(now.getTime() - KEPT_MS);
  await db.query(SYSTEM, purgeEmailCodes, [now]);
  await db.query(SYSTEM, purgeCodeCounts, [new Date(now.getTime() - 2 * HOUR_MS)]);
  await db.query(SYSTEM, purgeSandboxMails, [before]);
  let purged = 0;
  for (let batch = 0; batch < BATCHES_A_TURN; batch++) {
    const [row] = await db.query(SYSTEM, purgeSessions, [before, PURGED_AT_ONCE]);
    purged += row?.purged ?? 0;
    if ((row?.purged ?? 0) < PURGED_AT_ONCE) break;
  }
  return purged;
}

function written(row: SessionRow | undefined): SessionRow {
  if (row === undefined) throw new Error('the widget session is not there');
  return row;
}
