import { describe, expect, test } from 'vitest';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure } from '../../bench/frame/measurement.ts';
import { sendEveryOperation } from '../examples/every-operation.ts';
import { exampleRun } from '../examples/example-run.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';
import { expectOneOutcome } from './checks.ts';
import { walkConsole } from './console-walk.ts';
import { isElsewhere, isOutOfReach } from './elsewhere.ts';
import { forgetHits, hitBefore, rememberHits } from './hits.ts';
import { changedSince, failpointsOf, readList } from './list.ts';
import { walkOrders } from './orders-walk.ts';
import { readProgram } from './program.ts';
import { startRound } from './round.ts';
import { listSites } from './sites.ts';
import { letTimePass, walkSurroundings } from './surroundings-walk.ts';

/** What `npm run failpoints` asks for: a part of the names, or nothing for all. Undefined in a test run. */
const PATTERN = process.env.FAILPOINTS;
/** Goes on where it was broken off; whoever names a failpoint wants it hit now. */
const IS_WHOLE = PATTERN === '';
const SEED = Number(process.env.FAILPOINTS_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** `fail`, `die`, or both. */
const MODES = (process.env.FAILPOINTS_MODES ?? 'fail,die').split(',');
/** Deaths in one walk at most; the next one has the rest. Errors cost no restart. */
const MOST_DEATHS = 100;

/** What every on-ramp order passes on its way, whose hits are worth a restart in every test run. */
const ON_EVERY_WAY = [
  'route createOnrampQuote',
  'route initiateOnramp',
  'effect escrow.deploy-and-watch',
  'effect escrow.release',
  'chain/transactions/transaction.store.ts allocateTransaction: transaction',
  'chain/transactions/transaction.store.ts storeVersion: insertVersion',
  'chain/transactions/transaction-rpc.ts broadcast: client.sendRawTransaction',
  'chain/watcher/watcher.ts step: unit of work',
  'engine/intent-worker.ts claimWhileWanted: claimIntents',
].flatMap((name) => [`before ${name}`, `after ${name}`]);

const program = readProgram();
const sites = listSites(program);

describe('failpoints', () => {
  test('are listed as the code has them: `npm run failpoints -- list`', () => {
    expect(readList()).toEqual(sites);
    expect(new Set(sites.map(({ name }) => name)).size).toBe(sites.length);
  });

  // Proves trap 15.
  test.runIf(PATTERN === undefined)(
    `an order has one outcome though the process dies at two of them (FAILPOINTS_SEED=${SEED})`,
    async () => {
      const armed = [0, 7].map((step) => ON_EVERY_WAY[(SEED + step) % ON_EVERY_WAY.length]!);
      const round = await startRound(program, { mode: 'die', armed, most: armed.length });
      try {
        const driver = ordersDriver(round.gateway);
        const orderId = await driver.onrampOrder();
        await driver.reaches(orderId, 'awaiting_fiat_transfer');
        await driver.act(orderId, 'confirm-payment-sent');
        await driver.reaches(orderId, 'completed');
        expect(await driver.escrowBalance(orderId)).toBe(0n);
        expect([...round.supervisor.hit()].sort()).toEqual(armed.toSorted());
        await expectOneOutcome(round);
      } finally {
        await round.stop();
      }
    },
  );

  test.runIf(PATTERN !== undefined)(
    'each is hit, by an error and by a death, and what was begun has one outcome',
    { timeout: 4 * 3_600_000 },
    async () => {
      const wanted = failpointsOf(sites).filter((name) => name.includes(PATTERN ?? '') && !isElsewhere(name));
      const { added, removed } = changedSince('HEAD', sites);
      process.stdout.write(
        `${wanted.length} failpoints; since the last commit ${added.length} sites added, ${removed.length} removed\n`,
      );
      const hits: { readonly by: string; readonly hit: ReadonlySet<string> }[] = [];
      // Deaths first: they take longest to meet all, so that what is wrong shows early.
      if (MODES.includes('die')) hits.push({ by: 'a death', hit: await hitAll('die', wanted) });
      if (MODES.includes('fail')) hits.push({ by: 'an error', hit: await hitAll('fail', wanted) });
      const missed = wanted.filter((name) => hits.some(({ hit }) => !hit.has(name)));
      for (const name of missed) process.stdout.write(`NOT HIT ${name}\n`);
      const isMet = reportEvidence(
        {
          run: 'failpoints',
          command: 'npm run failpoints',
          figures: [
            figure({ name: 'sites', value: sites.length, unit: 'commits and calls', better: 'higher' }),
            ...hits.map(({ by, hit }) =>
              figure({
                name: `failpoints hit by ${by}`,
                value: hit.size,
                unit: 'failpoints',
                better: 'higher',
              }),
            ),
            figure({ name: 'not hit', value: missed.length, unit: 'failpoints', better: 'lower', target: 0 }),
            figure({
              name: 'tested elsewhere, with a reason',
              value: failpointsOf(sites).filter(isElsewhere).length,
              unit: 'failpoints',
              better: 'lower',
            }),
          ],
        },
        { record: IS_WHOLE && MODES.length === 2 },
      );
      if (IS_WHOLE && isMet) forgetHits();
      expect(isMet, 'every failpoint is hit').toBe(true);
    },
  );
});

/** Walks until a walk meets none that was not hit before. What a run was broken off at is not hit again. */
async function hitAll(mode: 'fail' | 'die', wanted: readonly string[]): Promise<ReadonlySet<string>> {
  const hit = new Set<string>(IS_WHOLE ? hitBefore(program, mode) : []);
  if (hit.size > 0) process.stdout.write(`${mode}: ${hit.size} were hit before\n`);
  if (hit.size === wanted.length) return hit;
  let failing: readonly string[] = [];
  for (;;) {
    const armed = wanted.filter((name) => !hit.has(name));
    const round = await startRound(program, {
      mode,
      armed,
      most: mode === 'die' ? MOST_DEATHS : armed.length,
      failing,
    });
    try {
      await sendEveryOperation(round.gateway, await exampleRun(round.gateway));
      await walkConsole(round.gateway);
      await walkSurroundings(round);
      await walkOrders(round);
      await expectOneOutcome(round);
      await letTimePass(round);
      await expectOneOutcome(round);
      const news = round.supervisor.hit();
      process.stdout.write(`${mode}: ${news.length} hit, ${round.supervisor.deaths} processes ended\n`);
      expect(
        round.supervisor.reached().filter(isOutOfReach),
        'is met after all: take it off the list',
      ).toEqual([]);
      for (const name of news) hit.add(name);
      if (IS_WHOLE) rememberHits(program, mode, hit);
      if (hit.size === wanted.length) return hit;
      if (news.length > 0) continue;
      if (mode === 'fail' || failing.length > 0) return hit;
      // What gives back or tidies up after an error is met by no walk in which nothing but a death goes wrong.
      failing = [...hit];
    } catch (error) {
      process.stdout.write(`${mode}: failed after hits at\n  ${round.supervisor.hit().join('\n  ')}\n`);
      process.stdout.write(`${round.supervisor.lastWords()}\n`);
      throw error;
    } finally {
      await round.stop();
    }
  }
}
