import { expireOrders } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { passOverSilentVendors } from '../../apps/gateway/src/features/orders/lifecycle/offer-order.effect.ts';
import { endFinishedReservations } from '../../apps/gateway/src/features/quotes/claim-quote.ts';
import type { Move } from './moves.ts';
import { type Dice, FAULTS } from './scheduler.ts';
import { PARTIES } from './template.ts';
import type { Worker, World } from './world.ts';

const WORKERS = 2;
/** A second, longer than a lease, longer than a quote, a vendor's silence, an order's patience. */
const PAUSES_MS = [1_000, 2_000, 5_000, 16_000, 61_000, 301_000, 1_801_000];
const RARE_PAUSE_MS = 90_000_000;
const SILENCE_SECONDS = 300;

/** What the deployment, its network and the chain do by themselves. */
export function surroundingMoves(world: World): Move[] {
  return [...gateMoves(world), ...workerMoves(world), ...chainMoves(world), ...timeMoves(world)];
}

/** One call goes through, and perhaps the next few of the same process; or something befalls it. */
function gateMoves({ scheduler, trace, counts }: World): Move[] {
  return scheduler.gates.map((gate) => ({
    key: `gate ${gate.key}`,
    weight: 14,
    process: gate.process,
    run: (dice: Dice) => {
      const fault = dice.chance('fault', 4) ? dice.pick('which fault', FAULTS) : 'none';
      if (fault !== 'none') {
        counts[fault] = (counts[fault] ?? 0) + 1;
        trace.push(`${gate.key} ${gate.what}: ${fault}`);
      }
      gate.open(fault);
    },
  }));
}

function workerMoves(world: World): Move[] {
  const { workers } = world;
  const start: Move = {
    key: 'a worker starts',
    weight: workers.length < WORKERS ? 12 : 0,
    run: () => {
      workers.push(world.startWorker());
      world.trace.push('worker started');
    },
  };
  return [start, ...workers.flatMap((worker, n) => dutiesOf(world, worker, n))];
}

function dutiesOf(world: World, worker: Worker, n: number): Move[] {
  const { process, intents, watcher } = worker;
  // A worker that is at work looks again when it is done, or while it waits, but rarely.
  const rest = world.isBusy(worker) ? 0.05 : 1;
  const duty = (what: string, weight: number, work: () => Promise<unknown>): Move => ({
    key: `worker ${n}: ${what}`,
    weight: weight * rest,
    process: process.name,
    run: () => world.begin(`worker ${n}: ${what}`, work()),
  });
  const hasWork = world.seen.orders.some(({ open_effects }) => open_effects.length > 0);
  const hasNews = world.chain.finalNumber > Number(world.seen.cursor ?? -1);
  return [
    {
      key: `worker ${n}: looks for effects`,
      weight: (hasWork ? 10 : 0.5) * rest,
      process: process.name,
      run: () => intents.wake(),
    },
    duty('watches the chain', hasNews ? 10 : 0.3, () => watcher.catchUp()),
    duty('expires orders', 1, () => expireOrders(process)),
    duty('passes over silent vendors', 0.5, () => passOverSilentVendors(process, SILENCE_SECONDS)),
    duty('ends reservations', 0.5, () => endFinishedReservations(process)),
  ];
}

function chainMoves(world: World): Move[] {
  const { chain, bank, trace } = world;
  const executions = chain.pool.filter(({ from }) => from === PARTIES.service.address);
  const move = (key: string, weight: number, run: (dice: Dice) => void): Move => ({ key, weight, run });
  // One fork after the other must not reach what was final before the first.
  const changeable = chain.head.number - chain.everFinal;
  return [
    move('a block is mined', chain.pool.length > 0 ? 10 : 3, (dice) => {
      // Some of the pool, in an order of the miner's own.
      const drawn = chain.pool.map((transaction, n) => ({
        transaction,
        rank: dice.below(`rank ${n}`, 1_000),
      }));
      const wanted = drawn.filter(({ rank }) => rank < 850).sort((left, right) => left.rank - right.rank);
      const block = chain.mine(
        wanted.map(({ transaction }) => transaction),
        world.now,
      );
      world.now += 2_000;
      trace.push(`block ${block.number} with ${block.receipts.length}`);
    }),
    move('the chain forks', changeable > 0 ? 0.6 : 0, (dice) => {
      const depth = 1 + dice.below('depth', changeable);
      const back = chain.reorganise(depth, ({ nonce }) => nonce === null && dice.chance('dropped', 30));
      world.count('fork');
      trace.push(`fork of ${depth} with ${back}`);
    }),
    move('a third party executes first', executions.length > 0 ? 5 : 0, (dice) => {
      const copied = dice.pick('which', executions);
      chain.submit(PARTIES.thirdParty.address, copied.to, copied.data);
      // A miner prefers what pays more.
      chain.pool.unshift(...chain.pool.splice(-1));
      world.count('third party');
      trace.push('a third party executes first');
    }),
    ...bank.underway.map((transfer, n) =>
      move(`the bank delivers ${n}`, 4, () => {
        transfer.hasArrived = true;
        trace.push('the bank delivers');
      }),
    ),
  ];
}

function timeMoves(world: World): Move[] {
  return [...PAUSES_MS, RARE_PAUSE_MS].map((ms, n) => ({
    key: `${ms} ms pass`,
    weight: ms === RARE_PAUSE_MS ? 0.05 : 2 / (n + 1),
    run: () => {
      world.now += ms;
      world.trace.push(`${ms} ms pass`);
    },
  }));
}
