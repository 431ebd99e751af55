import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../lib/metrics.ts';

/** Counts and times every request by its route's pattern, never by the address asked. */
export function registerMeasurement(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onRequest', (_request, _reply, done) => {
    metrics.httpRequestsInFlight.inc();
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    metrics.httpRequestsInFlight.dec();
    metrics.httpRequestDurationSeconds.observe(
      { method: request.method, route: request.routeOptions.url ?? 'none', status: reply.statusCode },
      reply.elapsedTime / 1_000,
    );
    done();
  });
}
