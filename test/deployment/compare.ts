import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { callRpc } from '../../apps/gateway/src/local/chain-rpc.ts';
import { call } from '../harness/call.ts';
import type { WebhookSink } from '../harness/webhook-sink.ts';
import { CHAIN, type Deployment } from './deployment.ts';
import type { Acknowledged, Journal } from './journal.ts';
import type { Load } from './load.ts';

/** What is held against each other once the load is over and everything is settled. */
export interface Sides {
  readonly deployment: Deployment;
  readonly journal: Journal;
  readonly load: Load;
  readonly sink: WebhookSink;
  /** Owner's connection: bypasses row-level security, for looking. */
  readonly owner: pg.Client;
  /** What was there before the load. */
  readonly before: Baseline;
}

export interface Baseline {
  readonly orders: number;
  readonly quotes: number;
  readonly users: number;
}

/** By what was compared, the differences found; each is a sentence. */
export type Differences = Readonly<Record<string, readonly string[]>>;

export async function baselineOf(owner: pg.Client): Promise<Baseline> {
  const { rows } = await owner.query<Baseline>(
    `SELECT (SELECT count(*) FROM orders)::int AS orders, (SELECT count(*) FROM quotes)::int AS quotes,
            (SELECT count(*) FROM users)::int AS users`,
  );
  return rows[0] as Baseline;
}

export async function compareSides(sides: Sides): Promise<Differences> {
  return {
    'acknowledged answers that are not repeated word for word': await repeatedOtherwise(sides),
    'rows that are missing or were made twice': await wrongCounts(sides),
    'work that is not settled or failed': await unsettled(sides),
    'books that do not balance or differ from the chain': await wrongBooks(sides),
    'transfers that are missing, twice or left in an escrow': await wrongTransfers(sides),
    'payments of the bank that are missing or twice': await wrongPayments(sides),
    'events that the receiver lacks or got altered': await wrongEvents(sides),
    'answers that no client may get': sides.journal.broken,
    'processes that ended by themselves': sides.deployment.slots.flatMap(({ crashes }) => crashes),
  };
}

const AT_ONCE = 4;

/** An acknowledged write is on file: the same key brings the same answer, from storage. */
async function repeatedOtherwise({ deployment, journal }: Sides): Promise<string[]> {
  const writes = journal.acknowledged.filter(({ method }) => method === 'POST');
  const wrong: string[] = [];
  const check = async (write: Acknowledged) => {
    const { apiKey: key, method, path, body, idempotencyKey, status, text } = write;
    const headers = { 'idempotency-key': idempotencyKey };
    const url = deployment.apiUrls[0] as string;
    const again = await call(url, method, `/api/v1/${path}`, {
      key,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const isSame = again.status === status && again.text === text;
    if (!isSame || again.headers.get('idempotency-replayed') !== 'true') {
      wrong.push(`${method} ${path} ${status}: now ${again.status} ${again.text.slice(0, 200)}`);
    }
  };
  const queue = [...writes];
  const lane = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await check(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return wrong;
}

async function wrongCounts({ owner, before, journal, load }: Sides): Promise<string[]> {
  const now = await baselineOf(owner);
  const acknowledged = (suffix: string) =>
    journal.acknowledged.filter(({ path, status }) => path.endsWith(suffix) && status === 200).length;
  const expected: Baseline = {
    orders: before.orders + load.made.orders.length,
    quotes: before.quotes + acknowledged('/quote'),
    users: before.users + acknowledged('partner/users'),
  };
  return isDeepStrictEqual(now, expected)
    ? []
    : [`${JSON.stringify(now)}, where ${JSON.stringify(expected)} were acknowledged`];
}

/** A simulated vendor does not follow its transfer once the order has moved on; the escrow itself is looked at below. */
export const OF_THE_SERVICE = `effect_key NOT LIKE 'sandbox-%'`;

async function unsettled({ owner }: Sides): Promise<string[]> {
  const { rows } = await owner.query<{ what: string }>(
    `SELECT format('intent %s %s: %s, attempt %s, due %s, leased until %s, %s', kind, dedupe_key, status, attempts, run_at,
              leased_until, last_error) AS what FROM intents
      WHERE status <> 'confirmed'
     UNION ALL
     SELECT format('transaction %s: %s', effect_key, status) FROM chain_transactions
      WHERE status <> 'succeeded' AND ${OF_THE_SERVICE}
     UNION ALL
     SELECT format('delivery %s: %s, attempt %s, due %s', event_id, status, attempts, run_at) FROM webhook_deliveries WHERE status <> 'delivered'`,
  );
  return rows.map(({ what }) => what);
}

async function wrongBooks({ owner, deployment }: Sides): Promise<string[]> {
  const { rows } = await owner.query<{ what: string }>(
    `SELECT format('entry %s is off by %s %s', entry_id, sum(amount), asset) AS what
       FROM ledger_postings GROUP BY entry_id, asset HAVING sum(amount) <> 0
     UNION ALL
     SELECT format('%s still holds %s %s', account, sum(amount), asset)
       FROM ledger_postings WHERE account ~ '^(escrow|held):' GROUP BY account, asset HAVING sum(amount) <> 0`,
  );
  const wrong = rows.map(({ what }) => what);
  for (let cursor = ''; ; ) {
    const path = `/api/v1/operator/reconciliation?scope=all&limit=500${cursor}`;
    const answer = await call(deployment.apiUrls[0] as string, 'GET', path, {
      key: deployment.sandbox.operator_key,
    });
    const { books, escrows, next_cursor: next } = answer.body.data;
    const { different, in_flight, unreachable } = escrows;
    const off = books.filter(({ balanced }: { balanced: boolean }) => !balanced);
    for (const one of [...off, ...different, ...in_flight, ...unreachable]) wrong.push(JSON.stringify(one));
    if (next === null) return wrong;
    cursor = `&cursor=${next}`;
  }
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Log {
  readonly topics: readonly [string, string, string];
  readonly data: string;
}

/** The chain itself: what came into each escrow came once, and has left it again. */
async function wrongTransfers({ owner, deployment, load }: Sides): Promise<string[]> {
  const chain = deployment.sandbox.chains.find(({ slug }: { slug: string }) => slug === CHAIN);
  const addresses = chain.signing.tokens.map(({ address }: { address: string }) => address);
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: addresses, topics: [TRANSFER] };
  const logs = (await callRpc(deployment.chainUrl, 'eth_getLogs', [filter])) as Log[];
  const { rows } = await owner.query<{ order_id: string; status: string; escrow: string; booked: string }>(
    `SELECT order_id, status, lower(escrow->>'address') AS escrow,
            coalesce((SELECT sum(amount) FROM ledger_entries JOIN ledger_postings USING (entry_id)
              WHERE order_id = orders.order_id AND account = 'escrow:' || orders.order_id AND amount > 0), 0)::text AS booked
       FROM orders WHERE escrow IS NOT NULL AND order_id = ANY ($1)`,
    [load.made.orders.map(({ orderId }) => orderId)],
  );
  const holder = (topic: string) => `0x${topic.slice(-40)}`.toLowerCase();
  return rows.flatMap(({ order_id, status, escrow, booked }) => {
    const into = logs.filter(({ topics }) => holder(topics[2]) === escrow);
    const out = logs.filter(({ topics }) => holder(topics[1]) === escrow);
    const sum = (some: readonly Log[]) => some.reduce((total, { data }) => total + BigInt(data), 0n);
    const isPaidOnce = into.length === 1 || (into.length === 0 && status === 'cancelled');
    const isRight = isPaidOnce && sum(into) === sum(out) && sum(into) === BigInt(booked);
    return isRight
      ? []
      : [`${order_id} (${status}): ${into.length} in, ${sum(into)} in, ${sum(out)} out, ${booked} booked`];
  });
}

async function wrongPayments({ load }: Sides): Promise<string[]> {
  const listed = (await load.payments()).map(({ id, amount }) => `${id} ${amount}`).sort();
  const told = load.made.deposits.map(({ paymentId, amount }) => `${paymentId} ${amount}`).sort();
  if (isDeepStrictEqual(listed, told)) return [];
  return [
    `${listed.length} are listed, ${told.length} were acknowledged, ${new Set(told).size} different ones`,
  ];
}

/** Every event arrived as it was written, signed, and in the order of its subject where it is first seen. */
async function wrongEvents({ owner, sink }: Sides): Promise<string[]> {
  const { rows } = await owner.query<{ event_id: string; body: string; subject_id: string | null }>(
    'SELECT e.event_id, e.body, e.subject_id FROM events e JOIN webhook_deliveries d USING (event_id) ORDER BY e.position',
  );
  const first = new Map<string, number>();
  const wrong: string[] = [];
  const written = new Map(rows.map((row) => [row.event_id, row]));
  for (const [index, { event, rawBody, signatureValid }] of sink.received.entries()) {
    const row = event === null ? undefined : written.get(event.event_id);
    if (event === null || row === undefined) wrong.push(`unknown: ${rawBody.toString().slice(0, 200)}`);
    else if (row.body !== rawBody.toString()) wrong.push(`altered: ${event.event_id}`);
    else if (signatureValid !== true) wrong.push(`wrongly signed: ${event.event_id}`);
    if (event !== null && !first.has(event.event_id)) first.set(event.event_id, index);
  }
  const latest = new Map<string, number>();
  for (const { event_id, subject_id } of rows) {
    const arrived = first.get(event_id);
    if (arrived === undefined) wrong.push(`never arrived: ${event_id}`);
    else if (subject_id !== null) {
      if (arrived < (latest.get(subject_id) ?? -1)) wrong.push(`out of order: ${event_id}`);
      latest.set(subject_id, arrived);
    }
  }
  return wrong;
}
