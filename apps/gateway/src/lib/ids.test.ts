import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdGenerator, isUuid, newId } from './ids.ts';

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A clock that answers the given times in turn and then stays at the last. */
function scriptedClock(times: readonly number[]): () => number {
  let index = 0;
  return () => times[Math.min(index++, times.length - 1)] ?? 0;
}

describe('uuid version 7', () => {
  it('carries the time, the version and the variant where RFC 9562 puts them', () => {
    const id = createIdGenerator(() => 0x017f22e279b0).uuid();
    expect(id).toMatch(VERSION_7);
    expect(id.slice(0, 13)).toBe('017f22e2-79b0');
  });

  it('sorts in the order of creation whatever the clock does: still, forward or back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 ** 48 - 2 }), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 4 }),
        (times, idsPerTime) => {
          const clock = scriptedClock(times.flatMap((time) => Array(idsPerTime).fill(time) as number[]));
          const generator = createIdGenerator(clock);
          const ids = times.flatMap(() => Array.from({ length: idsPerTime }, () => generator.uuid()));
          expect(ids).toEqual([...ids].sort());
          expect(new Set(ids).size).toBe(ids.length);
          for (const id of ids) expect(id).toMatch(VERSION_7);
        },
      ),
    );
  });

  it('is unique and sorted through a hundred thousand ids of one millisecond', () => {
    const generator = createIdGenerator(() => 1_700_000_000_000);
    let previous = '';
    for (let made = 0; made < 100_000; made += 1) {
      const id = generator.uuid();
      if (!(id > previous)) expect.fail(`${id} does not sort after ${previous}`);
      previous = id;
    }
    expect(previous.slice(0, 13)).toBe('018bcfe5-6800');
  });

  it('does not collide between generators that share every millisecond', () => {
    const generators = Array.from({ length: 20 }, () => createIdGenerator(() => 1_700_000_000_000));
    const ids = generators.flatMap((generator) => Array.from({ length: 500 }, () => generator.uuid()));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refuses a time that does not fit instead of making a wrong id', () => {
    for (const time of [-1, 2 ** 48, Number.NaN]) {
      const generator = createIdGenerator(() => time);
      expect(() => generator.uuid()).toThrow(RangeError);
    }
  });

  it('takes the wall clock and one order for the whole process by default', () => {
    const before = Date.now();
    const first = newId();
    const second = newId();
    const milliseconds = Number.parseInt(first.replace('-', '').slice(0, 12), 16);
    expect(milliseconds).toBeGreaterThanOrEqual(before);
    expect(milliseconds).toBeLessThanOrEqual(Date.now());
    expect(second > first).toBe(true);
  });
});

describe('event ids', () => {
  // Proves C6 rule 5.
  it('are evt_ followed by a uuid version 7', () => {
    const id = createIdGenerator().eventId();
    expect(id.startsWith('evt_')).toBe(true);
    expect(id.slice(4)).toMatch(VERSION_7);
  });
});

describe('isUuid', () => {
  it('accepts every version and variant in either case', () => {
    const nil = '00000000-0000-0000-0000-000000000000';
    for (const id of [nil, nil.replaceAll('0', 'f'), randomUUID(), newId(), newId().toUpperCase()]) {
      expect(isUuid(id)).toBe(true);
    }
    fc.assert(fc.property(fc.uuid({ version: [1, 3, 4, 5, 7, 8] }), (id) => isUuid(id)));
  });

  it('refuses other text, also when a uuid is inside it', () => {
    const id = randomUUID();
    const others = [
      '',
      id.slice(1),
      `${id}0`,
      ` ${id}`,
      `${id}\n`,
      `{${id}}`,
      id.replaceAll('-', ''),
      `g${id.slice(1)}`,
    ];
    for (const text of others) expect(isUuid(text)).toBe(false);
    fc.assert(fc.property(fc.string({ minLength: 36, maxLength: 36 }), (text) => !isUuid(text)));
  });
});
