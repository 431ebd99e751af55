import { insertReceivers } from '../test/harness/delivery-drain.ts';
import { type DeliveryWorker, forkDeliveryWorker } from '../test/soak/delivery-worker.ts';
import { figure, type Measurement } from './frame/measurement.ts';
import { median, percentile, relativeSpread } from './frame/statistics.ts';
import { fillQueue, timeEvents, type WebhookFixture } from './webhook-fixture.ts';

/**
 * What a hanging partner costs the others. Two workers stand side by side, each a process with a database of its
 * own and the real limits and time-outs; one of them has the hanging partner. Both get the same events in short
 * slices by turns, so that whatever else the machine does meets both alike, and a block of slices is as
 * long as it takes for the first attempts at the hanging endpoint to time out.
 *
 * The percentiles are of all slices of a block, the figure is the median of the blocks' ratios. As the two share a
 * machine, work that the hanging partner made for the processor would slow both: its share is reported beside it.
 */
const BLOCKS = 5;
const BLOCK_MS = 12_500;
/** A slow machine makes blocks longer, not thinner: the p99 of few events is one bad moment. */
const EVENTS_A_BLOCK = 600;
const EVENTS_A_SLICE = 40;
const PARTNERS = 4;
const HANGING_QUEUE = 500;

interface Side {
  readonly fixture: WebhookFixture;
  readonly partners: readonly string[];
  readonly hanging: string | null;
}

interface Block {
  readonly quiet: readonly number[];
  readonly hanging: readonly number[];
  readonly cpuRatio: number;
}

export async function measureIsolation(
  quietFixture: WebhookFixture,
  hangingFixture: WebhookFixture,
): Promise<Measurement> {
  const quiet = await prepareSide(quietFixture, false);
  const hanging = await prepareSide(hangingFixture, true);
  const blocks: Block[] = [];
  for (let n = 0; n < BLOCKS; n++) blocks.push(await measureBlock(quiet, hanging, n % 2 === 0));
  const ratiosAt = (share: number) =>
    blocks.map((block) => percentile(block.hanging, share) / percentile(block.quiet, share));
  const ratios = ratiosAt(0.99);
  const [allQuiet, allHanging] = [
    blocks.flatMap((block) => block.quiet),
    blocks.flatMap((block) => block.hanging),
  ];
  return figure({
    name: 'p99 of the others while one partner hangs with a long queue, against without it',
    value: median(ratios),
    unit: 'ratio',
    better: 'lower',
    target: 1.2,
    details: {
      sidesUnit: 'ms',
      baselineMedian: median(blocks.map(({ quiet }) => percentile(quiet, 0.99))),
      candidateMedian: median(blocks.map(({ hanging }) => percentile(hanging, 0.99))),
      ratios,
      spread: relativeSpread(ratios),
      samplesASide: Math.min(allQuiet.length, allHanging.length),
      quietP50: percentile(allQuiet, 0.5),
      hangingP50: percentile(allHanging, 0.5),
      quietP99: percentile(allQuiet, 0.99),
      hangingP99: percentile(allHanging, 0.99),
      pooledRatio: percentile(allHanging, 0.99) / percentile(allQuiet, 0.99),
      p50Ratios: ratiosAt(0.5),
      p90Ratios: ratiosAt(0.9),
      workerCpuRatios: blocks.map(({ cpuRatio }) => cpuRatio),
    },
  });
}

async function prepareSide(fixture: WebhookFixture, withHanging: boolean): Promise<Side> {
  const { owner, receiver } = fixture;
  const partners = await insertReceivers(owner, PARTNERS, () => `${receiver.url}/timed`);
  const [hanging = null] = await insertReceivers(owner, withHanging ? 1 : 0, () => `${receiver.url}/hang`);
  return { fixture, partners, hanging };
}

/** Fresh workers and an endpoint without history, so that every block meets the first, widest window. */
async function measureBlock(quiet: Side, hanging: Side, quietFirst: boolean): Promise<Block> {
  const workers = await Promise.all([quiet, hanging].map(({ fixture }) => startWorker(fixture.databaseUrl)));
  try {
    for (const side of [quiet, hanging]) await timeSlice(side);
    await makeHang(hanging);
    const [cpuBefore, samples] = [await cpuOf(workers), { quiet: [] as number[], hanging: [] as number[] }];
    const until = performance.now() + BLOCK_MS;
    for (
      let slice = quietFirst ? 0 : 1;
      performance.now() < until || samples.hanging.length < EVENTS_A_BLOCK;
      slice++
    ) {
      const turns = [
        async () => samples.quiet.push(...(await timeSlice(quiet))),
        async () => samples.hanging.push(...(await timeSlice(hanging))),
      ];
      for (const turn of slice % 2 === 0 ? turns : turns.reverse()) await turn();
    }
    const cpuAfter = await cpuOf(workers);
    const [quietMs = Number.NaN, hangingMs = Number.NaN] = cpuAfter.map(
      (ms, index) => ms - (cpuBefore[index] ?? 0),
    );
    return { ...samples, cpuRatio: hangingMs / quietMs };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

const timeSlice = ({ fixture, partners }: Side) => timeEvents(fixture, partners, EVENTS_A_SLICE);

async function makeHang({ fixture, hanging }: Side): Promise<void> {
  if (hanging === null) return;
  await fixture.owner.query(`DELETE FROM webhook_endpoint_health WHERE partner_id = $1`, [hanging]);
  await fixture.owner.query(`DELETE FROM webhook_deliveries WHERE partner_id = $1`, [hanging]);
  await fillQueue(fixture, hanging, HANGING_QUEUE);
}

const cpuOf = (workers: readonly DeliveryWorker[]) => Promise.all(workers.map((worker) => worker.cpuMs()));

async function startWorker(databaseUrl: string): Promise<DeliveryWorker> {
  const worker = forkDeliveryWorker();
  await worker.start({ databaseUrl, listens: true });
  return worker;
}
