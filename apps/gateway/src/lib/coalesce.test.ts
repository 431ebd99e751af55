import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('a burst costs two runs, and the second sees what came during the first', async () => {
  let value = 0;
  const seen: number[] = [];
  const gates: (() => void)[] = [];
  const load = coalesce(async () => {
    seen.push(value);
    await new Promise<void>((open) => gates.push(open));
  });
  const first = load();
  value = 1;
  const rest = [load(), load(), load()];
  gates[0]?.();
  await first;
  await new Promise((next) => setImmediate(next));
  gates[1]?.();
  await Promise.all(rest);
  expect(seen).toEqual([0, 1]);
});

test('a failed run is told to its caller and does not stop the next', async () => {
  let runs = 0;
  const load = coalesce(async () => {
    runs += 1;
    if (runs === 1) throw new Error('first');
  });
  const first = load();
  const second = load();
  await expect(first).rejects.toThrow('first');
  await second;
  await load();
  expect(runs).toBe(3);
});

test('runs begin apart from each other, the first at once', async () => {
  const began: number[] = [];
  const load = coalesce(async () => void began.push(performance.now()), 40);
  const askedAt = performance.now();
  await load();
  await Promise.all([load(), load()]);
  await load();
  expect(began).toHaveLength(3);
  const [first = 0, second = 0, third = 0] = began;
  expect(first - askedAt).toBeLessThan(second - first);
  // Timers count whole milliseconds.
  expect(second - first).toBeGreaterThanOrEqual(39);
  expect(third - second).toBeGreaterThanOrEqual(39);
});
