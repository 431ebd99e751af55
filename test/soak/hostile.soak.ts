import { readFileSync } from 'node:fs';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure, type Measurement } from '../../bench/frame/measurement.ts';
import { median, percentile } from '../../bench/frame/statistics.ts';
import { ATTACKS, type Attack, brokenPromises, latenciesOf, runHostilePartner } from './hostile-partner.ts';

/**
 * `npm run soak:hostile [-- rounds [seconds [attacks …]]]`: ten rounds of each kind, of 20 s, with every attack unless told
 * otherwise. Exits with 1 where the measured partner's p99 is more than 1.5 times that of the quiet rounds, or a promise
 * was broken. The p99 is that of all rounds of a kind together: one round has 400 requests, and its fourth slowest is chance.
 */
const LARGEST_RATIO = 1.5;
if (weighsSessions()) {
  console.log(
    'Linux weighs sessions against each other here, so nodes and attackers take time from the database, as if they were on its machine. Turn it off for this run: sysctl kernel.sched_autogroup_enabled=0',
  );
}
const [rounds = '10', seconds = '20', ...attacks] = process.argv.slice(2);
const { rounds: played, stolen } = await runHostilePartner({
  rounds: Number(rounds),
  secondsARound: Number(seconds),
  warmUpSeconds: 5,
  requestsASecond: 20,
  repeats: 3,
  isAlone: true,
  attack: {
    attacks: attacks.length === 0 ? ATTACKS : (attacks as Attack[]),
    // The nodes take a fifth of a core for it: what is measured is what the logs cost those who read them.
    flood: { fakeEvents: 3_000, dust: 1_000, everyMs: 5_000 },
  },
  say: (text) => console.log(text),
});
const ofKind = (isHostile: boolean) => played.filter(({ hostile }) => (hostile !== null) === isHostile);
const p99 = (isHostile: boolean) => percentile(ofKind(isHostile).flatMap(latenciesOf), 0.99);
/** Median and p99 of each kind of request, over all rounds. */
const byKind = (isHostile: boolean) => {
  const rounds = ofKind(isHostile).map(({ measured }) => measured.latencies);
  const kinds = [...new Set(rounds.flatMap((latencies) => Object.keys(latencies)))];
  return Object.fromEntries(
    kinds.map((kind) => {
      const all = rounds.flatMap((latencies) => latencies[kind] ?? []);
      return [kind, [0.5, 0.99].map((part) => Number(percentile(all, part).toFixed(1)))];
    }),
  );
};
const credited = (isHostile: boolean) => median(ofKind(isHostile).flatMap(({ deposits }) => deposits));
const broken = played.flatMap(brokenPromises);
const result = {
  quietP99Ms: p99(false),
  hostileP99Ms: p99(true),
  ratio: p99(true) / p99(false),
  quietDepositMs: credited(false),
  hostileDepositMs: credited(true),
  quietByKind: byKind(false),
  hostileByKind: byKind(true),
  broken,
};
console.log(JSON.stringify(result, null, 2));
const measured = (name: string, value: number, unit: string, target?: number): Measurement =>
  figure({ name, value, unit, better: 'lower', target });
const met = reportEvidence(
  {
    ...{ run: 'hostile', command: 'npm run soak:hostile' },
    figures: [
      measured('p99 of the other partner, against quiet rounds', result.ratio, 'times', LARGEST_RATIO),
      measured('p99 in quiet rounds', result.quietP99Ms, 'ms'),
      measured('p99 in hostile rounds', result.hostileP99Ms, 'ms'),
      measured('answers that neither should have got', broken.length, 'kinds', 0),
      measured(
        'a deposit is credited after, against quiet',
        result.hostileDepositMs / result.quietDepositMs,
        'times',
      ),
      measured(
        'taken by the host in these rounds',
        median(stolen.map((share) => share * 100)),
        '% of the processors',
      ),
    ],
  },
  { record: process.argv.length === 2 },
);
process.exit(met ? 0 : 1);

function weighsSessions(): boolean {
  try {
    return readFileSync('/proc/sys/kernel/sched_autogroup_enabled', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
