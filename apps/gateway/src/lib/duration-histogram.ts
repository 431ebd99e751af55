import type { Metric, Registry } from 'prom-client';

/**
 * A histogram for the hottest path. prom-client's own looks its labels up at every observation, which costs more than a
 * whole route; here a series is found once and observing is an addition. The registry publishes it like any other.
 */
export interface DurationHistogram<Label extends string> {
  /** The series of these labels; ask once and keep it. */
  series(labels: Readonly<Record<Label, string>>): DurationSeries;
}

export interface DurationSeries {
  observe(seconds: number): void;
}

export interface DurationHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds in seconds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export function createDurationHistogram<Label extends string>(
  options: DurationHistogramOptions,
): DurationHistogram<Label> {
  const { name, help, buckets, registry } = options;
  const all = new Map<string, Series>();
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...all.values()].flatMap((series) => series.samples(name)),
    }),
    reset: () => all.clear(),
  };
  // What the registry needs of a metric is just this; its type asks for one of the library's own classes.
  registry.registerMetric(metric as unknown as Metric);
  return {
    series(labels) {
      const key = JSON.stringify(labels);
      const known = all.get(key) ?? new Series(labels, buckets);
      all.set(key, known);
      return known;
    },
  };
}

class Series implements DurationSeries {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #buckets: readonly number[];
  /** Observations by bucket, the last for all that lie above. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Readonly<Record<string, string>>, buckets: readonly number[]) {
    this.#labels = labels;
    this.#buckets = buckets;
    this.#counts = new Array<number>(buckets.length + 1).fill(0);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < this.#buckets.length && seconds > (this.#buckets[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += seconds;
  }

  samples(name: string): Sample[] {
    let total = 0;
    const bounds = [...this.#buckets, '+Inf'];
    const samples = this.#counts.map((count, index): Sample => {
      total += count;
      return {
        metricName: `${name}_bucket`,
        labels: { le: bounds[index] ?? '+Inf', ...this.#labels },
        value: total,
      };
    });
    return [
      ...samples,
      { metricName: `${name}_sum`, labels: this.#labels, value: this.#sum },
      { metricName: `${name}_count`, labels: this.#labels, value: total },
    ];
  }
}
