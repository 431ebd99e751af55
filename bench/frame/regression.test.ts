import { describe, expect, test } from 'vitest';
import { figure, type Measurement } from './measurement.ts';
import { type Change, compareWithRecorded, renderChanges } from './regression.ts';
import { median, medianError, percentile } from './statistics.ts';

const steady = (value: number) => [value, value, value, value, value];
const ratio = (
  ratios: readonly number[],
  better: Measurement['better'] = 'higher',
  name = 'r',
): Measurement => figure({ name, value: median(ratios), unit: 'ratio', better, details: { ratios } });
const judge = (before: Measurement, now: Measurement) => compareWithRecorded([before], [now])[0] as Change;

describe('statistics of rounds', () => {
  test('the error of a median comes from the rounds and hardly from one wild round', () => {
    expect(medianError(steady(2))).toBe(0);
    const calm = medianError([0.98, 0.99, 1, 1.01, 1.02]);
    expect(calm).toBeGreaterThan(0.005);
    expect(medianError([0.98, 0.99, 1, 1.01, 9])).toBe(calm);
  });

  test('a percentile is by value, not by position', () => {
    expect(percentile([3, 1, 2], 0.5)).toBe(2);
    expect(percentile([3, 1, 2], 0.99)).toBe(3);
  });
});

describe('a run beside the recorded one', () => {
  test.each([
    ['higher', 0.94, 'REGRESSED'],
    ['higher', 0.96, 'within noise'],
    ['higher', 1.06, 'better'],
    ['lower', 1.06, 'REGRESSED'],
    ['lower', 0.94, 'better'],
  ] as const)('%s is better: a steady ratio from 1 to %d is %s', (better, now, verdict) => {
    const change = judge(ratio(steady(1), better), ratio(steady(now), better));
    expect(change.verdict).toBe(verdict);
    expect(change.change).toBeCloseTo(now - 1);
  });

  test('rounds that lie far apart, in either run, excuse a larger change', () => {
    const wild = [0.7, 0.85, 1, 1.15, 1.3];
    const worse = wild.map((value) => value * 0.85);
    expect(judge(ratio(steady(1)), ratio(steady(0.85))).verdict).toBe('REGRESSED');
    expect(judge(ratio(wild), ratio(steady(0.85))).verdict).toBe('within noise');
    expect(judge(ratio(steady(1)), ratio(worse)).verdict).toBe('within noise');
  });

  test('a ratio gone wrong is a regression', () => {
    const wrong = { ...ratio(steady(1)), value: Number.NaN };
    expect(judge(ratio(steady(1)), wrong).verdict).toBe('REGRESSED');
  });

  test('a ratio of too few rounds, a time, a rate and memory are shown and not judged', () => {
    expect(judge(ratio([1, 1]), ratio([0.5, 0.5])).verdict).toBe('not judged');
    for (const unit of ['ms', 'ops/s', 'requests/s', 'MiB']) {
      const at = (value: number) => figure({ name: unit, value, unit, better: 'lower' });
      const change = judge(at(100), at(300));
      expect(change).toMatchObject({ verdict: 'not judged', noise: null });
      expect(change.change).toBeCloseTo(2);
    }
  });

  test('gas is the same on every machine, but for the zero bytes of addresses', () => {
    const gas = (value: number) => figure({ name: 'g', value, unit: 'gas', better: 'lower' });
    expect(judge(gas(100_000), gas(100_500)).verdict).toBe('within noise');
    expect(judge(gas(100_000), gas(102_000)).verdict).toBe('REGRESSED');
  });

  test('what one side lacks is said and is no regression', () => {
    const changes = compareWithRecorded(
      [ratio(steady(1), 'higher', 'old')],
      [ratio(steady(1), 'higher', 'new')],
    );
    expect(changes.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['new', 'not recorded'],
      ['old', 'not measured'],
    ]);
    expect(renderChanges(changes).split('\n')).toEqual([
      'measurement  recorded  now      change  noise  verdict',
      'new                    1 ratio                 not recorded',
      'old          1 ratio                           not measured',
    ]);
  });
});
