import { describe, expect, it } from 'vitest';
import { createConcurrencySlots, SLOW_AFTER_MS } from './concurrency-slots.ts';

describe('the slots that deliveries of all partners share', () => {
  function slots(size: number) {
    const time = { now: 0 };
    return { time, shared: createConcurrencySlots({ size, now: () => time.now }) };
  }

  it('endpoints that hang lose their slots after a second, so that any number of them leaves all slots free', () => {
    const { time, shared } = slots(8);
    const held = Array.from({ length: 8 }, (_, n) => shared.take(`hanging ${n}`));
    expect(shared.free()).toBe(0);
    time.now = SLOW_AFTER_MS - 1;
    expect(shared.withdrawFromSlow(time.now)).toEqual([]);
    time.now = SLOW_AFTER_MS;
    expect(shared.withdrawFromSlow(time.now)).toHaveLength(8);
    expect(shared.free()).toBe(8);
    // What comes back without a slot gives none back.
    for (const slot of held) slot.giveBack();
    expect(shared.free()).toBe(8);
  });

  it('an answered delivery keeps its slot until it is recorded, however long that takes', () => {
    const { time, shared } = slots(2);
    const slot = shared.take('a');
    slot.answered();
    time.now = 10 * SLOW_AFTER_MS;
    expect(shared.withdrawFromSlow(time.now)).toEqual([]);
    expect(shared.free()).toBe(1);
    slot.giveBack();
    expect(shared.free()).toBe(2);
  });

  it('attempts without a slot are bounded', () => {
    const { time, shared } = slots(3_000);
    for (let n = 0; n < 3_000; n++) shared.take('hanging');
    time.now = SLOW_AFTER_MS;
    expect(shared.withdrawFromSlow(time.now)).toHaveLength(2_048);
    expect(shared.free()).toBe(2_048);
  });
});
