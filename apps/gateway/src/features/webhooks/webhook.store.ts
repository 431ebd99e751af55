import { statement } from '../../db/statement.ts';

export const readWebhook = statement<
  [partnerId: string],
  { webhook_url: string | null; webhook_enabled: boolean }
>('webhooks.read', 'SELECT webhook_url, webhook_enabled FROM partners WHERE partner_id = $1');

export const setWebhook = statement<[partnerId: string, url: string]>(
  'webhooks.set',
  'UPDATE partners SET webhook_url = $2, webhook_enabled = true WHERE partner_id = $1',
);

export const disableWebhook = statement<[partnerId: string]>(
  'webhooks.disable',
  'UPDATE partners SET webhook_enabled = false WHERE partner_id = $1',
);

/** Address and secret are read when sending: a webhook that was removed meanwhile gets nothing more. */
export const deliveryOf = statement<
  [eventId: string],
  {
    body: string;
    partner_id: string;
    webhook_url: string | null;
    webhook_enabled: boolean;
    webhook_secret_sealed: string;
  }
>(
  'webhooks.delivery',
  `SELECT e.body, e.partner_id, p.webhook_url, p.webhook_enabled, p.webhook_secret_sealed
     FROM events e JOIN partners p USING (partner_id) WHERE e.event_id = $1`,
);
