import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { agrees, reconciles } from './agreement.ts';
import { type Fixture, openFixture } from './fixture.ts';
import { History } from './history.ts';
import { planOf, TROUBLES } from './plan.ts';

/** `npm run histories` is the long run. */
const COUNT = Number(process.env.HISTORIES ?? 6);
/** Seen to agree; `npm run histories` draws others. */
const SEED = Number(process.env.HISTORIES_SEED ?? 257_255_893);
/** So many share a gateway and chains: a reorganisation plays the whole chain again, so chains stay short. */
const HISTORIES_A_FIXTURE = 100;
/** Under way at once. */
const LANES = 8;
const LONG_MS = 120_000 + COUNT * 20_000;

/** So many histories that never come this far would prove little. */
const ENOUGH = 200;
const FAR_ENOUGH = [
  ...TROUBLES,
  ...['completed', 'cancelled', 'failed'].flatMap((status) => [`onramp ${status}`, `offramp ${status}`]),
  ...['short', 'foreign_sender'].map((kind) => `${kind} deposit accepted`),
  ...['short', 'excess', 'foreign_sender', 'double', 'wrong_token'].map((kind) => `${kind} deposit returned`),
  ...['passed through dispute_started', 'a third party was first'],
];
const met = statement<[], { what: string; times: string }>(
  'test.met_in_histories',
  `SELECT direction || ' ' || status AS what, count(*)::text AS times FROM orders GROUP BY 1
   UNION ALL SELECT kind || ' deposit ' || disposition, count(*)::text FROM deposit_observations GROUP BY 1
   UNION ALL SELECT 'passed through ' || (entry->>'status'), count(*)::text
     FROM orders, jsonb_array_elements(timeline) AS entry GROUP BY 1`,
);

interface Failure {
  readonly seed: number;
  readonly error: string;
  readonly told: readonly string[];
}

/** Each lane leads one history after the other; what one meets does not stop the others. */
async function lead(
  fixture: Fixture,
  seeds: readonly number[],
): Promise<{ readonly failures: readonly Failure[]; readonly lived: readonly History[] }> {
  const failures: Failure[] = [];
  const lived: History[] = [];
  const waiting = [...seeds];
  const trying = async (history: History, work: () => Promise<void>): Promise<boolean> =>
    work().then(
      () => true,
      (error: Error) => {
        failures.push({
          seed: history.plan.seed,
          error: error.message,
          told: [JSON.stringify(history.plan), ...history.told],
        });
        return false;
      },
    );
  await Promise.all(
    fixture.lanes.map(async (lane) => {
      for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
        const history = new History(fixture, lane, planOf(seed));
        if (await trying(history, () => history.live())) lived.push(history);
      }
    }),
  );
  await Promise.all(
    fixture.lanes.map(async (lane) => {
      for (const history of lived.filter((one) => one.lane === lane)) {
        // Another history's blocked vendor or reorganisation may have come after its own end.
        await trying(history, async () => {
          await history.settle();
          await agrees(fixture, history);
        });
      }
    }),
  );
  return { failures, lived };
}

/** What the histories have led through, to be told and to be sure that they prove something. */
async function metIn(
  { gateway, thirdParty }: Fixture,
  lived: readonly History[],
): Promise<[string, number][]> {
  const rows = await gateway.deps.db.query(SYSTEM, met, []);
  return [
    ...lived.flatMap(({ troublesMet }) => troublesMet.map((what): [string, number] => [what, 1])),
    ...rows.map(({ what, times }): [string, number] => [what, Number(times)]),
    ['a third party was first', thirdParty.wasFirst()],
  ];
}

describe('books, chain and /funds', () => {
  it(`say the same after ${COUNT} random histories of orders (seed ${SEED})`, {
    timeout: LONG_MS,
  }, async () => {
    const seeds = Array.from({ length: COUNT }, (_, index) => SEED + index);
    const times = new Map<string, number>();
    const failed: number[] = [];
    for (let start = 0; start < COUNT; start += HISTORIES_A_FIXTURE) {
      const some = seeds.slice(start, start + HISTORIES_A_FIXTURE);
      const fixture = await openFixture(Math.min(LANES, some.length));
      try {
        const { failures, lived } = await lead(fixture, some);
        for (const { seed, error, told } of failures) {
          failed.push(seed);
          process.stdout.write(`\nhistory ${seed} failed\n${told.join('\n')}\n${error}\n`);
          process.stdout.write(`npm run histories -- 1 ${seed}\n\n`);
        }
        if (failures.length === 0) await reconciles(fixture);
        for (const [what, count] of await metIn(fixture, lived)) {
          if (count > 0) times.set(what, (times.get(what) ?? 0) + count);
        }
      } finally {
        await fixture.stop();
      }
      if (COUNT > HISTORIES_A_FIXTURE)
        process.stdout.write(`${start + some.length} of ${COUNT} histories led\n`);
    }
    const summary = [...times].sort().map(([what, count]) => `${String(count).padStart(6)}  ${what}`);
    if (COUNT >= ENOUGH) process.stdout.write(`${summary.join('\n')}\n`);
    expect(failed, 'seeds of histories that failed').toEqual([]);
    if (COUNT >= ENOUGH) expect([...times.keys()]).toEqual(expect.arrayContaining(FAR_ENOUGH));
  });
});
