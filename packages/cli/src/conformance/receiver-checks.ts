import { TEST_EVENT_TYPES } from '@causeway/sdk/webhooks';
import { type Answer, makeEvent, signed } from './delivery.ts';
import {
  ALIEN_SECRET,
  ANOTHER_ALIEN_SECRET,
  acknowledges,
  acknowledgesAll,
  alteredBody,
  answersClientError,
  type Check,
  concurrently,
  type Finding,
  goodDelivery,
  HOUR,
  isSuccess,
  notAcknowledged,
  notClientError,
  notRefused,
  nowSeconds,
  oddlyWritten,
  pause,
  type ReceiverContext,
  refuses,
  repeats,
  SIGNATURE,
  signatureOf,
  signedWithEmptySecret,
  slowest,
  stamped,
  TIMESTAMP,
  withHeader,
  withoutSignature,
  wrongSignature,
} from './receiver-steps.ts';
import { ORDER_STATUSES } from './requirements.ts';

const CONCURRENT = 50;
const IN_A_ROW = 20;
const SETTLE_MS = 150;
/** Not yet: the service delivers again, and finds it handled then. */
const PUT_OFF = [409, 425, 429, 503];

const twiceAtOnce: Check = async (context) => {
  const { answers, send } = await concurrently(context);
  const reasons = answers.map((answer) => notAcknowledged(answer, context.limits));
  if (!reasons.includes(undefined)) return `neither was acknowledged: ${reasons[0]}`;
  const failed = answers.findIndex(
    (answer, index) =>
      reasons[index] !== undefined && !(answer.kind === 'answered' && PUT_OFF.includes(answer.status)),
  );
  if (failed >= 0) return `one of two at once: ${reasons[failed]}`;
  const repeated = notAcknowledged(await send(), context.limits);
  return repeated === undefined ? undefined : `a repeat after two at once: ${repeated}`;
};

const notSeen = { notObservable: 'only a look inside tells: give --state, or handled() in the driver' };
const statusNotSeen = {
  notObservable: 'only a look inside tells: give --state, or orderStatus() in the driver',
};

/** Handled exactly so often: waits for the first time, then whether there is one more. */
async function handledTimes(context: ReceiverContext, eventId: string, times: number): Promise<Finding> {
  const { handled } = context.state;
  if (handled === undefined) return notSeen;
  const until = performance.now() + context.limits.stepMs;
  while ((await handled(eventId)) < times && performance.now() < until) await pause(50);
  await pause(SETTLE_MS);
  const count = await handled(eventId);
  return count === times ? undefined : `the event was handled ${count} times`;
}

const handledOnce =
  (deliver: (context: ReceiverContext) => Promise<{ event: { event_id: string } }>): Check =>
  async (context) => {
    if (context.state.handled === undefined) return notSeen;
    const { event } = await deliver(context);
    return handledTimes(context, event.event_id, 1);
  };

async function reordered(
  context: ReceiverContext,
  between: (orderId: string) => Promise<unknown>,
): Promise<Answer> {
  const orderId = crypto.randomUUID();
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const of = (status: string, ms: number) =>
    goodDelivery(context, { data: { order_id: orderId, status }, createdAt: at(ms) });
  const newer = await context.receiver.send(await of('completed', 0));
  const reason = notAcknowledged(newer, context.limits);
  if (reason !== undefined) return newer;
  await between(orderId);
  return context.receiver.send(await of('fiat_transfer_pending', -60_000));
}

const notOverwritten: Check = async (context) => {
  const { orderStatus } = context.state;
  if (orderStatus === undefined) return statusNotSeen;
  let order = '';
  let before: string | null = null;
  await reordered(context, async (orderId) => {
    order = orderId;
    const until = performance.now() + context.limits.promptMs;
    do before = await orderStatus(orderId);
    while (before === null && performance.now() < until && (await pause(50)) === undefined);
  });
  if (before === null)
    return { notObservable: 'the receiver keeps no status of orders that it did not open' };
  await pause(SETTLE_MS);
  const after = await orderStatus(order);
  return after === before ? undefined : `the order was ${before} and is ${after} after an older event`;
};

const refusedNotHandled: Check = async (context) => {
  if (context.state.handled === undefined) return notSeen;
  const event = await makeEvent({});
  await context.receiver.send(await signed(JSON.stringify(event), ALIEN_SECRET));
  return handledTimes(context, event.event_id, 0);
};

const refusedWithClientError: Check = async (context) => {
  for (const make of [withoutSignature, wrongSignature, stamped(-HOUR)]) {
    const answer = await context.receiver.send(await make(context));
    // What is acknowledged instead is another check's to find.
    if (answer.kind === 'answered' && isSuccess(answer.status)) continue;
    const reason = notClientError(answer, context.limits);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

const tooLarge: Check = async (context) => {
  const answer = await context.receiver.send({
    body: new Uint8Array(2 * 1024 * 1024).fill(0x20),
    headers: { 'content-type': 'application/json' },
  });
  // Cutting off whoever sends too much is a refusal as well.
  return answer.kind === 'cut_off' ? undefined : notRefused(answer, context.limits);
};

const inARow: Check = async (context) => {
  for (let number = 1; number <= IN_A_ROW; number++) {
    const reason = notAcknowledged(await context.receiver.send(await goodDelivery(context)), context.limits);
    if (reason !== undefined) return `event ${number} of ${IN_A_ROW}: ${reason}`;
  }
  return undefined;
};

/** Each check sends what the service would send, or never would, and judges the answer. */
export const RECEIVER_CHECKS: Readonly<Record<string, Check>> = {
  'webhooks.delivery.acknowledged': acknowledges((context) =>
    goodDelivery(context, { type: 'webhook.test' }),
  ),
  'webhooks.delivery.every_type': (context) =>
    acknowledgesAll(
      context,
      TEST_EVENT_TYPES.map((type) => ({ type, name: type })),
    ),
  'webhooks.delivery.every_status': (context) =>
    acknowledgesAll(
      context,
      ORDER_STATUSES.map((status) => ({ data: { status }, name: status })),
    ),
  'webhooks.delivery.failures': inARow,
  'webhooks.delivery.burst': (context) =>
    acknowledgesAll(
      context,
      Array.from({ length: CONCURRENT }, (_, number) => ({ name: `event ${number + 1}` })),
    ),
  'webhooks.answer.no_redirect': async (context) => {
    const answer = await context.receiver.send(await goodDelivery(context));
    const isRedirect = answer.kind === 'answered' && answer.status >= 300 && answer.status < 400;
    return isRedirect ? `it was answered with ${answer.status}; deliveries do not follow it` : undefined;
  },
  'webhooks.answer.complete': async (context) => {
    const answer = await context.receiver.send(await goodDelivery(context));
    const isHalf = (answer.kind === 'timeout' || answer.kind === 'cut_off') && answer.status !== undefined;
    return isHalf ? `the head said ${answer.status}, and the rest did not come` : undefined;
  },
  'webhooks.answer.in_time': async (context) => {
    const answer = await slowest(context);
    return answer.kind === 'timeout' ? notAcknowledged(answer, context.limits) : undefined;
  },
  'webhooks.answer.prompt': async (context) => {
    const { ms } = await slowest(context);
    return ms > context.limits.promptMs ? `the slowest of three answers took ${ms} ms` : undefined;
  },

  'webhooks.signature.missing': refuses(withoutSignature),
  'webhooks.signature.wrong': refuses(wrongSignature),
  'webhooks.signature.truncated': refuses(
    (context) => withHeader(context, (headers) => ({ [SIGNATURE]: signatureOf(headers).slice(0, 15) })),
    (context) => withHeader(context, () => ({ [SIGNATURE]: 'sha256=' })),
  ),
  'webhooks.signature.other_secret': refuses(
    async () => signed(JSON.stringify(await makeEvent({})), ALIEN_SECRET),
    async () => signedWithEmptySecret(JSON.stringify(await makeEvent({}))),
  ),
  'webhooks.signature.altered_body': refuses(alteredBody),
  'webhooks.signature.altered_timestamp': refuses(async (context) => {
    const { body, headers } = await stamped(-30)(context);
    return { body, headers: { ...headers, [TIMESTAMP]: `${nowSeconds()}` } };
  }),
  'webhooks.signature.raw_body': acknowledges(oddlyWritten),

  'webhooks.timestamp.missing': refuses((context) => withHeader(context, () => ({ [TIMESTAMP]: undefined }))),
  'webhooks.timestamp.garbled': refuses(
    async ({ secret }) => signed(JSON.stringify(await makeEvent({})), secret, { timestamp: 'yesterday' }),
    async ({ secret }) => signed(JSON.stringify(await makeEvent({})), secret, { timestamp: 'NaN' }),
  ),
  'webhooks.timestamp.old': refuses(stamped(-HOUR)),
  'webhooks.timestamp.future': refuses(stamped(HOUR)),
  'webhooks.timestamp.skew': async (context) =>
    (await acknowledges(stamped(-30))(context)) ?? (await acknowledges(stamped(30))(context)),

  'webhooks.rotation.previous': acknowledges(async ({ secret }) =>
    signed(JSON.stringify(await makeEvent({})), ALIEN_SECRET, { previous: secret }),
  ),
  'webhooks.rotation.current': acknowledges(async ({ secret }) =>
    signed(JSON.stringify(await makeEvent({})), secret, { previous: ALIEN_SECRET }),
  ),
  'webhooks.rotation.neither': refuses(async () =>
    signed(JSON.stringify(await makeEvent({})), ALIEN_SECRET, { previous: ANOTHER_ALIEN_SECRET }),
  ),
  'webhooks.rotation.ended': async (context) => {
    const { endedSecret } = context;
    if (endedSecret === undefined) return { notObservable: 'CAUSEWAY_WEBHOOK_ENDED_SECRET is not given' };
    return refuses(async () => signed(JSON.stringify(await makeEvent({})), endedSecret))(context);
  },

  'webhooks.duplicate.acknowledged': async (context) => {
    const { send } = await repeats(context);
    const first = notAcknowledged(await send(), context.limits);
    const second = first ?? notAcknowledged(await send(), context.limits);
    return second === undefined
      ? undefined
      : `${first === undefined ? 'the repeat' : 'the first'}: ${second}`;
  },
  'webhooks.duplicate.concurrent': twiceAtOnce,
  'webhooks.duplicate.handled_once': handledOnce(async (context) => {
    const { event, send } = await repeats(context);
    await send();
    await send();
    return { event };
  }),
  'webhooks.duplicate.concurrent_once': handledOnce(concurrently),
  'webhooks.order.late_acknowledged': async (context) =>
    notAcknowledged(await reordered(context, async () => {}), context.limits),
  'webhooks.order.not_overwritten': notOverwritten,
  'webhooks.refused.not_handled': refusedNotHandled,
  'webhooks.refused.client_error': refusedWithClientError,

  'webhooks.event.unknown_type': acknowledges(async ({ secret }) => {
    const event = { ...(await makeEvent({})), event_type: 'order.weather.changed' };
    return signed(JSON.stringify(event), secret);
  }),
  'webhooks.event.unknown_fields': acknowledges(async ({ secret }) => {
    const event = await makeEvent({ data: { conformance_note: { nested: [1, null] } } });
    return signed(JSON.stringify({ ...event, conformance_batch: 7 }), secret);
  }),
  'webhooks.event.unknown_status': acknowledges((context) =>
    goodDelivery(context, { data: { status: 'under_reconciliation' } }),
  ),

  'webhooks.body.empty': answersClientError(''),
  'webhooks.body.invalid_json': answersClientError('{"event_id":"evt_1",'),
  'webhooks.body.not_an_event': answersClientError('["evt_1"]'),
  'webhooks.body.too_large': tooLarge,
  'webhooks.body.large_event': acknowledges((context) =>
    goodDelivery(context, { type: 'webhook.test', data: { message: 'a'.repeat(64 * 1024) } }),
  ),
  'webhooks.request.content_type': async (context) => {
    const delivery = await withHeader(context, () => ({ 'content-type': 'text/plain' }));
    const answer = await context.receiver.send(delivery);
    if (answer.kind !== 'answered') return notAcknowledged(answer, context.limits);
    return answer.status >= 500 ? `it was answered with ${answer.status}` : undefined;
  },
  'webhooks.request.method': async (context) => {
    const { headers } = await goodDelivery(context);
    const { 'content-type': _unused, ...rest } = headers;
    return notRefused(
      await context.receiver.send({ body: '', headers: rest, method: 'GET' }),
      context.limits,
    );
  },
};
