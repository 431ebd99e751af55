import type { Sealer } from '../../lib/crypto.ts';

/** Where a webhook secret belongs: sealed for this place, it opens nowhere else. */
export function webhookSecretContext(partnerId: string): string {
  return `partners.webhook_secret:${partnerId}`;
}

/** The secrets that sign now: the current one and, during an overlap, the one before it. */
export interface SigningSecrets {
  readonly current: string;
  readonly previous?: string;
}

export interface SealedSecrets {
  readonly webhook_secret_sealed: string;
  readonly webhook_previous_secret_sealed: string | null;
  readonly webhook_previous_secret_until: Date | null;
}

export type OpenSecrets = (partnerId: string, sealed: SealedSecrets, now: number) => SigningSecrets;

const KEPT_SECRETS = 2_000;

/** Opens secrets and remembers the latest: a partner's deliveries come in bursts and all need the same one. */
export function secretOpener(sealer: Sealer): OpenSecrets {
  const opened = new Map<string, string>();

  function open(sealed: string, partnerId: string): string {
    const key = `${partnerId}:${sealed}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const secret = sealer.open(sealed, webhookSecretContext(partnerId));
    if (opened.size >= KEPT_SECRETS) opened.clear();
    opened.set(key, secret);
    return secret;
  }

  return (partnerId, sealed, now) => {
    const current = open(sealed.webhook_secret_sealed, partnerId);
    const { webhook_previous_secret_sealed: previous, webhook_previous_secret_until: until } = sealed;
    if (previous === null || until === null || until.getTime() <= now) return { current };
    return { current, previous: open(previous, partnerId) };
  };
}
