import { Agent } from 'undici';
import { hmacSha256Hex } from '../../lib/crypto.ts';
import { type AddressPolicy, guardedLookup, isLoopbackHost, judgeUrl } from './webhook-address.ts';

/** Signs a body and posts it: at most ten seconds in all, no redirects, kept-alive connections. */
export interface WebhookSender {
  send(message: { url: string; secret: string; body: string }): Promise<SendResult>;
  close(): Promise<void>;
}

export type SendResult =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string };

const TOTAL_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_HOST = 16;
const MAX_ANSWER_BYTES = 64 * 1024;

export function createWebhookSender(policy: AddressPolicy, wallSeconds: () => number): WebhookSender {
  const connect = { lookup: guardedLookup(policy), timeout: TOTAL_TIMEOUT_MS };
  const common = { connections: CONNECTIONS_PER_HOST, pipelining: 1, keepAliveTimeout: 30_000 };
  const agent = new Agent({ ...common, connect });
  // Only this machine itself may show a certificate that nobody has signed, and only where loopback is allowed.
  const loopbackAgent = new Agent({ ...common, connect: { ...connect, rejectUnauthorized: false } });

  return {
    async send({ url: text, secret, body }) {
      const judged = judgeUrl(text, policy);
      if ('problem' in judged) return { kind: 'failed', reason: judged.problem };
      const { url } = judged;
      const timestamp = String(wallSeconds());
      try {
        const response = await (isLoopbackHost(url.hostname) ? loopbackAgent : agent).request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'Causeway-Webhooks/1',
            'x-service-timestamp': timestamp,
            'x-service-signature': `sha256=${hmacSha256Hex(secret, `${timestamp}.${body}`)}`,
          },
          body,
          signal: AbortSignal.timeout(TOTAL_TIMEOUT_MS),
        });
        await response.body.dump({ limit: MAX_ANSWER_BYTES });
        return { kind: 'answered', status: response.statusCode };
      } catch (error) {
        return { kind: 'failed', reason: error instanceof Error ? error.message : 'request failed' };
      }
    },
    async close() {
      await Promise.all([agent.destroy(), loopbackAgent.destroy()]);
    },
  };
}
