import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RateService, type RateServiceOptions } from './rate.service.ts';
import { RateBook, type RatePoint, type RateReading } from './rate-book.ts';
import { MemoryRateHistory } from './rate-history.ts';
import { type Quote, RateFeedError, type RateSource } from './rate-source.port.ts';

const START = Date.UTC(2026, 10, 10);
// The fake timers move the system's time; the service and the book are given it as their clock.
const clock = { now: () => Date.now() };

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

type Fetch = RateSource['fetch'];

function quote(rate: string, pair = 'USD/KES'): Quote {
  const [base = '', code = ''] = pair.split('/');
  return { base, quote: code, rate, observedAt: clock.now() };
}

function serviceOf(fetches: Record<string, Fetch>, extra: Partial<RateServiceOptions> = {}) {
  const book = new RateBook({ clock });
  const sources = Object.entries(fetches).map(([name, fetch]) => ({
    source: { name, kind: 'ticker' as const, fetch },
    intervalMs: 10_000,
    retryMs: 1_000,
    timeoutMs: 3_000,
  }));
  const service = new RateService({ clock, book, sources, random: () => 0, ...extra });
  return { service, book };
}

describe('RateService', () => {
  it('polls at once and then on the interval, until it is stopped', async () => {
    const fetch = vi.fn<Fetch>(async () => [quote('130')]);
    const { service, book } = serviceOf({ a: fetch });
    await service.start();
    await service.start();
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(book.rate('USD', 'KES').status).toBe('fresh');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(fetch).toHaveBeenCalledTimes(4);
    await service.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    await service.pollNow();
    expect(fetch).toHaveBeenCalledTimes(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('adds up to a tenth of the interval as jitter', async () => {
    const fetch = vi.fn<Fetch>(async () => [quote('130')]);
    const { service } = serviceOf({ a: fetch }, { random: () => 0.999 });
    await service.start();
    await vi.advanceTimersByTimeAsync(10_998);
    expect(fetch).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(fetch).toHaveBeenCalledTimes(2);
    await service.stop();
  });

  it('has one fetch per source in flight, whichever caller asks', async () => {
    let release: (quotes: Quote[]) => void = () => undefined;
    const fetch = vi.fn<Fetch>(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    const { service } = serviceOf({ a: fetch });
    const polls = [service.pollNow(), service.pollNow(), service.start()];
    await vi.advanceTimersByTimeAsync(0);
    expect(fetch).toHaveBeenCalledTimes(1);
    release([quote('130')]);
    await Promise.all(polls);
    await service.stop();
  });

  it('never throws: failures show in health, with a growing pause up to the interval', async () => {
    const failures: [string, unknown][] = [];
    const fetch = vi.fn<Fetch>(async () => {
      throw new RateFeedError('a', 'status');
    });
    const { service } = serviceOf(
      {
        a: fetch,
        b: () => {
          throw new TypeError('not even a promise');
        },
      },
      { onFailure: (source, error) => failures.push([source, error]) },
    );
    await service.start();
    expect(service.health()).toMatchObject([
      { name: 'a', lastFault: 'status', consecutiveFailures: 1, lastSuccessAt: null, lastFailureAt: START },
      { name: 'b', lastFault: 'unexpected', consecutiveFailures: 1 },
    ]);
    expect(failures.map(([source]) => source).sort()).toEqual(['a', 'b']);
    // 1 s, 2 s, 4 s, 8 s, then 10 s.
    await vi.advanceTimersByTimeAsync(15_000);
    expect(fetch).toHaveBeenCalledTimes(5);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fetch).toHaveBeenCalledTimes(6);
    fetch.mockImplementation(async () => [quote('130')]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(service.health()[0]).toMatchObject({
      lastFault: null,
      consecutiveFailures: 0,
      lastSuccessAt: clock.now(),
    });
    await service.stop();
  });

  it('leaves a source that ignores its signal behind, starts no second fetch beside it, drops its late answer', async () => {
    let release: (quotes: Quote[]) => void = () => undefined;
    const hanging = vi.fn<Fetch>(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    const { service, book } = serviceOf({ hanging, good: async () => [quote('1450', 'USD/NGN')] });
    const started = service.start();
    await vi.advanceTimersByTimeAsync(3_000);
    await started;
    expect(service.health()[0]).toMatchObject({ lastFault: 'timeout' });
    expect(book.rate('USD', 'NGN').status).toBe('fresh');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hanging).toHaveBeenCalledTimes(1);
    release([quote('130')]);
    await vi.advanceTimersByTimeAsync(0);
    expect(book.rate('USD', 'KES').status).toBe('missing');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(hanging).toHaveBeenCalledTimes(2);
    await service.stop();
  });

  it('aborts fetches under way when it stops, and does not count that as a failure', async () => {
    let seen: AbortSignal | undefined;
    const { service } = serviceOf({
      a: (signal) =>
        new Promise((_resolve, reject) => {
          seen = signal;
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const started = service.start();
    await vi.advanceTimersByTimeAsync(0);
    await service.stop();
    await started;
    expect(seen?.aborted).toBe(true);
    expect(service.health()[0]).toMatchObject({ consecutiveFailures: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells listeners what changed and survives listeners that throw', async () => {
    const changes: (readonly RateReading[])[] = [];
    const complaints: string[] = [];
    let rate = '130';
    const { service } = serviceOf(
      { a: async () => [quote(rate)] },
      {
        onChange: (changed) => {
          changes.push(changed);
          throw new Error('listener');
        },
        onFailure: (source) => {
          complaints.push(source);
          throw new Error('log is full');
        },
      },
    );
    await service.start();
    await vi.advanceTimersByTimeAsync(10_000);
    rate = '131';
    await vi.advanceTimersByTimeAsync(10_000);
    expect(changes.map(([first]) => first?.rate)).toEqual(['130', '131']);
    expect(complaints).toEqual(['a', 'a']);
    expect(service.health()[0]).toMatchObject({ consecutiveFailures: 0 });
    await service.stop();
  });

  it('records one aligned point a pair and interval, from every source', async () => {
    const history = new MemoryRateHistory();
    vi.setSystemTime(START + 30_000);
    const { service } = serviceOf(
      {
        a: async () => [quote('130')],
        b: async () => {
          await new Promise((resolve) => setTimeout(resolve, 500));
          return [quote('1450', 'USD/NGN')];
        },
      },
      { history },
    );
    const started = service.start();
    await vi.advanceTimersByTimeAsync(95_000);
    await started;
    await service.stop();
    const times = async (code: string) =>
      (await history.range('USD', code, 0, START * 2, 10)).map(({ at }) => at - START);
    expect(await times('KES')).toEqual([0, 60_000, 120_000]);
    expect(await times('NGN')).toEqual([0, 60_000, 120_000]);
  });

  it('does not record what is not fresh, and outlives a history that fails', async () => {
    const appended: RatePoint[] = [];
    const complaints: string[] = [];
    let failing = true;
    const rates = ['100', '200', '100'];
    const { service } = serviceOf(
      { a: async () => [quote(rates.shift() ?? '100')] },
      {
        historyIntervalMs: 10_000,
        history: {
          append: async (points) => {
            if (failing) throw new Error('disk');
            appended.push(...points);
          },
          range: async () => [],
        },
        onFailure: (source) => complaints.push(source),
      },
    );
    await service.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(complaints).toEqual(['history']);
    failing = false;
    await vi.advanceTimersByTimeAsync(20_000);
    await service.stop();
    expect(appended).toEqual([{ base: 'USD', quote: 'KES', rate: '100', at: START + 20_000 }]);
  });

  it('shows rejected quotes, and the book as it reads now', async () => {
    const { service } = serviceOf({ a: async () => [quote('130'), quote('-1', 'USD/NGN')] });
    await service.pollNow();
    expect(service.health()[0]?.rejected).toEqual([{ base: 'USD', quote: 'NGN', fault: 'bad-rate' }]);
    expect(service.snapshot()).toMatchObject({ at: START, rates: [{ quote: 'KES', status: 'fresh' }] });
    vi.setSystemTime(START + 120_001);
    expect(service.snapshot().rates[0]?.status).toBe('stale');
  });

  it('refuses two sources of one name', () => {
    const source = { name: 'a', kind: 'ticker' as const, fetch: async () => [] };
    const sources = [
      { source, intervalMs: 1 },
      { source, intervalMs: 1 },
    ];
    expect(() => new RateService({ clock, book: new RateBook({ clock }), sources })).toThrow(RangeError);
  });
});
