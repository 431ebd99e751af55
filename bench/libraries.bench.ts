import { trace } from '@opentelemetry/api';
import { Histogram, Registry } from 'prom-client';
import { createDurationHistogram } from '../apps/gateway/src/lib/duration-histogram.ts';
import { withSpan } from '../apps/gateway/src/lib/tracing.ts';
import { compareFigures } from './frame/compare.ts';
import type { BenchReport } from './frame/report.ts';

/**
 * Parts of our own on the path of every request, against the library that has the same: what defends keeping them
 * (docs/decisions/0033). Nanoseconds of one call, so lower is better.
 */
const ROUNDS = 9;
const CALLS = 200_000;

export async function run(report: BenchReport): Promise<void> {
  report.add(await histograms());
  report.add(await spans());
}

function histograms() {
  const options = { name: 'request_seconds', help: 'Time of a request.', buckets: [0.001, 0.01, 0.1, 1] };
  const labels = { method: 'GET', route: '/api/v1/quotes', status: '200' };
  const series = createDurationHistogram({ ...options, registry: new Registry() }).series(labels);
  const library = new Histogram({
    ...options,
    labelNames: ['method', 'route', 'status'],
    registers: [new Registry()],
  });
  const found = library.labels(labels);
  return compareFigures({
    name: 'observing a duration, against prom-client with its labels looked up once',
    baseline: async () => nanoseconds((index) => found.observe(index / CALLS)),
    candidate: async () => nanoseconds((index) => series.observe(index / CALLS)),
    sidesUnit: 'ns',
    rounds: ROUNDS,
    better: 'lower',
    targetRatio: 0.5,
  });
}

/** As every process runs that has no collector. */
function spans() {
  const tracer = trace.getTracer('causeway');
  const work = () => 1;
  const active = () =>
    tracer.startActiveSpan('work', { attributes: {} }, (span) => {
      try {
        return work();
      } finally {
        span.end();
      }
    });
  return compareFigures({
    name: 'a span that is not recorded, against startActiveSpan',
    baseline: async () => nanoseconds(active),
    candidate: async () => nanoseconds(() => withSpan('work', {}, work)),
    sidesUnit: 'ns',
    rounds: ROUNDS,
    better: 'lower',
    targetRatio: 0.5,
  });
}

function nanoseconds(call: (index: number) => unknown): number {
  const began = performance.now();
  for (let index = 0; index < CALLS; index += 1) call(index);
  return ((performance.now() - began) * 1e6) / CALLS;
}
