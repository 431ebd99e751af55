import { firstOf } from '../signals.ts';
import { HarnessFault } from './delivery.ts';

/** A look into the partner's receiver: what answers cannot tell. */
export interface StateProbe {
  /** How often the event was handled; undefined where this cannot be told. */
  readonly handled?: (eventId: string) => Promise<number>;
  /** The status that is kept for the order; null for an order that is not kept. */
  readonly orderStatus?: (orderId: string) => Promise<string | null>;
}

/** `GET URL?event_id=…` answers `{ "handled": 1 }`, `GET URL?order_id=…` answers `{ "status": "completed" }`. */
export function stateOfUrl(url: URL, timeoutMs: number, signal: AbortSignal): StateProbe {
  async function ask(name: string, value: string): Promise<Record<string, unknown>> {
    const address = new URL(url);
    address.searchParams.set(name, value);
    try {
      const response = await fetch(address, {
        signal: firstOf(signal, AbortSignal.timeout(timeoutMs)),
      });
      if (response.ok) return (await response.json()) as Record<string, unknown>;
      throw new Error(`answered ${response.status}`);
    } catch (error) {
      throw new HarnessFault(`--state cannot be read: ${(error as Error).message}`);
    }
  }
  return {
    async handled(eventId) {
      return asCount((await ask('event_id', eventId)).handled, '--state');
    },
    async orderStatus(orderId) {
      return asStatus((await ask('order_id', orderId)).status, '--state');
    },
  };
}

export function asCount(value: unknown, source: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new HarnessFault(`${source} says “handled” as a whole number, not ${JSON.stringify(value)}`);
}

export function asStatus(value: unknown, source: string): string | null {
  if (value === null || value === undefined || typeof value === 'string') return value ?? null;
  throw new HarnessFault(`${source} says “status” as text or null, not ${JSON.stringify(value)}`);
}
