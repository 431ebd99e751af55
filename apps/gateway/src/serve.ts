import { type Config, publicBaseUrlOf } from './config.ts';
import { createDeps, type Deps, type EarlyDeps, type Surroundings } from './deps.ts';
import { createReadiness, type Readiness } from './features/health/health.routes.ts';
import type { Logger } from './lib/logger.ts';
import { startMetricsServer } from './lib/metrics.ts';
import { startTracing } from './lib/tracing.ts';
import { pickPort } from './local/free-port.ts';

/** What was started, to be stopped in the reverse order. */
export type Stops = { readonly what: string; readonly stop: () => Promise<unknown> }[];

export interface Served {
  readonly baseUrl: string;
  readonly metricsUrl?: string;
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
  const metricsUrl = await startMetrics(deps, readiness, stops, notice);
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
    await api.listen({ host: config.host, port });
    stops.push({ what: 'api', stop: () => api.close() });
    readiness.add(...api.checks);
  }
  readiness.started();
  stops.push({ what: 'readiness', stop: async () => readiness.stopping() });
  return { baseUrl, ...(metricsUrl === undefined ? {} : { metricsUrl }) };
}

async function startMetrics(
  deps: Deps,
  readiness: Readiness,
  stops: Stops,
  notice: (text: string) => void,
): Promise<string | undefined> {
  const { metricsPort, metricsHost } = deps.config;
  if (metricsPort === undefined || metricsPort === null) return undefined;
  const port = deps.sandbox ? await pickPort(metricsPort === 0 ? undefined : metricsPort) : metricsPort;
  if (deps.sandbox && metricsPort !== 0 && port !== metricsPort) {
    notice(`Metrics port ${metricsPort} is taken; using ${port}.`);
  }
  const server = await startMetricsServer({
    host: metricsHost,
    port,
    registry: deps.metrics.registry,
    ready: () => readiness.answer(),
  });
  stops.push({ what: 'metrics', stop: () => server.close() });
  return `http://${server.host}:${server.port}/metrics`;
}
