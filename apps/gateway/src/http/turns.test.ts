import { describe, expect, it } from 'vitest';
import { createMetrics } from '../lib/metrics.ts';
import { createTurns } from './turns.ts';

const AT_ONCE = 3;

/** Work that ends when it is told to, in the order in which it began. */
function desk(atOnce = AT_ONCE) {
  const metrics = createMetrics({ processMetrics: false });
  let now = 0;
  const turns = createTurns({ atOnce, wall: () => now, metrics });
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  return {
    metrics,
    begun,
    pass: (ms: number) => {
      now += ms;
    },
    ask: (name: string): Promise<string> =>
      Promise.resolve(
        turns.take(
          name.charAt(0),
          () => {
            begun.push(name);
            return new Promise<string>((resolve, reject) => {
              ends.set(name, (error) => (error ? reject(error) : resolve(name)));
            });
          },
          ({ limit, resetSeconds }) => new Error(`full: ${limit}, ${resetSeconds}`),
        ),
      ),
    /** Only microtasks lie between an end and what follows from it. */
    end: async (name: string, error?: Error) => {
      ends.get(name)?.(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const names = (partner: string, count: number) => Array.from({ length: count }, (_, n) => `${partner}${n}`);

describe('turns', () => {
  it('let a partner that is alone have any number of requests in work', () => {
    const { ask, begun } = desk();
    for (const name of names('a', 50)) void ask(name);
    expect(begun).toHaveLength(50);
  });

  it('let each have only so many in work while others are served, the rest in the order in which they came', async () => {
    const { ask, begun, end, metrics } = desk();
    void ask('b0');
    for (const name of names('a', 5)) void ask(name);
    expect(begun).toEqual(['b0', 'a0', 'a1', 'a2']);
    expect(metrics.httpRequests.waiting).toBe(2);
    void ask('b1');
    expect(begun.at(-1)).toBe('b1');
    await end('a1');
    expect(begun.at(-1)).toBe('a3');
    await end('a0');
    expect(begun.at(-1)).toBe('a4');
    expect(metrics.httpRequests.waiting).toBe(0);
  });

  it('serve the longest line one at a time, and the others as ever', async () => {
    const { ask, begun, end } = desk();
    void ask('b0');
    for (const name of names('a', 20)) void ask(name);
    for (const name of ['a0', 'a1']) await end(name);
    expect(begun).toEqual(['b0', 'a0', 'a1', 'a2']);
    await end('a2');
    expect(begun.at(-1)).toBe('a3');
    for (const name of names('b', 6).slice(1)) void ask(name);
    expect(begun.slice(-3)).toEqual(['b1', 'b2', 'b3']);
    await end('b2');
    expect(begun.at(-1)).toBe('b4');
    // Short again, it has all its places.
    for (let n = 3; n < 15; n++) await end(`a${n}`);
    expect(begun.filter((name) => name.startsWith('a')).at(-1)).toBe('a17');
  });

  it('come back from work that fails, and its error is the caller’s', async () => {
    const { ask, begun, end } = desk(1);
    void ask('b0');
    const failing = ask('a0');
    void ask('a1');
    await Promise.all([expect(failing).rejects.toThrow('broken'), end('a0', new Error('broken'))]);
    expect(begun).toEqual(['b0', 'a0', 'a1']);
  });

  it('are refused where a thousand of the same partner wait, and nobody else is', async () => {
    const { ask, begun, metrics } = desk(1);
    void ask('b0');
    for (const name of names('a', 1_001)) void ask(name);
    await expect(ask('a-too-many')).rejects.toThrow('full: 1000, 1');
    expect((await metrics.httpTurnsRefusedTotal.get()).values[0]?.value).toBe(1);
    void ask('c0');
    expect(begun.at(-1)).toBe('c0');
  });

  it('do not bind a partner whose company has been away for a minute, nor anybody where the number is 0', () => {
    const { ask, begun, pass } = desk(1);
    for (const name of ['b0', 'a0']) void ask(name);
    pass(60_000);
    for (const name of names('a', 5)) void ask(name);
    expect(begun).toHaveLength(7);
    const unbound = desk(0);
    for (const name of ['b0', ...names('a', 5)]) void unbound.ask(name);
    expect(unbound.begun).toHaveLength(6);
  });
});
