import { flushCompileCache } from 'node:module';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ApiBrief,
  configOfApiProcess,
  isApiProcess,
  receiveBrief,
  startApiProcesses,
} from './api-processes.ts';
import {
  type Config,
  ConfigError,
  loadConfig,
  publicBaseUrlOf,
  startedByNpm,
  usage,
  wantsHelp,
} from './config.ts';
import { createIdGenerator } from './lib/ids.ts';
import { createLogger } from './lib/logger.ts';
import { releaseStartMemory } from './lib/memory.ts';
import { watchStopRequests } from './lib/stop-requests.ts';
import { pickPort } from './local/free-port.ts';
import { writeSandboxFile } from './local/sandbox-file.ts';
import { renderBanner, showProgress } from './local/start-screen.ts';
import type { Served, ServeOptions, Stops } from './serve.ts';

/** What PostgreSQL's start needs until its first program runs, and from one program to the next. */
const FIRST_PAUSE_MS = 100;
const PAUSE_MS = 20;
const RELEASE_AFTER_MS = 5_000;

/** Starts what the command line asks for, and stops it in order. */
const stops: Stops = [];
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
    startedByNpm: startedByNpm() && !isApiProcess(),
  });
  if (config.command === 'migrate') await applyMigrations(config);
  else if (isApiProcess()) await startApiProcess(config);
  else if (config.environment === 'sandbox') await startSandbox(config);
  else await startProduction(config);
}

async function applyMigrations({ databaseUrl, databaseDirectUrl }: Config): Promise<void> {
  const { migrate } = await import('./db/migrate.ts');
  const applied = await migrate(databaseDirectUrl ?? databaseUrl ?? '');
  const lines = applied.length === 0 ? ['Nothing to apply.'] : applied.map((name) => `Applied ${name}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function startSandbox(config: Config): Promise<void> {
  const progress = showProgress(process.stdout);
  const notice = (text: string) => progress.note(text);
  const logger = createLogger({ level: config.logLevel, format: config.logFormat, fd: 2 });
  // Before anything is started: a taken port should be reported without a wait.
  const port = await portFor(config, notice);
  progress.update('Starting PostgreSQL and two chains');
  // Imported here only: a production process never loads the embedded services.
  const { startLocalServices, LOCAL_CHAINS, CONFIRMATIONS } = await import('./local/local-services.ts');
  const startingServices = startLocalServices({
    home: config.causewayHome,
    chains: LOCAL_CHAINS,
    confirmations: CONFIRMATIONS,
    wantPostgres: config.databaseUrl === undefined,
    wantChains: config.chainRpcUrls === undefined,
    onProgress: (text) => progress.update(text),
    onNotice: notice,
    onFailure: (error) => {
      logger.fatal({ err: error }, 'a part of the sandbox ended');
      void stopAll(config.shutdownGraceSeconds).then(() => process.exit(1));
    },
    signal: interruption.signal,
  });
  // PostgreSQL starts in processes of its own: meanwhile the program is read.
  const loading = loadProgram(config);
  // Its failure is told when the services are there and can be stopped.
  loading.catch(() => undefined);
  const services = await startingServices;
  stops.push({ what: 'local services', stop: () => services.stop() });
  const { migrate, layGround, seedSandbox, serve } = await loading;
  interruption.signal.throwIfAborted();

  progress.update('Preparing the database and the chains');
  const databaseUrl = config.databaseUrl ?? services.databaseUrl;
  if (databaseUrl === undefined) throw new Error('the local database did not start');
  const [ground] = await Promise.all([
    layGround(config, { ...services, databaseUrl }, createIdGenerator()),
    migrate(config.databaseDirectUrl ?? databaseUrl),
  ]);
  interruption.signal.throwIfAborted();

  progress.update('Starting the API and the worker');
  const { chains } = ground.surroundings;
  const { baseUrl, metricsUrl } = await serveRoles(
    serve,
    {
      config,
      surroundings: ground.surroundings,
      logger,
      port,
      seed: (early) => seedSandbox({ ...early, at: early.clock.date() }, ground.seed),
      notice,
      stops,
      signal: interruption.signal,
    },
    { port, sandbox: { home: ground.home, databaseUrl, chains } },
  );
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

/**
 * Reading a module and all it imports is one block of work: without pauses, PostgreSQL's start would wait for the end of it
 * all before each of its own steps.
 */
async function loadProgram(config: Config) {
  const pause = (ms: number) => (config.databaseUrl === undefined ? delay(ms) : undefined);
  await pause(FIRST_PAUSE_MS);
  const { layGround } = await import('./sandbox.ts');
  await pause(PAUSE_MS);
  const { seedSandbox } = await import('./features/sandbox/seed.ts');
  const { migrate } = await import('./db/migrate.ts');
  await import('./deps.ts');
  await pause(PAUSE_MS);
  const { serve, readRoles } = await import('./serve.ts');
  if (config.apiProcesses === 1) await readRoles(config);
  return { seedSandbox, migrate, layGround, serve };
}

async function startProduction(config: Config): Promise<void> {
  const logger = createLogger({ level: config.logLevel, format: config.logFormat });
  const { productionSurroundings, installOperatorKey } = await import('./production.ts');
  const { prepareDatabase } = await import('./db/start.ts');
  const { serve } = await import('./serve.ts');
  const surroundings = await productionSurroundings(config);
  await prepareDatabase({
    databaseUrl: surroundings.databaseUrl,
    directUrl: surroundings.databaseDirectUrl,
    mayMigrate: config.migrateAtStart,
  });
  const { baseUrl } = await serveRoles(
    serve,
    {
      config,
      surroundings,
      logger,
      port: config.port,
      seed: (early) => installOperatorKey(early, config),
      notice: (text) => logger.warn(text),
      stops,
      signal: interruption.signal,
    },
    { port: config.port },
  );
  logger.info({ base_url: baseUrl, roles: config.roles }, 'started');
}

type Serve = (options: ServeOptions) => Promise<Served>;

/** All roles here, or the API in processes of its own and the rest here. */
async function serveRoles(
  serve: Serve,
  options: ServeOptions,
  brief: Omit<ApiBrief, 'place'>,
): Promise<Served> {
  const { config, logger, port, signal } = options;
  if (!config.roles.includes('api')) {
    const served = await serve(options);
    // Not before: work may stand still until it has started.
    yieldProcessor();
    return served;
  }
  if (config.apiProcesses === 1) return serve(options);
  const others = config.roles.filter((role) => role !== 'api');
  const { serveMetrics } = await import('./serve.ts');
  const served =
    others.length === 0
      ? await serveMetrics(options)
      : await serve({ ...options, config: { ...config, roles: others } });
  const processes = await startApiProcesses({
    ...{ count: config.apiProcesses, brief, logger, signal, firstAlone: others.length === 0 },
    graceSeconds: config.shutdownGraceSeconds,
  });
  served.readiness.add(processes.check);
  served.readiness.started();
  stops.push({
    what: 'processes of the API',
    stop() {
      served.readiness.stopping();
      return processes.stop();
    },
  });
  return { ...served, baseUrl: publicBaseUrlOf(config, port) };
}

/** A little nicer than the processes that somebody waits for, where they share a machine. Not one that starts them: they would be as nice as it is. */
const WORKER_NICENESS = 5;

function yieldProcessor(): void {
  try {
    setPriority(WORKER_NICENESS);
  } catch {
    // Not allowed here; it is a courtesy.
  }
}

/** One of several processes of the API: another has prepared what it stands on. */
async function startApiProcess(config: Config): Promise<void> {
  const { port, place, sandbox } = await receiveBrief();
  const logger = createLogger({
    ...{ level: config.logLevel, format: config.logFormat },
    ...(sandbox === undefined ? {} : { fd: 2 }),
  });
  const { serve } = await import('./serve.ts');
  const common = {
    ...{ config: configOfApiProcess(config, place), logger, port, stops, signal: interruption.signal },
    // The first process has told it.
    notice: () => {},
  };
  if (sandbox === undefined) {
    const { productionSurroundings, installOperatorKey } = await import('./production.ts');
    const surroundings = await productionSurroundings(config);
    await serve({ ...common, surroundings, seed: (early) => installOperatorKey(early, config) });
    return;
  }
  const { describeGround, makeSecrets } = await import('./sandbox.ts');
  const { seedSandbox } = await import('./features/sandbox/seed.ts');
  const secrets = await makeSecrets(sandbox.home, createIdGenerator());
  const { surroundings, seed } = describeGround(config, { ...sandbox, secrets });
  await serve({
    ...{ ...common, surroundings },
    seed: (early) => seedSandbox({ ...early, at: early.clock.date() }, seed),
  });
}

/** A taken port is exchanged where it was not asked for; otherwise it is a clear error. */
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

/** What a start needs once: done when it is over, so that the start does not wait for it. */
function tidyUp(): void {
  flushCompileCache();
  // It stands still for some tenths of a second; whoever has waited for the start goes first.
  setTimeout(releaseStartMemory, RELEASE_AFTER_MS).unref();
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
starting.then(tidyUp, async (error: unknown) => {
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
