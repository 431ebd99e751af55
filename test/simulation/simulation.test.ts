import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatedProcess } from './process.ts';
import { diceOf, type Fault, type Gate } from './scheduler.ts';
import { describeShrunk, runSeedsOn } from './seeds.ts';
import { shrink } from './shrink.ts';
import { check, inWorld, movesOf, openAll, type Simulation, simulate } from './simulate.ts';
import { type Ground, layGround } from './template.ts';
import type { World } from './world.ts';

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

/** One move and all that follows from it. */
async function play(world: World, key: string, faultOf?: (gate: Gate) => Fault): Promise<void> {
  const move = movesOf(world).find((one) => one.key === key);
  if (move === undefined) throw new Error(`nothing of this kind can be done: ${key}`);
  move.run(diceOf(1, 1));
  await openAll(world, faultOf);
  await check(world);
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
    const first = await simulate(ground, 7, { steps: 80 });
    await simulate(ground, 8, { steps: 20 });
    const again = await simulate(ground, 7, { steps: 80 });
    expect(again.trace).toEqual(first.trace);
    expect(again.hash).toBe(first.hash);
  });

  // Found by the simulation: the failure of one question, while another was waited for, was handled by no one.
  it('a node that answers nothing refuses a decision about a deposit and ends no process', async () => {
    await inWorld(ground, async (world) => {
      await play(world, 'partner asks for an offramp quote');
      await play(world, 'partner initiates quote 0');
      await play(world, 'a worker starts');
      await play(world, 'worker 0: looks for effects');
      await play(world, 'short deposit of order 0');
      for (let blocks = 0; blocks < 3; blocks++) world.chain.mine([...world.chain.pool], world.now);
      // The first look only says where the watcher begins.
      await play(world, 'worker 0: watches the chain');
      await play(world, 'worker 0: watches the chain');
      await play(world, 'operator decides to return deposit 0 of order 0', ({ what }) =>
        what === 'sql' ? 'none' : 'lost',
      );
      expect(world.trace).toContain('return deposit 0.0: TRANSACTOR_UNAVAILABLE');
      expect(world.violation).toBeUndefined();
    });
  });

  it('a planted bug is found, found again, and brought down to the steps that it needs', {
    timeout: 180_000,
  }, async () => {
    const options = { steps: 100, tamper: forgetDeposits };
    let found: Simulation | undefined;
    for (let seed = 1; seed <= 40 && found === undefined; seed++) {
      const done = await simulate(ground, seed, options);
      if (done.violation !== undefined) found = done;
    }
    if (found === undefined) throw new Error('no seed has found the planted bug');
    expect(found.violation).toMatch(/paid in, .* booked/);
    expect((await simulate(ground, found.seed, options)).hash).toBe(found.hash);
    const { simulation } = await shrink(ground, found, options, 15);
    expect(simulation.violation).toMatch(/paid in, .* booked/);
    expect(simulation.taken.length).toBeLessThan(found.taken.length);
    expect(describeShrunk(simulation)).toContain(`seed ${found.seed}, ${simulation.taken.length} steps`);
  });
});
