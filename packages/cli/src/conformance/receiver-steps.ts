import {
  type Answer,
  type Delivery,
  type EventChoice,
  HarnessFault,
  makeEvent,
  type Receiver,
  signed,
} from './delivery.ts';
import type { StateProbe } from './state.ts';

export interface Limits {
  /** For one request, and for one call of the driver: as long as the service waits for a receiver. */
  readonly stepMs: number;
  readonly runMs: number;
  /** What a good receiver needs at most. */
  readonly promptMs: number;
}

export const LIMITS: Limits = { stepMs: 10_000, runMs: 90_000, promptMs: 2_000 };

export interface ReceiverContext {
  readonly receiver: Receiver;
  readonly secret: string;
  /** A secret that was rotated out. */
  readonly endedSecret: string | undefined;
  readonly state: StateProbe;
  readonly limits: Limits;
}

/** Why a requirement is missed; undefined where it is fulfilled. */
export type Finding = string | undefined | { readonly notObservable: string };
export type Check = (context: ReceiverContext) => Promise<Finding>;
export const HOUR = 3_600;
export const ALIEN_SECRET = 'whsec_conformance_of_another_deployment';
export const ANOTHER_ALIEN_SECRET = 'whsec_conformance_of_a_third_deployment';
export const SIGNATURE = 'x-service-signature';
export const TIMESTAMP = 'x-service-timestamp';

export const nowSeconds = () => Math.floor(Date.now() / 1_000);
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function goodDelivery({ secret }: ReceiverContext, choice: EventChoice = {}): Promise<Delivery> {
  return signed(JSON.stringify(await makeEvent(choice)), secret);
}

/** Undefined where the answer acknowledges the event. */
export function notAcknowledged(answer: Answer, { stepMs }: Limits): string | undefined {
  if (answer.kind === 'unreachable')
    throw new HarnessFault(`the receiver is not reachable: ${answer.reason}`);
  if (answer.kind === 'timeout') return `no complete answer came within ${stepMs / 1_000} s`;
  if (answer.kind === 'cut_off') return 'the connection was cut off before the answer was complete';
  if (answer.status >= 300 && answer.status < 400) return `it was answered with ${answer.status}, a redirect`;
  return isSuccess(answer.status) ? undefined : `it was answered with ${answer.status}`;
}

export function notRefused(answer: Answer, limits: Limits): string | undefined {
  const reason = notAcknowledged(answer, limits);
  if (reason === undefined) return `it was acknowledged with ${(answer as { status: number }).status}`;
  return answer.kind === 'answered' ? undefined : reason;
}

/** Refused as a mistake of the sender's: 4xx. */
export function notClientError(answer: Answer, limits: Limits): string | undefined {
  if (answer.kind !== 'answered') return notAcknowledged(answer, limits);
  return answer.status >= 400 && answer.status < 500 ? undefined : `it was answered with ${answer.status}`;
}

export const isSuccess = (status: number) => status >= 200 && status < 300;

export const acknowledges =
  (make: (context: ReceiverContext) => Promise<Delivery>): Check =>
  async (context) =>
    notAcknowledged(await context.receiver.send(await make(context)), context.limits);

/** Every one of these deliveries is refused. */
export const refuses =
  (...makes: ((context: ReceiverContext) => Promise<Delivery>)[]): Check =>
  async (context) => {
    for (const make of makes) {
      const reason = notRefused(await context.receiver.send(await make(context)), context.limits);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };

export const answersClientError =
  (body: string): Check =>
  async (context) =>
    notClientError(await context.receiver.send(await signed(body, context.secret)), context.limits);

/** All of them at once; those that are not acknowledged are named. */
export async function acknowledgesAll(
  context: ReceiverContext,
  choices: readonly (EventChoice & { readonly name: string })[],
): Promise<Finding> {
  const missed = await Promise.all(
    choices.map(async ({ name, ...choice }) => {
      const answer = await context.receiver.send(await goodDelivery(context, choice));
      const reason = notAcknowledged(answer, context.limits);
      return reason === undefined ? [] : [`${name}: ${reason}`];
    }),
  );
  const reasons = missed.flat();
  return reasons.length === 0
    ? undefined
    : `${reasons.length} of ${choices.length}: ${reasons.slice(0, 3).join('; ')}`;
}

export async function withHeader(
  context: ReceiverContext,
  change: (headers: Record<string, string>) => Record<string, string | undefined>,
): Promise<Delivery> {
  const { body, headers } = await goodDelivery(context);
  const changed = Object.entries({ ...headers, ...change({ ...headers }) });
  return {
    body,
    headers: Object.fromEntries(changed.filter((entry): entry is [string, string] => entry[1] !== undefined)),
  };
}

export const signatureOf = (headers: Record<string, string>) => headers[SIGNATURE] ?? '';

export const withoutSignature = (context: ReceiverContext) =>
  withHeader(context, () => ({ [SIGNATURE]: undefined }));
export const wrongSignature = (context: ReceiverContext) =>
  withHeader(context, (headers) => ({
    [SIGNATURE]: signatureOf(headers).replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
  }));
export const stamped = (shift: number) => async (context: ReceiverContext) =>
  signed(JSON.stringify(await makeEvent({})), context.secret, { timestamp: nowSeconds() + shift });

export async function alteredBody(context: ReceiverContext): Promise<Delivery> {
  const { body, headers } = await goodDelivery(context, { data: { fiat_amount: '100.00' } });
  return { body: String(body).replace('"fiat_amount":"100.00"', '"fiat_amount":"900.00"'), headers };
}

/** Valid JSON that no serializer would write again as it is: spaces, an escape, letters beyond ASCII, 1.0. */
export async function oddlyWritten({ secret }: ReceiverContext): Promise<Delivery> {
  const event = await makeEvent({ data: { reference_id: 'Zoë-£1' } });
  const body = JSON.stringify(event, null, 3)
    .replace('£', '\\u00a3')
    .replace(/("partner_fee_pct": )1\b/, '$11.0');
  return signed(`${body}\n`, secret);
}

export async function slowest(context: ReceiverContext): Promise<Answer> {
  const types = ['webhook.test', 'order.status.changed', 'user.kyc.updated'] as const;
  const answers = await Promise.all(
    types.map(async (type) => context.receiver.send(await goodDelivery(context, { type }))),
  );
  return answers.reduce((left, right) => (right.ms > left.ms ? right : left));
}

/** The same event, stamped and signed anew, as often as asked. */
export async function repeats(context: ReceiverContext, choice: EventChoice = {}) {
  const event = await makeEvent(choice);
  const body = JSON.stringify(event);
  const send = async () => context.receiver.send(await signed(body, context.secret));
  return { event, send };
}

export async function concurrently(context: ReceiverContext) {
  const { event, send } = await repeats(context);
  const answers = await Promise.all([send(), send()]);
  return { event, send, answers };
}

/** A receiver whose secret is not set may check against this one. Web Crypto has no empty keys; a zero byte is the same key. */
export function signedWithEmptySecret(body: string): Promise<Delivery> {
  return signed(body, '\0');
}
