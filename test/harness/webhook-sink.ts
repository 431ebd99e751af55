import { webcrypto } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Readable, type Writable } from 'node:stream';
import { type LoopbackCertificate, loopbackCertificate } from './tls.ts';

/** What the sink does to one request instead of simply answering 200. */
export type Fault =
  | { readonly kind: 'none' }
  /** Answers this status at once: 500, 503, 404, or another 2xx. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: 301 | 302 | 303 | 307 | 308 }
  /** Reads everything and never answers. */
  | { readonly kind: 'hang' }
  /** Sends the headers of a 200 at once, then the body a byte at a time. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly intervalMs: number }
  /** Sends even the status line and the headers a byte at a time. */
  | { readonly kind: 'slow-headers'; readonly intervalMs: number }
  /** Resets the connection (RST, not FIN) before the body is read, or after it is read and recorded. */
  | { readonly kind: 'reset'; readonly when: 'before-body' | 'after-body' }
  /** Promises more body than it sends, then closes the connection. */
  | { readonly kind: 'truncated' }
  /** A 200 with a body of this many bytes, sent as fast as the client reads. */
  | { readonly kind: 'huge'; readonly bytes: number }
  /** Decided once the delivery is known, e.g. by its attempt; a reset then comes after the body in any case. */
  | { readonly kind: 'by-delivery'; readonly choose: (delivery: ReceivedWebhook) => Fault };

type FaultKind = Exclude<Fault['kind'], 'by-delivery'>;

/** What is known when the headers have arrived. */
interface FaultRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Counted from 1 over the whole sink. */
  readonly requestNumber: number;
}

type FaultChooser = (request: FaultRequest) => Fault;

export type FaultPlan =
  | Fault
  | FaultChooser
  /** With this probability a request meets one of the faults, each as likely as the other. */
  | { readonly probability: number; readonly mix: readonly Fault[] }
  /** One fault a request, in this order; nothing after the last. */
  | { readonly sequence: readonly Fault[] }
  | { readonly paths: Readonly<Record<string, FaultPlan>>; readonly otherwise?: FaultPlan };

const NO_FAULT: Fault = { kind: 'none' };

/** Every kind of failure that an unlucky receiver shows, short enough to be used by the thousand. */
export const COMMON_FAULTS: readonly Fault[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'hang' },
  { kind: 'slow', bytes: 5, intervalMs: 20 },
  { kind: 'reset', when: 'before-body' },
  { kind: 'reset', when: 'after-body' },
  { kind: 'truncated' },
];

interface WebhookEnvelope {
  readonly event_id: string;
  readonly event_type: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A request whose body arrived in full, whatever was answered to it. */
export interface ReceivedWebhook {
  /** Milliseconds by the sink's clock, when the body was complete. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** Null where the body is not an event's envelope. */
  readonly event: WebhookEnvelope | null;
  /** Null where the sink has no secret for this path. */
  readonly signatureValid: boolean | null;
  /** How often the sink has read this event_id, this time included; 1 where there is no event. */
  readonly attempt: number;
  /** What was done to the request; 'none' is a plain 200. */
  readonly fault: FaultKind;
}

interface SinkCounts {
  /** TCP connections accepted; with keep-alive far fewer than requests. */
  readonly connections: number;
  readonly openConnections: number;
  readonly failedHandshakes: number;
  readonly requests: number;
  /** Requests that ended before their body did, by a reset of ours or by the client. */
  readonly unreadRequests: number;
}

export interface WebhookSinkOptions {
  readonly tls: boolean;
  /** The webhook secret, or the one of each path. */
  readonly secret?: string | ((path: string) => string | undefined);
  readonly faults?: FaultPlan;
  readonly seed?: number;
  /** Milliseconds; give the movable clock of the system under test to compare with its times. */
  readonly clock?: () => number;
}

export interface WebhookSink {
  readonly url: string;
  readonly port: number;
  /** PEM certificate to trust; undefined without TLS. */
  readonly ca: string | undefined;
  /** In order of arrival. */
  readonly received: readonly ReceivedWebhook[];
  readonly counts: SinkCounts;
  /**
   * The first delivery for which the predicate holds: past ones are shown to it in order, then each new one, every one
   * exactly once, so a predicate may count. Rejects after `timeoutMs` or when the sink closes.
   */
  waitFor(predicate: WebhookPredicate, timeoutMs: number): Promise<ReceivedWebhook>;
  /** Requests whose headers arrive from now on follow this plan. */
  setFault(plan: FaultPlan): void;
  close(): Promise<void>;
}

type WebhookPredicate = (delivery: ReceivedWebhook, all: readonly ReceivedWebhook[]) => boolean;

interface Waiter {
  offer(delivery: ReceivedWebhook): void;
  fail(reason: string): void;
}

const DEFAULT_SEED = 1;
// A receiver that closes idle connections early would add resets that no plan asked for.
const KEEP_ALIVE_MS = 120_000;

export async function startWebhookSink(options: WebhookSinkOptions): Promise<WebhookSink> {
  const sink = new Sink(options, options.tls ? await loopbackCertificate() : undefined);
  await sink.listen();
  return sink;
}

class Sink implements WebhookSink {
  readonly received: ReceivedWebhook[] = [];
  readonly ca: string | undefined;
  readonly #options: WebhookSinkOptions;
  readonly #server: Server;
  readonly #attempts = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  // By the client's address: below TLS only the plain socket can send a reset.
  readonly #sockets = new Map<string, Socket>();
  readonly #counts = { connections: 0, failedHandshakes: 0, requests: 0, unreadRequests: 0 };
  #chooseFault: FaultChooser;
  #latestRecord: Promise<unknown> = Promise.resolve();

  constructor(options: WebhookSinkOptions, certificate: LoopbackCertificate | undefined) {
    this.#options = options;
    this.ca = certificate?.cert;
    this.#chooseFault = this.#compile(options.faults ?? NO_FAULT);
    this.#server = certificate ? createTlsServer(certificate) : createServer();
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.requestTimeout = 0;
    this.#server.on('connection', (socket: Socket) => this.#accept(socket));
    this.#server.on('tlsClientError', () => {
      this.#counts.failedHandshakes += 1;
    });
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#serve(request, response);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#options.tls ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  get counts(): SinkCounts {
    return { ...this.#counts, openConnections: this.#sockets.size };
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve);
    });
  }

  setFault(plan: FaultPlan): void {
    this.#chooseFault = this.#compile(plan);
  }

  async close(): Promise<void> {
    for (const waiter of this.#waiters) waiter.fail('the sink was closed');
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets.values()) socket.destroy();
    await closed;
  }

  waitFor(predicate: WebhookPredicate, timeoutMs: number): Promise<ReceivedWebhook> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => waiter.fail(`no such webhook within ${timeoutMs} ms`), timeoutMs);
      const settle = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        offer: (delivery) => {
          try {
            if (!predicate(delivery, this.received)) return;
            resolve(delivery);
          } catch (error) {
            reject(error);
          }
          settle();
        },
        fail: (reason) => {
          settle();
          reject(new Error(`${reason}; ${describeLatest(this.received)}`));
        },
      };
      this.#waiters.add(waiter);
      for (const delivery of this.received) {
        if (!this.#waiters.has(waiter)) break;
        waiter.offer(delivery);
      }
    });
  }

  #compile(plan: FaultPlan): FaultChooser {
    return compileFaultPlan(plan, this.#options.seed ?? DEFAULT_SEED);
  }

  #accept(socket: Socket): void {
    const client = clientOf(socket);
    this.#counts.connections += 1;
    this.#sockets.set(client, socket);
    socket.on('error', () => {}); // clients that go away are part of the game
    socket.on('close', () => {
      if (this.#sockets.get(client) === socket) this.#sockets.delete(client);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, url: path = '/', method = '' } = request;
    const plainSocket = this.#sockets.get(clientOf(request.socket));
    const reset = () => plainSocket?.resetAndDestroy();
    this.#counts.requests += 1;
    const planned = this.#chooseFault({ path, headers, requestNumber: this.#counts.requests });
    const unread = planned.kind === 'reset' && planned.when === 'before-body';
    const rawBody = unread ? null : await readBody(request);
    if (rawBody === null) {
      this.#counts.unreadRequests += 1;
      reset();
      return;
    }
    const { secret, clock = Date.now } = this.#options;
    const arrived = { at: clock(), method, path, headers, rawBody };
    // Verifications end in any order on their thread pool; the chain keeps the list in order of arrival.
    const verified = checkSignature(typeof secret === 'function' ? secret(path) : secret, headers, rawBody);
    const record = Promise.all([verified, this.#latestRecord]).then(([signatureValid]) =>
      this.#record({ ...arrived, signatureValid }, planned),
    );
    this.#latestRecord = record;
    // Answered only now: a sender that saw the answer finds its delivery in the list.
    answer(await record, response, reset);
  }

  /** Returns the fault to carry out. */
  #record(arrived: Omit<ReceivedWebhook, 'event' | 'attempt' | 'fault'>, planned: Fault): Fault {
    const event = parseEnvelope(arrived.rawBody);
    const attempt = event === null ? 1 : (this.#attempts.get(event.event_id) ?? 0) + 1;
    if (event !== null) this.#attempts.set(event.event_id, attempt);
    const known = { ...arrived, event, attempt };
    let fault = planned;
    while (fault.kind === 'by-delivery') fault = fault.choose({ ...known, fault: 'none' });
    const delivery: ReceivedWebhook = { ...known, fault: fault.kind };
    this.received.push(delivery);
    for (const waiter of this.#waiters) waiter.offer(delivery);
    return fault;
  }
}

function clientOf(socket: Socket): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}

function describeLatest(received: readonly ReceivedWebhook[]): string {
  const latest = received
    .slice(-5)
    .map(({ event, fault }) => `${event?.event_type ?? 'no event'} (${fault})`);
  return `${received.length} received, the latest: ${latest.join(', ') || 'none'}`;
}

function answer(fault: Fault, response: ServerResponse, reset: () => void): void {
  switch (fault.kind) {
    case 'none':
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}');
      break;
    case 'status':
      response.writeHead(fault.status, fault.headers).end();
      break;
    case 'redirect':
      response.writeHead(fault.status ?? 301, { location: fault.location }).end();
      break;
    case 'slow':
      response.writeHead(200, { 'content-length': fault.bytes }).flushHeaders();
      drip(Buffer.alloc(fault.bytes, '.'), fault.intervalMs, response);
      break;
    case 'slow-headers': {
      const head = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
      if (response.socket) drip(Buffer.from(head), fault.intervalMs, response.socket);
      break;
    }
    case 'reset':
      reset();
      break;
    case 'truncated':
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"received":', () => response.destroy());
      break;
    case 'huge':
      response.writeHead(200, { 'content-length': fault.bytes });
      Readable.from(zeroes(fault.bytes)).pipe(response);
      break;
    case 'hang':
    case 'by-delivery': // resolved before it comes here
      break;
  }
}

/** Writes a byte at a time and stops when the other side is gone. */
function drip(bytes: Buffer, intervalMs: number, to: Writable): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < bytes.length) to.write(bytes.subarray(sent, ++sent));
    if (sent < bytes.length) return;
    clearInterval(timer);
    to.end();
  }, intervalMs);
  to.on('close', () => clearInterval(timer));
}

function* zeroes(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, '0');
  for (let left = bytes; left > 0; left -= chunk.length)
    yield chunk.subarray(0, Math.min(left, chunk.length));
}

/** Null where the client went away before the end. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

function parseEnvelope(rawBody: Buffer): WebhookEnvelope | null {
  try {
    const body = JSON.parse(rawBody.toString('utf8')) as Partial<WebhookEnvelope> | null;
    const named = typeof body?.event_id === 'string' && typeof body.event_type === 'string';
    return named ? (body as WebhookEnvelope) : null;
  } catch {
    return null;
  }
}

async function checkSignature(
  secret: string | undefined,
  headers: IncomingHttpHeaders,
  rawBody: Buffer,
): Promise<boolean | null> {
  if (secret === undefined) return null;
  return signatureMatches(secret, headers['x-service-timestamp'], rawBody, headers['x-service-signature']);
}

/**
 * HMAC-SHA256 over `<timestamp>.<raw body>`, written `sha256=<hex>`. Done by the Web Crypto API and on the bytes as they
 * came, so that it shares no code with the signing it judges. Use it for X-Service-Signature-Previous too.
 */
export async function signatureMatches(
  secret: string,
  timestamp: unknown,
  rawBody: Buffer,
  signature: unknown,
): Promise<boolean> {
  if (typeof timestamp !== 'string' || !/^[1-9][0-9]{9}$/.test(timestamp)) return false;
  if (typeof signature !== 'string' || !/^sha256=[0-9a-f]{64}$/.test(signature)) return false;
  const key = await hmacKey(secret);
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), rawBody]);
  return webcrypto.subtle.verify('HMAC', key, Buffer.from(signature.slice('sha256='.length), 'hex'), signed);
}

const hmacKeys = new Map<string, Promise<webcrypto.CryptoKey>>();

function hmacKey(secret: string): Promise<webcrypto.CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key =
    hmacKeys.get(secret) ??
    webcrypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['verify']);
  hmacKeys.set(secret, key);
  return key;
}

/**
 * Turns a plan into a chooser. Draws depend on the seed and on how many requests the same part of the plan has seen;
 * each path draws from a stream of its own, so traffic on one path does not change what another path meets.
 */
function compileFaultPlan(plan: FaultPlan, seed: number): FaultChooser {
  if (typeof plan === 'function') return plan;
  if ('kind' in plan) return () => plan;
  if ('sequence' in plan) {
    let next = 0;
    return () => plan.sequence[next++] ?? NO_FAULT;
  }
  if ('mix' in plan) return compileMix(plan.mix, plan.probability, seed);
  const byPath = new Map(
    Object.entries(plan.paths).map(([path, child]) => [path, compileFaultPlan(child, seed ^ hashText(path))]),
  );
  const otherwise = compileFaultPlan(plan.otherwise ?? NO_FAULT, seed);
  return (request) => (byPath.get(request.path) ?? otherwise)(request);
}

function compileMix(mix: readonly Fault[], probability: number, seed: number): FaultChooser {
  if (!(probability >= 0 && probability <= 1)) throw new RangeError('probability must be within 0..1');
  if (mix.length === 0) throw new RangeError('a mix needs at least one fault');
  const random = seededRandom(seed);
  return () => {
    // Both are drawn every time, so that another probability leaves the later draws in step.
    const [chance, pick] = [random(), random()];
    return chance < probability ? (mix[Math.floor(pick * mix.length)] ?? NO_FAULT) : NO_FAULT;
  };
}

/** A small seeded generator (a Weyl sequence with two rounds of mixing), evenly spread over [0, 1). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 0x1_0000_0000;
  };
}

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
