import { describe, expect, it } from 'vitest';
import { inSlices, SLICE } from './slices.ts';

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
