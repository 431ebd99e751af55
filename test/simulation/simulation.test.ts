import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatedProcess } from './process.ts';
import { describeShrunk, runSeedsOn } from './seeds.ts';
import { shrink } from './shrink.ts';
import { type Simulation, simulate } from './simulate.ts';
import { type Ground, layGround } from './template.ts';

/** `npm run simulate` is the long run: seeds of 200 steps. */
const SEEDS = 300;
const STEPS = 12;

/** The books forget that a deposit came in: what the plainest of bugs would do. */
function forgetDeposits({ orderAdapters }: SimulatedProcess): void {
  for (const adapter of Object.values(orderAdapters)) {
    const { entryFor } = adapter;
    Object.assign(adapter, {
      entryFor: (order: never, posting: string) => {
        const entry = entryFor(order, posting as never);
        return posting.endsWith('escrow_funded') ? { ...entry, postings: [] } : entry;
      },
    });
  }
}

describe('the simulation', () => {
  let ground: Ground;

  beforeAll(async () => {
    ground = await layGround();
  }, 180_000);
  afterAll(() => ground?.close());

  it(`${SEEDS} seeds of ${STEPS} steps keep every invariant`, { timeout: 180_000 }, async () => {
    const seeds = Array.from({ length: SEEDS }, (_, n) => n + 1);
    const { broken } = await runSeedsOn(ground, seeds, STEPS);
    expect(
      broken.map(({ seed, violation }) => `npm run simulate -- --seed ${seed} ${STEPS}: ${violation}`),
    ).toEqual([]);
  });

  it('the same seed gives the same course, whatever ran before it', { timeout: 120_000 }, async () => {
    const first = await simulate(ground, 7, { steps: 120 });
    await simulate(ground, 8, { steps: 40 });
    const again = await simulate(ground, 7, { steps: 120 });
    expect(again.trace).toEqual(first.trace);
    expect(again.hash).toBe(first.hash);
  });

  it('a planted bug is found, found again, and brought down to the steps that it needs', {
    timeout: 180_000,
  }, async () => {
    const options = { steps: 150, tamper: forgetDeposits };
    let found: Simulation | undefined;
    for (let seed = 1; seed <= 40 && found === undefined; seed++) {
      const done = await simulate(ground, seed, options);
      if (done.violation !== undefined) found = done;
    }
    if (found === undefined) throw new Error('no seed has found the planted bug');
    expect(found.violation).toMatch(/paid in, .* booked/);
    expect((await simulate(ground, found.seed, options)).hash).toBe(found.hash);
    const { simulation } = await shrink(ground, found, options, 40);
    expect(simulation.violation).toMatch(/paid in, .* booked/);
    expect(simulation.taken.length).toBeLessThan(found.taken.length);
    expect(describeShrunk(simulation)).toContain(`seed ${found.seed}, ${simulation.taken.length} steps`);
  });
});
