import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createRandom } from '../fuzz/random.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink } from '../harness/webhook-sink.ts';
import { baselineOf, compareSides, type Differences, OF_THE_SERVICE } from './compare.ts';
import { type Fault, type FaultCounts, planFaults } from './crash-plan.ts';
import { type Deployment, type DeploymentOptions, startDeployment } from './deployment.ts';
import { Journal } from './journal.ts';
import { prepareLoad } from './load.ts';

export interface CrashRunOptions extends DeploymentOptions, FaultCounts {
  readonly seed: number;
  /** Clients that act at once. */
  readonly lanes: number;
  readonly say: (text: string) => void;
}

/** How long work stood still after a fault, in milliseconds from the restart; of the chain, from its first answer. */
export interface Resumption {
  /** `role`: every process of a role was killed at once, so that work goes on when one has started. */
  readonly kind: Fault['kind'] | 'role';
  readonly answered: number;
  /** Until the first effect or webhook was settled; after a stop of the chain, the first transaction. */
  readonly settled: number;
  /** Until the killed processes, the database or the chain stood again. */
  readonly standing: number;
}

export interface CrashResult {
  readonly differences: Differences;
  readonly resumptions: readonly Resumption[];
  readonly journal: Journal;
  readonly orders: Readonly<Record<string, number>>;
  readonly deposits: number;
  readonly events: number;
  readonly repeatedEvents: number;
  /** How the processes ended when they were told to at last: 0 where each finished what it had begun. */
  readonly ends: readonly (number | string)[];
}

const STANDSTILL_MS = 120_000;
const SETTLE_MS = 90_000;
/** A standstill that one wants to know more about. */
const LONG_MS = 2_500;

/** A deployment under load whose parts are killed one after the other, and what all sides say about it afterwards. */
export async function runCrashes(options: CrashRunOptions): Promise<CrashResult> {
  const { say } = options;
  const random = createRandom(options.seed);
  const deployment = await startDeployment(options);
  const secrets = deployment.sandbox.partners.map((one: { webhook_secret: string }) => one.webhook_secret);
  const sink = await startWebhookSink({ tls: false, secret: (path) => secrets[Number(path.slice(1))] });
  try {
    const owner = await look(deployment);
    const before = await baselineOf(owner);
    await owner.end();
    const journal = new Journal();
    const load = await prepareLoad(deployment, journal);
    await load.listenAt([`${sink.url}/0`, `${sink.url}/1`]);
    const faults = planFaults(random, options, deployment.slots.length);
    const running = load.run(createRandom(options.seed + 1), options.lanes);
    const resumptions: Resumption[] = [];
    for (const [index, fault] of faults.entries()) {
      await sleep(fault.afterMs);
      const resumption = await strike(fault, deployment, journal, say);
      resumptions.push(resumption);
      const { answered, settled, standing } = resumption;
      say(
        `${index + 1} of ${faults.length}: ${describe(fault, deployment)}; answered after ${answered} ms, settled after ${settled} ms, standing after ${standing} ms; ${load.made.orders.length} orders`,
      );
    }
    say('bringing everything to its end');
    await Promise.all(deployment.slots.map((slot) => slot.ready()));
    await running.stop();
    const last = await look(deployment);
    // What is not settled by then is told by the comparison, one by one.
    await settled(last).catch((error: Error) => say(error.message));
    const sides = { deployment, journal, load, sink, owner: last, before };
    const differences = await compareSides(sides);
    const orders = await endingsOf(
      last,
      load.made.orders.map(({ orderId }) => orderId),
    );
    await last.end();
    const events = new Set(sink.received.map(({ event }) => event?.event_id)).size;
    const deposits = load.made.deposits.length;
    const repeatedEvents = sink.received.length - events;
    const ends = await deployment.stop();
    return { differences, resumptions, journal, orders, deposits, events, repeatedEvents, ends };
  } finally {
    await deployment.stop();
    await sink.close();
  }
}

async function strike(
  fault: Fault,
  deployment: Deployment,
  journal: Journal,
  say: (text: string) => void,
): Promise<Resumption> {
  let restartedAt = 0;
  let standing: Promise<number>;
  const since = () => Date.now() - restartedAt;
  if (fault.kind === 'kill') {
    const victims = fault.slots.map((slot) => deployment.slots[slot]!);
    await Promise.all(victims.map((slot) => slot.kill()));
    restartedAt = Date.now();
    standing = Promise.all(victims.map((slot) => slot.ready())).then(since);
  } else {
    const [stop, start] =
      fault.kind === 'database'
        ? [deployment.stopDatabase, deployment.startDatabase]
        : [deployment.stopChain, deployment.startChain];
    await stop();
    await sleep(fault.awayMs);
    restartedAt = Date.now();
    await start();
    standing = Promise.resolve(since());
    // A local chain plays its journal again, the longer the run: work can only go on when it answers.
    if (fault.kind === 'chain') restartedAt = Date.now();
  }
  const [answered, settled] = await Promise.all([
    until('a request to be answered', () => firstAnswer(journal, restartedAt), STANDSTILL_MS),
    firstSettled(deployment, fault.kind, restartedAt, say),
  ]);
  return {
    kind: isWholeRole(fault, deployment) ? 'role' : fault.kind,
    answered,
    settled,
    standing: await standing,
  };
}

function isWholeRole(fault: Fault, { slots }: Deployment): boolean {
  if (fault.kind !== 'kill') return false;
  const spared = slots.filter((_, place) => !fault.slots.includes(place)).map(({ role }) => role);
  return slots.some(({ role }) => !spared.includes(role));
}

/** Sent after the restart, not only answered then. */
function firstAnswer({ answers }: Journal, restartedAt: number): number | undefined {
  const found = answers.filter(([sentAt]) => sentAt >= restartedAt).map(([, answeredAt]) => answeredAt);
  return found.length === 0 ? undefined : Math.min(...found) - restartedAt;
}

const SETTLED_SINCE = {
  effects: `SELECT FROM intents WHERE settled_at > $1 UNION ALL SELECT FROM webhook_deliveries WHERE settled_at > $1 LIMIT 1`,
  transactions: 'SELECT FROM chain_transactions WHERE settled_at > $1 LIMIT 1',
};

/** What is open, and for how long it must not be looked at or is in somebody's hands: to be read where a standstill is looked into. */
async function openWork(owner: pg.Client): Promise<string> {
  const { rows } = await owner.query<{ work: string }>(
    `SELECT format('%s %s of attempt %s, due in %s s, leased for %s s', kind, status, attempts,
                   round(extract(epoch FROM run_at - clock_timestamp()), 1),
                   round(extract(epoch FROM leased_until - clock_timestamp()), 1)) AS work
       FROM intents WHERE status IN ('prepared', 'submitted', 'unknown')
     UNION ALL
     SELECT format('webhook of attempt %s, due in %s s, leased for %s s', attempts,
                   round(extract(epoch FROM run_at - clock_timestamp()), 1),
                   round(extract(epoch FROM leased_until - clock_timestamp()), 1))
       FROM webhook_deliveries WHERE status = 'pending'`,
  );
  return rows.map(({ work }) => work).join('; ') || 'nothing is open';
}

/** When it is seen in the database: a time that a process has written may be earlier than its commit. */
async function firstSettled(
  deployment: Deployment,
  kind: Fault['kind'],
  restartedAt: number,
  say: (text: string) => void,
): Promise<number> {
  const owner = await look(deployment);
  const question = kind === 'chain' ? SETTLED_SINCE.transactions : SETTLED_SINCE.effects;
  let isTold = false;
  try {
    return await until(
      'work to be settled',
      async () => {
        const { rows } = await owner.query(question, [new Date(restartedAt)]);
        const elapsed = Date.now() - restartedAt;
        if (rows.length === 0 && elapsed > LONG_MS && !isTold) {
          isTold = true;
          say(`nothing settled for ${elapsed} ms: ${await openWork(owner)}`);
        }
        return rows.length > 0 && elapsed;
      },
      STANDSTILL_MS,
    );
  } finally {
    await owner.end();
  }
}

/** No intent, no transaction and no delivery is still to be carried out. */
async function settled(owner: pg.Client): Promise<void> {
  await until(
    'all work to be settled',
    async () => {
      const { rows } = await owner.query<{ open: number }>(
        `SELECT ((SELECT count(*) FROM intents WHERE status IN ('prepared', 'submitted', 'unknown'))
               + (SELECT count(*) FROM chain_transactions WHERE status = 'open' AND ${OF_THE_SERVICE})
               + (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'))::int AS open`,
      );
      return rows[0]?.open === 0;
    },
    SETTLE_MS,
  );
}

async function endingsOf(owner: pg.Client, orderIds: readonly string[]): Promise<Record<string, number>> {
  const { rows } = await owner.query<{ ending: string; total: number }>(
    `SELECT direction || ' ' || status AS ending, count(*)::int AS total FROM orders
      WHERE order_id = ANY ($1) GROUP BY 1 ORDER BY 1`,
    [orderIds],
  );
  return Object.fromEntries(rows.map(({ ending, total }) => [ending, total]));
}

/** The owner's own connection, which does not survive a stop of the database. */
async function look({ databaseUrl }: Deployment): Promise<pg.Client> {
  return until('the database to accept the owner', async () => {
    const client = new pg.Client({ connectionString: databaseUrl });
    client.on('error', () => {});
    return client.connect().then(
      () => client,
      () => undefined,
    );
  });
}

function describe(fault: Fault, { slots }: Deployment): string {
  if (fault.kind !== 'kill') return `${fault.kind} stopped`;
  return `${fault.slots.map((slot) => slots[slot]?.name).join(' and ')} killed`;
}
