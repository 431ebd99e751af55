import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../lib/metrics.ts';

/**
 * Counts and times every request by its route's pattern, never by the address asked. Requests are noted in plain arrays and
 * handed to the histogram in batches: on the hot path its labels would cost more than the route.
 */
const MAX_NOTED = 512;
const FLUSH_INTERVAL_MS = 1_000;

interface Noted {
  readonly labels: { readonly method: string; readonly route: string; readonly status: number };
  readonly seconds: number[];
}

export function registerMeasurement(app: FastifyInstance, metrics: Metrics): void {
  const noted = new Map<string, Map<string, Map<number, Noted>>>();
  let started = 0;
  let ended = 0;

  function flush(): void {
    for (const byMethod of noted.values()) {
      for (const byStatus of byMethod.values()) {
        for (const { labels, seconds } of byStatus.values()) drain(labels, seconds);
      }
    }
    metrics.httpRequestsInFlight.set(started - ended);
  }

  function drain(labels: Noted['labels'], seconds: number[]): void {
    for (const value of seconds) metrics.httpRequestDurationSeconds.observe(labels, value);
    seconds.length = 0;
  }

  function notesOf(method: string, route: string, status: number): Noted {
    const known = noted.get(route)?.get(method)?.get(status);
    if (known !== undefined) return known;
    const byMethod = noted.get(route) ?? new Map<string, Map<number, Noted>>();
    noted.set(route, byMethod);
    const byStatus = byMethod.get(method) ?? new Map<number, Noted>();
    byMethod.set(method, byStatus);
    const notes = { labels: { method, route, status }, seconds: [] };
    byStatus.set(status, notes);
    return notes;
  }

  app.addHook('onRequest', (_request, _reply, done) => {
    started++;
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    ended++;
    const { labels, seconds } = notesOf(request.method, request.routeOptions.url ?? 'none', reply.statusCode);
    seconds.push(reply.elapsedTime / 1_000);
    if (seconds.length >= MAX_NOTED) drain(labels, seconds);
    done();
  });
  const timer = setInterval(flush, FLUSH_INTERVAL_MS);
  timer.unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    flush();
  });
}
