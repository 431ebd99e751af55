import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { Toxic } from './toxic-proxy.ts';
import type { LinkName, ToxicsFixture } from './toxics-fixture.ts';

/** Strong enough to be felt, each in its own way. */
export const TOXICS: readonly Toxic[] = [
  { kind: 'latency', ms: 200 },
  { kind: 'down' },
  { kind: 'bandwidth', bytesPerSecond: 30_000 },
  { kind: 'slow_close', ms: 2_000 },
  { kind: 'timeout' },
  { kind: 'reset_peer', ms: 50 },
  { kind: 'slicer', bytes: 200, pauseMs: 1 },
  { kind: 'limit_data', bytes: 600 },
];

/** One toxic on one link: what callers were answered meanwhile, and how long the service needed afterwards. */
export interface Cell {
  readonly link: LinkName;
  readonly toxic: Toxic['kind'];
  readonly answers: number;
  readonly refusals: number;
  /** Milliseconds. */
  readonly longestAnswer: number;
  /** Answers that a caller must not get. */
  readonly broken: readonly string[];
  /** Milliseconds from the healing until everything moved again. */
  readonly recovered: number;
}

/** A connection is waited for up to 10 s, a statement up to 18 s; a little more where the machine is busy. */
export const ANSWERED_WITHIN_MS = 30_000;
/** How long nothing may be wedged once the link is healed. */
export const RECOVERED_WITHIN_MS = 30_000;

const CLIENTS = 4;
const CROWD = 40;
const CROWD_WITHIN_MS = 10_000;
/** A delivery that is due is taken at once; more than this is a standstill. */
const OVERDUE_MS = 2_000;

export async function playCell(
  fixture: ToxicsFixture,
  link: LinkName,
  toxic: Toxic,
  poisonedMs: number,
): Promise<Cell> {
  const begun = await openOrder(fixture);
  await fixture.poison(link, toxic);
  const probing = probe(fixture, poisonedMs);
  await sleep(poisonedMs);
  await fixture.poison(link, undefined);
  const healedAt = performance.now();
  const { answers, refusals, longestAnswer, broken } = await probing;
  // The last request may have been answered late; that is judged by its own limit.
  await recover(fixture, begun);
  const recovered = Math.round(performance.now() - healedAt);
  return { link, toxic: toxic.kind, answers, refusals, longestAnswer, broken, recovered };
}

/** Callers who go on asking whatever they are answered. */
async function probe(fixture: ToxicsFixture, forMs: number) {
  const ends = performance.now() + forMs;
  const broken: string[] = [];
  let answers = 0;
  let refusals = 0;
  let longest = 0;
  const ask = async (what: string, work: () => Promise<Answer>): Promise<Answer | undefined> => {
    const began = performance.now();
    const answer = await work().catch((error: Error) => {
      broken.push(`${what}: ${error.message}`);
      return undefined;
    });
    const took = performance.now() - began;
    longest = Math.max(longest, took);
    if (took > ANSWERED_WITHIN_MS) broken.push(`${what}: answered after ${Math.round(took)} ms`);
    if (answer === undefined) return undefined;
    answers++;
    const fault = faultOf(answer);
    if (fault !== undefined) broken.push(`${what}: ${fault}`);
    if (answer.status >= 400) refusals++;
    return answer;
  };
  const client = async () => {
    while (performance.now() < ends) await probeOnce(fixture, ask);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { answers, refusals, longestAnswer: Math.round(longest), broken: [...new Set(broken)] };
}

type Ask = (what: string, work: () => Promise<Answer>) => Promise<Answer | undefined>;

async function probeOnce({ gateway, userId, detailsId }: ToxicsFixture, ask: Ask): Promise<void> {
  const { call } = gateway;
  const post = (path: string, body: object) =>
    ask(`POST ${named(path)}`, () =>
      call('POST', `/api/v1/partner/${path}`, { body, headers: { 'idempotency-key': randomUUID() } }),
    );
  const get = (path: string) => ask(`GET ${named(path)}`, () => call('GET', `/api/v1/${path}`));
  await get('partner/orders');
  await get('rates');
  await get('supported/crypto-currencies');
  await post('users', { email: `${randomUUID()}@example.com` });
  for (const direction of ['onramp', 'offramp'] as const) {
    const wanted = quoteFor(userId);
    const details = direction === 'offramp' ? { payment_details_id: detailsId } : {};
    const quote = await post(`${direction}/quote`, { ...wanted, ...details });
    if (quote?.status !== 200) continue;
    const order = await post(`${direction}/initiate`, { quote_id: quote.body.data.quote_id });
    if (order?.status !== 200) continue;
    const path = `partner/orders/${order.body.data.order_id}`;
    // Both read the chain.
    if (direction === 'offramp') await get(`${path}/transfer-authorization-parameters`);
    await get(`${path}/funds`);
    await post(`orders/${order.body.data.order_id}/cancel`, {});
  }
  await ask('GET reconciliation', () =>
    call('GET', '/api/v1/operator/reconciliation?limit=1', { key: gateway.sandbox.operatorKey }),
  );
}

/** Without the ids, so that equal faults are told once. */
function named(path: string): string {
  return path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…');
}

/** Success, a refusal of the catalogue, or 503 and 504 that say when to come again. */
function faultOf({ status, headers, text, body }: Answer): string | undefined {
  if (status < 400) return undefined;
  const code = body?.error?.code ?? body?.data?.error_key;
  if (code === undefined) return `${status} without a code: ${text.slice(0, 200)}`;
  // 502 has codes of its own, which say what of the outside did not answer.
  if (status < 500 || status === 502) return undefined;
  if (status !== 503 && status !== 504) return `${status} ${code}`;
  return headers.get('retry-after') === null ? `${status} ${code} without Retry-After` : undefined;
}

/** Everything moves again: orders of before and of now, deliveries, and as many requests at once as ever. */
async function recover(fixture: ToxicsFixture, begun: string): Promise<void> {
  const { gateway, owner } = fixture;
  await reaches(fixture, begun, 'awaiting_fiat_transfer');
  const fresh = await until('a new order', () => openOrder(fixture).catch(() => undefined));
  await reaches(fixture, fresh, 'awaiting_fiat_transfer');
  await until('deliveries that are due to be made', async () => {
    const { rows } = await owner.query(
      `SELECT FROM webhook_deliveries WHERE status = 'pending' AND run_at < $1
          AND (leased_until IS NULL OR leased_until < clock_timestamp()) LIMIT 1`,
      [new Date(Date.now() - OVERDUE_MS)],
    );
    return rows.length === 0;
  });
  await until('a crowd to be served', async () => {
    const began = performance.now();
    const crowd = Array.from({ length: CROWD }, () => gateway.call('GET', '/api/v1/partner/orders'));
    const answers = await Promise.all(crowd);
    return answers.every(({ status }) => status === 200) && performance.now() - began < CROWD_WITHIN_MS;
  });
  for (const orderId of [begun, fresh]) {
    await until('an order to be cancelled', async () => {
      const { status } = await gateway.call('POST', `/api/v1/partner/orders/${orderId}/cancel`, { body: {} });
      return status === 200;
    });
  }
}

async function reaches({ gateway }: ToxicsFixture, orderId: string, wanted: string): Promise<void> {
  await until(`order ${orderId} in ${wanted}`, async () => {
    const { status, body } = await gateway.call('GET', `/api/v1/partner/orders/${orderId}`);
    return status === 200 && body.data.status === wanted;
  });
}

async function openOrder({ gateway, userId }: ToxicsFixture): Promise<string> {
  const sdk = gateway.sdk();
  const { quote_id } = await sdk.onramp.quote(quoteFor(userId));
  return (await sdk.onramp.initiate({ quote_id })).order_id;
}

function quoteFor(userId: string) {
  return { user_uuid: userId, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '50.00' };
}
