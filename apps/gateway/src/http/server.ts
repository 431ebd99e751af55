import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import type { IdGenerator } from '../lib/ids.ts';
import { type Logger, lineWriter } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { maskText } from '../lib/redaction.ts';
import { type AccessOptions, registerAccess } from './access.ts';
import { createAccessLog } from './access-log.ts';
import { type Admission, createAdmission, refuseAtTheDoor } from './admission.ts';
import { type DocsOptions, registerDocs } from './docs/docs.routes.ts';
import { errorAnswers, invalidRequest } from './errors.ts';
import type { ResponseSealer } from './idempotency.store.ts';
import { registerMeasurement } from './measurement.ts';
import { type OpenApiOptions, registerOpenApi } from './openapi.ts';
import { schemaCompilers } from './schema-compilers.ts';
import { createSecondApprovals } from './second-approval.ts';
import { clientErrorAnswerer, commonHeaders, registerHeaders } from './transport.ts';
import { createTurns, type Turns } from './turns.ts';

export interface ServerOptions extends AccessOptions, OpenApiOptions, DocsOptions {
  readonly logger: Logger;
  readonly ids: IdGenerator;
  readonly metrics: Metrics;
  /** Whether every request leaves a line in the log. */
  readonly accessLog: boolean;
  readonly bodyLimitBytes: number;
  readonly trustedProxies: readonly string[];
  /** Most of the time, in percent, that requests of one partner may take while others are served too; 0 for all of it. */
  readonly partnerTimeSharePct: number;
  /** Requests in work at a time before more are refused; 0 for any number. */
  readonly requestsAtOnce: number;
  /** Seals responses stored for Idempotency-Key; not needed by a server whose responses hold nothing personal. */
  readonly responseSealer?: ResponseSealer;
  /** Above what a second person has to agree; where it is not said, one is enough. */
  readonly secondApprovalAboveUsd?: string | null;
  /** Adds the routes; they inherit everything below. */
  readonly routes: (app: FastifyInstance) => Promise<void>;
}

declare module 'fastify' {
  interface FastifyInstance {
    responseSealer: ResponseSealer | null;
    turns: Turns;
    admission: Admission;
  }
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const MAX_PARAM_LENGTH = 512;
const KEEP_ALIVE_MS = 72_000;
const REQUEST_TIMEOUT_MS = 60_000;
const LOOK_FOR_IDLE_MS = 20;

/** The HTTP shell: envelopes, access, limits, documentation. Routes come from the features. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const requestIdOf = requestIds(options.ids);
  const errors = errorAnswers(options.logger);
  const lines = options.accessLog ? lineWriter(options.logger) : undefined;
  const accessLog = lines && createAccessLog(lines);
  const app = Fastify({
    // Fastify's own logging listens to the end of every answer and makes a logger a request; the access log and the
    // error mapper do without both.
    logger: false,
    bodyLimit: options.bodyLimitBytes,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Most requests have no body, and its stream costs more than the rest of the shell.
    http: { optimizeEmptyRequests: true },
    genReqId: requestIdOf,
    clientErrorHandler: clientErrorAnswerer(options.ids, accessLog),
    frameworkErrors: errors.answerFrameworkError,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    schemaController: schemaCompilers(options.sandbox ? 'at first use' : 'at start'),
  });

  const transport = { production: !options.sandbox };
  registerHeaders(app, transport);
  app.decorate('responseSealer', options.responseSealer ?? null);
  app.decorate(
    'secondApprovals',
    createSecondApprovals({
      aboveUsd: options.secondApprovalAboveUsd ?? null,
      sealer: options.responseSealer ?? null,
    }),
  );
  app.decorate(
    'turns',
    createTurns({
      sharePct: options.partnerTimeSharePct,
      now: () => performance.now(),
      metrics: options.metrics,
    }),
  );
  const admission = createAdmission({
    atOnce: options.requestsAtOnce,
    now: () => performance.now(),
    metrics: options.metrics,
  });
  app.decorate('admission', admission);
  const measurement = registerMeasurement(app, options.metrics, accessLog);
  refuseAtTheDoor(app, {
    admission,
    principals: options.principals,
    requestIdOf,
    headers: commonHeaders(transport),
    noteRefusal: measurement.noteRefusal,
  });
  errors.register(app, measurement.noteUnmatched);
  registerAccess(app, options);
  giveEmptyBodies(app);
  readJsonBodies(app);
  rememberAddresses(app);
  closeAfterTheLastAnswer(app);
  registerDocs(app, options, await registerOpenApi(app, options));
  await options.routes(app);
  app.addHook('onClose', async () => lines?.close());
  return app;
}

/** A socket keeps the address that was read once; after its client has hung up there is none to be read. */
function rememberAddresses(app: FastifyInstance): void {
  app.server.on('connection', (socket: Socket) => void socket.remoteAddress);
}

/**
 * Closing ends the connections that are idle then. One that is answered later falls idle afterwards, and one that was opened
 * ahead and never used does not count as idle: either would keep the process for as long as its client keeps it.
 *
 * Asked for while closing instead of after every answer: with a hook `onResponse` all objects of a request outlive two
 * collections of the young generation, which then take up to six times as long (decision 0069).
 */
function closeAfterTheLastAnswer(app: FastifyInstance): void {
  const unused = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }) => unused.delete(socket));
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy();
    const looking = setInterval(() => app.server.closeIdleConnections(), LOOK_FOR_IDLE_MS);
    // A server that never listened does not say that it is closed.
    looking.unref();
    app.server.once('close', () => clearInterval(looking));
  });
}

/** It is logged as it is, so one that looks like a key or the like is not taken. */
function isRequestId(given: string): boolean {
  return REQUEST_ID.test(given) && maskText(given) === given;
}

/** The caller's own, or one that is unique over all processes and cheap: a uuid for the process, a count for the request. */
function requestIds(ids: IdGenerator): (request: Pick<IncomingMessage, 'headers'>) => string {
  const prefix = `${ids.uuid()}-`;
  let count = 0;
  return ({ headers }) => {
    const given = headers['x-request-id'];
    return typeof given === 'string' && isRequestId(given) ? given : prefix + ++count;
  };
}

/**
 * The body of a request that says it has none has ended before it can be listened to. Code that reads it because of its
 * content type, also where no route is found, gets another empty one, or would wait for ever.
 */
function giveEmptyBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const isMissed = request.method !== 'GET' && (payload as Readable).readableEnded;
    done(null, isMissed ? Readable.from([]) : payload);
  });
}

/**
 * `POST` with a JSON content type and nothing in it means "no body" (confirm-payment-sent and the like). What is
 * nested beyond any sense is refused here, because everything that walks a value later would run out of stack; so is what has
 * more values than any body of ours.
 */
function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    const excess = excessOf(body as string);
    if (excess !== undefined) return done(invalidRequest('body', excess));
    if (!SUSPECT_ESCAPE.test(body as string)) return parse(request, body as string, done);
    parse(request, body as string, (error, value) => {
      const path = error === null ? unstorableText(value, 'body') : undefined;
      if (path !== undefined) return done(invalidRequest(path, 'contains a character that no text can hold'));
      done(error, value);
    });
  });
}

/** U+0000 and halves of surrogate pairs can only be written as escapes; nearly no body has one. */
const SUSPECT_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

/** Where in a value there is text that PostgreSQL refuses, names of fields included. */
function unstorableText(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? path : undefined;
  if (value === null || typeof value !== 'object') return undefined;
  for (const [name, field] of Object.entries(value)) {
    if (unstorableText(name, path) !== undefined) return path;
    const found = unstorableText(field, path === 'body' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MAX_NESTING = 64;

/** The largest offer has half as many; what checks a body may note a fault for each of them. */
const MAX_VALUES = 60_000;

function excessOf(json: string): string | undefined {
  if (json.length <= MAX_NESTING) return undefined;
  let [depth, values] = [0, 1];
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case '"':
        inString = !inString;
        break;
      case '\\':
        i++;
        break;
      case '[':
      case '{':
        if (!inString && ++depth > MAX_NESTING) return 'is nested too deeply';
        break;
      case ']':
      case '}':
        if (!inString) depth--;
        break;
      case ',':
        if (!inString && ++values > MAX_VALUES) return 'has too many values';
        break;
      default:
    }
  }
  return undefined;
}
