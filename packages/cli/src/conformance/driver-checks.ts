import {
  actors,
  type DriverContext,
  guesses,
  isInitiate,
  isQuote,
  jsonIn,
  Miss,
  type Opened,
  ofSandbox,
  type Session,
  took,
  withSession,
} from './driver-session.ts';
import { passOn, type RecordedCall, type Reply, type Rule } from './proxy.ts';
import type { Finding } from './receiver-steps.ts';

export interface DriverCheck {
  /** Functions of the driver without which it cannot be seen. */
  readonly needs: readonly ('openOnramp' | 'openOfframp' | 'followOrder')[];
  /** Moves the sandbox's clock: nothing else may run beside it. */
  readonly alone?: boolean;
  readonly run: (context: DriverContext) => Promise<Finding>;
}

const RETRY_AFTER_SECONDS = 1;
/** Clocks and timers are not exact to the millisecond. */
const EARLY_MS = 50;
const QUOTE_SECONDS = 60;
/** More digits than a float holds; no vendor serves it, and nothing is opened. */
const MANY_DIGITS = '90071992547409931.07';
/** The vendor accepts and does not fund, so that the runner decides when the order goes on. */
const WAITS_FOR_ESCROW = '113.03';
/** The deposit stays in escrow: the vendor does not pay. */
const STAYS_FUNDED = '113.21';
const IDLE_MS = 1_000;

/** The one order that there is to be. */
function single({ orders, told, failure }: Opened): string {
  const [order, ...more] = orders;
  if (order === undefined) throw new Miss(failure ?? 'no order was opened under the reference');
  if (more.length > 0) throw new Miss(`${orders.length} orders were opened in place of one`);
  if (failure !== undefined) throw new Miss(`the order was opened, and the driver failed: ${failure}`);
  if (told !== order.order_id)
    throw new Miss(`the driver answers the order ${told}, it is ${order.order_id}`);
  return order.order_id;
}

function once(fits: (call: RecordedCall) => boolean, act: Rule): Rule {
  let isDone = false;
  return (call, pass) => {
    if (isDone || !fits(call)) return pass();
    isDone = true;
    return act(call, pass);
  };
}

function refusal(status: number, code: string): Reply {
  const error = { code, message: 'Refused by the conformance runner.', details: {} };
  return {
    status,
    headers: { 'content-type': 'application/json', 'retry-after': `${RETRY_AFTER_SECONDS}` },
    body: JSON.stringify({ success: false, error }),
  };
}

/** The same request again, under the same key, and not too early. */
function notRepeated(calls: readonly RecordedCall[], { afterMs = 0, key = true } = {}): Finding {
  const [first, second] = calls;
  if (first === undefined) return 'it was never asked for';
  if (second === undefined) return 'the request was not repeated';
  if (key && first.idempotencyKey === undefined) return 'the request had no Idempotency-Key';
  if (key && second.idempotencyKey !== first.idempotencyKey) return 'the repeat had another Idempotency-Key';
  if (key && second.body !== first.body) return 'the repeat had another body';
  const waited = second.at - (first.answeredAt ?? first.at);
  return waited < afterMs - EARLY_MS
    ? `the repeat came after ${Math.round(waited)} ms, Retry-After said ${afterMs} ms`
    : undefined;
}

const unavailable =
  (fits: (call: RecordedCall) => boolean, status: number, code: string, key: boolean) =>
  (context: DriverContext) =>
    withSession(
      context,
      once(fits, async () => refusal(status, code)),
      async ({ open, proxy }) => {
        const opened = await open('openOnramp');
        const afterMs = RETRY_AFTER_SECONDS * 1_000;
        const reason = notRepeated(proxy.calls.filter(fits), { afterMs, key });
        if (reason !== undefined) return reason;
        single(opened);
        return undefined;
      },
    );

const lostAnswer = (context: DriverContext) =>
  withSession(
    context,
    once(isInitiate, async (_call, pass) => {
      await pass();
      return 'drop';
    }),
    async ({ open, proxy }) => {
      const opened = await open('openOnramp');
      if (opened.orders.length > 1) return `${opened.orders.length} orders were opened in place of one`;
      const reason = notRepeated(proxy.calls.filter(isInitiate));
      if (reason !== undefined) return reason;
      single(opened);
      return undefined;
    },
  );

async function expiredQuote(context: DriverContext): Promise<Finding> {
  const { client } = context;
  const before = await ofSandbox(client.sandbox.clock());
  const rule = once(isInitiate, async (_call, pass) => {
    await client.sandbox.advanceClock({ seconds: QUOTE_SECONDS + 1 });
    return pass();
  });
  try {
    return await withSession(context, rule, async ({ open, proxy }) => {
      const opened = await open('openOnramp');
      const quoted = new Set(
        proxy.calls.filter(isInitiate).map(({ body }) => (jsonIn(body) as { quote_id?: unknown })?.quote_id),
      );
      if (opened.orders.length === 0 && quoted.size < 2) {
        return `no other quote was initiated after the first had expired${opened.failure === undefined ? '' : `: ${opened.failure}`}`;
      }
      single(opened);
      return undefined;
    });
  } finally {
    // One clock for all of the sandbox: left where it was, unless it had been moved before.
    if (before.offset_seconds === 0) await ofSandbox(client.sandbox.resetClock());
  }
}

const exactAmount = (context: DriverContext) =>
  withSession(context, passOn, async ({ open, proxy }) => {
    await open('openOnramp', MANY_DIGITS);
    const [asked] = proxy.calls.filter(isQuote);
    if (asked === undefined) return 'no quote was asked for';
    const sent = (jsonIn(asked.body) as { fiat_amount?: unknown } | undefined)?.fiat_amount;
    return sent === MANY_DIGITS ? undefined : `${MANY_DIGITS} was sent as ${JSON.stringify(sent)}`;
  });

/** Fields that the API does not have yet, in every object of an answer. */
const withNewFields: Rule = async (_call, pass) => {
  const reply = await pass();
  const grow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(grow);
    if (typeof value !== 'object' || value === null) return value;
    const grown = Object.entries(value).map(([name, inner]) => [name, grow(inner)]);
    return { ...Object.fromEntries(grown), conformance_note: { added: true } };
  };
  const json = jsonIn(reply.body);
  return json === undefined ? reply : { ...reply, body: JSON.stringify(grow(json)) };
};

/** An order whose vendor has accepted, and which waits for the runner. */
async function waitingOrder(context: DriverContext, { open }: Session): Promise<string> {
  const orderId = single(await open('openOnramp', WAITS_FOR_ESCROW));
  await actors(context, orderId, 'vendor_accepts');
  return orderId;
}

const isRead = (orderId: string) => (call: RecordedCall) =>
  call.method === 'GET' && call.path.split('?')[0]?.endsWith(`/partner/orders/${orderId}`) === true;

const nextAction = (context: DriverContext) =>
  withSession(context, passOn, async (session) => {
    const { proxy, follow, step } = session;
    const orderId = await waitingOrder(context, session);
    const followed = follow(orderId);
    await actors(context, orderId, 'escrow_funded');
    await step((signal) => proxy.answered(took('confirm-payment-sent'), signal), followed).catch((error) => {
      // What was guessed says more than that nothing came of it.
      throw new Miss(guesses(proxy.calls)[0] ?? `confirm-payment-sent was not taken: ${error.message}`);
    });
    return guesses(proxy.calls)[0];
  });

/** As an order that the customer pays into an account of its own: the same status, and nothing to confirm. */
const paidOtherwise = {
  ...{ fiat_funding_source: 'own_iban', next_action: 'deposit_to_user_account' },
  ...{ allowed_actions: ['cancel'], action_required: null },
};

async function notAllowed(context: DriverContext): Promise<Finding> {
  let order = '';
  return withSession(
    context,
    (call, pass) => (isRead(order)(call) ? changedOrder(pass, paidOtherwise) : pass()),
    async (session) => {
      const { proxy, follow, step } = session;
      order = await waitingOrder(context, session);
      await actors(context, order, 'escrow_funded');
      const followed = follow(order);
      await step((signal) => proxy.answered(isRead(order), signal), followed);
      await new Promise((resolve) => setTimeout(resolve, Math.min(IDLE_MS, context.limits.stepMs)));
      return guesses(proxy.calls)[0];
    },
  );
}

/** The order as it is, but for these fields. */
async function changedOrder(
  pass: () => Promise<Reply>,
  fields: Readonly<Record<string, unknown>>,
): Promise<Reply> {
  const reply = await pass();
  const json = jsonIn(reply.body) as { data?: Record<string, unknown> } | undefined;
  if (json?.data === undefined) return reply;
  return { ...reply, body: JSON.stringify({ ...json, data: { ...json.data, ...fields } }) };
}

const unknown = {
  ...{ status: 'under_reconciliation', next_action: 'wait' },
  ...{ allowed_actions: [], action_required: null },
};

async function unknownStatus(context: DriverContext): Promise<Finding> {
  let isUnknown = true;
  let order = '';
  const rule: Rule = (call, pass) =>
    isUnknown && isRead(order)(call) ? changedOrder(pass, unknown) : pass();
  return withSession(context, rule, async (session) => {
    const { proxy, follow, step } = session;
    order = await waitingOrder(context, session);
    const followed = follow(order);
    await step((signal) => proxy.answered(isRead(order), signal), followed);
    isUnknown = false;
    await actors(context, order, 'escrow_funded');
    await step((signal) => proxy.answered(took('confirm-payment-sent'), signal), followed).catch((error) => {
      throw new Miss(guesses(proxy.calls)[0] ?? `the order did not go on: ${error.message}`);
    });
    return guesses(proxy.calls)[0];
  });
}

const refund = (context: DriverContext) =>
  withSession(context, passOn, async ({ open, follow, step, proxy }) => {
    const { client, limits } = context;
    const orderId = single(await open('openOfframp', STAYS_FUNDED));
    const followed = follow(orderId);
    const taken = (action: string) =>
      step((signal) => proxy.answered(took(action), signal), followed).catch((error) => {
        throw new Miss(`${action} was not taken: ${error.message}`);
      });
    await taken('authorize-crypto-transfer');
    await ofSandbox(client.orders.waitFor(orderId, 'crypto_received', { timeout: limits.stepMs }));
    await ofSandbox(client.orders.cancel(orderId, { reason: 'conformance' }));
    await taken('authorize-refund');
    return undefined;
  });

const keys = (context: DriverContext) =>
  withSession(context, passOn, async ({ open, proxy }) => {
    const opened = [await open('openOnramp'), await open('openOnramp')];
    const sent = proxy.calls.filter(isInitiate).map(({ idempotencyKey }) => idempotencyKey);
    if (sent.length === 0 || sent.includes(undefined)) return 'an initiate had no Idempotency-Key';
    if (new Set(sent).size === 1) return 'two orders were initiated under one Idempotency-Key';
    opened.forEach(single);
    return undefined;
  });

const opens = (context: DriverContext) =>
  withSession(context, passOn, async ({ open }) => {
    single(await open('openOnramp'));
    return undefined;
  });

const additions = (context: DriverContext) =>
  withSession(context, withNewFields, async ({ open }) => {
    single(await open('openOnramp'));
    return undefined;
  });

const OPENS = ['openOnramp'] as const;
const FOLLOWS = ['openOnramp', 'followOrder'] as const;

/** Judged by the calls that the proxy saw and by the orders that the sandbox has, not by what the driver says. */
export const DRIVER_CHECKS: Readonly<Record<string, DriverCheck>> = {
  'api.order.opens': { needs: OPENS, run: opens },
  'api.idempotency.key': { needs: OPENS, run: keys },
  'api.idempotency.lost_answer': { needs: OPENS, run: lostAnswer },
  'api.retry.unavailable': { needs: OPENS, run: unavailable(isInitiate, 503, 'SERVICE_UNAVAILABLE', true) },
  'api.retry.rate_limited': { needs: OPENS, run: unavailable(isQuote, 429, 'RATE_LIMITED', false) },
  'api.quote.expired': { needs: OPENS, alone: true, run: expiredQuote },
  'api.amounts.exact': { needs: OPENS, run: exactAmount },
  'api.answers.unknown_fields': { needs: OPENS, run: additions },
  'api.order.next_action': { needs: FOLLOWS, run: nextAction },
  'api.order.not_allowed': { needs: FOLLOWS, run: notAllowed },
  'api.order.unknown_status': { needs: FOLLOWS, run: unknownStatus },
  'api.refund.authorized': { needs: ['openOfframp', 'followOrder'], run: refund },
};
