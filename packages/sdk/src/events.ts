import type { EventData } from './generated/types.ts';

export type EventType = keyof EventData;

/** One event, as webhooks and the stream carry it. */
export interface EventOf<Type extends EventType> {
  /** The same in every delivery: de-duplicate by it. */
  readonly event_id: string;
  readonly event_type: Type;
  /** ISO 8601, UTC */
  readonly created_at: string;
  readonly data: EventData[Type];
}

/**
 * Any event; `switch (event.event_type)` narrows `data`. New types may be added to the API at any time: leave what falls
 * through to `default` alone, and acknowledge it.
 */
export type CausewayEvent = { [Type in EventType]: EventOf<Type> }[EventType];
