import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OfferBook } from './book/index.ts';
import { readCommandLine, USAGE } from './command-line.ts';
import { matchOffer } from './matching/index.ts';
import { ReservationConflictError, ReservationLedger } from './reservations/reservation-ledger.ts';
import {
  matchOutcomeToWire,
  parseMatchCall,
  parseReservationCall,
  toWireRows,
  WireFormatError,
} from './wire/index.ts';

/**
 * The offers backend as a process of its own: `GET /snapshot` with every vendor and offer, for gateways that match
 * in memory and ask often (an ETag makes that cheap); `POST /match` for callers that want one answer;
 * `POST /reservations` and `POST /reservations/{id}/release` or `/consume` for what orders take of balances; `GET /health`.
 * It trusts its callers and belongs on a private network.
 */
export interface OffersServerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** The newest rows, asked for with every request. */
  readonly book: () => OfferBook;
  /** What is reserved of them; kept in memory where none is given. */
  readonly reservations?: ReservationLedger;
  readonly onFailure?: (error: unknown) => void;
}

export interface OffersServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startOffersServer(options: OffersServerOptions): Promise<OffersServer> {
  const reservations = options.reservations ?? new ReservationLedger();
  const server = createServer((request, response) => {
    answer(request, response, options.book, reservations).catch((error: unknown) => {
      options.onFailure?.(error);
      if (response.headersSent) response.destroy();
      else reply(response, 500, { error: 'internal error' });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  rows: () => OfferBook,
  reservations: ReservationLedger,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  const book = () => reservations.apply(rows());
  switch (`${request.method} ${path}`) {
    case 'GET /health':
      return reply(response, 200, healthOf(book()));
    case 'GET /snapshot':
      return sendSnapshot(request, response, book());
    case 'POST /match':
      return sendMatch(request, response, book);
    case 'POST /reservations':
      return sendReservation(request, response, rows, reservations);
  }
  const ending = RESERVATION_END.exec(path);
  if (ending !== null && request.method === 'POST') {
    const [, reservationId = '', how] = ending;
    const isDone = reservations.end(reservationId, how === 'release' ? 'released' : 'consumed');
    return isDone
      ? reply(response, 200, {})
      : reply(response, 409, { error: 'the reservation has ended otherwise' });
  }
  const isPosted = path === '/match' || path === '/reservations' || ending !== null;
  if (path === '/health' || path === '/snapshot' || isPosted) {
    response.setHeader('allow', isPosted ? 'POST' : 'GET');
    return reply(response, 405, { error: 'this method is not served here' });
  }
  reply(response, 404, { error: 'no such path' });
}

interface SnapshotBody {
  readonly etag: string;
  readonly json: string;
}

const bodies = new WeakMap<OfferBook, SnapshotBody>();

/** A book never changes, so it is written out once however often it is asked for. */
function snapshotBody(book: OfferBook): SnapshotBody {
  const known = bodies.get(book);
  if (known !== undefined) return known;
  const json = JSON.stringify(toWireRows(book.rows()));
  const body = { etag: `"${createHash('sha256').update(json).digest('base64url')}"`, json };
  bodies.set(book, body);
  return body;
}

function sendSnapshot(request: IncomingMessage, response: ServerResponse, book: OfferBook): void {
  const { etag, json } = snapshotBody(book);
  response.setHeader('etag', etag);
  response.setHeader('cache-control', 'no-cache');
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  response.end(json);
}

const RESERVATION_END = /^\/reservations\/([0-9A-Za-z-]{1,64})\/(release|consume)$/;

function sendMatch(request: IncomingMessage, response: ServerResponse, book: () => OfferBook): Promise<void> {
  return answerBody(request, response, (body) => {
    const call = parseMatchCall(body);
    return matchOutcomeToWire(call, matchOffer(book(), call.request, call.context));
  });
}

function sendReservation(
  request: IncomingMessage,
  response: ServerResponse,
  rows: () => OfferBook,
  reservations: ReservationLedger,
): Promise<void> {
  return answerBody(request, response, (body) => {
    const { reservation_id, offer_id, crypto } = parseReservationCall(body);
    try {
      return { reserved: reservations.reserve(rows(), reservation_id, offer_id, crypto) };
    } catch (error) {
      if (error instanceof ReservationConflictError) throw new WireFormatError('', error.message);
      throw error;
    }
  });
}

async function answerBody(
  request: IncomingMessage,
  response: ServerResponse,
  answerTo: (body: unknown) => object,
): Promise<void> {
  const text = await readBody(request);
  if (text === undefined) {
    // The rest of the body is not read, so the connection cannot be used again.
    response.setHeader('connection', 'close');
    return reply(response, 413, { error: 'the body is too large' });
  }
  try {
    reply(response, 200, answerTo(parseJson(text)));
  } catch (error) {
    if (!(error instanceof WireFormatError)) throw error;
    reply(response, 400, { error: error.message, path: error.path });
  }
}

export const MAX_BODY_BYTES = 1_024 * 1_024;

/** Undefined where the body is larger than allowed. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the socket that the refusal is written to.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WireFormatError('', 'is not JSON');
  }
}

function healthOf(book: OfferBook): object {
  const problems = book.problems();
  return {
    status: problems.length === 0 ? 'ok' : 'degraded',
    vendors: book.vendorCount,
    offers: book.offerCount,
    problems: problems.map(({ offerId, problem }) => ({ offer_id: offerId, problem })),
  };
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}

async function main(): Promise<void> {
  const commandLine = readCommandLine(process.argv.slice(2));
  if (commandLine === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  let book = commandLine.load();
  const tell = (error: unknown) => process.stderr.write(`${String(error)}\n`);
  const reservations = new ReservationLedger(commandLine.reservationsFile);
  const server = await startOffersServer({ ...commandLine, book: () => book, reservations, onFailure: tell });
  process.stdout.write(`offers backend at ${server.url}\n`);
  process.on('SIGHUP', () => {
    try {
      book = commandLine.load();
    } catch (error) {
      // The book in use stays: a file half written must not end all trade.
      tell(error);
    }
  });
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
