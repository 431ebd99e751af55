import { createTransport } from 'nodemailer';
import type { MailOutcome, MailPort } from '../../ports/mail.ts';

export interface SmtpSettings {
  /** `smtps://user:password@host:port`, or `smtp://…` for STARTTLS. */
  readonly url: string;
  readonly from: string;
  /** For servers whose certificate no public authority has signed. */
  readonly ca?: string;
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Sends by SMTP. What a code says is all that is taken from a server’s answer: its text often repeats the address. TLS is not
 * optional, but for a server on this machine: codes open sessions.
 */
export function createSmtpMail({ url, from, ca }: SmtpSettings): MailPort {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isTls = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 465 : 587) : Number(port),
    secure: isTls,
    requireTLS: !isTls && !LOOPBACK.has(hostname),
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca === undefined ? {} : { tls: { ca } }),
  });
  return {
    async send({ to, fromName, subject, text, language }) {
      try {
        await transport.sendMail({
          from: { name: fromName, address: from },
          to: { name: '', address: to },
          subject,
          text,
          headers: { 'Content-Language': language, 'Auto-Submitted': 'auto-generated' },
        });
        return { kind: 'sent' };
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

/** 5xx to the envelope is for good; all else, a wrong password of ours included, may be repaired and is tried again. */
function outcomeOf(error: unknown): MailOutcome {
  const { code, responseCode } = error as { readonly code?: string; readonly responseCode?: number };
  const reason = `${code ?? 'UNKNOWN'}${responseCode === undefined ? '' : ` ${responseCode}`}`;
  const isForGood = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
  return isForGood ? { kind: 'refused', reason } : { kind: 'later', reason };
}
