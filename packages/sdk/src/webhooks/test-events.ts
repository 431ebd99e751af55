import type { CausewayEvent, EventOf, EventType } from '../events.ts';
import { SAMPLE_EVENT_DATA } from '../generated/samples.ts';
import type { EventData } from '../generated/types.ts';
import {
  hmacKey,
  PREVIOUS_SIGNATURE_HEADER,
  SIGNATURE_HEADER,
  signedBytes,
  TIMESTAMP_HEADER,
} from './construct-event.ts';

export interface TestEventOptions {
  /** Signs the event as the service would. */
  readonly secret: string;
  /** Signs it as well, in the header of a rotation. */
  readonly previousSecret?: string;
  /** Unix seconds; now by default. */
  readonly timestamp?: number;
  /** To send the same event twice, give the same. */
  readonly eventId?: string;
  readonly createdAt?: string;
}

/** A delivery as the service would send it. */
export interface TestDelivery<Type extends EventType = EventType> {
  readonly event: EventOf<Type>;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A signed delivery of any event, for tests of your own receiver. What you do not give of `data` has sample values.
 *
 * @example
 * const { body, headers } = await createTestEvent('order.status.changed', { status: 'completed' }, { secret });
 * await fetch(receiverUrl, { method: 'POST', body, headers });
 */
export async function createTestEvent<Type extends EventType>(
  type: Type,
  data: Partial<EventData[Type]>,
  options: TestEventOptions,
): Promise<TestDelivery<Type>> {
  const event: EventOf<Type> = {
    event_id: options.eventId ?? `evt_${crypto.randomUUID()}`,
    event_type: type,
    created_at: options.createdAt ?? new Date().toISOString(),
    data: { ...(SAMPLE_EVENT_DATA[type] as unknown as EventData[Type]), ...data },
  };
  const body = JSON.stringify(event);
  return { event, body, headers: await signBody(body, options) };
}

/**
 * The headers that the service would send with this body.
 *
 * @example const headers = await signBody(JSON.stringify(event), { secret });
 */
export async function signBody(
  body: string | Uint8Array,
  { secret, previousSecret, timestamp = Math.floor(Date.now() / 1_000) }: TestEventOptions,
): Promise<Record<string, string>> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const sign = async (key: string) => {
    const signed = signedBytes(`${timestamp}.`, bytes);
    const mac = await crypto.subtle.sign('HMAC', await hmacKey(key, 'sign'), signed);
    return `sha256=${Array.from(new Uint8Array(mac), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  };
  return {
    'content-type': 'application/json',
    [TIMESTAMP_HEADER]: `${timestamp}`,
    [SIGNATURE_HEADER]: await sign(secret),
    ...(previousSecret === undefined ? {} : { [PREVIOUS_SIGNATURE_HEADER]: await sign(previousSecret) }),
  };
}

/** Every type that can be made. */
export const TEST_EVENT_TYPES = Object.keys(SAMPLE_EVENT_DATA) as readonly CausewayEvent['event_type'][];
