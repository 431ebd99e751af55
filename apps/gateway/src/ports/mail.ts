/** The way e-mails leave the deployment. One adapter speaks SMTP; a sandbox keeps what it would have sent. */
export interface Mail {
  /** Whose customer or user it is for; null where it is neither. */
  readonly partnerId: string | null;
  readonly to: string;
  /** The name that the mail comes from, beside the deployment’s own address. */
  readonly fromName: string;
  readonly subject: string;
  readonly text: string;
  /** BCP 47, for the mail’s Content-Language. */
  readonly language: string;
}

/** What became of a mail. None of it repeats what a server said, which may name the address. */
export type MailOutcome =
  | { readonly kind: 'sent' }
  /** For good: there is no such mailbox, or it takes nothing from here. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** For now: the server is not reached, is busy, or asks to come back later. */
  | { readonly kind: 'later'; readonly reason: string };

export interface MailPort {
  send(mail: Mail): Promise<MailOutcome>;
}
