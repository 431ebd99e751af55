import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TimeZone, timeZone } from './time-zone.ts';

const zone = (name: string): TimeZone => {
  const found = timeZone(name);
  if (found === undefined) throw new Error(`${name} is no time zone`);
  return found;
};

describe('a time zone', () => {
  it.each([
    '',
    'Mars/Olympus',
    '+01:00',
    '-0300',
    'Europe/Berlin ',
    'UTC+1',
    "UTC'--",
    'x'.repeat(80),
    '\u0000',
  ])('%j is none', (name) => {
    expect(timeZone(name)).toBeUndefined();
  });

  it('writes the offset that holds at the moment', () => {
    const berlin = zone('europe/berlin');
    expect(berlin.name).toBe('Europe/Berlin');
    expect(berlin.format(new Date('2026-03-29T00:59:59.999Z'))).toBe('2026-03-29T01:59:59.999+01:00');
    expect(berlin.format(new Date('2026-03-29T01:00:00Z'))).toBe('2026-03-29T03:00:00.000+02:00');
    // The hour that happens twice.
    expect(berlin.format(new Date('2026-10-25T00:30:00Z'))).toBe('2026-10-25T02:30:00.000+02:00');
    expect(berlin.format(new Date('2026-10-25T01:30:00Z'))).toBe('2026-10-25T02:30:00.000+01:00');
    expect(zone('Asia/Kathmandu').format(new Date('2026-01-01T00:00:00Z'))).toBe(
      '2026-01-01T05:45:00.000+05:45',
    );
    expect(zone('America/St_Johns').format(new Date('2026-01-01T00:00:00Z'))).toBe(
      '2025-12-31T20:30:00.000-03:30',
    );
    expect(zone('UTC').format(new Date('2026-01-01T00:00:00Z'))).toBe('2026-01-01T00:00:00.000+00:00');
  });

  it.each([
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00.000Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z'],
    ['Pacific/Pago_Pago', '2026-01-01', '2026-01-01T11:00:00.000Z'],
    // Midnight does not exist there on this day: the clock jumps from 24:00 to 1:00.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    // Midnight happens twice: the day begins with the first.
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    // A day that was left out begins with the next.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
  ])('in %s the day %s begins at %s', (name, day, at) => {
    expect(zone(name).startOfDay(day).toISOString()).toBe(at);
  });

  it('days follow each other without gaps, and every moment is on its day', () => {
    const names = [
      'Europe/Berlin',
      'America/Sao_Paulo',
      'Australia/Lord_Howe',
      'Asia/Tehran',
      'Africa/Cairo',
      'UTC',
    ];
    const zones = names.map(zone);
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.date({ min: new Date('2015-01-01'), max: new Date('2035-01-01'), noInvalidDate: true }),
        (one, at) => {
          const day = one.dateOf(at);
          const next = one.dateOf(new Date(one.startOfDay(day).getTime() + 36 * 3_600_000));
          expect(one.startOfDay(day) <= at && at < one.startOfDay(next)).toBe(true);
          expect(new Date(one.format(at)).getTime()).toBe(at.getTime());
        },
      ),
    );
  });
});
