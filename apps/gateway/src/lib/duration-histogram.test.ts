import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createDurationHistogram } from './duration-histogram.ts';

const name = 'request_seconds';
const help = 'Time of a request.';
const buckets = [0.001, 0.01, 0.1, 1];

describe('the duration histogram', () => {
  it('publishes what prom-client would publish of the same observations', async () => {
    const observation = fc.record({
      route: fc.constantFrom('/a', '/b', '/with "quotes"'),
      seconds: fc.oneof(
        fc.constantFrom(0, 0.001, 0.01, 0.1, 1, 2),
        fc.double({ min: 0, max: 3, noNaN: true }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(observation, { minLength: 1 }), async (observations) => {
        const registry = new Registry();
        const ours = createDurationHistogram<'route'>({ name, help, buckets, registry });
        const theirs = new Registry();
        const reference = new Histogram({ name, help, buckets, labelNames: ['route'], registers: [theirs] });
        for (const { route, seconds } of observations) {
          ours.series({ route }).observe(seconds);
          reference.observe({ route }, seconds);
        }
        expect(await registry.metrics()).toBe(await theirs.metrics());
      }),
    );
  });
});
