import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { DurationSeries } from '../lib/duration-histogram.ts';
import type { Metrics } from '../lib/metrics.ts';

/**
 * Counts and times every request by its route's pattern, never by the address asked. It ends at the moment of sending:
 * listening for the end of every answer costs more than all the rest of this.
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
}

export function registerMeasurement(app: FastifyInstance, metrics: Metrics): Measurement {
  const { httpRequests } = metrics;

  function seriesByStatus(method: string, route: string): (status: number) => DurationSeries {
    const known: DurationSeries[] = [];
    return (status) => {
      const series =
        known[status] ?? metrics.httpRequestDurationSeconds.series({ method, route, status: String(status) });
      known[status] = series;
      return series;
    };
  }

  function note(seriesOf: (status: number) => DurationSeries, request: FastifyRequest, status: number): void {
    httpRequests.inFlight--;
    seriesOf(status).observe((performance.now() - request.arrivedAtMs) / 1_000);
  }

  app.decorate('measuredRoute', (method: string, url: string): NoteAnswer => {
    const seriesOf = seriesByStatus(method, url);
    return (request, status) => note(seriesOf, request, status);
  });
  app.decorateRequest('arrivedAtMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    httpRequests.inFlight++;
    request.arrivedAtMs = performance.now();
    done();
  });
  // A hook a route knows its pattern; asking the request for it builds an object every time.
  const hooks = new Set<unknown>();
  app.addHook('onRoute', (route) => {
    const declared = [route.onSend ?? []].flat();
    // Fastify derives a HEAD route from a GET route that already has the hook of the GET.
    const others = declared.filter((hook) => !hooks.has(hook));
    const seriesOf = seriesByStatus(String(route.method), route.url);
    const hook: onSendHookHandler = (request, reply: FastifyReply, _payload, done) => {
      note(seriesOf, request, reply.statusCode);
      done();
    };
    hooks.add(hook);
    route.onSend = [...others, hook];
  });

  const unmatched = new Map<string, (status: number) => DurationSeries>();
  return {
    noteUnmatched(request, status) {
      const seriesOf = unmatched.get(request.method) ?? seriesByStatus(request.method, 'none');
      unmatched.set(request.method, seriesOf);
      note(seriesOf, request, status);
    },
  };
}
