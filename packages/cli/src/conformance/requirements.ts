/** What a check finds without help, with a look into the receiver (`--state` or the driver), or through the partner's driver. */
export type Observed = 'answer' | 'state' | 'driver';

export interface Requirement {
  readonly id: string;
  /** A miss of a MUST fails the run, a miss of a SHOULD is a warning. */
  readonly level: 'MUST' | 'SHOULD';
  /** One sentence that a good integration fulfils. */
  readonly text: string;
  /** Page and section below /docs/guides. */
  readonly guide: string;
  readonly observed: Observed;
}

export const LATEST_API_VERSION = '2026-11-01';

function must(id: string, guide: string, text: string, observed: Observed = 'answer'): Requirement {
  return { id, level: 'MUST', text, guide, observed };
}

function should(id: string, guide: string, text: string, observed: Observed = 'answer'): Requirement {
  return { id, level: 'SHOULD', text, guide, observed };
}

/**
 * Frozen: what is published for a version of the API is not changed any more. A new requirement comes with the next version,
 * so that a receiver that was conformant stays so (docs/decisions/0046).
 */
const V2026_11_01: readonly Requirement[] = [
  must('webhooks.delivery.acknowledged', 'webhooks#answer', 'A signed event is answered with 2xx.'),
  must(
    'webhooks.delivery.every_type',
    'webhooks#answer',
    'Every type of event is answered with 2xx, also where nothing is done about it.',
  ),
  must(
    'webhooks.delivery.every_status',
    'webhooks#answer',
    'Every status of an order is answered with 2xx, also of an order that is not known.',
  ),
  must(
    'webhooks.delivery.failures',
    'webhooks#answer',
    'Twenty events one after another are all answered with 2xx.',
  ),
  must(
    'webhooks.delivery.burst',
    'webhooks#answer',
    'Fifty events at once are all answered with 2xx in time.',
  ),
  must('webhooks.answer.no_redirect', 'webhooks#answer', 'No event is answered with a redirect.'),
  must('webhooks.answer.complete', 'webhooks#answer', 'The whole answer arrives, not only its head.'),
  must('webhooks.answer.in_time', 'webhooks#answer', 'An event is answered within 10 seconds.'),
  should('webhooks.answer.prompt', 'webhooks#answer', 'An event is answered within 2 seconds.'),

  must('webhooks.signature.missing', 'webhooks#verify', 'A delivery without a signature is refused.'),
  must('webhooks.signature.wrong', 'webhooks#verify', 'A delivery with a wrong signature is refused.'),
  must(
    'webhooks.signature.truncated',
    'webhooks#verify',
    'A signature that is only the beginning of the right one is refused.',
  ),
  must(
    'webhooks.signature.other_secret',
    'webhooks#verify',
    'A signature made with another secret, or with an empty one, is refused.',
  ),
  must(
    'webhooks.signature.altered_body',
    'webhooks#verify',
    'A body that was altered after it was signed is refused.',
  ),
  must(
    'webhooks.signature.altered_timestamp',
    'webhooks#verify',
    'A timestamp that was altered after it was signed is refused.',
  ),
  must(
    'webhooks.signature.raw_body',
    'webhooks#verify',
    'The signature is checked over the raw bytes, however the JSON is written.',
  ),

  must('webhooks.timestamp.missing', 'webhooks#verify', 'A delivery without a timestamp is refused.'),
  must('webhooks.timestamp.garbled', 'webhooks#verify', 'A signed timestamp that is no number is refused.'),
  must('webhooks.timestamp.old', 'webhooks#verify', 'A signed delivery that is an hour old is refused.'),
  should('webhooks.timestamp.future', 'webhooks#verify', 'A signed delivery from an hour ahead is refused.'),
  should(
    'webhooks.timestamp.skew',
    'webhooks#verify',
    'A delivery half a minute old or ahead is acknowledged: clocks differ.',
  ),

  must(
    'webhooks.rotation.previous',
    'webhooks#rotate-the-secret',
    'During a rotation the signature with the previous secret is enough.',
  ),
  must(
    'webhooks.rotation.current',
    'webhooks#rotate-the-secret',
    'During a rotation the signature with the new secret is enough.',
  ),
  must(
    'webhooks.rotation.neither',
    'webhooks#rotate-the-secret',
    'Two signatures of which neither fits are refused.',
  ),
  must(
    'webhooks.rotation.ended',
    'webhooks#rotate-the-secret',
    'A secret whose time has ended is refused (give it as CAUSEWAY_WEBHOOK_ENDED_SECRET).',
  ),

  must('webhooks.duplicate.acknowledged', 'webhooks#answer', 'A repeat of an event is answered with 2xx.'),
  must(
    'webhooks.duplicate.concurrent',
    'webhooks#answer',
    'Of two deliveries of an event at once one is acknowledged, the other too or put off (409), and a repeat is acknowledged.',
  ),
  must(
    'webhooks.duplicate.handled_once',
    'webhooks#answer',
    'An event that comes twice is handled once.',
    'state',
  ),
  must(
    'webhooks.duplicate.concurrent_once',
    'webhooks#answer',
    'An event that comes twice at once is handled once.',
    'state',
  ),
  must(
    'webhooks.order.late_acknowledged',
    'webhooks#answer',
    'An older status that comes after a newer one is answered with 2xx.',
  ),
  must(
    'webhooks.order.not_overwritten',
    'webhooks#answer',
    'An older status that comes after a newer one does not overwrite it.',
    'state',
  ),
  must('webhooks.refused.not_handled', 'webhooks#verify', 'What is refused is not handled.', 'state'),
  should(
    'webhooks.refused.client_error',
    'webhooks#verify',
    'What is refused is answered with 4xx, not as a failure of the receiver.',
  ),

  should(
    'webhooks.event.unknown_type',
    'conformance#room-for-what-is-new',
    'A type that is not known yet is answered with 2xx.',
  ),
  must(
    'webhooks.event.unknown_fields',
    'conformance#room-for-what-is-new',
    'Fields that are not known yet do no harm.',
  ),
  must(
    'webhooks.event.unknown_status',
    'orders#on-ramp-fiat-to-crypto',
    'A status that is not known yet is answered with 2xx.',
  ),

  should('webhooks.body.empty', 'webhooks#verify', 'A signed empty body is refused with 4xx.'),
  should(
    'webhooks.body.invalid_json',
    'webhooks#verify',
    'A signed body that is no JSON is refused with 4xx.',
  ),
  should(
    'webhooks.body.not_an_event',
    'webhooks#verify',
    'A signed body that is JSON but no event is refused with 4xx.',
  ),
  must(
    'webhooks.body.too_large',
    'webhooks#verify',
    'An unsigned body of 2 MiB is refused, and the receiver goes on.',
  ),
  should('webhooks.body.large_event', 'webhooks#answer', 'A signed event of 64 KiB is answered with 2xx.'),
  should(
    'webhooks.request.content_type',
    'webhooks#verify',
    'Another content type is acknowledged or refused, and is no failure.',
  ),
  should('webhooks.request.method', 'webhooks#set-up', 'A GET is not acknowledged as a delivery.'),

  must('api.order.opens', 'orders#on-ramp-fiat-to-crypto', 'The driver opens exactly one order.', 'driver'),
  must(
    'api.idempotency.key',
    'orders#on-ramp-fiat-to-crypto',
    'Every initiate carries an Idempotency-Key, another one for another order.',
    'driver',
  ),
  must(
    'api.idempotency.lost_answer',
    'orders#on-ramp-fiat-to-crypto',
    'After a lost answer the same request is repeated under the same key, and there is one order.',
    'driver',
  ),
  must(
    'api.retry.unavailable',
    'conformance#repeats',
    'A 503 is repeated under the same key, not before Retry-After says.',
    'driver',
  ),
  must(
    'api.retry.rate_limited',
    'conformance#repeats',
    'A 429 is repeated, not before Retry-After says.',
    'driver',
  ),
  must(
    'api.quote.expired',
    'quotes#at-initiate',
    'A quote that has expired is replaced by a new one, and there is one order.',
    'driver',
  ),
  must(
    'api.amounts.exact',
    'quotes#for-partners',
    'Amounts are sent as decimal text, to the last digit.',
    'driver',
  ),
  must(
    'api.answers.unknown_fields',
    'conformance#room-for-what-is-new',
    'Fields that are not known yet do no harm.',
    'driver',
  ),
  must(
    'api.order.next_action',
    'orders#on-ramp-fiat-to-crypto',
    'The action that next_action names is taken, and no other before it.',
    'driver',
  ),
  must(
    'api.order.not_allowed',
    'orders#on-ramp-fiat-to-crypto',
    'Nothing is sent that allowed_actions does not have, whatever the status; some orders are paid another way.',
    'driver',
  ),
  must(
    'api.order.unknown_status',
    'orders#on-ramp-fiat-to-crypto',
    'A status that is not known yet means to wait, and the order goes on afterwards.',
    'driver',
  ),
  must(
    'api.refund.authorized',
    'orders#off-ramp-crypto-to-fiat',
    'An order that owes a refund gets a signed authorize-refund.',
    'driver',
  ),
];

export const REQUIREMENTS: Readonly<Record<string, readonly Requirement[]>> = {
  [LATEST_API_VERSION]: V2026_11_01,
};

/** A check whose failure makes the others of its kind prove nothing: a receiver that refuses everything is not safe, it is broken. */
export const PREREQUISITES = {
  webhooks: 'webhooks.delivery.acknowledged',
  api: 'api.order.opens',
} as const;

export type Part = keyof typeof PREREQUISITES;

export function partOf({ id }: Pick<Requirement, 'id'>): Part {
  return id.startsWith('api.') ? 'api' : 'webhooks';
}

/** Statuses that `order.status.changed` carries in this version. */
export const ORDER_STATUSES = [
  ...['created', 'awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer'],
  ...['fiat_transfer_pending', 'awaiting_crypto_transfer_authorization', 'crypto_received'],
  ...['fiat_payment_started', 'fiat_payment_review_started', 'awaiting_fiat_received_confirmation'],
  ...['completed', 'cancelled', 'failed', 'dispute_started'],
  ...['send_out_pending', 'send_out_completed', 'send_out_failed'],
] as const;
