import { setTimeout as sleep } from 'node:timers/promises';
import type { MeasuredResult, MeasuredRound, SoakPartner } from './hostile-partner.ts';
import { answerParent, expectSuccess, type LoadCall, loadClient } from './load-process.ts';

/**
 * The partner whose requests are measured: a steady stream of what partners do, sent when it is due whether or not the
 * answers before it have come. A latency counts from when the request was due.
 */
const PAIR = { crypto_currency: 'USDC', fiat_currency: 'EUR' };
const OPEN_ORDERS = 5;

let call: LoadCall;
let userId: string;
const orderIds: string[] = [];

async function prepare({ baseUrl, apiKey }: SoakPartner): Promise<void> {
  call = loadClient(baseUrl, apiKey);
  await expectSuccess(call('PUT', '/sandbox/settings', { auto_advance: false }));
  const user = await expectSuccess(call('POST', '/partner/users', { email: 'measured@example.com' }));
  userId = user.id;
  await expectSuccess(call('POST', `/sandbox/users/${userId}/kyc-status`, { status: 'VERIFIED' }));
  for (let n = 0; n < OPEN_ORDERS; n++) {
    const { quote_id } = await expectSuccess(call('POST', '/partner/onramp/quote', quoteBody()));
    const order = await expectSuccess(call('POST', '/partner/onramp/initiate', { quote_id }));
    orderIds.push(order.order_id);
  }
}

const quoteBody = () => ({ ...PAIR, user_uuid: userId, fiat_amount: '100.00' });

async function round({ seconds, aSecond }: MeasuredRound): Promise<MeasuredResult> {
  const latencies: Record<string, number[]> = {};
  const failures: string[] = [];

  /** Answers the data, or undefined where there is none to go on with. */
  async function timed(kind: string, due: number, method: string, path: string, body?: unknown) {
    const answer = await call(method, path, body).catch((error: Error) => ({
      status: 0,
      body: error.message,
    }));
    latencies[kind] ??= [];
    latencies[kind].push(performance.now() - due);
    if (answer.status === 200) return answer.body.data;
    failures.push(`${kind} ${answer.status} ${answer.body?.error?.code ?? JSON.stringify(answer.body)}`);
    return undefined;
  }

  /** An order from its quote to its end. */
  async function order(due: number): Promise<void> {
    const quote = await timed('quote', due, 'POST', '/partner/onramp/quote', quoteBody());
    if (quote === undefined) return;
    const body = { quote_id: quote.quote_id };
    const made = await timed('initiate', performance.now(), 'POST', '/partner/onramp/initiate', body);
    if (made === undefined) return;
    await timed('cancel', performance.now(), 'POST', `/partner/orders/${made.order_id}/cancel`);
  }

  const estimate = { ...PAIR, fiat_amount: '100.00' };
  const kinds: ((due: number, n: number) => Promise<unknown>)[] = [
    (due) => timed('estimate', due, 'POST', '/partner/onramp/estimate', estimate),
    order,
    (due, n) => timed('read', due, 'GET', `/partner/orders/${orderIds[n % orderIds.length]}`),
    (due) => timed('list', due, 'GET', '/partner/orders?limit=20'),
    (due) => timed('discovery', due, 'GET', '/supported/corridors'),
  ];

  const began = performance.now();
  const underWay: Promise<unknown>[] = [];
  for (let n = 0; n < seconds * aSecond; n++) {
    const due = began + (n * 1_000) / aSecond;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    underWay.push((kinds[n % kinds.length] as (typeof kinds)[0])(due, n));
  }
  await Promise.all(underWay);
  return { latencies, failures };
}

answerParent({ prepare, round });
