import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { ORDER_MACHINES } from '@causeway/protocol';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure } from '../../bench/frame/measurement.ts';
import { FAULTS } from './scheduler.ts';
import { shrink } from './shrink.ts';
import { type Simulation, simulate } from './simulate.ts';
import { type Ground, layGround } from './template.ts';
import { TIDY_EVERY, tidyGround } from './world.ts';

/**
 * npm run simulate -- [seeds [first seed [steps]]] runs many seeds in as many processes as there are cores, and records what they showed.
 * npm run simulate -- --seed N [steps] runs one again: what happened, and the fewest steps that still break it.
 */
const DEFAULT_SEEDS = 10_000;
const DEFAULT_STEPS = 200;
/** Fewer seeds are a look, not evidence. */
const LEAST_RECORDED = 1_000;

interface Summary {
  seeds: number;
  statuses: string[];
  counts: Record<string, number>;
  broken: { seed: number; violation: string }[];
}

async function runSeeds(seeds: readonly number[], steps: number): Promise<Summary> {
  const ground = await layGround();
  try {
    return await runSeedsOn(ground, seeds, steps);
  } finally {
    await ground.close();
  }
}

export async function runSeedsOn(ground: Ground, seeds: readonly number[], steps: number): Promise<Summary> {
  const summary: Summary = { seeds: 0, statuses: [], counts: {}, broken: [] };
  const statuses = new Set<string>();
  for (const seed of seeds) {
    if (summary.seeds % TIDY_EVERY === 0) tidyGround(ground);
    const done = await simulate(ground, seed, { steps });
    summary.seeds += 1;
    for (const status of done.statuses) statuses.add(status);
    for (const [what, times] of Object.entries(done.counts)) {
      summary.counts[what] = (summary.counts[what] ?? 0) + times;
    }
    if (done.violation !== undefined) summary.broken.push({ seed, violation: done.violation });
  }
  return { ...summary, statuses: [...statuses] };
}

/** All that an order can be, by direction. */
const ALL_STATUSES = Object.entries(ORDER_MACHINES).flatMap(([direction, { statuses }]) =>
  Object.keys(statuses).map((status) => `${direction} ${status}`),
);

async function runMany(count: number, first: number, steps: number): Promise<void> {
  const processes = Math.min(availableParallelism(), count);
  const begun = performance.now();
  const parts = await Promise.all(
    Array.from({ length: processes }, (_, part) => runPart(part, processes, count, first, steps)),
  );
  const minutes = (performance.now() - begun) / 60_000;
  const broken = parts.flatMap((part) => part.broken);
  const reached = new Set(parts.flatMap(({ statuses }) => statuses));
  const counted = (what: string) => parts.reduce((sum, { counts }) => sum + (counts[what] ?? 0), 0);
  const total = (name: string, value: number, unit: string) =>
    figure({ name, value, unit, better: 'higher' });
  const figures = [
    total('seeds', count, 'seeds'),
    total('steps a seed', steps, 'steps'),
    total('statuses reached', reached.size, `of ${ALL_STATUSES.length}`),
    ...FAULTS.map((fault) => total(`calls: ${fault}`, counted(fault), 'faults')),
    total('forks of the chain', counted('fork'), 'faults'),
    total('executions by a third party', counted('third party'), 'faults'),
    figure({ name: 'time taken', value: minutes, unit: 'min', better: 'lower' }),
    figure({ name: 'violations', value: broken.length, unit: 'seeds', better: 'lower', target: 0 }),
  ];
  const missing = ALL_STATUSES.filter((status) => !reached.has(status));
  process.stdout.write(`not reached: ${missing.join(', ') || 'none'}\n`);
  for (const { seed, violation } of broken) {
    process.stdout.write(`${violation}\n  npm run simulate -- --seed ${seed} ${steps}\n`);
  }
  const isLong = count >= LEAST_RECORDED && steps >= DEFAULT_STEPS;
  const command = `npm run simulate -- ${count} ${first} ${steps}`;
  const passed = reportEvidence({ run: 'simulation', command, seed: first, figures }, { record: isLong });
  if (!passed) process.exitCode = 1;
}

function runPart(part: number, parts: number, count: number, first: number, steps: number): Promise<Summary> {
  const args = ['--part', part, parts, count, first, steps].map(String);
  const child = fork(new URL(import.meta.url), args);
  return new Promise((resolve, reject) => {
    child.once('message', (summary) => resolve(summary as Summary));
    child.once('exit', (code) => reject(new Error(`a process of the simulation ended with ${code}`)));
  });
}

async function runOne(seed: number, steps: number): Promise<void> {
  const ground = await layGround();
  const done = await simulate(ground, seed, { steps });
  process.stdout.write(`${done.trace.join('\n')}\nseed ${seed}: ${done.hash}\n`);
  if (done.violation !== undefined) {
    process.stdout.write(`\n${done.violation}\n\nleaving out steps …\n`);
    const { simulation, runs } = await shrink(ground, done, { steps });
    process.stdout.write(`${describeShrunk(simulation)}\n(${runs} runs)\n`);
    process.exitCode = 1;
  }
  await ground.close();
}

/** The steps that are left, and how it ends. */
export function describeShrunk({ seed, taken, violation }: Simulation): string {
  const lines = taken.map(({ step, move }) => `  ${step}: ${move}`);
  return [`seed ${seed}, ${taken.length} steps:`, ...lines, `then: ${violation}`].join('\n');
}

async function main([first, ...rest]: readonly string[]): Promise<void> {
  if (first === '--seed') {
    await runOne(Number(rest[0]), Number(rest[1] ?? DEFAULT_STEPS));
  } else if (first === '--part') {
    const [part = 0, parts = 1, count = 0, from = 1, steps = 0] = rest.map(Number);
    const seeds = Array.from({ length: count }, (_, n) => from + n).filter((_, n) => n % parts === part);
    process.send?.(await runSeeds(seeds, steps));
    if (process.connected) process.disconnect?.();
  } else {
    const [count, from, steps] = [first, ...rest];
    await runMany(Number(count ?? DEFAULT_SEEDS), Number(from ?? 1), Number(steps ?? DEFAULT_STEPS));
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
