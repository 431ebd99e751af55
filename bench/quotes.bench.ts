import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIdGenerator, newId } from '../apps/gateway/src/lib/ids.ts';
import { makeSecrets } from '../apps/gateway/src/sandbox.ts';
import { compare } from './frame/compare.ts';
import { figure, type Measurement } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';
import { type RunningServer, startServerProcess } from './frame/server-process.ts';
import { withDatabase } from './ground.ts';
import { callsPerSecond, outerLimitTool } from './outer-limit.ts';
import { latestQuoteInsert } from './servers/recorded-sql.ts';

/**
 * What pricing costs. A quote is compared with the least that could be called one: the same schema and one INSERT of the
 * same row, as the same role of the database. The outer limit is that INSERT with nothing around it.
 */
const QUOTE_TARGET = 0.7;
const ESTIMATE_TARGET = 0.5;
/** Ten thousand offers may slow a quote down by less than 1.3. */
const MANY_OFFERS_TARGET = 1 / 1.3;
const CONNECTIONS = [8, 32] as const;
const POOL_SIZE = 10;
const ROUNDS = { durationSeconds: 3, rounds: 5 };
const TERMS = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00', partner_fee_pct: '1' };

export async function run(report: BenchReport): Promise<void> {
  await withGateway(100, async (gateway) => {
    for (const connections of CONNECTIONS) {
      report.add(
        await compare({
          name: `POST onramp/quote against bare Fastify with one INSERT, ${connections} connections`,
          baseline: { start: () => bare(gateway, 'quote', gateway.quote) },
          candidate: { start: async () => running(gateway.quote) },
          connections,
          ...ROUNDS,
          targetRatio: QUOTE_TARGET,
        }),
      );
      report.add(await insertsPerSecond(gateway.databaseUrl, connections));
    }
    report.add(
      await compare({
        name: 'POST onramp/estimate against bare Fastify with validation',
        baseline: { start: () => bare(gateway, 'estimate', gateway.estimate) },
        candidate: { start: async () => running(gateway.estimate) },
        connections: 32,
        ...ROUNDS,
        targetRatio: ESTIMATE_TARGET,
      }),
    );
  });
  // Both new: a gateway that has served the rounds above is warm, and its table of quotes is long.
  await withGateway(100, async (usual) => {
    await withGateway(10_000, async (crowded) => {
      report.add(
        await compare({
          name: 'POST onramp/quote with 10,000 offers of a pair against 100',
          baseline: { start: async () => running(usual.quote) },
          candidate: { start: async () => running(crowded.quote) },
          connections: 8,
          ...ROUNDS,
          targetRatio: MANY_OFFERS_TARGET,
        }),
      );
    });
  });
}

interface Asked {
  readonly url: string;
  readonly request: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  };
  /** What was answered the first time. */
  readonly answer: string;
}

interface BenchGateway {
  readonly databaseUrl: string;
  readonly quote: Asked;
  readonly estimate: Asked;
}

async function withGateway(offers: number, use: (gateway: BenchGateway) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-bench-home-'));
  try {
    await withDatabase(async (databaseUrl) => {
      const secrets = await makeSecrets(home, createIdGenerator());
      const [partner] = secrets.partners.toSorted((left, right) => (left.name < right.name ? -1 : 1));
      const userId = newId();
      const server = await startServerProcess({
        script: new URL('./servers/quote-gateway.ts', import.meta.url),
        env: {
          CAUSEWAY_HOME: home,
          BENCH_HOME: home,
          BENCH_USER: userId,
          BENCH_OFFERS: String(offers),
          DATABASE_URL: databaseUrl,
          DATABASE_POOL_SIZE: String(POOL_SIZE),
          METRICS_PORT: 'off',
          PORT: '0',
          RATE_LIMIT_PARTNER_PER_MINUTE: '10000000',
          RATE_LIMIT_PUBLIC_PER_MINUTE: '10000000',
          OPEN_ORDERS_PER_PARTNER: '1000000000',
          OPEN_ORDERS_PER_CUSTOMER: '1000000000',
          HELD_VALUE_PER_PARTNER_USD: '1000000000',
          HELD_VALUE_PER_CUSTOMER_USD: '1000000000',
        },
      });
      try {
        const headers = { 'content-type': 'application/json', 'x-api-key': partner?.apiKey ?? '' };
        const quote = await ask(`${server.url}/api/v1/partner/onramp/quote`, headers, {
          ...TERMS,
          user_uuid: userId,
        });
        const estimate = await ask(
          `${server.url}/api/v1/partner/onramp/estimate`,
          { 'content-type': 'application/json' },
          TERMS,
        );
        await use({ databaseUrl, quote, estimate });
      } finally {
        await server.stop();
      }
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function ask(url: string, headers: Record<string, string>, terms: object): Promise<Asked> {
  const request = { method: 'POST', headers, body: JSON.stringify(terms) };
  const response = await fetch(url, request);
  const answer = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${answer}`);
  return { url, request, answer };
}

function running({ url, request }: Asked): RunningServer {
  return { url, request, stop: async () => {} };
}

function bare(gateway: BenchGateway, role: string, { request, answer }: Asked): Promise<RunningServer> {
  return startServerProcess({
    script: new URL('./servers/bare-quote.ts', import.meta.url),
    args: [role],
    env: { DATABASE_URL: gateway.databaseUrl, BENCH_ANSWER: answer, BENCH_POOL: String(POOL_SIZE) },
    request,
  });
}

/** As many as the database takes from this many connections, for scale; it has no target. */
async function insertsPerSecond(databaseUrl: string, connections: number): Promise<Measurement> {
  const { insert, quoteId } = await latestQuoteInsert(databaseUrl);
  const perSecond = await callsPerSecond({
    databaseUrl,
    calls: [insert],
    own: [quoteId],
    connections,
    seconds: ROUNDS.durationSeconds,
  });
  return figure({
    name: `outer limit: the same INSERT from ${connections} connections, by ${await outerLimitTool()}`,
    value: Math.round(perSecond),
    unit: 'ops/s',
    better: 'higher',
  });
}
