import type { WebhookSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { WebhookRow } from './webhook.store.ts';

export function webhookView(row: WebhookRow | undefined, now: Date): Static<typeof WebhookSchema> {
  const failures = row?.consecutive_failures ?? 0;
  const until = row?.webhook_previous_secret_until ?? null;
  return {
    url: row?.webhook_url ?? null,
    enabled: row?.webhook_enabled ?? false,
    health: {
      state: row?.circuit_opened_at ? 'circuit_open' : failures > 0 ? 'failing' : 'ok',
      consecutive_failures: failures,
      failing_since: row?.failing_since?.toISOString() ?? null,
      last_error: row?.last_error ?? null,
      pending_deliveries: row?.pending ?? 0,
    },
    previous_secret_valid_until: until !== null && until > now ? until.toISOString() : null,
  };
}
