import { createHash } from 'node:crypto';
import { expireOrders } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { brokenInvariant, movementsOf } from './invariants.ts';
import { type Move, partyMoves } from './moves.ts';
import type { SimulatedProcess } from './process.ts';
import { choose, type Dice, diceOf, type Fault, type Gate, quiescent } from './scheduler.ts';
import { surroundingMoves } from './surrounding-moves.ts';
import type { Ground } from './template.ts';
import { clearGround, World } from './world.ts';

export interface SimulationOptions {
  readonly steps: number;
  /** Steps that are left out; for finding out which of them a failure needs. */
  readonly without?: ReadonlySet<number>;
  /** Called for every process that starts: a test plants its fault here. */
  readonly tamper?: (process: SimulatedProcess) => void;
}

export interface Simulation {
  readonly seed: number;
  readonly violation: string | undefined;
  /** What happened, a line each; with equal hashes two runs were the same. */
  readonly trace: readonly string[];
  readonly hash: string;
  /** The step at which it broke, where it did. */
  readonly brokenAt: number | undefined;
  readonly taken: readonly { readonly step: number; readonly move: string }[];
  readonly statuses: ReadonlySet<string>;
  readonly counts: Readonly<Record<string, number>>;
}

/** One world from its first step to its last, and on until nothing is left to do. The same seed gives the same. */
export function simulate(ground: Ground, seed: number, options: SimulationOptions): Promise<Simulation> {
  return inWorld(ground, (world) => run(world, seed, options), options.tamper);
}

/** A new world on cleared ground, for as long as `work` takes. */
export async function inWorld<T>(
  ground: Ground,
  work: (world: World) => Promise<T>,
  tamper?: SimulationOptions['tamper'],
): Promise<T> {
  clearGround(ground);
  const world = new World(ground, tamper);
  const realNow = Date.now;
  // Machine time is the world's too: leases are measured by it, and the database asks for it.
  Date.now = () => world.now;
  // What ends a process of production is a finding here.
  const onRejection = (error: unknown) => world.fail(`a rejection that is not handled: ${String(error)}`);
  process.on('unhandledRejection', onRejection);
  try {
    await quiescent();
    return await work(world);
  } finally {
    Date.now = realNow;
    process.off('unhandledRejection', onRejection);
    ground.session.abandon();
  }
}

async function run(world: World, seed: number, { steps, without }: SimulationOptions): Promise<Simulation> {
  const taken: { step: number; move: string }[] = [];
  let brokenAt: number | undefined;
  for (let step = 0; step < steps && world.violation === undefined; step++) {
    if (without?.has(step)) continue;
    const move = choose(seed, step, movesOf(world));
    if (move === undefined) break;
    taken.push({ step, move: move.key });
    world.trace.push(`${step} ${move.key}`);
    world.now += 10;
    const before = world.ground.session.writes;
    const dice = diceOf(seed, step);
    move.run(dice);
    await quiescent();
    await runOn(world, move, dice);
    buryDead(world);
    if (world.ground.session.writes !== before) await check(world);
    if (world.violation !== undefined) brokenAt = step;
  }
  if (world.violation === undefined) await comeToRest(world);
  const statuses = new Set(
    world.seen.orders.flatMap(({ direction, statuses: had }) =>
      had.map((status) => `${direction} ${status}`),
    ),
  );
  world.trace.push(...world.seen.orders.map(({ order_id, status }) => `${order_id} ended ${status}`));
  const hash = createHash('sha256').update(world.trace.join('\n')).digest('hex');
  const { violation, trace, counts } = world;
  return { seed, violation, trace, hash, brokenAt, taken, statuses, counts };
}

/** A process that was let go may get further than one call before another has its turn. */
async function runOn({ scheduler }: World, { process }: Move, dice: Dice): Promise<void> {
  for (let calls = dice.below('run on', MOST_CALLS); process !== undefined && calls > 0; calls--) {
    const next = scheduler.gates.find((gate) => gate.process === process);
    if (next === undefined) return;
    next.open('none');
    await quiescent();
  }
}

export function movesOf(world: World): Move[] {
  return [...surroundingMoves(world), ...partyMoves(world)];
}

function buryDead(world: World): void {
  world.workers = world.workers.filter(({ process }) => process.isAlive());
  if (!world.api.isAlive()) world.api = world.start('api');
}

export async function check(world: World): Promise<void> {
  await world.look();
  const broken = brokenInvariant(world);
  if (broken !== undefined) world.fail(broken);
}

/** Of one process in one step. */
const MOST_CALLS = 5;
/** Longer than an order waits for a vendor in all. */
const MOST_ROUNDS = 60;
const ROUND_MS = 16_000;

/** Faults end, nobody acts any more, and workers and chain go on: all that was begun must come to an end of its own. */
async function comeToRest(world: World): Promise<void> {
  world.trace.push('faults end');
  await openAll(world);
  await check(world);
  // Nothing was begun that could come to anything.
  if (world.seen.orders.length === 0 && world.chain.pool.length === 0) return;
  for (let round = 0; round < MOST_ROUNDS && world.violation === undefined; round++) {
    await openAll(world);
    const { chain, workers } = world;
    while (workers.length < 1) workers.push(world.startWorker());
    for (let blocks = 0; blocks < chain.settings.confirmations; blocks++)
      chain.mine([...chain.pool], world.now);
    world.now += ROUND_MS;
    const [worker] = workers;
    if (worker === undefined) return;
    world.begin('rest: watches', worker.watcher.catchUp());
    await openAll(world);
    worker.intents.wake();
    await openAll(world);
    world.begin('rest: expires', expireOrders(worker.process));
    await openAll(world);
    await check(world);
    if (world.violation === undefined && unrest(world) === undefined) return;
  }
  if (world.violation === undefined) world.fail(`never comes to rest: ${unrest(world)}`);
}

/** Until none is left; what befalls each call is `faultOf`'s to say. */
export async function openAll(
  { scheduler }: World,
  faultOf: (gate: Gate) => Fault = () => 'none',
): Promise<void> {
  await quiescent();
  for (let [gate] = scheduler.gates; gate !== undefined; [gate] = scheduler.gates) {
    gate.open(faultOf(gate));
    await quiescent();
  }
}

/** What is still to be done, or was done and is not booked. */
function unrest({ chain, seen }: World): string | undefined {
  if (chain.pool.length > 0) return 'a transaction is not mined';
  for (const { order_id, open_effects, escrow, is_watched, booked, vendor_id } of seen.orders) {
    // An order that no vendor serves is offered again until its time is up.
    const open = open_effects.filter((kind) => vendor_id !== null || kind !== 'vendor.offer-order');
    if (open.length > 0) return `order ${order_id} waits for ${open.join(', ')}`;
    if (escrow === null || !is_watched) continue;
    const { paidIn, paidOut } = movementsOf(chain, escrow.address, chain.everFinal);
    const there = paidOut.reduce((sum, one) => sum - one, paidIn);
    if (there !== BigInt(booked))
      return `order ${order_id} has ${there} in escrow and ${booked} in the books`;
  }
  return undefined;
}
