import { describe, expect, it } from 'vitest';
import { createMetrics } from '../lib/metrics.ts';
import { createAdmission } from './admission.ts';

const AT_ONCE = 10;

/** Work that ends when it is told to. */
function driver(atOnce = AT_ONCE) {
  const metrics = createMetrics({ processMetrics: false });
  let now = 0;
  const admission = createAdmission({ atOnce, now: () => now, metrics });
  const ends: (() => void)[] = [];
  return {
    admission,
    metrics,
    pass: (ms: number) => {
      now += ms;
    },
    begin: (asker: string, count: number) => {
      for (let n = 0; n < count; n++) {
        void admission.count(asker, () => new Promise<void>((resolve) => ends.push(resolve)));
      }
    },
    end: async (count: number) => {
      for (const end of ends.splice(0, count)) end();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('admission', () => {
  it('lets a burst through, and refuses what comes while too many stay in work', async () => {
    const { admission, metrics, begin, pass } = driver();
    begin('a', 2 * AT_ONCE);
    expect(admission.admits('a')).toBe(true);
    pass(249);
    expect(admission.admits('a')).toBe(true);
    pass(1);
    expect(admission.admits('a')).toBe(false);
    expect((await metrics.httpOverloadRefusedTotal.get()).values[0]?.value).toBe(1);
  });

  it('admits again as soon as there is room, and refuses at once what is too much again within five seconds', async () => {
    const { admission, begin, end, pass } = driver();
    begin('a', AT_ONCE + 1);
    expect(admission.admits('a')).toBe(true);
    pass(250);
    expect(admission.admits('a')).toBe(false);
    await end(2);
    expect(admission.admits('a')).toBe(true);
    begin('a', 1);
    pass(10);
    expect(admission.admits('a')).toBe(false);
    await end(2);
    expect(admission.admits('a')).toBe(true);
    pass(5_001);
    begin('a', 2);
    expect(admission.admits('a')).toBe(true);
  });

  it('says that it is refusing from the first refusal on, while too many are in work', async () => {
    const { admission, begin, end, pass } = driver();
    begin('a', AT_ONCE);
    admission.admits('a');
    pass(250);
    expect(admission.isRefusing()).toBe(false);
    admission.admits('a');
    expect(admission.isRefusing()).toBe(true);
    await end(1);
    expect(admission.isRefusing()).toBe(false);
    begin('a', 1);
    expect(admission.isRefusing()).toBe(true);
    pass(5_000);
    expect(admission.isRefusing()).toBe(false);
  });

  it('lets in one that has nothing in work, so that a busy partner keeps out no other', () => {
    const { admission, begin, pass } = driver();
    begin('a', AT_ONCE);
    admission.admits('a');
    pass(250);
    expect(admission.admits('a')).toBe(false);
    expect(admission.admits('b')).toBe(true);
    begin('b', 1);
    expect(admission.admits('b')).toBe(false);
  });

  it('refuses everything at three times the bound, however short it lasts', () => {
    const { admission, begin } = driver();
    begin('a', 3 * AT_ONCE);
    expect(admission.admits('a')).toBe(false);
    expect(admission.admits('b')).toBe(false);
  });

  it('does not count what waits for others, nor what has failed, and answers what is known at once', async () => {
    const { admission, begin, pass } = driver();
    begin('a', AT_ONCE - 1);
    const node = Promise.withResolvers<string>();
    const waiting = admission.count('a', () => admission.aside(() => node.promise));
    expect(admission.count('a', () => 'known')).toBe('known');
    expect(() =>
      admission.count('a', () => {
        throw new Error('broken');
      }),
    ).toThrow('broken');
    await expect(admission.count('a', () => Promise.reject(new Error('later')))).rejects.toThrow('later');
    admission.admits('a');
    pass(250);
    expect(admission.admits('a')).toBe(true);
    node.resolve('answered');
    expect(await waiting).toBe('answered');
  });

  it('has no bounds where they are 0', () => {
    const { admission, begin, pass } = driver(0);
    begin('a', 1_000);
    admission.admits('a');
    pass(250);
    expect(admission.admits('a')).toBe(true);
  });
});
