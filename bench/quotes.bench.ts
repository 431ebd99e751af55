import { newId } from '../apps/gateway/src/lib/ids.ts';
import { compare } from './frame/compare.ts';
import { figure, type Measurement } from './frame/measurement.ts';
import type { BenchReport } from './frame/report.ts';
import { type RunningServer, startServerProcess } from './frame/server-process.ts';
import { POOL_SIZE, withGateway } from './gateway.ts';
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
const ROUNDS = { durationSeconds: 3, rounds: 5 };
const TERMS = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00', partner_fee_pct: '1' };

export async function run(report: BenchReport): Promise<void> {
  await withOffers(100, async (gateway) => {
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
  await withOffers(100, async (usual) => {
    await withOffers(10_000, async (crowded) => {
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

interface AskedGateway {
  readonly databaseUrl: string;
  readonly quote: Asked;
  readonly estimate: Asked;
}

async function withOffers(offers: number, use: (gateway: AskedGateway) => Promise<void>): Promise<void> {
  const userId = newId();
  await withGateway(
    new URL('./servers/quote-gateway.ts', import.meta.url),
    { BENCH_USER: userId, BENCH_OFFERS: String(offers) },
    async ({ server, databaseUrl, apiKey }) => {
      const json = { 'content-type': 'application/json' };
      const address = `${server.url}/api/v1/partner/onramp`;
      const headers = { ...json, 'x-api-key': apiKey };
      const quote = await ask(`${address}/quote`, headers, { ...TERMS, user_uuid: userId });
      const estimate = await ask(`${address}/estimate`, json, TERMS);
      await use({ databaseUrl, quote, estimate });
    },
  );
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

function bare(gateway: AskedGateway, role: string, { request, answer }: Asked): Promise<RunningServer> {
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
