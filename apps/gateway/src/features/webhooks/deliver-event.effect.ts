import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import { WEBHOOK_DELIVERY } from '../../engine/outbox.ts';
import { WEBHOOK_RETRY_SCHEDULE } from '../../lib/backoff.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { deliveryOf } from './webhook.store.ts';
import { webhookSecretContext } from './webhook-secret.ts';
import type { WebhookSender } from './webhook-sender.ts';

type DeliveryPayload = { readonly event_id: string };

/** Sends an event to its partner. Delivery is at least once, so an attempt of unknown outcome is simply repeated. */
export function webhookDeliveryHandler(tools: {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly sender: WebhookSender;
  readonly metrics: Metrics;
}): IntentHandler<DeliveryPayload> {
  async function deliver({ payload }: Intent<DeliveryPayload>): Promise<Outcome> {
    const [delivery] = await tools.db.query(SYSTEM, deliveryOf, [payload.event_id]);
    if (delivery === undefined) return { kind: 'failed', error: 'the event is gone' };
    if (!delivery.webhook_enabled || delivery.webhook_url === null) {
      return { kind: 'failed', error: 'the webhook was disabled' };
    }
    const secret = tools.sealer.open(
      delivery.webhook_secret_sealed,
      webhookSecretContext(delivery.partner_id),
    );
    const result = await tools.sender.send({ url: delivery.webhook_url, secret, body: delivery.body });
    if (result.kind === 'answered' && result.status >= 200 && result.status < 300) {
      tools.metrics.webhookDeliveriesTotal.inc({ outcome: 'delivered' });
      return { kind: 'confirmed', result: { http_status: result.status } };
    }
    tools.metrics.webhookDeliveriesTotal.inc({ outcome: 'refused' });
    return { kind: 'retry', error: result.kind === 'answered' ? `answered ${result.status}` : result.reason };
  }
  return { kind: WEBHOOK_DELIVERY, schedule: WEBHOOK_RETRY_SCHEDULE, perform: deliver, reconcile: deliver };
}
