import { PassThrough } from 'node:stream';
import type { ErrorCode } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Database, Snapshot } from '../db/database.ts';
import { type CsvColumn, csvHeader, csvLines } from '../lib/csv.ts';
import type { Logger } from '../lib/logger.ts';
import { withSpan } from '../lib/tracing.ts';
import { announceLimit } from './access.ts';
import type { OperatorPrincipal, PartnerPrincipal, Principal, VendorPrincipal } from './principals.ts';
import { EVERY_ROUTE } from './route.ts';
import { scopeOf } from './route-runs.ts';

/**
 * Files that are read from one snapshot and sent as they are read. Until its first rows are there a request is refused
 * like any other, with an envelope; what breaks later breaks the connection, so that half a file never looks whole.
 *
 * A snapshot holds a connection of the database. So a caller has few files under way, all callers together a part of the
 * connections, and a client that does not take what it asked for loses it.
 */
export interface CsvFile<Row> {
  readonly name: string;
  readonly columns: readonly CsvColumn<Row>[];
  readonly pages: (snapshot: Snapshot) => AsyncIterable<readonly Row[]>;
}

type Caller = { partner: PartnerPrincipal; vendor: VendorPrincipal; operator: OperatorPrincipal };

export interface CsvRouteSpec<A extends keyof Caller, P extends TSchema, Q extends TSchema, Row> {
  readonly access: A;
  readonly url: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** The first lines of a file. */
  readonly example: string;
  readonly params?: P;
  readonly query: Q;
  readonly errors?: readonly ErrorCode[];
  /** What a request asks for. It refuses what does not fit; what is not there is noticed by the first page. */
  readonly open: (
    input: { readonly params: Static<P>; readonly query: Static<Q> },
    caller: Caller[A],
  ) => CsvFile<Row>;
}

export interface CsvSenderOptions {
  readonly db: Database;
  readonly logger: Logger;
  /** Files under way in this process: each holds a connection. */
  readonly atOnce: number;
  /** How long a client may take nothing. */
  readonly stallMs?: number;
  readonly longestMs?: number;
}

export interface CsvSender {
  send<Row>(request: FastifyRequest, reply: FastifyReply, file: CsvFile<Row>): Promise<FastifyReply>;
}

export const FILES_A_CALLER = 2;
const STALL_MS = 15_000;
const LONGEST_MS = 120_000;

class Unfinished extends Error {
  override readonly name = 'Unfinished';
}

export function createCsvSender(app: FastifyInstance, options: CsvSenderOptions): CsvSender {
  const { db, logger, atOnce, stallMs = STALL_MS, longestMs = LONGEST_MS } = options;
  const underWay = new Set<{ readonly owner: string; readonly out: PassThrough }>();
  // A server that stops does not wait for slow clients.
  app.addHook('preClose', async () => {
    for (const { out } of underWay) out.destroy(new Unfinished('the server stops'));
  });

  function refuseTooMany(owner: string, reply: FastifyReply): void {
    const own = [...underWay].filter((one) => one.owner === owner).length;
    if (own < FILES_A_CALLER && underWay.size < atOnce) return;
    const limit = own < FILES_A_CALLER ? atOnce : FILES_A_CALLER;
    throw announceLimit(reply, { allowed: false, limit, remaining: 0, resetSeconds: 10 });
  }

  /**
   * Every page is a turn of its caller: a large file does not keep other partners' requests waiting. It waits for as long as
   * it takes: half a file is of no use, and there are few of them.
   */
  function inTurn<T>(principal: Principal, work: () => Promise<T>): Promise<T> | T {
    return principal.kind === 'partner' ? app.turns.take(principal.bucket, work) : work();
  }

  return {
    async send(request, reply, file) {
      const principal = request.principal as Principal;
      refuseTooMany(principal.bucket, reply);
      const out = new PassThrough();
      const entry = { owner: principal.bucket, out };
      underWay.add(entry);
      const begun = Promise.withResolvers<void>();
      let hasBegun = false;
      const deadline = performance.now() + longestMs;
      const write = async (text: string) => {
        hasBegun = true;
        begun.resolve();
        await written(out, text, Math.min(stallMs, deadline - performance.now()));
      };

      const reading = db.snapshot(scopeOf(principal), async (snapshot) => {
        const pages = file.pages(snapshot)[Symbol.asyncIterator]();
        let text = csvHeader(file.columns);
        for (;;) {
          const page = await inTurn(principal, () => pages.next());
          if (page.done) break;
          await write(text + csvLines(file.columns, page.value));
          text = '';
        }
        if (text !== '') await write(text);
      });
      out.on('error', () => {});
      reading
        .finally(() => underWay.delete(entry))
        .then(
          // Only what was read to its end is ended.
          () => out.end(),
          (error: unknown) => {
            out.destroy(error as Error);
            // Nothing was sent: it is the answer to the request.
            if (!hasBegun) {
              begun.reject(error);
              return;
            }
            const level = error instanceof Unfinished ? 'info' : 'error';
            logger[level](
              { err: error, request_id: request.id, route: request.routeOptions.url },
              'file not sent to its end',
            );
          },
        );
      await begun.promise;
      return reply
        .header('content-type', 'text/csv; charset=utf-8; header=present')
        .header('content-disposition', `attachment; filename="${file.name}"`)
        .send(out);
    },
  };
}

/** Resolves when the client has taken what was written before; rejects when it left, or took nothing in time. */
function written(out: PassThrough, text: string, withinMs: number): Promise<void> {
  if (out.destroyed) return Promise.reject(new Unfinished('the client left'));
  if (withinMs <= 0) return Promise.reject(new Unfinished('it took too long'));
  if (out.write(text)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      clearTimeout(timer);
      out.off('drain', taken).off('close', left);
      if (error === undefined) resolve();
      else reject(error);
    };
    const taken = () => settle();
    const left = () => settle(new Unfinished('the client left'));
    const timer = setTimeout(() => settle(new Unfinished('the client took nothing in time')), withinMs);
    out.on('drain', taken).on('close', left);
  });
}

/** A route that answers a file of comma-separated values. */
export function csvRoute<A extends keyof Caller, P extends TSchema, Q extends TSchema, Row>(
  app: FastifyInstance,
  sender: CsvSender,
  spec: CsvRouteSpec<A, P, Q, Row>,
): void {
  const { access, url, params, errors = [] } = spec;
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    const input = { params: request.params as Static<P>, query: request.query as Static<Q> };
    return sender.send(request, reply, spec.open(input, request.principal as Caller[A]));
  };
  app.route({
    method: 'GET',
    url,
    // It would read the whole file to send none of it.
    exposeHeadRoute: false,
    config: { access, errors: [...EVERY_ROUTE, 'UNAUTHORIZED', ...errors] },
    schema: {
      operationId: spec.operationId,
      tags: [spec.tag],
      summary: spec.summary,
      description: spec.description,
      security: [{ [`${access}Key`]: [] }],
      ...(params === undefined ? {} : { params }),
      querystring: spec.query,
      response: { 200: csvResponse(spec.example) },
    },
    handler: (request, reply) => withSpan(`GET ${url}`, {}, () => answer(request, reply)),
  });
}

const csvResponse = (example: string) => ({
  description: 'The file, with a line of column names',
  content: { 'text/csv': { schema: { type: 'string', examples: [example] } } },
});

/** The beginning of a file as the description shows it. */
export function sampleText<Row>({ columns }: CsvFile<Row>, row: Row): string {
  return csvHeader(columns) + csvLines(columns, [row]);
}
