import { type Simulation, type SimulationOptions, simulate } from './simulate.ts';
import type { Ground } from './template.ts';

export interface Shrunk {
  /** What is left: without any one of these the seed no longer fails in the same way. */
  readonly simulation: Simulation;
  readonly runs: number;
}

/**
 * Leaves out steps for as long as the seed still fails in the same way: halves first, then ever smaller parts, down to
 * single steps. A step's choice does not depend on the others, so most of the course stays what it was.
 */
export async function shrink(
  ground: Ground,
  failed: Simulation,
  options: SimulationOptions,
  mostRuns = 400,
): Promise<Shrunk> {
  const steps = failed.brokenAt === undefined ? options.steps : failed.brokenAt + 1;
  let best = failed;
  let runs = 0;
  const wanted = kindOf(failed.violation);
  for (let part = Math.ceil(best.taken.length / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
    for (let from = 0; from < best.taken.length && runs < mostRuns; ) {
      const kept = new Set(best.taken.filter((_, n) => n < from || n >= from + part).map(({ step }) => step));
      const without = new Set(
        Array.from({ length: steps }, (_, step) => step).filter((step) => !kept.has(step)),
      );
      runs += 1;
      const tried = await simulate(ground, failed.seed, { ...options, steps, without });
      if (tried.violation !== undefined && kindOf(tried.violation) === wanted) best = tried;
      else from += part;
    }
  }
  return { simulation: best, runs };
}

/** The same failure, whichever order and amount it shows itself in. */
function kindOf(violation: string | undefined): string {
  return (violation ?? '').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\([a-z_]+\)|\d+/g, '…');
}
