import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadReferenceFiles, type ReferenceData } from './catalogue/index.ts';
import { type PolledSource, RateBook, RateService } from './rates/index.ts';
import { readCommandLine, USAGE } from './server/command-line.ts';
import { referenceText, snapshotBody } from './server/snapshot-body.ts';

/**
 * The currencies backend as a process of its own: `GET /snapshot` with everything a gateway needs, `GET /health`.
 * Gateways ask every second; an ETag makes that cheap, and reference data they already have is left out.
 */
export interface CurrenciesServerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly sources: readonly PolledSource[];
  readonly clock: { now(): number };
  readonly reference?: ReferenceData;
  readonly onFailure?: (source: string, error: unknown) => void;
}

export interface CurrenciesServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startCurrenciesServer(options: CurrenciesServerOptions): Promise<CurrenciesServer> {
  const { clock, sources } = options;
  const reference = referenceText(options.reference ?? loadReferenceFiles());
  const rates = new RateService({
    clock,
    book: new RateBook({ clock }),
    sources,
    ...(options.onFailure === undefined ? {} : { onFailure: options.onFailure }),
  });
  await rates.start();

  function answer(request: IncomingMessage, response: ServerResponse): ServerResponse {
    const url = new URL(request.url ?? '/', 'http://currencies');
    if (request.method !== 'GET') return reply(response, 405, { error: 'only GET is served' });
    if (url.pathname === '/health') return reply(response, 200, healthOf(rates));
    if (url.pathname !== '/snapshot') return reply(response, 404, { error: 'no such path' });
    const body = snapshotBody(reference, rates.snapshot().rates);
    response.setHeader('etag', body.etag);
    response.setHeader('cache-control', 'no-cache');
    if (request.headers['if-none-match'] === body.etag) {
      return response.writeHead(304).end();
    }
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    return response.end(body.render(url.searchParams.get('known_reference')));
  }

  const server = createServer((request, response) => {
    try {
      answer(request, response);
    } catch {
      // A request line that is no address; whatever it was, there is nothing to say about it.
      reply(response, 400, { error: 'not a valid request' });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    async close() {
      await rates.stop();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function healthOf(rates: RateService): object {
  const sources = rates.health().map(({ name, lastSuccessAt, consecutiveFailures, lastFault }) => ({
    name,
    last_success_at: lastSuccessAt,
    consecutive_failures: consecutiveFailures,
    last_fault: lastFault,
  }));
  const healthy = sources.every(({ consecutive_failures: failures }) => failures === 0);
  return { status: healthy ? 'ok' : 'degraded', sources };
}

function reply(response: ServerResponse, status: number, body: object): ServerResponse {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  return response.end(JSON.stringify(body));
}

async function main(): Promise<void> {
  // The market's time is the wall clock: this process has no business time.
  const clock = { now: () => Date.now() };
  const commandLine = readCommandLine(process.argv.slice(2), clock);
  if (commandLine === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const server = await startCurrenciesServer({
    ...commandLine,
    clock,
    onFailure: (source, error) => process.stderr.write(`rate source ${source} failed: ${String(error)}\n`),
  });
  process.stdout.write(`currencies backend at ${server.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server.close().then(() => process.exit(0));
    });
  }
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
