import { createApi } from './api.ts';
import {
  type Config,
  ConfigError,
  loadConfig,
  publicBaseUrlOf,
  startedByNpm,
  usage,
  wantsHelp,
} from './config.ts';
import { migrate } from './db/migrate.ts';
import { prepareDatabase } from './db/start.ts';
import { createDeps, type Deps, type Surroundings } from './deps.ts';
import { createReadiness, type Readiness } from './features/health/readiness.ts';
import { seedSandbox } from './features/sandbox/seed.ts';
import { createIdGenerator } from './lib/ids.ts';
import { createLogger } from './lib/logger.ts';
import { releaseStartMemory } from './lib/memory.ts';
import { startMetricsServer } from './lib/metrics.ts';
import { watchStopRequests } from './lib/stop-requests.ts';
import { startTracing } from './lib/tracing.ts';
import { renderBanner } from './local/banner.ts';
import { pickPort } from './local/free-port.ts';
import { showProgress } from './local/progress.ts';
import { writeSandboxFile } from './local/sandbox-file.ts';
import { createWorker } from './worker.ts';

/** Starts what the command line asks for, and stops it in order. */
const stops: { readonly what: string; readonly stop: () => Promise<unknown> }[] = [];
const interruption = new AbortController();
let stopping: Promise<void> | undefined;

async function main(): Promise<void> {
  if (wantsHelp()) {
    process.stdout.write(usage());
    return;
  }
  const config = loadConfig();
  watchStopRequests({
    onStop(reason) {
      interruption.abort(new Error(reason));
      void endInOrder(config.shutdownGraceSeconds);
    },
    onInsist: () => process.exit(1),
    startedByNpm: startedByNpm(),
  });
  if (config.command === 'migrate') await applyMigrations(config);
  else if (config.environment === 'sandbox') await startSandbox(config);
  else await startProduction(config);
}

async function applyMigrations({ databaseUrl, databaseDirectUrl }: Config): Promise<void> {
  const applied = await migrate(databaseDirectUrl ?? databaseUrl ?? '');
  const lines = applied.length === 0 ? ['Nothing to apply.'] : applied.map((name) => `Applied ${name}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function startSandbox(config: Config): Promise<void> {
  // Loaded here only: a production process never sees the embedded parts.
  const { startSandboxGround } = await import('./sandbox.ts');
  const progress = showProgress(process.stdout);
  const logger = createLogger({
    level: config.logLevel,
    format: config.logFormat,
    fd: 2,
  });
  const ids = createIdGenerator();
  // Before anything is started: a taken port should cost nobody a wait.
  const port = await portFor(config, (text) => progress.note(text));
  progress.update('Starting PostgreSQL and two chains');
  const ground = await startSandboxGround({
    config,
    ids,
    onProgress: (text) => progress.update(text),
    onNotice: (text) => progress.note(text),
    onFailure: (error) => {
      logger.fatal({ err: error }, 'a part of the sandbox ended');
      void stopAll(config.shutdownGraceSeconds).then(() => process.exit(1));
    },
    signal: interruption.signal,
  });
  stops.push({ what: 'local parts', stop: () => ground.stop() });
  interruption.signal.throwIfAborted();

  progress.update('Preparing the database');
  await migrate(ground.surroundings.databaseDirectUrl);
  const deps = await createDeps(config, ground.surroundings, logger, (early) =>
    seedSandbox({ ...early, at: early.clock.date() }, ground.seed),
  );
  stops.push({ what: 'connections', stop: () => deps.close() });
  interruption.signal.throwIfAborted();

  progress.update('Starting the API and the worker');
  const { baseUrl, metricsUrl } = await startRoles(deps, port, (text) => progress.note(text));
  const description = ground.describe(baseUrl);
  const sandboxFile = await writeSandboxFile(ground.home, description);
  progress.end();
  const [partner] = description.partners;
  if (partner === undefined) throw new Error('the sandbox has no partner');
  process.stdout.write(
    renderBanner({
      baseUrl,
      docsUrl: `${baseUrl}/docs`,
      ...(metricsUrl === undefined ? {} : { metricsUrl }),
      partnerName: partner.name,
      partnerApiKey: partner.apiKey,
      operatorKey: description.operatorKey,
      chains: description.chains,
      sandboxFile,
    }),
  );
}

async function startProduction(config: Config): Promise<void> {
  const logger = createLogger({ level: config.logLevel, format: config.logFormat });
  const { productionSurroundings, installOperatorKey } = await import('./production.ts');
  const surroundings: Surroundings = await productionSurroundings(config);
  await prepareDatabase({
    databaseUrl: surroundings.databaseUrl,
    directUrl: surroundings.databaseDirectUrl,
    mayMigrate: config.migrateAtStart,
  });
  const deps = await createDeps(config, surroundings, logger, (early) => installOperatorKey(early, config));
  stops.push({ what: 'connections', stop: () => deps.close() });
  interruption.signal.throwIfAborted();
  const { baseUrl } = await startRoles(deps, config.port, (text) => logger.warn(text));
  logger.info({ base_url: baseUrl, roles: config.roles }, 'started');
}

async function startRoles(
  deps: Deps,
  port: number,
  notice: (text: string) => void,
): Promise<{ baseUrl: string; metricsUrl?: string }> {
  const { config } = deps;
  const tracing = await startTracing({ endpoint: config.otlpEndpoint, serviceName: 'causeway' });
  stops.push({ what: 'traces', stop: () => tracing.shutdown() });
  const readiness = createReadiness(deps.logger, []);
  const metricsUrl = await startMetrics(deps, readiness, notice);
  const baseUrl = publicBaseUrlOf(config, port);
  if (config.roles.includes('worker')) {
    const worker = createWorker(deps);
    worker.start();
    readiness.add(...worker.checks);
    stops.push({ what: 'worker', stop: () => worker.stop() });
  }
  if (config.roles.includes('api')) {
    const api = await createApi(deps, baseUrl);
    await api.listen({ host: config.host, port });
    stops.push({ what: 'api', stop: () => api.close() });
    readiness.add(...api.checks);
  }
  readiness.started();
  stops.push({ what: 'readiness', stop: async () => readiness.stopping() });
  releaseStartMemory();
  return { baseUrl, ...(metricsUrl === undefined ? {} : { metricsUrl }) };
}

/** A taken port is exchanged where nobody asked for it; otherwise it is a clear error. */
async function portFor(config: Config, notice: (text: string) => void): Promise<number> {
  if (!config.roles.includes('api') || config.port === 0) return pickPort(undefined);
  const port = await pickPort(config.port);
  if (port === config.port) return port;
  if (config.portGiven) {
    throw new Error(`Port ${config.port} is taken. Stop what uses it, or set PORT to another.`);
  }
  notice(`Port ${config.port} is taken; using ${port}.`);
  return port;
}

async function startMetrics(
  deps: Deps,
  readiness: Readiness,
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

/** A start under way is waited for: what it has begun can only be stopped once it stands. */
async function endInOrder(graceSeconds: number): Promise<void> {
  await Promise.race([starting.catch(() => undefined), after(graceSeconds * 1_000)]);
  await stopAll(graceSeconds);
  process.exit(0);
}

/** Last started, first stopped; one part that will not stop does not keep the others alive. */
function stopAll(graceSeconds: number): Promise<void> {
  stopping ??= (async () => {
    for (const { what, stop } of stops.toReversed()) {
      await Promise.race([stop(), after(graceSeconds * 1_000)]).catch((error: unknown) => {
        process.stderr.write(`Stopping ${what}: ${error instanceof Error ? error.message : 'failed'}\n`);
      });
    }
  })();
  return stopping;
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

const starting = main();
starting.catch(async (error: unknown) => {
  if (interruption.signal.aborted) return;
  const text = error instanceof ConfigError ? error.message : explain(error);
  process.stderr.write(`\n${text}\n`);
  await stopAll(5);
  process.exit(1);
});

function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'Causeway could not start.';
  if ('code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Causeway could not start: port ${String(error.port)} is taken.`;
  }
  const cause = error.cause instanceof Error ? `\n  because: ${error.cause.message}` : '';
  return `Causeway could not start: ${error.message}${cause}`;
}
