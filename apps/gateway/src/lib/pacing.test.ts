import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inSlices, repeatEvery, SLICE } from './pacing.ts';

describe('repeatEvery', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs at the interval until its timer is cleared', async () => {
    const run = vi.fn(async () => {});
    const timer = repeatEvery(100, run, () => {});
    await vi.advanceTimersByTimeAsync(350);
    expect(run).toHaveBeenCalledTimes(3);
    clearInterval(timer);
    await vi.advanceTimersByTimeAsync(350);
    expect(run).toHaveBeenCalledTimes(3);
  });

  it('leaves out turns while one takes longer than the interval', async () => {
    let end = () => {};
    const run = vi.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const timer = repeatEvery(100, run, () => {});
    await vi.advanceTimersByTimeAsync(1_000);
    expect(run).toHaveBeenCalledTimes(1);
    end();
    await vi.advanceTimersByTimeAsync(100);
    expect(run).toHaveBeenCalledTimes(2);
    clearInterval(timer);
  });

  it('a failure is told, and the next turn is taken all the same', async () => {
    const failures: unknown[] = [];
    const run = vi.fn(() => Promise.reject(new Error('lost')));
    const timer = repeatEvery(100, run, (error) => failures.push(error));
    await vi.advanceTimersByTimeAsync(250);
    expect(failures).toEqual([new Error('lost'), new Error('lost')]);
    clearInterval(timer);
  });
});

describe('a long list in slices', () => {
  it('is mapped whole and in order, and whatever waits gets its turn in between', async () => {
    const items = Array.from({ length: 5 * SLICE + 1 }, (_, n) => n);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const mapped = await inSlices(items, (n) => (n % 2 === 0 ? [n, n] : []));
    isDone = true;
    expect(mapped).toEqual(items.flatMap((n) => (n % 2 === 0 ? [n, n] : [])));
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});
