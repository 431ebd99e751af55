/** The Causeway API. Signing is in `@causeway/sdk/signing`, webhooks are in `@causeway/sdk/webhooks`. */
export {
  Causeway,
  type EventPage,
  type Events,
  type ListedEvent,
  type Orders,
  type Vendor,
  type VendorEvent,
  type VendorEvents,
} from './client.ts';
export {
  CausewayError,
  type CausewayErrorCode,
  type ClientErrorCode,
  isCausewayError,
} from './errors.ts';
export type { CausewayEvent, EventOf, EventType } from './events.ts';
export type * from './generated/resources.ts';
export type * from './generated/types.ts';
export type { List } from './pagination.ts';
export type { Streamed, StreamOptions } from './stream.ts';
export type { ClientOptions, RequestOptions } from './transport.ts';
export type { WaitOptions } from './wait-for.ts';
