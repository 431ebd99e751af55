import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { endOnInterruption } from '../../bench/frame/interruption.ts';
import { figure, type Measurement } from '../../bench/frame/measurement.ts';
import { median } from '../../bench/frame/statistics.ts';
import { type MeasuredOrders, type ProcessorUse, type RunningCheckout, startCheckout } from './checkout.ts';

/**
 * `npm run order-cost -- <checkout> [seed=N] [rounds=N] [record]`: what an order that is quoted and opened costs the processor, here and
 * in another checkout of this repository in which `npm ci` was run. Both run beside each other and are measured by turns, since
 * a machine that others use is not the same from one minute to the next. It counts everything that an order makes the
 * database do, with what it leaves behind, less what is done without requests. `record` is for the tree before 0060 (0082).
 */
const args = process.argv.slice(2);
const setting = (name: string, fallback: number) =>
  Number(args.find((arg) => arg.startsWith(`${name}=`))?.split('=')[1] ?? fallback);
const other = args.find((arg) => !arg.includes('=') && arg !== 'record');
if (other === undefined || !existsSync(resolve(other, 'node_modules'))) {
  console.error('Which checkout, with npm ci done? npm run order-cost -- ../causeway-before');
  process.exit(2);
}
const seed = setting('seed', Math.floor(Math.random() * 2 ** 31));
const rounds = setting('rounds', 9);
const ORDERS_A_SECOND = 40;
const SECONDS = 10;
const SETTLE_MS = 2_500;
const TARGET = 0.5;

const here = resolve(import.meta.dirname, '../..');
const folders = { before: resolve(other), now: here } as const;
type Side = keyof typeof folders;
const SIDES = Object.keys(folders) as readonly Side[];

endOnInterruption();
console.log(`seed ${seed}`);
const running = {} as Record<Side, RunningCheckout>;
const costs: Record<Side, ProcessorUse[]> = { before: [], now: [] };
try {
  for (const side of SIDES) running[side] = await startCheckout(folders[side]);
  // The first turn of each compiles and plans.
  for (let turn = 0; turn <= rounds; turn++) {
    for (const side of SIDES) {
      const round = { seconds: SECONDS, ordersASecond: ORDERS_A_SECOND, settleMs: SETTLE_MS };
      const measured = await running[side].measure({ ...round, seed: seed + turn });
      const cost = costOfEach(measured);
      console.log(
        `${side}: ${cost.database.toFixed(2)} ms database, ${cost.gateway.toFixed(2)} ms API and worker, ${measured.orders} orders`,
      );
      if (turn > 0) costs[side].push(cost);
    }
  }
} finally {
  for (const checkout of Object.values(running)) await checkout.stop();
}

function costOfEach({ orders, busy, idle }: MeasuredOrders): ProcessorUse {
  return {
    database: (busy.database - idle.database) / orders,
    gateway: (busy.gateway - idle.gateway) / orders,
  };
}

function compared(what: string, of: (cost: ProcessorUse) => number, target?: number): Measurement[] {
  const [before, now] = SIDES.map((side) => costs[side].map(of)) as [number[], number[]];
  const cost = (name: string, turns: readonly number[]) =>
    figure({ name, value: median(turns), unit: 'ms', better: 'lower', details: { turns } });
  const ratios = now.map((value, turn) => value / (before[turn] ?? Number.NaN));
  return [
    cost(`processor for an order, before: ${what}`, before),
    cost(`processor for an order, now: ${what}`, now),
    figure({
      ...{ name: `now, of before: ${what}`, value: median(ratios), unit: 'times', better: 'lower', target },
      details: { turns: ratios },
    }),
  ];
}

const figures = [
  ...compared('database', ({ database }) => database, TARGET),
  ...compared('API and worker, with the sandbox’s chains', ({ gateway }) => gateway),
];
const evidence = { run: 'order-cost', command: 'npm run order-cost -- <checkout> record', seed, figures };
process.exit(reportEvidence(evidence, { record: args.includes('record') }) ? 0 : 1);
