import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { CausewayError, toPartnerErrorBody } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../lib/metrics.ts';
import { apiKeyOf } from './access.ts';
import { RETRY_AFTER_SECONDS } from './errors.ts';
import type { Measurement, NoteAnswer } from './measurement.ts';
import type { Principal, Principals } from './principals.ts';

/**
 * What a process does when more is asked of it than it can do: it goes on with as much as it can and refuses the rest at
 * once, with 503 and Retry-After, before a body is read. Without it every request would be begun, all would be slow, and
 * those that are answered would be answered to clients that have given up.
 *
 * What counts is requests in work, at any moment: they grow without bound only where more come than are answered. A burst
 * passes, because it is worked off soon; a number that stays too high is overload, and then ends at the bound. One that has
 * nothing in work is let in even then, so that a busy partner does not keep out another.
 */
export interface Admission {
  /** Whether requests are being refused just now: what is cheap to ask before anything else is. */
  isRefusing(): boolean;
  /** Whether one more request of this asker may be begun. */
  admits(asker: string): boolean;
  /** Counts the work as in work until it has ended. */
  count<T>(asker: string, work: () => Promise<T> | T): Promise<T> | T;
  /** For a wait inside counted work that is not for this process or its database, but for a node or a provider. */
  aside<T>(wait: () => Promise<T>): Promise<T>;
}

export interface AdmissionOptions {
  /** Requests in work that are not too many, however long it stays so; 0 for any number. */
  readonly atOnce: number;
  /** Milliseconds, with fractions. */
  readonly now: () => number;
  readonly metrics: Pick<Metrics, 'httpOverloadRefusedTotal'>;
}

/** A burst of requests, or a flush of the database, is over by then. */
const STANDING_MS = 250;
/** More is not taken on even for a moment: a slow process would work on it for longer than anybody waits. */
const BURST_TIMES = 3;
/** After so long without a refusal the overload is over, and the next burst is let through again. */
const CALM_MS = 5_000;

export function createAdmission({ atOnce, now, metrics }: AdmissionOptions): Admission {
  const inWorkOf = new Map<string, number>();
  let inWork = 0;
  let fullSince: number | undefined;
  let overloadedUntil = Number.NEGATIVE_INFINITY;

  function isOverloaded(): boolean {
    if (inWork < atOnce) {
      fullSince = undefined;
      return false;
    }
    const at = now();
    fullSince ??= at;
    if (at < overloadedUntil || at - fullSince >= STANDING_MS || inWork >= atOnce * BURST_TIMES) {
      overloadedUntil = at + CALM_MS;
      return true;
    }
    return false;
  }

  function leave(asker: string): void {
    inWork--;
    const others = (inWorkOf.get(asker) ?? 1) - 1;
    if (others > 0) inWorkOf.set(asker, others);
    else inWorkOf.delete(asker);
  }

  return {
    isRefusing: () => atOnce > 0 && inWork >= atOnce && now() < overloadedUntil,

    admits(asker) {
      if (atOnce === 0 || !isOverloaded()) return true;
      if (!inWorkOf.has(asker) && inWork < atOnce * BURST_TIMES) return true;
      metrics.httpOverloadRefusedTotal.inc();
      return false;
    },

    count(asker, work) {
      inWork++;
      inWorkOf.set(asker, (inWorkOf.get(asker) ?? 0) + 1);
      let result: ReturnType<typeof work>;
      try {
        result = work();
      } catch (error) {
        leave(asker);
        throw error;
      }
      if (result instanceof Promise) return result.finally(() => leave(asker));
      leave(asker);
      return result;
    },

    async aside(wait) {
      inWork--;
      try {
        return await wait();
      } finally {
        inWork++;
      }
    },
  };
}

const STATUS = 503;
const OVERLOADED = JSON.stringify(toPartnerErrorBody(new CausewayError('SERVICE_UNAVAILABLE')));
const HEAD = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(OVERLOADED),
  'retry-after': String(RETRY_AFTER_SECONDS),
};

/** Past the error mapper, which would write a stack into the log for each: a refusal that costs much is no relief. */
export function refuseOverload(request: FastifyRequest, reply: FastifyReply, noteAnswer: NoteAnswer): void {
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.hijack();
  sendRefusal(request.raw, reply.raw, headers);
  noteAnswer(request, STATUS);
}

function sendRefusal(
  { method }: IncomingMessage,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(STATUS, { ...headers, ...HEAD });
  response.end(method === 'HEAD' ? undefined : OVERLOADED);
}

export interface DoorOptions {
  readonly admission: Pick<Admission, 'isRefusing' | 'admits'>;
  readonly principals: Pick<Principals, 'known'>;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Of every answer, whatever it is about. */
  readonly headers: Readonly<Record<string, string>>;
  readonly noteRefusal: Measurement['noteRefusal'];
}

const OF_PARTNERS = '/api/v1/partner/';

/**
 * Refuses at the door what its route would refuse later on. Under overload most requests are refused, and all that Fastify
 * does until then, a route, hooks, limits and headers, took time in which others would have been served. Only what comes
 * with a known key: one that guesses keys is counted as ever.
 */
export function refuseAtTheDoor(app: FastifyInstance, options: DoorOptions): void {
  const { admission, principals, requestIdOf, headers: common, noteRefusal } = options;
  const [serve, ...others] = app.server.listeners('request') as Serve[];
  if (serve === undefined || others.length > 0) throw new Error('the server has another way in');
  const isNeverRefused = neverRefusedPaths(app);

  function refusedCaller({ url = '', headers }: IncomingMessage): Principal | null {
    if (!url.startsWith(OF_PARTNERS)) return null;
    const caller = principals.known(apiKeyOf(headers));
    if (caller === null || isNeverRefused(url.split('?', 1)[0] ?? '')) return null;
    return admission.admits(caller.bucket) ? null : caller;
  }

  app.server.off('request', serve);
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const principal = admission.isRefusing() ? refusedCaller(request) : null;
    if (principal === null) return serve(request, response);
    const id = requestIdOf(request);
    sendRefusal(request, response, { 'x-request-id': id, ...common });
    noteRefusal({ id, principal, raw: request }, STATUS);
  });
}

/** Routes that do not ask for admission: answers from memory, and files, which have bounds of their own. */
function neverRefusedPaths(app: FastifyInstance): (path: string) => boolean {
  const asking = new Set<string>();
  const notAsking = new Set<string>();
  app.addHook('onRoute', ({ url, preParsing }) => {
    if (url.startsWith(OF_PARTNERS)) (preParsing === undefined ? notAsking : asking).add(url);
  });
  let patterns: RegExp[] = [];
  app.addHook('onReady', async () => {
    patterns = [...notAsking].filter((url) => !asking.has(url)).map(patternOf);
  });
  return (path) => patterns.some((pattern) => pattern.test(path));
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:[^/]+/g, '[^/]+')}$`);
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;
