import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { DurationSeries } from '../lib/duration-histogram.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { AccessLog, LogAnswer, LoggedRequest } from './access-log.ts';

/**
 * Counts, times and logs every request by its route's pattern, never by the address asked. It ends at the moment of
 * sending (for a stream, when it begins): listening for the end of every answer costs more than all the rest of this.
 */
declare module 'fastify' {
  interface FastifyRequest {
    arrivedAtMs: number;
  }
  interface FastifyInstance {
    /** For a route that writes its answers itself, past the hooks of Fastify: what to tell of each. */
    measuredRoute(method: string, url: string): NoteAnswer;
  }
}

export type NoteAnswer = (request: FastifyRequest, status: number) => void;

export interface Measurement {
  /** For a request that found no route, and so none of its hooks. */
  noteUnmatched(request: FastifyRequest, status: number): void;
  /** For one that is refused before its route is looked for. */
  noteRefusal(request: LoggedRequest, status: number): void;
}

/** In place of a route's pattern. */
const REFUSED_AT_THE_DOOR = 'overload';

export function registerMeasurement(
  app: FastifyInstance,
  metrics: Metrics,
  accessLog?: AccessLog,
): Measurement {
  const { httpRequests } = metrics;

  function answersOf(method: string, route: string, log: LogAnswer | undefined): NoteAnswer {
    const known: DurationSeries[] = [];
    return (request, status) => {
      const series =
        known[status] ?? metrics.httpRequestDurationSeconds.series({ method, route, status: String(status) });
      known[status] = series;
      httpRequests.inFlight--;
      const ms = performance.now() - request.arrivedAtMs;
      series.observe(ms / 1_000);
      log?.(request, status, ms);
    };
  }

  const answersOfRoute = (method: string, url: string) =>
    answersOf(method, url, accessLog?.ofRoute(method, url));

  function arrive(request: FastifyRequest): void {
    httpRequests.inFlight++;
    request.arrivedAtMs = performance.now();
  }

  app.decorate('measuredRoute', answersOfRoute);
  app.decorateRequest('arrivedAtMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    arrive(request);
    done();
  });
  // A hook a route knows its pattern; asking the request for it builds an object every time.
  const hooks = new Set<unknown>();
  app.addHook('onRoute', (route) => {
    const declared = [route.onSend ?? []].flat();
    // Fastify derives a HEAD route from a GET route that already has the hook of the GET.
    const others = declared.filter((hook) => !hooks.has(hook));
    const note = answersOfRoute(String(route.method), route.url);
    const hook: onSendHookHandler = (request, reply: FastifyReply, _payload, done) => {
      note(request, reply.statusCode);
      done();
    };
    hooks.add(hook);
    route.onSend = [...others, hook];
  });

  const refusals = new Map<string, (request: LoggedRequest, status: number) => void>();

  function refusalsOf(method: string): (request: LoggedRequest, status: number) => void {
    const log = accessLog?.ofUnmatched(method);
    return (request, status) => {
      const labels = { method, route: REFUSED_AT_THE_DOOR, status: String(status) };
      metrics.httpRequestDurationSeconds.series(labels).observe(0);
      log?.(request, status, 0);
    };
  }

  const unmatched = new Map<string, NoteAnswer>();
  return {
    noteRefusal(request, status) {
      const { method = '' } = request.raw;
      const note = refusals.get(method) ?? refusalsOf(method);
      refusals.set(method, note);
      note(request, status);
    },
    noteUnmatched(request, status) {
      const { method } = request;
      const note = unmatched.get(method) ?? answersOf(method, 'none', accessLog?.ofUnmatched(method));
      unmatched.set(method, note);
      // A path that is none is refused before any hook has run.
      if (!request.arrivedAtMs) arrive(request);
      note(request, status);
    },
  };
}
