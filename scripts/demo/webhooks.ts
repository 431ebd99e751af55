import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Causeway, CausewayEvent } from '@causeway/sdk';
import { nodeHandler } from '@causeway/sdk/webhooks';
import { type Narrator, shortened } from './narrator.ts';

export interface Receiver {
  /** Webhooks of this order are printed. */
  follow(orderId: string): void;
  /** Waits for these: an order's id and a status, or its id and a type of event. False where they do not come. */
  hasReceived(awaited: readonly string[]): Promise<boolean>;
  count(): number;
  refused(): number;
  stop(): Promise<void>;
}

const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 1_000;

/** A receiver with an endpoint of its own, which is removed at the end. What is not signed with its secret is refused. */
export async function receiveWebhooks(causeway: Causeway, narrator: Narrator): Promise<Receiver> {
  const secret = Promise.withResolvers<string>();
  const followed = new Set<string>();
  const seen = new Set<string>();
  let count = 0;
  let refused = 0;
  let wake = () => {};

  function onEvent({ event_type: type, data }: CausewayEvent): void {
    const { order_id: orderId = '', status = '' } = data as { order_id?: string; status?: string };
    seen.add(`${orderId} ${status}`).add(`${orderId} ${type}`);
    wake();
    if (!followed.has(orderId)) return;
    count += 1;
    narrator.webhook(shortened(`${type} ${orderId} ${status}`));
  }
  const onError = () => {
    refused += 1;
  };
  const server = createServer(nodeHandler({ secret: () => secret.promise, onEvent, onError }));
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  const endpoint = await causeway.webhookEndpoints.create({ url });
  secret.resolve(endpoint.secret);

  return {
    follow: (orderId) => void followed.add(orderId),
    count: () => count,
    refused: () => refused,
    async hasReceived(awaited) {
      const hasAll = () => awaited.every((one) => seen.has(one));
      for (const deadline = performance.now() + PATIENCE_MS; !hasAll() && performance.now() < deadline; ) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, LOOK_AGAIN_MS);
        });
      }
      return hasAll();
    },
    async stop() {
      // A sandbox that is gone already has no endpoint either.
      await causeway.webhookEndpoints.delete(endpoint.id).catch(() => {});
      server.close();
      server.closeAllConnections();
    },
  };
}
