import { describe, expect, it } from 'vitest';
import { readReferenceRates } from './ecb.source.ts';
import { fixture } from './fixtures/feed-server.ts';
import { RateBook, type RateBookOptions } from './rate-book.ts';
import type { Quote, SourceKind } from './rate-source.port.ts';

const START = Date.UTC(2026, 10, 10, 14, 0, 0);
const MINUTE_MS = 60_000;

function setUp(options: Partial<RateBookOptions> = {}) {
  const clock = { time: START, now: () => clock.time };
  const book = new RateBook({ clock, ...options });
  const say = (
    name: string,
    pairs: Record<string, string>,
    kind: SourceKind = 'ticker',
    observedAt = clock.time,
  ) => {
    const quotes: Quote[] = Object.entries(pairs).map(([pair, rate]) => {
      const [base = '', quote = ''] = pair.split('/');
      return { base, quote, rate, observedAt };
    });
    return book.observe({ name, kind }, quotes);
  };
  const wait = (ms: number): void => {
    clock.time += ms;
  };
  return { clock, book, say, wait };
}

describe('merging', () => {
  it('takes the median of the fresh sources and names them', () => {
    const { book, say } = setUp();
    say('a', { 'USD/NGN': '1450' });
    say('b', { 'USD/NGN': '1460' });
    say('c', { 'USD/NGN': '1452' });
    expect(book.rate('USD', 'NGN')).toEqual({
      base: 'USD',
      quote: 'NGN',
      rate: '1452',
      asOf: START,
      sources: ['a', 'b', 'c'],
      status: 'fresh',
    });
  });

  it('leaves out a source far from the median', () => {
    const { book, say } = setUp();
    say('a', { 'USD/NGN': '1450' });
    say('b', { 'USD/NGN': '1452' });
    say('c', { 'USD/NGN': '14.5' });
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1451', sources: ['a', 'b'], status: 'fresh' });
  });

  it('compares a euro-based source with a dollar-based one pair by pair', () => {
    const { book, say } = setUp();
    say('ecb', { 'EUR/USD': '1.25', 'EUR/NGN': '1800' }, 'daily-reference');
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1440', sources: ['ecb'] });
    expect(book.rate('EUR', 'NGN')).toMatchObject({ rate: '1800' });
    say('a', { 'USD/NGN': '1450' });
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1445', sources: ['a', 'ecb'] });
    // The euro follows the merged dollar leg: two prices for one pair would be an invitation.
    expect(book.rate('EUR', 'NGN').rate).toBe('1806.25');
  });

  it('believes a source about a pair in the orientation kept, before its inverse and before its cross', () => {
    const { book, say } = setUp();
    say('a', { 'USD/KES': '130', 'KES/USD': '0.0078' });
    say('b', { 'UGX/USD': '0.00027', 'USD/UGX': '3600' });
    say('c', { 'EUR/USD': '1.25', 'EUR/TZS': '3000', 'USD/TZS': '2450' });
    expect(book.rate('USD', 'KES').rate).toBe('130');
    expect(book.rate('USD', 'UGX').rate).toBe('3600');
    expect(book.rate('USD', 'TZS').rate).toBe('2450');
  });

  it('crosses a stablecoin through the dollar, as old as its oldest leg', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/KES': '130' });
    wait(MINUTE_MS);
    say('b', { 'USDC/USD': '0.999' });
    expect(book.rate('USDC', 'KES')).toMatchObject({
      rate: '129.87',
      asOf: START,
      sources: ['a', 'b'],
      status: 'fresh',
    });
    expect(book.rate('KES', 'USDC')).toMatchObject({ rate: '0.0077000077000077', asOf: START });
  });

  it('crosses through the euro where a source knows no dollar', () => {
    const { book, say } = setUp();
    say('a', { 'EUR/XOF': '655.957' });
    say('b', { 'EUR/USD': '1.25' });
    say('c', { 'USDT/USD': '1' });
    expect(book.rate('EUR', 'XOF').rate).toBe('655.957');
    expect(book.rate('USDT', 'XOF')).toMatchObject({ rate: '524.7656', status: 'fresh' });
  });

  it('lets a market quoted directly govern its pair, also when it has fallen silent', () => {
    const { book, say, wait } = setUp();
    say('p2p', { 'USDT/NGN': '1700' });
    say('a', { 'USDT/USD': '1', 'USD/NGN': '1450' });
    expect(book.rate('USDT', 'NGN').rate).toBe('1700');
    wait(3 * MINUTE_MS);
    say('a', { 'USDT/USD': '1', 'USD/NGN': '1450' });
    expect(book.rate('USDT', 'NGN')).toMatchObject({ rate: '1700', status: 'stale' });
  });

  it('prices nothing against an unknown currency, not even itself', () => {
    const { book, say } = setUp();
    say('a', { 'USD/KES': '130' });
    expect(book.rate('ABC', 'ABC').status).toBe('missing');
    expect(book.rate('KES', 'ABC').status).toBe('missing');
    expect(book.rate('KES', 'KES')).toMatchObject({ rate: '1', status: 'fresh' });
    expect(book.rate('toString', 'KES').status).toBe('missing');
  });

  it('reads the reference rates of the ECB and keeps them over the weekend', async () => {
    const { book, clock } = setUp();
    const quotes = await readReferenceRates('ecb', fixture('ecb-daily.xml'));
    clock.time = Date.UTC(2024, 5, 30, 18);
    const { rejected } = book.observe({ name: 'ecb', kind: 'daily-reference' }, quotes);
    expect(rejected).toEqual([]);
    expect(book.rate('EUR', 'USD')).toMatchObject({ rate: '1.0705', status: 'fresh' });
    expect(book.rate('EUR', 'IDR')).toMatchObject({ rate: '17487.21', status: 'fresh' });
    clock.time = Date.UTC(2024, 6, 1, 20, 10);
    expect(book.rate('GBP', 'USD').status).toBe('fresh');
    clock.time += 1;
    expect(book.rate('GBP', 'USD').status).toBe('stale');
  });
});

describe('staleness', () => {
  it('follows the clock to the millisecond and blocks pricing', () => {
    const { book, say, clock } = setUp();
    say('a', { 'USD/KES': '130' });
    clock.time = START + 2 * MINUTE_MS;
    expect(book.requireRate('USD', 'KES')).toMatchObject({ ok: true, rate: { rate: '130' } });
    clock.time += 1;
    expect(book.requireRate('USD', 'KES')).toEqual({
      ok: false,
      refusal: {
        code: 'RATE_STALE',
        base: 'USD',
        quote: 'KES',
        asOf: START,
        message: 'No usable USD/KES rate: its last observation is too old',
      },
    });
    expect(book.requireRate('USD', 'ZMW')).toMatchObject({
      ok: false,
      refusal: { code: 'RATE_MISSING', asOf: null },
    });
  });

  it('of one leg makes the cross stale', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/KES': '130' });
    wait(2 * MINUTE_MS + 1);
    say('b', { 'USDC/USD': '1' });
    expect(book.requireRate('USDC', 'KES')).toMatchObject({ ok: false, refusal: { code: 'RATE_STALE' } });
    expect(book.requireRate('KES', 'USDC')).toMatchObject({ ok: false, refusal: { code: 'RATE_STALE' } });
  });

  it('of one source leaves the pair to the others', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/KES': '130' });
    wait(MINUTE_MS);
    say('b', { 'USD/KES': '131' });
    expect(book.rate('USD', 'KES')).toMatchObject({ rate: '130.5', asOf: START });
    wait(MINUTE_MS + 1);
    expect(book.rate('USD', 'KES')).toMatchObject({ rate: '131', sources: ['b'], status: 'fresh' });
  });

  it('is not cured by reading the same old observation again', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/KES': '130' });
    wait(3 * MINUTE_MS);
    say('a', { 'USD/KES': '130' }, 'ticker', START);
    expect(book.rate('USD', 'KES').status).toBe('stale');
    say('a', { 'USD/KES': '130' });
    expect(book.rate('USD', 'KES').status).toBe('fresh');
  });

  it('cannot be dodged by a source with a clock ahead of ours', () => {
    const { book, say } = setUp();
    const { rejected } = say('a', { 'USD/KES': '130' }, 'ticker', START + 60 * MINUTE_MS);
    expect(rejected).toEqual([{ base: 'USD', quote: 'KES', fault: 'bad-time' }]);
    expect(book.rate('USD', 'KES').status).toBe('missing');
  });

  it('ends with the next observation after the clock was set back', () => {
    const { book, say, clock } = setUp();
    say('a', { 'USD/KES': '130' });
    clock.time -= 60 * MINUTE_MS;
    expect(book.rate('USD', 'KES').status).toBe('stale');
    say('a', { 'USD/KES': '131' });
    expect(book.rate('USD', 'KES')).toMatchObject({ rate: '131', status: 'fresh' });
  });

  it('ignores an observation older than the one it has', () => {
    const { book, say, wait } = setUp();
    wait(MINUTE_MS);
    say('a', { 'USD/KES': '130' });
    say('a', { 'USD/KES': '131' }, 'ticker', START);
    expect(book.rate('USD', 'KES').rate).toBe('130');
  });
});

describe('the guard band', () => {
  it('holds a jump back until three successive observations confirm it', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/NGN': '1000' });
    for (const rate of ['1400', '1401']) {
      wait(15_000);
      say('a', { 'USD/NGN': rate });
      expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1000', status: 'guarded', asOf: START });
      expect(book.requireRate('USD', 'NGN')).toMatchObject({ ok: false, refusal: { code: 'RATE_GUARDED' } });
    }
    wait(15_000);
    say('a', { 'USD/NGN': '1402' });
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1402', status: 'fresh' });
  });

  it('accepts a movement of exactly the limit and holds the least beyond it', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/NGN': '1000' });
    wait(1);
    say('a', { 'USD/NGN': '1050' });
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1050', status: 'fresh' });
    wait(1);
    say('a', { 'USD/NGN': '997.49999' });
    expect(book.rate('USD', 'NGN').status).toBe('guarded');
  });

  it('drops the jump when the old level returns, and starts again for another level', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/NGN': '1000' });
    for (const rate of ['1400', '1400', '1001', '1400', '1400', '2000', '2000', '1400', '1400']) {
      wait(1_000);
      say('a', { 'USD/NGN': rate });
      expect(['1000', '1001']).toContain(book.rate('USD', 'NGN').rate);
    }
  });

  it('does not let one observation confirm itself by being read again', () => {
    const { book, say, wait } = setUp();
    say('ecb', { 'EUR/USD': '1.1' }, 'daily-reference', START - 10 * MINUTE_MS);
    for (let read = 0; read < 10; read += 1) {
      wait(1_000);
      say('ecb', { 'EUR/USD': '1.6' }, 'daily-reference', START);
      expect(book.rate('EUR', 'USD')).toMatchObject({ rate: '1.1', status: 'guarded' });
    }
  });

  it('turns from guarded to stale when the accepted value has grown too old', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/NGN': '1000' });
    wait(MINUTE_MS);
    say('a', { 'USD/NGN': '1400' });
    wait(MINUTE_MS + 1);
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1000', status: 'stale' });
  });

  it('lets pricing go on at the accepted value where that is configured', () => {
    const { book, say, wait } = setUp({ guardedPricing: 'allow' });
    say('a', { 'USD/NGN': '1000' });
    wait(1);
    say('a', { 'USD/NGN': '1400' });
    expect(book.requireRate('USD', 'NGN')).toMatchObject({
      ok: true,
      rate: { rate: '1000', status: 'guarded' },
    });
    wait(2 * MINUTE_MS);
    expect(book.requireRate('USD', 'NGN')).toMatchObject({ ok: false, refusal: { code: 'RATE_STALE' } });
  });

  it('lets an operator vouch for a held movement', () => {
    const { book, say, wait } = setUp();
    say('a', { 'USD/NGN': '1000' });
    expect(book.acceptHeld('USD', 'NGN')).toBe(false);
    wait(1);
    say('a', { 'USD/NGN': '1400' });
    expect(book.acceptHeld('NGN', 'USD')).toBe(true);
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1400', status: 'fresh' });
    expect(book.acceptHeld('USD', 'ABC')).toBe(false);
  });

  it('sides with the established value when two sources contradict each other', () => {
    const { book, say, wait } = setUp();
    for (let round = 0; round < 3; round += 1) {
      wait(1_000);
      say('a', { 'USD/NGN': '1000' });
    }
    say('b', { 'USD/NGN': '1' });
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1000', sources: ['a'], status: 'fresh' });
  });

  it('does not count an observation that speaks against the jump as confirming it', () => {
    const { book, say, wait } = setUp();
    for (const name of ['a', 'b', 'c']) say(name, { 'USD/NGN': '1000' });
    wait(1_000);
    for (const name of ['a', 'b']) say(name, { 'USD/NGN': '1400' });
    for (let round = 0; round < 5; round += 1) {
      wait(1_000);
      say('c', { 'USD/NGN': '1000' });
      expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1000', status: 'guarded' });
    }
  });

  it('takes no side among three that all contradict each other', () => {
    const { book, say, wait } = setUp();
    for (let round = 0; round < 5; round += 1) {
      say('a', { 'USD/NGN': '10' });
      say('b', { 'USD/NGN': '1000' });
      say('c', { 'USD/NGN': '100000' });
      expect(book.requireRate('USD', 'NGN')).toMatchObject({ ok: false, refusal: { code: 'RATE_GUARDED' } });
      wait(1_000);
    }
  });

  it('sides with neither while nothing is established', () => {
    const { book, say } = setUp();
    say('a', { 'USD/NGN': '1000' });
    say('b', { 'USD/NGN': '1' });
    expect(book.requireRate('USD', 'NGN')).toMatchObject({ ok: false, refusal: { code: 'RATE_GUARDED' } });
  });

  it('judges the first observation after a restart by the last recorded value', () => {
    const { book, say, wait } = setUp();
    book.restore([
      { base: 'NGN', quote: 'USD', rate: '0.0001', at: START - 7_200_000 },
      { base: 'NGN', quote: 'USD', rate: '0.001', at: START - 3_600_000 },
      { base: 'bad', quote: 'USD', rate: 'x', at: START },
    ]);
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1000', status: 'stale' });
    say('a', { 'USD/NGN': '100000' });
    expect(book.requireRate('USD', 'NGN').ok).toBe(false);
    wait(1);
    say('a', { 'USD/NGN': '1010' });
    expect(book.rate('USD', 'NGN')).toMatchObject({ rate: '1010', status: 'fresh' });
  });

  it('with fewer than two confirmations is refused', () => {
    expect(() => setUp({ guard: { confirmations: 1 } })).toThrow(RangeError);
  });
});

describe('observe', () => {
  it('tells what changed, and only that', () => {
    const { say, wait } = setUp();
    expect(
      say('a', { 'USD/KES': '130', 'NGN/USD': '0.001' }).changed.map(({ base, quote }) => `${base}/${quote}`),
    ).toEqual(['USD/KES', 'USD/NGN']);
    wait(1);
    expect(say('a', { 'USD/KES': '130', 'NGN/USD': '0.001' }).changed).toEqual([]);
    wait(1);
    expect(say('a', { 'USD/KES': '130', 'NGN/USD': '0.01' }).changed).toMatchObject([
      { quote: 'NGN', status: 'guarded' },
    ]);
    wait(1);
    expect(say('a', { 'USD/KES': '131', 'NGN/USD': '0.001' }).changed).toMatchObject([
      { quote: 'KES', rate: '131' },
      { quote: 'NGN', status: 'fresh' },
    ]);
  });

  it('screens what it is given, whichever the source is', () => {
    const { book, say } = setUp();
    const { rejected } = say('a', { 'USD/KES': '-1', 'USD/USD': '1', 'USD/NGN': 'NaN', 'USD/GHS': '11' });
    expect(rejected).toHaveLength(3);
    expect(book.snapshot().rates.map(({ quote }) => quote)).toEqual(['GHS']);
  });
});
