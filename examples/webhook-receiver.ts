import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CausewayEvent } from '@causeway/sdk';
import { createTestEvent, type DeduplicationStore, nodeHandler } from '@causeway/sdk/webhooks';
import { causeway, say } from './sandbox.ts';

/**
 * Receives the webhooks of the sandbox's first partner: verifies, handles each event once, answers. It registers an endpoint of
 * its own at http://127.0.0.1:3000 (HOOK_PORT) and removes it when it ends: with Ctrl-C or, where a type is given, after the
 * first event of that type.
 *
 * npx node examples/webhook-receiver.ts [event type]
 */
const [lastType] = process.argv.slice(2);

/** Deliveries repeat. Here in memory; yours is a table with a unique key, in the transaction that does the work. */
const seen = new Map<string, 'in_progress' | 'handled'>();
const store: DeduplicationStore = {
  async claim(eventId) {
    const before = seen.get(eventId);
    if (before === undefined) seen.set(eventId, 'in_progress');
    return before ?? 'claimed';
  },
  complete: async (eventId) => void seen.set(eventId, 'handled'),
  release: async (eventId) => void seen.delete(eventId),
};
const ended = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.resolve());

/** Short: one write into a queue. What throws is answered with 500, and delivered again. */
function onEvent(event: CausewayEvent): void {
  switch (event.event_type) {
    case 'order.status.changed':
    case 'order.refund.required':
      say(event.event_type, `${event.data.order_id} ${event.data.status}`);
      break;
    default:
      // Types may be added: ignore what you do not know.
      say(event.event_type, event.event_id);
  }
  if (event.event_type === lastType) ended.resolve();
}

const secret = Promise.withResolvers<string>();
const onError = (error: unknown) => say('refused', String(error));
const handle = nodeHandler({ secret: () => secret.promise, store, onEvent, onError });
const server = createServer(handle).listen(Number(process.env.HOOK_PORT ?? 3000), '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;

// The secret is shown this once. Keep it as you keep your API key.
const { webhookEndpoints } = causeway;
const endpoint = await webhookEndpoints.create({ url });
secret.resolve(endpoint.secret);
say('listening', url);
try {
  await webhookEndpoints.test(endpoint.id);
  // What a receiver must withstand: the same delivery twice, and one that somebody else has signed.
  const genuine = await createTestEvent('webhook.test', {}, { secret: endpoint.secret });
  const forged = await createTestEvent('webhook.test', {}, { secret: 'whsec_of_somebody_else' });
  for (const { body, headers } of [genuine, genuine, forged]) {
    const answer = await fetch(url, { method: 'POST', body, headers });
    say(`answered ${answer.status}`, await answer.text());
  }
  await ended.promise;
} finally {
  await webhookEndpoints.delete(endpoint.id);
  server.close();
}
say('ended', `events: ${seen.size}, each handled once`);
