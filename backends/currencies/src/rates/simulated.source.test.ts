import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateBook } from './rate-book.ts';
import type { Quote } from './rate-source.port.ts';
import { deviatesBeyond, parseRate } from './ratio.ts';
import { createSimulatedSource } from './simulated.source.ts';
import { FLOATING_ANCHORS, PEGGED_ANCHORS, STABLECOIN_ANCHORS } from './simulated-anchors.ts';

const START = Date.UTC(2026, 6, 1);
const idle = new AbortController().signal;
const ANCHORS = { ...FLOATING_ANCHORS, ...PEGGED_ANCHORS, ...STABLECOIN_ANCHORS };

function quotesAt(time: number, seed = 'sandbox'): Promise<Quote[]> {
  return createSimulatedSource({ clock: { now: () => time }, seed }).fetch(idle);
}

function codeOf({ base, quote }: Quote): string {
  return base === 'USD' ? quote : base;
}

describe('the simulated market', () => {
  it('quotes every fiat currency of the reference data and the three stablecoins', async () => {
    const text = readFileSync(new URL('../../data/fiat-currencies.json', import.meta.url), 'utf8');
    const { fiatCurrencies } = JSON.parse(text) as { fiatCurrencies: { code: string }[] };
    const quoted = new Set((await quotesAt(START)).map(codeOf));
    const missing = fiatCurrencies.filter(({ code }) => code !== 'USD' && !quoted.has(code));
    expect(missing).toEqual([]);
    expect(quoted.size).toBeGreaterThanOrEqual(63);
    expect(['USDC', 'USDT', 'USDT0'].every((code) => quoted.has(code))).toBe(true);
  });

  it('is the same in every process within a step, and another with another seed', async () => {
    expect(await quotesAt(START + 4_999)).toEqual(await quotesAt(START));
    expect(await quotesAt(START, 'another')).not.toEqual(await quotesAt(START));
  });

  it('moves', async () => {
    const before = await quotesAt(START);
    const after = await quotesAt(START + 600_000);
    const moved = before.filter(({ rate }, index) => rate !== after[index]?.rate);
    expect(moved.length).toBeGreaterThan(before.length / 2);
  });

  it('never leaves its amplitude: 0.8 % for floating, 0.03 % for pegged, 0.04 % for stablecoins', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 4_000_000_000_000 }), fc.string(), async (time, seed) => {
        for (const quote of await quotesAt(time, seed)) {
          const code = codeOf(quote);
          const limitPpm = code in FLOATING_ANCHORS ? 8_001n : code in PEGGED_ANCHORS ? 301n : 401n;
          const anchor = parseRate(ANCHORS[code] ?? '')!;
          expect(deviatesBeyond(parseRate(quote.rate)!, anchor, limitPpm)).toBe(false);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('moves gently: less than 0.01 % from one step to the next', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 4_000_000_000_000 }), async (time) => {
        const next = await quotesAt(time + 5_000);
        for (const [index, { rate }] of (await quotesAt(time)).entries()) {
          expect(deviatesBeyond(parseRate(next[index]?.rate ?? '')!, parseRate(rate)!, 100n)).toBe(false);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('comes back to its anchor: over a month the average is within 0.15 % and both sides are visited', async () => {
    const anchor = parseRate(FLOATING_ANCHORS.EUR ?? '')!;
    let sum = 0n;
    let above = 0;
    const samples = 240;
    for (let sample = 0; sample < samples; sample += 1) {
      const quotes = await quotesAt(START + sample * 3 * 3_600_000);
      const rate = parseRate(quotes.find(({ quote }) => quote === 'EUR')?.rate ?? '')!;
      const scaled = (rate.num * 10n ** 12n) / rate.den;
      sum += scaled;
      if (scaled * anchor.den > anchor.num * 10n ** 12n) above += 1;
    }
    expect(deviatesBeyond({ num: sum, den: BigInt(samples) * 10n ** 12n }, anchor, 1_500n)).toBe(false);
    expect(above).toBeGreaterThan(samples / 5);
    expect(above).toBeLessThan((samples * 4) / 5);
  });

  it('survives a clock moved by any distance without tripping the guard', async () => {
    const clock = { time: START, now: () => clock.time };
    const book = new RateBook({ clock });
    const source = createSimulatedSource({ clock, seed: 'sandbox' });
    for (const distance of [0, 86_400_000, 30 * 86_400_000, -5 * 86_400_000, 400 * 86_400_000]) {
      clock.time += distance;
      book.observe(source, await source.fetch(idle));
      const notFresh = book.snapshot().rates.filter(({ status }) => status !== 'fresh');
      expect(notFresh).toEqual([]);
    }
  });

  it('takes further currencies, and refuses an anchor that is not a rate', async () => {
    const clock = { now: () => START };
    const quotes = await createSimulatedSource({ clock, seed: 's', anchors: { ZZZ: '7' } }).fetch(idle);
    expect(quotes.some(({ quote }) => quote === 'ZZZ')).toBe(true);
    await expect(
      createSimulatedSource({ clock, seed: 's', anchors: { ZZZ: '-7' } }).fetch(idle),
    ).rejects.toThrow(RangeError);
  });
});
