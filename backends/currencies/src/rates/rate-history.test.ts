import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryRateHistory, readRateHistory } from './rate-history.ts';

const MINUTE_MS = 60_000;

function points(base: string, quote: string, rates: readonly string[], from = 0) {
  return rates.map((rate, index) => ({ base, quote, rate, at: from + index * MINUTE_MS }));
}

describe('MemoryRateHistory', () => {
  it('keeps the newest points, answers the newest within the limit, oldest first', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 20 }),
        async (capacity, count, from, to, limit) => {
          const history = new MemoryRateHistory({ pointsPerPair: capacity });
          const all = points(
            'USD',
            'KES',
            Array.from({ length: count }, (_, index) => `${index + 1}`),
          );
          await history.append(all);
          const expected = all
            .slice(-capacity)
            .filter(({ at }) => at >= from * MINUTE_MS && at <= to * MINUTE_MS)
            .slice(-limit);
          expect(await history.range('USD', 'KES', from * MINUTE_MS, to * MINUTE_MS, limit)).toEqual(
            expected,
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps one point a time, and none from before the last', async () => {
    const history = new MemoryRateHistory();
    await history.append(points('USD', 'KES', ['130', '131']));
    await history.append(points('USD', 'KES', ['200', '201']));
    expect((await history.range('USD', 'KES', 0, MINUTE_MS, 10)).map(({ rate }) => rate)).toEqual([
      '130',
      '131',
    ]);
  });

  it('is bounded in pairs', async () => {
    const history = new MemoryRateHistory({ pairs: 1 });
    await history.append([...points('USD', 'KES', ['130']), ...points('USD', 'NGN', ['1450'])]);
    expect(await history.range('USD', 'NGN', 0, MINUTE_MS, 10)).toEqual([]);
    expect(await history.range('USD', 'KES', 0, MINUTE_MS, 10)).toHaveLength(1);
  });

  it('answers nothing for an unknown pair, an empty span or no limit', async () => {
    const history = new MemoryRateHistory();
    await history.append(points('USD', 'KES', ['130']));
    expect(await history.range('USD', 'ABC', 0, 1, 10)).toEqual([]);
    expect(await history.range('USD', 'KES', 5, 1, 10)).toEqual([]);
    expect(await history.range('USD', 'KES', 0, 1, 0)).toEqual([]);
  });
});

describe('readRateHistory', () => {
  it('turns a pair round and crosses two through the dollar at the times they share', async () => {
    const history = new MemoryRateHistory();
    await history.append(points('USD', 'KES', ['125', '128', '130']));
    await history.append(points('USDC', 'USD', ['0.5', '0.25'], MINUTE_MS));
    const read = async (base: string, quote: string) =>
      (await readRateHistory(history, base, quote, 0, 10 * MINUTE_MS, 10)).map(({ at, rate }) => [
        at / MINUTE_MS,
        rate,
      ]);
    expect(await read('USD', 'KES')).toEqual([
      [0, '125'],
      [1, '128'],
      [2, '130'],
    ]);
    expect((await read('KES', 'USD'))[0]).toEqual([0, '0.008']);
    expect(await read('USDC', 'KES')).toEqual([
      [1, '64'],
      [2, '32.5'],
    ]);
    expect(await read('KES', 'USDC')).toEqual([
      [1, '0.015625'],
      [2, '0.0307692307692308'],
    ]);
    expect(await read('KES', 'ABC')).toEqual([]);
  });
});
