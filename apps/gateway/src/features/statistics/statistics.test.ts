import { describe, expect, it } from 'vitest';
import { intervalStarts } from './statistics.ts';

describe('the intervals of statistics', () => {
  const period = { firstDay: '2026-10-28', lastDay: '2026-11-16' };

  it('are every day, from the first to the last', () => {
    const days = intervalStarts(period, 'day');
    expect([days.length, days[0], days.at(-1)]).toEqual([20, '2026-10-28', '2026-11-16']);
  });

  it('are weeks from Monday and months from the first, also before the period begins', () => {
    expect(intervalStarts(period, 'week')).toEqual(['2026-10-26', '2026-11-02', '2026-11-09', '2026-11-16']);
    expect(intervalStarts(period, 'month')).toEqual(['2026-10-01', '2026-11-01']);
    expect(intervalStarts({ firstDay: '2028-01-31', lastDay: '2028-03-01' }, 'month')).toEqual([
      '2028-01-01',
      '2028-02-01',
      '2028-03-01',
    ]);
  });
});
