/** Receiving webhooks: check a delivery, handle each event once, test your own receiver. */
export type { CausewayEvent, EventOf, EventType } from '../events.ts';
export type { EventData } from '../generated/types.ts';
export {
  type ConstructOptions,
  constructEvent,
  constructEventFromRequest,
  type RawBody,
  WebhookError,
  type WebhookErrorCode,
  type WebhookHeaders,
} from './construct-event.ts';
export {
  type ExpressRequestLike,
  expressHandler,
  type FastifyLike,
  fastifyHandler,
  fetchHandler,
  type HonoContextLike,
  honoHandler,
  type NodeRequestLike,
  type NodeResponseLike,
  nextHandler,
  nodeHandler,
} from './handlers.ts';
export {
  createReceiver,
  type DeduplicationStore,
  memoryStore,
  type ReceiverAnswer,
  type ReceiverOptions,
} from './receive.ts';
export {
  createTestEvent,
  signBody,
  TEST_EVENT_TYPES,
  type TestDelivery,
  type TestEventOptions,
} from './test-events.ts';
