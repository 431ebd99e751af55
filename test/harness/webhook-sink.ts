import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type LoopbackCertificate, loopbackCertificate } from './tls.ts';
import { answer } from './webhook-sink-answers.ts';
import { compileFaultPlan, NO_FAULT } from './webhook-sink-faults.ts';
import { checkSignature } from './webhook-sink-signature.ts';
import type {
  Fault,
  FaultChooser,
  FaultPlan,
  ReceivedWebhook,
  WebhookEnvelope,
} from './webhook-sink-types.ts';

export type { ReceivedWebhook } from './webhook-sink-types.ts';

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
