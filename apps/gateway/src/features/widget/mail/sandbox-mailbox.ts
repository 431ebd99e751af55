import type { SandboxMailboxSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { partnerScope, SYSTEM } from '../../../db/database.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import type { MailPort } from '../../../ports/mail.ts';
import type { BlindIndex } from '../../../vault/vault.ts';
import { EMAIL_INDEX, normalisedEmail } from '../../users/user.ts';
import { insertSandboxMail, listSandboxMails } from '../widget.store.ts';

export interface MailboxDeps extends UnitDeps {
  readonly sealer: Sealer;
  readonly blindIndex: BlindIndex;
}

interface KeptMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly language: string;
}

export const sandboxMailContext = (mailId: string) => `sandbox_mails:${mailId}`;

/** Keeps what a sandbox would have sent; no mail leaves it. */
export function createSandboxMailbox({ db, ids, clock, sealer, blindIndex }: MailboxDeps): MailPort {
  return {
    async send({ partnerId, to, subject, text, language }) {
      // Mails are looked up by their partner.
      if (partnerId === null) return { kind: 'sent' };
      const mailId = ids.uuid();
      const kept: KeptMail = { to, subject, text, language };
      await db.query(SYSTEM, insertSandboxMail, [
        mailId,
        partnerId,
        blindIndex(EMAIL_INDEX, partnerId, to),
        sealer.seal(JSON.stringify(kept), sandboxMailContext(mailId)),
        clock.date(),
      ]);
      return { kind: 'sent' };
    },
  };
}

const MOST_SHOWN = 50;

export async function readMailbox(
  { db, sealer, blindIndex }: MailboxDeps,
  partnerId: string,
  email: string,
): Promise<Static<typeof SandboxMailboxSchema>> {
  const address = normalisedEmail(email);
  if (address === undefined) throw invalidRequest('email', 'must be an email address');
  const rows = await db.query(partnerScope(partnerId), listSandboxMails, [
    partnerId,
    blindIndex(EMAIL_INDEX, partnerId, address),
    MOST_SHOWN,
  ]);
  return {
    messages: rows.map((row) => ({
      ...(JSON.parse(sealer.open(row.message_sealed, sandboxMailContext(row.mail_id))) as KeptMail),
      sent_at: row.sent_at.toISOString(),
    })),
  };
}
