import { type Causeway, isCausewayError, type Order } from '@causeway/sdk';
import { firstOf } from '../signals.ts';
import { HarnessFault } from './delivery.ts';
import type { Driver } from './driver.ts';
import { type RecordedCall, type RecordingProxy, type Rule, startProxy } from './proxy.ts';
import type { Finding, Limits } from './receiver-steps.ts';
import type { Trace } from './trace.ts';

export interface DriverContext {
  readonly driver: Driver;
  /** Straight to the sandbox, past the proxy: the runner's own. */
  readonly client: Causeway;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly limits: Limits;
  readonly signal: AbortSignal;
  readonly trace: Trace;
  /** A customer who may trade, and where fiat is paid to; made once a run. */
  readonly customer: () => Promise<{ readonly userId: string; readonly paymentDetailsId: number }>;
  /** References of the orders of this run: what is left open is cancelled at its end. */
  readonly references: string[];
}

/** One check's work with the driver, behind a proxy of its own. */
export interface Session {
  readonly proxy: RecordingProxy;
  /** Lets the driver open an order, and says what became of it. */
  open(kind: 'openOnramp' | 'openOfframp', fiatAmount?: string): Promise<Opened>;
  /** Starts `followOrder`; it ends with the session. */
  follow(orderId: string): Followed;
  /** Within one step, for whatever the driver is to do. */
  step<Result>(work: (signal: AbortSignal) => Promise<Result>, followed?: Followed): Promise<Result>;
}

export interface Opened {
  readonly orders: readonly Order[];
  /** What the driver answered as `orderId`. */
  readonly told: unknown;
  /** What it threw. */
  readonly failure: string | undefined;
}

export interface Followed {
  /** Rejects with `Miss` when `followOrder` throws, resolves when it returns: nothing is left to do then. */
  readonly ended: Promise<void>;
}

/** The partner's code did not do what it must; the message is the reason. */
export class Miss extends Error {
  override readonly name = 'Miss';
}

const LAST_REQUEST_MS = 1_000;

export async function withSession(
  context: DriverContext,
  rule: Rule,
  work: (session: Session) => Promise<Finding>,
): Promise<Finding> {
  const { driver, client, baseUrl, apiKey, limits, references } = context;
  const proxy = await startProxy(baseUrl, rule, context.trace);
  const done = new AbortController();
  const signal = firstOf(done.signal, context.signal);
  const service = { baseUrl: proxy.url, apiKey, signal };

  async function step<Result>(
    run: (signal: AbortSignal) => Promise<Result>,
    followed?: Followed,
  ): Promise<Result> {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new Miss(`nothing came of it within ${limits.stepMs / 1_000} s`)),
      limits.stepMs,
    );
    const given = firstOf(late.signal, signal);
    const over = new Promise<never>((_resolve, reject) => {
      given.addEventListener('abort', () => reject(given.reason), { once: true });
    });
    // A driver that throws has given up; one that returns may have its last request under way.
    const returned = async () => {
      await followed?.ended;
      if (followed === undefined) return over;
      await new Promise((resolve) => setTimeout(resolve, Math.min(LAST_REQUEST_MS, limits.stepMs)));
      throw new Miss('followOrder returned before');
    };
    const failed = returned();
    try {
      return await Promise.race([run(given), over, failed]);
    } finally {
      clearTimeout(timer);
      over.catch(() => {});
      failed.catch(() => {});
    }
  }

  const session: Session = {
    proxy,
    step,
    async open(kind, fiatAmount = '100.00') {
      const open = driver[kind];
      if (open === undefined) throw new Miss(`the driver has no ${kind}`);
      const { userId, paymentDetailsId } = await context.customer();
      const referenceId = `conformance-${crypto.randomUUID()}`;
      references.push(referenceId);
      const request = { fiatAmount, fiatCurrency: 'EUR', cryptoCurrency: 'USDC', referenceId, userId };
      let told: unknown;
      let failure: string | undefined;
      try {
        const answer = await step(async () => open({ ...service, ...request, paymentDetailsId }));
        told = (answer as { orderId?: unknown } | null | undefined)?.orderId;
      } catch (error) {
        failure = messageOf(error);
      }
      return { told, failure, orders: await ordersOf(client, referenceId) };
    },
    follow(orderId) {
      const { followOrder } = driver;
      if (followOrder === undefined) throw new Miss('the driver has no followOrder');
      const ended = Promise.resolve()
        .then(() => followOrder({ ...service, orderId }))
        .then(
          () => {},
          (error: unknown) => {
            // What ends because the check is over is no failure.
            if (!signal.aborted) throw new Miss(`followOrder gave up: ${messageOf(error)}`);
          },
        );
      ended.catch(() => {});
      return { ended };
    },
  };
  try {
    return await work(session);
  } catch (error) {
    if (error instanceof Miss) return error.message;
    throw error;
  } finally {
    done.abort(new Error('the check is over'));
    await proxy.close();
  }
}

/** What the runner itself asks of the sandbox: a failure is none of the partner's. */
export async function ofSandbox<Result>(work: PromiseLike<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new HarnessFault(`the sandbox: ${messageOf(error)}`);
  }
}

export async function ordersOf(client: Causeway, referenceId: string): Promise<readonly Order[]> {
  return (await ofSandbox(client.orders.list({ reference_id: referenceId, limit: 10 }))).orders;
}

/** Makes the simulated actors go on, whether or not they do so by themselves. */
export async function actors(
  { client }: DriverContext,
  orderId: string,
  ...events: readonly ('vendor_accepts' | 'escrow_funded')[]
): Promise<void> {
  for (const event of events) {
    try {
      await client.sandbox.orderEvent(orderId, { event });
    } catch (error) {
      // Somebody was faster: the sandbox's own actors, when they act by themselves.
      if (!isCausewayError(error) || error.status !== 409) {
        throw new HarnessFault(`the sandbox: ${messageOf(error)}`);
      }
    }
  }
}

export const isPost = (part: RegExp) => (call: RecordedCall) =>
  call.method === 'POST' && part.test(call.path.split('?')[0] ?? '');
export const isQuote = isPost(/\/partner\/(on|off)ramp\/quote$/);
export const isInitiate = isPost(/\/partner\/(on|off)ramp\/initiate$/);
const ACTION = /\/partner\/orders\/([^/]+)\/([a-z-]+)$/;

/** The action of an order that a call asks for. */
export function actionOf(call: RecordedCall): { orderId: string; action: string } | undefined {
  const [, orderId, action] =
    call.method === 'POST' ? (ACTION.exec(call.path.split('?')[0] ?? '') ?? []) : [];
  return orderId === undefined || action === undefined ? undefined : { orderId, action };
}

/** Whether this call took the action, successfully. */
export const took = (action: string) => (call: RecordedCall) =>
  actionOf(call)?.action === action && typeof call.status === 'number' && call.status < 300;

/** Actions that were sent although the order, as the driver had last read it, did not allow them. */
export function guesses(calls: readonly RecordedCall[]): string[] {
  return calls.flatMap((call) => {
    const asked = actionOf(call);
    if (asked === undefined) return [];
    const told = calls
      .filter(({ answeredAt }) => answeredAt !== undefined && answeredAt <= call.at)
      .map(orderIn)
      .findLast((order) => order?.order_id === asked.orderId);
    if (told === undefined) return [`${asked.action} was sent without reading the order`];
    if (told.allowed_actions.includes(asked.action)) return [];
    const allowed = told.allowed_actions.join(', ') || 'nothing';
    return [`${asked.action} was sent while the order was ${told.status} and allowed ${allowed}`];
  });
}

function orderIn({
  answer,
}: RecordedCall): Pick<Order, 'order_id' | 'status' | 'allowed_actions'> | undefined {
  const data = dataIn(answer) as Partial<Order> | undefined;
  return data?.order_id !== undefined && Array.isArray(data.allowed_actions) ? (data as Order) : undefined;
}

export function dataIn(text: string | undefined): unknown {
  return (jsonIn(text) as { data?: unknown } | undefined)?.data;
}

export function jsonIn(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
