import { type Config, publicBaseUrlOf } from './config.ts';
import { createDeps, type EarlyDeps, type Surroundings } from './deps.ts';
import { createReadiness, type Readiness } from './features/health/health.routes.ts';
import type { Logger } from './lib/logger.ts';
import { createProcessMetrics, type Metrics, publishReadiness, startMetricsServer } from './lib/metrics.ts';
import { takePrecedence } from './lib/scheduling.ts';
import { startTracing } from './lib/tracing.ts';
import { pickPort } from './local/free-port.ts';

/** What was started, to be stopped in the reverse order. */
export type Stops = { readonly what: string; readonly stop: () => Promise<unknown> }[];

export interface Served {
  readonly baseUrl: string;
  readonly metricsUrl?: string;
  readonly readiness: Readiness;
}

export interface ServeOptions {
  readonly config: Config;
  readonly surroundings: Surroundings;
  readonly logger: Logger;
  readonly port: number;
  /** Puts the first rows into the database. */
  readonly seed: (early: EarlyDeps) => Promise<void>;
  readonly notice: (text: string) => void;
  readonly stops: Stops;
  readonly signal: AbortSignal;
}

// Read where a process has the role: the routes are a quarter of the program, and a worker has no use for them.
const readApi = () => import('./api.ts');
const readWorker = () => import('./worker.ts');

/** What `serve` will want, for a caller that has time before it. */
export async function readRoles({ roles }: Pick<Config, 'roles'>): Promise<void> {
  if (roles.includes('worker')) await readWorker();
  if (roles.includes('api')) await readApi();
}

/** Connects what the program is made of and starts the roles of this process on it. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { config, stops, port, notice } = options;
  const deps = await createDeps(config, options.surroundings, options.logger, options.seed);
  stops.push({ what: 'connections', stop: () => deps.close() });
  options.signal.throwIfAborted();
  const tracing = await startTracing({ endpoint: config.otlpEndpoint, serviceName: 'causeway' });
  stops.push({ what: 'traces', stop: () => tracing.shutdown() });
  const readiness = createReadiness(deps.logger, []);
  const metrics = await startMetrics(options, deps.metrics.registry, readiness);
  const baseUrl = publicBaseUrlOf(config, port);
  if (deps.mail === undefined) {
    notice('MAIL_URL is not set: customers at the widget cannot confirm an e-mail address.');
  }
  if (config.roles.includes('worker')) {
    const { createWorker } = await readWorker();
    const worker = createWorker(deps);
    worker.start();
    readiness.add(...worker.checks);
    stops.push({ what: 'worker', stop: () => worker.stop() });
  }
  if (config.roles.includes('api')) {
    const { createApi } = await readApi();
    const api = await createApi(deps, baseUrl);
    // Not before: no caller waits for a start.
    if (config.apiScheduling === 'realtime') takePrecedence();
    await api.listen({ host: config.host, port });
    stops.push({ what: 'api', stop: () => api.close() });
    readiness.add(...api.checks);
  }
  readiness.started();
  stops.push({ what: 'readiness', stop: async () => readiness.stopping() });
  return { baseUrl, readiness, ...metrics };
}

/**
 * What a process serves that has no role because the processes it starts have it: its own metrics, and a probe. It is not
 * ready until its caller says so.
 */
export async function serveMetrics(options: MetricsOptions): Promise<Omit<Served, 'baseUrl'>> {
  const readiness = createReadiness(options.logger, []);
  return { readiness, ...(await startMetrics(options, createProcessMetrics(), readiness)) };
}

type MetricsOptions = Pick<ServeOptions, 'config' | 'logger' | 'stops' | 'notice'>;

async function startMetrics(
  { config, stops, notice }: MetricsOptions,
  registry: Metrics['registry'],
  readiness: Readiness,
): Promise<Pick<Served, 'metricsUrl'>> {
  const { metricsPort, metricsHost } = config;
  if (metricsPort === null) return {};
  const sandbox = config.environment === 'sandbox';
  const port = sandbox ? await pickPort(metricsPort === 0 ? undefined : metricsPort) : metricsPort;
  if (sandbox && metricsPort !== 0 && port !== metricsPort) {
    notice(`Metrics port ${metricsPort} is taken; using ${port}.`);
  }
  const published = { registry, ready: () => readiness.answer() };
  publishReadiness(published);
  const server = await startMetricsServer({ host: metricsHost, port, ...published });
  stops.push({ what: 'metrics', stop: () => server.close() });
  return { metricsUrl: `http://${server.host}:${server.port}/metrics` };
}
