import type { WidgetLocale } from '@causeway/protocol';
import { type Database, reading, SYSTEM } from '../../../db/database.ts';
import { type Intent, prepareIntent } from '../../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import type { SessionPrincipal } from '../../../http/principals.ts';
import { schedule } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import type { Mail, MailPort } from '../../../ports/mail.ts';
import type { Vaults } from '../../../vault/vault.ts';
import { profileOf, readUserIfAny } from '../../users/user.ts';
import { type CodeMessage, codeMailKey, codeMessageContext } from '../email-codes.ts';
import { customerOf, readSessionBy, widgetKeyContext } from '../sessions.ts';
import { findEmailCode, findSession, partnerNameOf } from '../widget.store.ts';
import { MAIL_TEXTS } from './mail-texts.ts';

/** E-mails of the widget. An intent names what it is about; whom it goes to is read when it is sent, and stands in none. */
export interface MailDeps {
  readonly db: Database;
  readonly clock: Pick<Clock, 'date'>;
  readonly sealer: Sealer;
  readonly vaults: Vaults;
  readonly mail: MailPort;
}

/** Soon, because a person waits; and past the ten minutes of a code, after which there is nothing to send. */
const WHILE_WAITED_FOR = schedule([2, 5, 15, 30, 60, 120], { maxAttempts: 12, jitterPct: 20 });
/** A server that greylists wants some minutes, one that is down some hours. */
const PATIENT = schedule([5, 30, 120, 600, 1800], { maxAttempts: 20, jitterPct: 20 });

export function sendCodeHandler(deps: MailDeps): IntentHandler<'mail.send-code'> {
  async function perform({ payload, dedupeKey }: Intent<'mail.send-code'>): Promise<Outcome> {
    const [row] = await deps.db.query(SYSTEM, findEmailCode, [payload.session_id]);
    const isWaitedFor =
      row !== undefined && codeMailKey(row) === dedupeKey && row.expires_at > deps.clock.date();
    // Used, over, or replaced by a newer one, which has an intent of its own.
    if (!isWaitedFor) return { kind: 'confirmed' };
    const message = JSON.parse(
      deps.sealer.open(row.message_sealed, codeMessageContext(row.session_id)),
    ) as CodeMessage;
    const name = await nameOf(deps.db, row.partner_id);
    const { subject, text } = MAIL_TEXTS[message.locale].code(name, message.code);
    return deliver(deps.mail, {
      partnerId: row.partner_id,
      to: message.email,
      fromName: name,
      subject,
      text,
      language: message.locale,
    });
  }
  return { schedule: WHILE_WAITED_FOR, perform };
}

/**
 * Tells a customer how to come back to the order that it has just opened. Nothing in the mail opens anything: on another
 * device the customer confirms its address again. Called once, by who opens the order.
 */
export async function queueOrderMail(
  deps: { readonly mail: MailPort | undefined; readonly publicBaseUrl: string },
  unit: UnitOfWork,
  session: SessionPrincipal,
  orderId: string,
): Promise<void> {
  if (deps.mail === undefined) return;
  const { start } = await readSessionBy(unit, session);
  prepareIntent(unit, {
    kind: 'mail.send-order',
    dedupeKey: orderId,
    partnerId: session.partnerId,
    payload: {
      order_id: orderId,
      user_id: customerOf(session),
      locale: start.locale ?? 'en',
      session_id: session.sessionId,
      page_url: `${deps.publicBaseUrl}/widget/checkout`,
    },
  });
}

export function sendOrderHandler(deps: MailDeps): IntentHandler<'mail.send-order'> {
  async function perform({ payload }: Intent<'mail.send-order'>): Promise<Outcome> {
    const user = await readUserIfAny(reading(deps.db, SYSTEM), payload.user_id);
    // Erased meanwhile.
    if (user === undefined) return { kind: 'confirmed' };
    const name = await nameOf(deps.db, user.partner_id);
    const locale = payload.locale as WidgetLocale;
    const key = await widgetKeyOf(deps, payload.session_id);
    const url = key === null ? null : `${payload.page_url}?key=${encodeURIComponent(key)}`;
    const { subject, text } = MAIL_TEXTS[locale].order(name, payload.order_id, url);
    return deliver(deps.mail, {
      partnerId: user.partner_id,
      to: profileOf(deps.vaults, user).email,
      fromName: name,
      subject,
      text,
      language: locale,
    });
  }
  return { schedule: PATIENT, perform };
}

/** Null for a session that the partner’s own server made: it was not started with a key that a page carries. */
async function widgetKeyOf({ db, sealer }: MailDeps, sessionId: string): Promise<string | null> {
  const [session] = await db.query(SYSTEM, findSession, [sessionId]);
  const sealed = session?.widget_key_sealed ?? null;
  return sealed === null ? null : sealer.open(sealed, widgetKeyContext(sessionId));
}

async function nameOf(db: Database, partnerId: string): Promise<string> {
  const [partner] = await db.query(SYSTEM, partnerNameOf, [partnerId]);
  return partner?.name ?? '';
}

/** A mailbox that does not exist is the customer’s typing, and nothing that an operator could repair. */
export async function deliver(port: MailPort, mail: Mail): Promise<Outcome> {
  const outcome = await port.send(mail);
  switch (outcome.kind) {
    case 'sent':
      return { kind: 'confirmed' };
    case 'refused':
      return { kind: 'confirmed', result: { refused: outcome.reason } };
    case 'later':
      return { kind: 'retry', error: outcome.reason };
  }
}
