import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createDurationHistogram, type DurationHistogram } from './duration-histogram.ts';

/** Every figure the gateway publishes. Labels take few, known values: a route is its pattern, never the address asked. */
export interface Metrics {
  readonly registry: Registry;
  readonly httpRequestDurationSeconds: DurationHistogram<'method' | 'route' | 'status'>;
  /** Requests that have arrived and are not answered yet; read when the figures are collected. */
  readonly httpRequests: { inFlight: number; waiting: number };
  readonly httpTurnsRefusedTotal: Counter;
  readonly httpOverloadRefusedTotal: Counter;
  readonly dbRoundTripsTotal: Counter;
  readonly dbQueryErrorsTotal: Counter;
  readonly intentsTotal: Counter<'kind' | 'outcome'>;
  readonly intentDurationSeconds: Histogram<'kind'>;
  readonly intentsPending: Gauge<'kind'>;
  readonly intentsUnknown: Gauge<'kind'>;
  readonly intentOldestSeconds: Gauge;
  readonly approvalsWaiting: Gauge;
  readonly approvalOldestSeconds: Gauge;
  readonly queueCases: Gauge<'kind'>;
  readonly queueCasesOverdue: Gauge<'kind'>;
  readonly queueCaseOldestSeconds: Gauge<'kind'>;
  readonly webhookDeliveriesTotal: Counter<'outcome'>;
  readonly quotesRefusedTotal: Counter<'direction' | 'reason'>;
  readonly requestLogEntriesTotal: Counter<'outcome'>;
}

// Requests are answered in milliseconds, intents wait for chains and banks: each has buckets where its values fall.
const HTTP_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const INTENT_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface MetricsOptions {
  /** Also publish memory, processor, event loop and garbage collection of this process; true by default. */
  readonly processMetrics?: boolean;
}

/** The process itself and no more: for one that starts others and does no work of its own. */
export function createProcessMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Metrics in a registry of their own, so that two gateways in one process (as in tests) do not share figures. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = (options.processMetrics ?? true) ? createProcessMetrics() : new Registry();
  const registers = [registry];
  const httpRequests = { inFlight: 0, waiting: 0 };
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that have arrived and are not answered yet.',
    registers,
    collect() {
      this.set(httpRequests.inFlight);
    },
  });
  new Gauge({
    name: 'http_requests_waiting',
    help: 'Requests that wait until others of the same partner are answered.',
    registers,
    collect() {
      this.set(httpRequests.waiting);
    },
  });
  return {
    registry,
    httpRequestDurationSeconds: createDurationHistogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the arrival of a request to its answer, by route pattern.',
      buckets: HTTP_BUCKETS_SECONDS,
      registry,
    }),
    httpRequests,
    httpTurnsRefusedTotal: new Counter({
      name: 'http_turns_refused_total',
      help: 'Requests refused because others of the same partner had waited too long, or were too many.',
      registers,
    }),
    httpOverloadRefusedTotal: new Counter({
      name: 'http_overload_refused_total',
      help: 'Requests refused because more were in work than the process can do.',
      registers,
    }),
    dbRoundTripsTotal: new Counter({
      name: 'db_round_trips_total',
      help: 'Round trips to the database.',
      registers,
    }),
    dbQueryErrorsTotal: new Counter({
      name: 'db_query_errors_total',
      help: 'Statements that the database refused or that lost their connection.',
      registers,
    }),
    intentsTotal: new Counter({
      name: 'intents_total',
      help: 'Attempts to carry out a durable intent, by how they ended.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    intentDurationSeconds: new Histogram({
      name: 'intent_duration_seconds',
      help: 'Time that one attempt to carry out an intent took.',
      labelNames: ['kind'],
      buckets: INTENT_BUCKETS_SECONDS,
      registers,
    }),
    intentsPending: new Gauge({
      name: 'intents_pending',
      help: 'Intents that wait to be carried out, as the worker last counted them.',
      labelNames: ['kind'],
      registers,
    }),
    intentsUnknown: new Gauge({
      name: 'intents_unknown',
      help: 'Intents that may or may not have happened, or that wait for too long.',
      labelNames: ['kind'],
      registers,
    }),
    intentOldestSeconds: new Gauge({
      name: 'intent_oldest_seconds',
      help: 'Age of the oldest intent that is due and not carried out.',
      registers,
    }),
    approvalsWaiting: new Gauge({
      name: 'approvals_waiting',
      help: 'Decisions that wait for a second person, as the worker last counted them.',
      registers,
    }),
    approvalOldestSeconds: new Gauge({
      name: 'approval_oldest_seconds',
      help: 'How long the oldest decision has waited for a second person.',
      registers,
    }),
    queueCases: new Gauge({
      name: 'queue_cases',
      help: 'Cases that wait in the operator’s queue, without those put off, as the worker last counted them.',
      labelNames: ['kind'],
      registers,
    }),
    queueCasesOverdue: new Gauge({
      name: 'queue_cases_overdue',
      help: 'Cases of the operator’s queue that wait for longer than the target time of their kind.',
      labelNames: ['kind'],
      registers,
    }),
    queueCaseOldestSeconds: new Gauge({
      name: 'queue_case_oldest_seconds',
      help: 'How long the oldest case of the operator’s queue has waited.',
      labelNames: ['kind'],
      registers,
    }),
    quotesRefusedTotal: new Counter({
      name: 'quotes_refused_total',
      help: 'Quotes and estimates that could not be priced, by the main reason.',
      labelNames: ['direction', 'reason'],
      registers,
    }),
    requestLogEntriesTotal: new Counter({
      name: 'request_log_entries_total',
      help: 'Requests for the log that partners read: written, or dropped because the database did not take them in time.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookDeliveriesTotal: new Counter({
      name: 'webhook_deliveries_total',
      help: 'Webhook delivery attempts, by how they ended.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}

export interface MetricsServer {
  readonly host: string;
  /** The port in use, also when any free one was asked for. */
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly registry: Registry;
  /** What `/ready` says of the whole process. */
  readonly ready: () => Promise<{ readonly status: number; readonly body: object }>;
}

/** What `/ready` says, as a figure that alerts can ask for. */
export function publishReadiness({
  registry,
  ready,
}: Pick<MetricsServerOptions, 'registry' | 'ready'>): void {
  new Gauge({
    name: 'ready',
    help: 'Whether /ready answers 200: 1, else 0.',
    registers: [registry],
    async collect() {
      this.set((await ready()).status === 200 ? 1 : 0);
    },
  });
}

interface Page {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const plain = (status: number, text: string): Page => ({ status, type: 'text/plain', text: `${text}\n` });
const ALIVE = JSON.stringify({ success: true, data: { status: 'ok' } });

/**
 * Serves `/metrics` on a port of its own, so that figures about the business are never reachable through the public
 * address, and `/health` and `/ready` beside it, because a worker has no other port. Rejects when the port cannot be taken.
 */
export async function startMetricsServer({
  host,
  port,
  registry,
  ready,
}: MetricsServerOptions): Promise<MetricsServer> {
  const pages: Readonly<Record<string, () => Promise<Page>>> = {
    '/metrics': async () => ({ status: 200, type: registry.contentType, text: await registry.metrics() }),
    '/health': async () => ({ status: 200, type: JSON_TYPE, text: ALIVE }),
    '/ready': async () => {
      const { status, body } = await ready();
      return { status, type: JSON_TYPE, text: JSON.stringify(body) };
    },
  };
  const server = createServer((request, response) => {
    const send = ({ status, type, text }: Page, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers }).end(text);
    const page = pages[request.url?.split('?', 1)[0] ?? ''];
    if (page === undefined) {
      send(plain(404, `not found, see ${Object.keys(pages).join(', ')}`));
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      send(plain(405, 'method not allowed'), { allow: 'GET, HEAD' });
    } else {
      page().then(send, () => send(plain(500, 'this could not be collected')));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Of this process alone: several processes of the API would share it otherwise, and each scrape would get another.
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  return {
    host: address.address,
    port: address.port,
    close: () =>
      new Promise<void>((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        // A scraper keeps its connection open between scrapes; waiting for it would hold up the shutdown.
        server.closeAllConnections();
      }),
  };
}
