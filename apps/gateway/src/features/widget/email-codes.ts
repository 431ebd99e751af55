import { randomInt } from 'node:crypto';
import {
  CausewayError,
  type EmailCodeSchema,
  type IdentifyInput,
  type WidgetLocale,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { prepareIntent } from '../../engine/intent.ts';
import { RecordedRefusal, type UnitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import type { SessionPrincipal } from '../../http/principals.ts';
import { equalInConstantTime, type Sealer } from '../../lib/crypto.ts';
import type { MailPort } from '../../ports/mail.ts';
import type { BlindIndex, Vaults } from '../../vault/vault.ts';
import { createUser, EMAIL_INDEX, findUserByEmail, normalisedEmail } from '../users/user.ts';
import { readSessionBy, type SessionRow } from './sessions.ts';
import {
  bindCustomer,
  countAttempt,
  countCode,
  deleteEmailCode,
  type EmailCodeRow,
  findEmailCode,
  lockAddress,
  lockEmailCode,
  lockSession,
  saveEmailCode,
} from './widget.store.ts';

/**
 * How a customer is known at the widget: by a code in its mailbox. Asking for a code looks at no customer, so that neither
 * the answer nor the time it takes tells whether an address is known.
 */
export interface EmailCodeDeps {
  readonly vaults: Vaults;
  readonly blindIndex: BlindIndex;
  readonly sealer: Sealer;
  readonly sandbox: boolean;
  /** None where the deployment cannot send e-mail. */
  readonly mail: MailPort | undefined;
  readonly config: {
    readonly widgetCodesPerMailboxPerHour: number;
    readonly widgetCodesPerSessionPerHour: number;
  };
}

const DIGITS = 6;
const HOUR_MS = 3_600_000;
const CODE_MS = 600_000;
const RESEND_MS = 30_000;
export const MAX_ATTEMPTS = 5;

/** What the worker sends; sealed, because it names the person. */
export interface CodeMessage {
  readonly email: string;
  readonly code: string;
  readonly locale: WidgetLocale;
}

export const codeMessageContext = (sessionId: string) => `widget_email_codes:${sessionId}`;

/** Under which the mail of a code is known: a code that took its place has another. */
export function codeMailKey({ session_id, sent_at }: Pick<EmailCodeRow, 'session_id' | 'sent_at'>): string {
  return `${session_id}:${sent_at.getTime()}`;
}

/** Keyed, because a million codes are soon tried; and of this session and address alone. */
function codeHash(
  { blindIndex }: Pick<EmailCodeDeps, 'blindIndex'>,
  { partnerId, sessionId }: SessionPrincipal,
  emailIndex: string,
  code: string,
): string {
  return blindIndex('widget_email_codes.code', partnerId, `${sessionId}\n${emailIndex}\n${code}`);
}

export async function requestEmailCode(
  deps: EmailCodeDeps,
  unit: UnitOfWork,
  session: SessionPrincipal,
  given: string,
): Promise<Static<typeof EmailCodeSchema>> {
  if (deps.mail === undefined) throw new CausewayError('MAIL_UNAVAILABLE');
  requireNoCustomer(session);
  const email = readEmail(given);
  const { sessionId, partnerId } = session;
  const emailIndex = deps.blindIndex(EMAIL_INDEX, partnerId, email);
  await unit.tx.query(lockSession, [sessionId]);
  const [previous] = await unit.tx.query(findEmailCode, [sessionId]);
  if (previous !== undefined) requirePause(previous, unit.at);
  await countWithin(unit, partnerId, sessionId, deps.config.widgetCodesPerSessionPerHour);
  await countWithin(unit, partnerId, emailIndex, deps.config.widgetCodesPerMailboxPerHour);

  const { start } = await readSessionBy(unit, session);
  const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
  const message: CodeMessage = { email, code, locale: start.locale ?? 'en' };
  const expiresAt = new Date(unit.at.getTime() + CODE_MS);
  unit.tx.defer(saveEmailCode, [
    sessionId,
    partnerId,
    emailIndex,
    deps.sealer.seal(JSON.stringify(message), codeMessageContext(sessionId)),
    codeHash(deps, session, emailIndex, code),
    unit.at,
    expiresAt,
  ]);
  prepareIntent(unit, {
    kind: 'mail.send-code',
    dedupeKey: codeMailKey({ session_id: sessionId, sent_at: unit.at }),
    partnerId,
    payload: { session_id: sessionId },
  });
  return {
    expires_at: expiresAt.toISOString(),
    resend_after_seconds: RESEND_MS / 1_000,
    ...(deps.sandbox ? { sandbox_code: code } : {}),
  };
}

/** A customer changes by signing out, so that no order is opened for another than the one on the screen. */
function requireNoCustomer({ userId }: SessionPrincipal): void {
  if (userId === null) return;
  throw new CausewayError('OPERATION_NOT_ALLOWED', {
    message: 'The session has a customer already; sign out first.',
  });
}

function readEmail(given: string): string {
  const email = normalisedEmail(given);
  if (email === undefined) throw invalidRequest('email', 'must be an email address');
  return email;
}

function requirePause({ sent_at: sentAt }: EmailCodeRow, at: Date): void {
  const waitMs = sentAt.getTime() + RESEND_MS - at.getTime();
  if (waitMs > 0) throw limited(waitMs, 'A code was sent just now; wait before you ask for another.');
}

/** Counted with the code itself: a refused request counts for nothing. */
async function countWithin(
  { tx, at }: UnitOfWork,
  partnerId: string,
  counted: string,
  limit: number,
): Promise<void> {
  const hour = new Date(at.getTime() - (at.getTime() % HOUR_MS));
  const [row] = await tx.query(countCode, [partnerId, counted, hour]);
  if ((row?.codes ?? 0) <= limit) return;
  throw limited(hour.getTime() + HOUR_MS - at.getTime(), 'Too many codes were asked for; try again later.');
}

function limited(waitMs: number, message: string): CausewayError {
  return new CausewayError('RATE_LIMITED', { message, details: { retry_after: Math.ceil(waitMs / 1_000) } });
}

/** Binds the session to the customer of the mailbox, who is created where the partner has none of this address. */
export async function identify(
  deps: EmailCodeDeps,
  unit: UnitOfWork,
  session: SessionPrincipal,
  input: Static<typeof IdentifyInput>,
): Promise<SessionRow> {
  requireNoCustomer(session);
  const { sessionId, partnerId } = session;
  const email = readEmail(input.email);
  const emailIndex = deps.blindIndex(EMAIL_INDEX, partnerId, email);
  const [row] = await unit.tx.query(lockEmailCode, [sessionId]);
  requireRightCode(unit, row, codeHash(deps, session, emailIndex, input.code.replace(/\s/g, '')));
  unit.tx.defer(deleteEmailCode, [sessionId]);
  await unit.tx.query(lockAddress, [`${EMAIL_INDEX}:${partnerId}:${emailIndex}`]);
  const known = await findUserByEmail(unit, partnerId, emailIndex);
  const userId = known ?? (await newCustomer(deps, unit, session, email));
  const [bound] = await unit.tx.query(bindCustomer, [sessionId, userId]);
  if (bound === undefined) throw new CausewayError('OPERATION_NOT_ALLOWED');
  return bound;
}

function requireRightCode(unit: UnitOfWork, row: EmailCodeRow | undefined, hash: string): void {
  const isLive = row !== undefined && row.expires_at > unit.at && row.attempts < MAX_ATTEMPTS;
  // Compared in every case, so that the time tells nothing either.
  const isRight = equalInConstantTime(row?.code_hash ?? '', hash);
  if (isLive && isRight) return;
  if (!isLive) throw new CausewayError('EMAIL_CODE_INVALID', { details: { attempts_left: 0 } });
  unit.tx.defer(countAttempt, [row.session_id]);
  // The try is counted although it is refused.
  throw new RecordedRefusal(
    new CausewayError('EMAIL_CODE_INVALID', { details: { attempts_left: MAX_ATTEMPTS - row.attempts - 1 } }),
  );
}

async function newCustomer(
  deps: EmailCodeDeps,
  unit: UnitOfWork,
  session: SessionPrincipal,
  email: string,
): Promise<string> {
  const { start } = await readSessionBy(unit, session);
  const reference = start.reference_id;
  const user = await createUser(deps, unit, session.partnerId, {
    email,
    ...(reference === undefined ? {} : { reference_id: reference }),
  });
  return user.id;
}
