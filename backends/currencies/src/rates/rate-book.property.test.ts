import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateBook } from './rate-book.ts';
import { compare, decimalsFor, deviatesBeyond, invert, multiply, parseRate, type Ratio } from './ratio.ts';

const START = Date.UTC(2026, 10, 10);
const SECOND_MS = 1_000;

/** Decimal texts from 0.0001 to about 10 million. */
const rateText = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.integer({ min: 0, max: 4 }))
  .map(([digits, decimals]) => {
    const padded = `${digits}`.padStart(decimals + 1, '0');
    return decimals === 0 ? padded : `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
  });

function bookAt(time: { now: number }): RateBook {
  return new RateBook({ clock: { now: () => time.now } });
}

function exact(text: string | null): Ratio {
  const ratio = parseRate(text ?? '');
  if (ratio === undefined) throw new Error(`not a rate: ${text}`);
  return ratio;
}

/** Whether `printed` is no further from `truth` than one unit in its last place. */
function withinOneUlp(printed: Ratio, truth: Ratio): boolean {
  const gap = printed.num * truth.den - truth.num * printed.den;
  return (gap < 0n ? -gap : gap) * 10n ** BigInt(decimalsFor(truth)) <= printed.den * truth.den;
}

describe('the merged rate', () => {
  it('lies between the lowest and the highest of agreeing sources', () => {
    const nearby = fc.array(fc.integer({ min: 99_000, max: 101_000 }), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(nearby, (prices) => {
        const time = { now: START };
        const book = bookAt(time);
        for (const [index, price] of prices.entries()) {
          const quotes = [{ base: 'USD', quote: 'KES', rate: `${price}`, observedAt: START }];
          book.observe({ name: `s${index}`, kind: 'ticker' }, quotes);
        }
        const { rate, status } = book.rate('USD', 'KES');
        expect(status).toBe('fresh');
        expect(compare(exact(rate), exact(`${Math.min(...prices)}`))).toBeGreaterThanOrEqual(0);
        expect(compare(exact(rate), exact(`${Math.max(...prices)}`))).toBeLessThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  it('crosses to the exact quotient of its legs within one unit in the last place, both ways round', () => {
    fc.assert(
      fc.property(rateText, rateText, (first, second) => {
        const book = bookAt({ now: START });
        book.observe({ name: 's', kind: 'ticker' }, [
          { base: 'USD', quote: 'AAA', rate: first, observedAt: START },
          { base: 'USD', quote: 'BBB', rate: second, observedAt: START },
        ]);
        const truth = multiply(exact(second), invert(exact(first)));
        expect(withinOneUlp(exact(book.rate('AAA', 'BBB').rate), truth)).toBe(true);
        expect(withinOneUlp(exact(book.rate('BBB', 'AAA').rate), invert(truth))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same whether a euro-based source or a dollar-based one says it', () => {
    fc.assert(
      fc.property(rateText, rateText, (dollar, other) => {
        const book = bookAt({ now: START });
        book.observe({ name: 'euro', kind: 'ticker' }, [
          { base: 'EUR', quote: 'USD', rate: dollar, observedAt: START },
          { base: 'EUR', quote: 'AAA', rate: other, observedAt: START },
        ]);
        expect(exact(book.rate('EUR', 'AAA').rate)).toSatisfy((rate: Ratio) =>
          withinOneUlp(rate, exact(other)),
        );
        const truth = multiply(exact(other), invert(exact(dollar)));
        expect(withinOneUlp(exact(book.rate('USD', 'AAA').rate), truth)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the guard', () => {
  const JUMP_PPM = 50_000n;

  it('never publishes a single wild value as usable, wherever it falls in a stream', () => {
    const calm = fc.array(fc.integer({ min: 99_000, max: 101_000 }), { minLength: 2, maxLength: 20 });
    const wild = fc.oneof(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 112_000, max: 90_000_000 }));
    fc.assert(
      fc.property(calm, wild, fc.nat(), (prices, outlier, where) => {
        const at = 1 + (where % (prices.length - 1));
        const time = { now: START };
        const book = bookAt(time);
        for (const [index, price] of [...prices.slice(0, at), outlier, ...prices.slice(at)].entries()) {
          time.now = START + index * SECOND_MS;
          const quotes = [{ base: 'USD', quote: 'KES', rate: `${price}`, observedAt: time.now }];
          book.observe({ name: 's', kind: 'ticker' }, quotes);
          const { rate } = book.rate('USD', 'KES');
          expect(compare(exact(rate), exact(`${outlier}`))).not.toBe(0);
          expect(book.requireRate('USD', 'KES').ok).toBe(index !== at);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never moves by more than the band in one observation unless the level was seen three times', () => {
    const stream = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(stream, (levels) => {
        const time = { now: START };
        const book = bookAt(time);
        let before: Ratio | undefined;
        for (const [index, level] of levels.entries()) {
          time.now = START + index * SECOND_MS;
          book.observe({ name: 's', kind: 'ticker' }, [
            { base: 'USD', quote: 'KES', rate: `${level * 100}`, observedAt: time.now },
          ]);
          const after = exact(book.rate('USD', 'KES').rate);
          if (before !== undefined && deviatesBeyond(after, before, JUMP_PPM)) {
            const lastThree = levels
              .slice(Math.max(0, index - 2), index + 1)
              .map((seen) => exact(`${seen * 100}`));
            expect(lastThree).toHaveLength(3);
            for (const seen of lastThree) expect(deviatesBeyond(seen, after, 2n * 31_000n)).toBe(false);
          }
          before = after;
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('holds against a minority of lying sources', () => {
    const lie = fc.oneof(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 112_000, max: 90_000_000 }));
    fc.assert(
      fc.property(
        fc.array(lie, { minLength: 2, maxLength: 2 }),
        fc.integer({ min: 3, max: 5 }),
        (lies, honest) => {
          const time = { now: START };
          const book = bookAt(time);
          for (let round = 0; round < 5; round += 1) {
            time.now += SECOND_MS;
            for (let index = 0; index < honest; index += 1) {
              const quotes = [
                { base: 'USD', quote: 'KES', rate: `${100_000 + index}`, observedAt: time.now },
              ];
              book.observe({ name: `honest${index}`, kind: 'ticker' }, quotes);
            }
            for (const [index, price] of lies.entries()) {
              const quotes = [{ base: 'USD', quote: 'KES', rate: `${price}`, observedAt: time.now }];
              book.observe({ name: `liar${index}`, kind: 'ticker' }, quotes);
            }
            const decision = book.requireRate('USD', 'KES');
            expect(decision.ok && !deviatesBeyond(exact(decision.rate.rate), exact('100002'), 100n)).toBe(
              true,
            );
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('staleness', () => {
  it('is decided by the clock alone: usable up to the limit, refused after it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600_000 }), (elapsed) => {
        const time = { now: START };
        const book = bookAt(time);
        book.observe({ name: 's', kind: 'ticker' }, [
          { base: 'USD', quote: 'KES', rate: '130', observedAt: START },
        ]);
        time.now = START + elapsed;
        expect(book.requireRate('USD', 'KES').ok).toBe(elapsed <= 120_000);
      }),
      { numRuns: 300 },
    );
  });
});
