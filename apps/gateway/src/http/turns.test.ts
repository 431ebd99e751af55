import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../lib/metrics.ts';
import { createTurns } from './turns.ts';

const SHARE_PCT = 20;

/** Work that ends when it is told to. */
function driver(sharePct = SHARE_PCT) {
  const metrics = createMetrics({ processMetrics: false });
  let now = 0;
  const turns = createTurns({ sharePct, now: () => now, metrics });
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  return {
    metrics,
    turns,
    begun,
    begunBy: (partner: string) => begun.filter((name) => name.startsWith(partner)),
    /** Time goes on, for the timers as well. */
    pass: async (ms: number) => {
      now += ms;
      await vi.advanceTimersByTimeAsync(ms);
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
    end: async (name: string, error?: Error) => {
      ends.get(name)?.(error);
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

const names = (partner: string, count: number) => Array.from({ length: count }, (_, n) => `${partner}${n}`);

describe('turns', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  it('let a partner that is alone have any number of requests in work', () => {
    const { ask, begun } = driver();
    for (const name of names('a', 50)) void ask(name);
    expect(begun).toHaveLength(50);
  });

  it('let each have four in work while others are served, the rest in the order in which they came', async () => {
    const { ask, begun, end, metrics } = driver();
    void ask('b0');
    for (const name of names('a', 6)) void ask(name);
    expect(begun).toEqual(['b0', 'a0', 'a1', 'a2', 'a3']);
    expect(metrics.httpRequests.waiting).toBe(2);
    void ask('b1');
    expect(begun.at(-1)).toBe('b1');
    await end('a1');
    expect(begun.at(-1)).toBe('a4');
    await end('a0');
    expect(begun.at(-1)).toBe('a5');
    expect(metrics.httpRequests.waiting).toBe(0);
  });

  it('let through a burst, and then so many that the partner has its share of the time; others are not concerned', async () => {
    const { ask, begunBy, end, pass } = driver();
    void ask('b0');
    for (const name of names('a', 1_000)) void ask(name);
    // Each request takes 10 ms: the burst is 100 ms of work, then 200 ms a second.
    const served = async (ms: number) => {
      const before = begunBy('a').length;
      for (let passed = 0; passed < ms; passed += 10) {
        const inWork = begunBy('a');
        await pass(10);
        for (const name of inWork) await end(name);
      }
      return begunBy('a').length - before;
    };
    await served(500);
    expect(begunBy('a').length).toBeGreaterThanOrEqual(10);
    const aSecond = await served(1_000);
    expect(aSecond).toBeGreaterThanOrEqual(18);
    expect(aSecond).toBeLessThanOrEqual(22);
    for (const name of names('b', 3).slice(1)) void ask(name);
    expect(begunBy('b')).toHaveLength(3);
  });

  it('count ten milliseconds for a request that was held up for longer', async () => {
    const { ask, begunBy, end, pass } = driver();
    void ask('b0');
    void ask('a0');
    await pass(30_000);
    await end('a0');
    for (const name of names('c', 5)) void ask(name);
    expect(begunBy('c')).toHaveLength(4);
    void ask('a1');
    expect(begunBy('a')).toHaveLength(2);
  });

  it('come back from work that fails, and its error is the caller’s', async () => {
    const { ask, begunBy, end } = driver();
    void ask('b0');
    const failing = ask('a0');
    for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(name);
    await Promise.all([expect(failing).rejects.toThrow('broken'), end('a0', new Error('broken'))]);
    expect(begunBy('a')).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
  });

  it('are refused where a thousand of the same partner wait, and no others are', async () => {
    const { ask, begun, metrics } = driver();
    void ask('b0');
    for (const name of names('a', 1_004)) void ask(name);
    await expect(ask('a-too-many')).rejects.toThrow('full: 1000, 1');
    expect((await metrics.httpTurnsRefusedTotal.get()).values[0]?.value).toBe(1);
    void ask('c0');
    expect(begun.at(-1)).toBe('c0');
  });

  it('do not bind a partner whose company has been away for a minute, nor any partner where the share is 0', async () => {
    const { ask, begun, pass } = driver();
    for (const name of ['b0', 'a0']) void ask(name);
    await pass(60_000);
    for (const name of names('a', 9)) void ask(name);
    expect(begun).toHaveLength(11);
    const unbound = driver(0);
    for (const name of ['b0', ...names('a', 9)]) void unbound.ask(name);
    expect(unbound.begun).toHaveLength(10);
  });

  describe('of a partner that has used most of its share', () => {
    /** `a` has less than half of its burst left, and nothing in work. */
    async function heavy() {
      const drive = driver();
      void drive.ask('b0');
      for (const name of names('a', 8)) {
        const asked = drive.ask(name);
        await drive.pass(12);
        await drive.end(name);
        await asked;
      }
      await drive.end('b0');
      return drive;
    }

    it('begin nothing while a request of a light one is in work, and at once when it is answered', async () => {
      const { ask, begun, end } = await heavy();
      void ask('b1');
      void ask('a-next');
      expect(begun.at(-1)).toBe('b1');
      await end('b1');
      expect(begun.at(-1)).toBe('a-next');
    });

    it('are held up for fifty milliseconds at most', async () => {
      const { ask, begun, pass } = await heavy();
      void ask('b1');
      void ask('a-next');
      await pass(49);
      expect(begun.at(-1)).toBe('b1');
      await pass(1);
      expect(begun.at(-1)).toBe('a-next');
    });

    it('do not hold up those of a light one', async () => {
      const { ask, begun } = await heavy();
      for (const name of ['c0', 'b1', 'b2']) void ask(name);
      expect(begun.slice(-3)).toEqual(['c0', 'b1', 'b2']);
    });
  });

  it('are refused where the first of a line has waited for two seconds, and not where a burst is worked off', async () => {
    const { ask, begunBy, end, pass, metrics } = driver();
    void ask('b0');
    for (const name of names('a', 10)) void ask(name);
    await pass(2_001);
    await expect(ask('a-late')).rejects.toThrow('full: 1000, 1');
    expect((await metrics.httpTurnsRefusedTotal.get()).values[0]?.value).toBe(1);
    for (const name of names('a', 10)) await end(name);
    await pass(1_000);
    expect(begunBy('a')).toHaveLength(10);
    void ask('a-again');
    expect(begunBy('a')).toHaveLength(11);
  });

  it('wait for as long as it takes where nothing is said of a refusal', async () => {
    const { turns, ask, begunBy, pass } = driver();
    void ask('b0');
    for (const name of names('a', 6)) void ask(name);
    await pass(2_001);
    void turns.take('a', () => 'page');
    expect(begunBy('a')).toHaveLength(4);
  });
});
