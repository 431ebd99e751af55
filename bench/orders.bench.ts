import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { compareFigures } from './frame/compare.ts';
import { askProcess } from './frame/load.ts';
import { figure, type Measurement } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';
import { type RunningServer, startServerProcess } from './frame/server-process.ts';
import { type BenchGateway, withGateway } from './gateway.ts';
import { callsPerSecond, outerLimitTool } from './outer-limit.ts';
import { writeHistory } from './servers/orders-history.ts';
import type { OrdersLoad, OrdersLoadOptions, OrdersLoadReply } from './servers/orders-load.ts';
import { ownIds, RECORDED_ORDER_FILE, type RecordedOrder } from './servers/recorded-sql.ts';

/**
 * What orders cost: against bare Fastify handlers that run the same SQL in the same round trips, and against themselves
 * with a million orders in the tables. The outer limit is the same SQL with nothing around it, from pgbench where the
 * machine has it, else from a loop of connections in one process: the embedded PostgreSQL comes without pgbench.
 */
const OPEN_TARGET = 0.6;
const OPEN_REQUESTS_PER_SECOND = 835;
const READ_TARGET = 0.7;
/** A million orders may slow anything down by less than 1.3. */
const MANY_ORDERS_TARGET = 1 / 1.3;
const HISTORY = { orders: 1_000_000, partners: 10_000, users: 100_000 };

const CONNECTIONS = 32;
const ROUNDS = 5;
/** Long enough that the start of the load generator, a new process each time, hardly counts. */
const ROUND_SECONDS = 5;
const SAMPLED_ORDERS = 5_000;

export async function run(report: BenchReport): Promise<void> {
  await withFixture(async (young) => {
    await young.settle();
    await young.withBare(async (bare) => {
      const opening = await compare(
        'quote then initiate, against bare Fastify running the same SQL',
        () => young.openOrders(bare.url),
        () => young.openOrders(),
        OPEN_TARGET,
      );
      report.add(opening);
      report.add(
        figure({
          name: 'quote then initiate',
          value: Number(opening.details.candidateMedian),
          unit: 'requests/s',
          better: 'higher',
          target: OPEN_REQUESTS_PER_SECOND,
        }),
      );
      report.add(
        await compare(
          'GET an order, against bare Fastify with one named SELECT',
          () => young.readOrders(bare.url),
          () => young.readOrders(),
          READ_TARGET,
        ),
      );
    });
    await withFixture(async (old) => {
      await old.grow();
      await compareAges(report, young, old);
    });
  });
}

async function compareAges(report: BenchReport, young: OrdersFixture, old: OrdersFixture): Promise<void> {
  const among = (what: string) => `${what}, with 1,000,000 orders of 10,000 partners against a few thousand`;
  const pairs: [string, (fixture: OrdersFixture) => Promise<number>][] = [
    ['quote then initiate', (fixture) => fixture.openOrders()],
    ['GET an order', (fixture) => fixture.readOrders()],
    ['outer limit: the SQL of quote then initiate alone', (fixture) => fixture.openInSql()],
    ['outer limit: the SELECT of an order alone', (fixture) => fixture.readInSql()],
  ];
  for (const [what, measure] of pairs) {
    const aged = await compare(
      among(what),
      () => measure(young),
      () => measure(old),
      MANY_ORDERS_TARGET,
    );
    report.add(aged);
    if (!what.startsWith('outer limit')) continue;
    // A request each, as the servers above are counted.
    report.add(
      figure({
        name: `${what}, by ${await outerLimitTool()}`,
        value: Number(aged.details.baselineMedian),
        unit: 'requests/s',
        better: 'higher',
      }),
    );
  }
}

async function compare(
  name: string,
  baseline: () => Promise<number>,
  candidate: () => Promise<number>,
  targetRatio: number,
): Promise<Measurement> {
  await baseline();
  await candidate();
  return compareFigures({
    name,
    baseline,
    candidate,
    sidesUnit: 'requests/s',
    rounds: ROUNDS,
    better: 'higher',
    targetRatio,
  });
}

/** A gateway on a database of its own. All figures are requests per second. */
interface OrdersFixture {
  /** Of this gateway, or of another server on its database. */
  openOrders(url?: string): Promise<number>;
  readOrders(url?: string): Promise<number>;
  openInSql(): Promise<number>;
  readInSql(): Promise<number>;
  grow(): Promise<void>;
  /** Some business, and then what the server does by itself within a minute: looking at what its tables hold. */
  settle(): Promise<void>;
  withBare(use: (bare: RunningServer) => Promise<void>): Promise<void>;
}

async function withFixture(use: (fixture: OrdersFixture) => Promise<void>): Promise<void> {
  const script = new URL('./servers/orders-gateway.ts', import.meta.url);
  await withGateway(script, {}, async (gateway) => use(await fixtureOf(gateway)));
}

async function fixtureOf({ home, databaseUrl, apiKey, env, server }: BenchGateway): Promise<OrdersFixture> {
  const recorded = JSON.parse(await readFile(join(home, RECORDED_ORDER_FILE), 'utf8')) as RecordedOrder;
  const loadFor = (url: string, load: OrdersLoad) =>
    generateLoad({ url, apiKey, connections: CONNECTIONS, durationSeconds: ROUND_SECONDS, load });
  return {
    openOrders: (url = server.url) => loadFor(url, { kind: 'quote-then-initiate', userId: recorded.userId }),
    readOrders: async (url = server.url) =>
      loadFor(url, { kind: 'read', orderIds: await sampleOrders(databaseUrl, recorded) }),
    openInSql: () => openInSql(databaseUrl, recorded),
    readInSql: async () => readInSql(databaseUrl, recorded, await sampleOrders(databaseUrl, recorded)),
    grow: () => writeHistory(databaseUrl, HISTORY),
    async settle() {
      await loadFor(server.url, { kind: 'quote-then-initiate', userId: recorded.userId });
      await withClient(databaseUrl, (client) => client.query('ANALYZE'));
    },
    async withBare(use) {
      const script = new URL('./servers/orders-bare.ts', import.meta.url);
      const bare = await startServerProcess({ script, env });
      try {
        await use(bare);
      } finally {
        await bare.stop();
      }
    },
  };
}

async function generateLoad(options: OrdersLoadOptions): Promise<number> {
  const script = new URL('./servers/orders-load.ts', import.meta.url);
  const reply = await askProcess<OrdersLoadReply>(script, options);
  if (!reply.ok) throw new Error(`${options.load.kind} at ${options.url}: ${reply.message}`);
  return reply.requestsPerSecond;
}

async function sampleOrders(databaseUrl: string, recorded: RecordedOrder): Promise<string[]> {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query<{ order_id: string }>(
      'SELECT order_id FROM orders WHERE partner_id = $1 ORDER BY random() LIMIT $2',
      [recorded.read.sql.partnerId, SAMPLED_ORDERS],
    ),
  );
  return rows.map(({ order_id: orderId }) => orderId);
}

async function withClient<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** As many as the database takes in the same round trips; an opened order counts as the two requests it takes. */
function openInSql(databaseUrl: string, { quote, initiate, madeAfter }: RecordedOrder): Promise<number> {
  const calls = [quote.sql, initiate.sql];
  const own = [...new Set(calls.flatMap((call) => ownIds(call, madeAfter)))];
  return callsPerSecond({ databaseUrl, calls, own, connections: CONNECTIONS, seconds: ROUND_SECONDS });
}

function readInSql(
  databaseUrl: string,
  { read, madeAfter }: RecordedOrder,
  orderIds: readonly string[],
): Promise<number> {
  return callsPerSecond({
    databaseUrl,
    calls: [read.sql],
    own: [],
    choices: new Map(ownIds(read.sql, madeAfter).map((id) => [id, orderIds])),
    connections: CONNECTIONS,
    seconds: ROUND_SECONDS,
  });
}
