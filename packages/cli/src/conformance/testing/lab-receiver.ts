import { createHmac } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CausewayEvent } from '@causeway/sdk/webhooks';

export const SECRET = 'whsec_of_the_receiver';
export const ENDED = 'whsec_rotated_out';

/** What a receiver keeps, and what `--state` would tell of it. */
export class Kept {
  readonly handled = new Map<string, number>();
  readonly orders = new Map<string, { status: string; at: string }>();
  readonly seen = new Set<string>();
  readonly state = {
    handled: async (id: string) => this.handled.get(id) ?? 0,
    orderStatus: async (id: string) => this.orders.get(id)?.status ?? null,
  };

  handle({ event_id: id, created_at: at, data }: CausewayEvent, overwrites = false): number {
    this.handled.set(id, (this.handled.get(id) ?? 0) + 1);
    if (!('order_id' in data)) return 200;
    const known = this.orders.get(data.order_id);
    if (overwrites || known === undefined || known.at < at)
      this.orders.set(data.order_id, { status: data.status, at });
    return 200;
  }
}

/** A receiver by hand, in parts, each of which a fault replaces. */
export interface Parts {
  readonly first: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly isFresh: (timestamp: string | undefined) => boolean;
  readonly isGenuine: (body: Buffer, request: IncomingMessage) => boolean;
  readonly parse: (body: Buffer) => CausewayEvent | undefined;
  readonly refusal: number;
  readonly beforeChecks: (body: Buffer, kept: Kept) => unknown;
  readonly limit: number;
  readonly handle: (event: CausewayEvent, kept: Kept) => Promise<number> | number;
  readonly answer: (status: number, response: ServerResponse) => unknown;
}

export const headerOf = ({ headers }: IncomingMessage, name: string) =>
  headers[`x-service-${name}`] as string | undefined;
const hmac = (secret: string, body: Buffer | string, timestamp: string | undefined) =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
export const age = (timestamp: string | undefined) => Date.now() / 1_000 - Number(timestamp);
export const signatures = (request: IncomingMessage) =>
  [headerOf(request, 'signature'), headerOf(request, 'signature-previous')].filter(
    (one) => one !== undefined,
  );
export const expected = (body: Buffer | string, request: IncomingMessage, secret = SECRET) =>
  hmac(secret, body, headerOf(request, 'timestamp'));

export function handleOnce(event: CausewayEvent, kept: Kept): number {
  if (kept.seen.has(event.event_id)) return 200;
  kept.seen.add(event.event_id);
  return kept.handle(event);
}

export const GOOD: Parts = {
  first(request, response) {
    if (request.method !== 'POST') response.writeHead(405).end();
    return request.method !== 'POST';
  },
  isFresh: (timestamp) => Math.abs(age(timestamp)) <= 300,
  isGenuine: (body, request) => signatures(request).includes(expected(body, request)),
  parse(body) {
    try {
      const event = JSON.parse(body.toString());
      return typeof event?.event_id === 'string' ? event : undefined;
    } catch {
      return undefined;
    }
  },
  refusal: 400,
  beforeChecks: () => {},
  limit: 1024 * 1024,
  handle: handleOnce,
  answer: (status, response) => response.writeHead(status).end(),
};

export function receiverOf(parts: Parts, kept: Kept): RequestListener {
  return async (request, response) => {
    if (parts.first(request, response)) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (body.length > parts.limit) return parts.answer(413, response);
    parts.beforeChecks(body, kept);
    if (!parts.isGenuine(body, request) || !parts.isFresh(headerOf(request, 'timestamp'))) {
      return parts.answer(parts.refusal, response);
    }
    try {
      const event = parts.parse(body);
      return parts.answer(event === undefined ? 400 : await parts.handle(event, kept), response);
    } catch {
      return parts.answer(500, response);
    }
  };
}
