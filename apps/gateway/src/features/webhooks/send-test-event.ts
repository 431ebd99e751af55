import { CausewayError } from '@causeway/protocol';
import { type Database, partnerScope } from '../../db/database.ts';
import { eventText } from '../../engine/outbox.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import { readWebhookTarget } from './webhook.store.ts';
import type { OpenSecrets } from './webhook-secret.ts';
import type { WebhookSender } from './webhook-sender.ts';

export interface TestEventTools {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly sender: WebhookSender;
  readonly openSecrets: OpenSecrets;
}

/**
 * Sends a signed event now and says what the endpoint answered. Why a connection failed is not told: an answer that
 * distinguished closed ports from silent hosts would be a scanner.
 */
export async function sendTestEvent(
  tools: TestEventTools,
  partnerId: string,
): Promise<{ delivered: true; http_status: number }> {
  const [target] = await tools.db.query(partnerScope(partnerId), readWebhookTarget, [partnerId]);
  if (target === undefined || !target.webhook_enabled || target.webhook_url === null) {
    throw new CausewayError('WEBHOOK_NOT_CONFIGURED');
  }
  const at = tools.clock.date();
  const result = await tools.sender.send({
    url: target.webhook_url,
    secrets: tools.openSecrets(partnerId, target, at.getTime()),
    body: eventText({
      eventId: tools.ids.eventId(),
      eventType: 'webhook.test',
      at,
      data: { message: 'This is a test event.' },
    }),
  });
  if (result.kind === 'failed') throw new CausewayError('WEBHOOK_DELIVERY_FAILED', { details: {} });
  if (result.status < 200 || result.status > 299) {
    throw new CausewayError('WEBHOOK_DELIVERY_FAILED', { details: { http_status: result.status } });
  }
  return { delivered: true, http_status: result.status };
}
