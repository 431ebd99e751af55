import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure, type Measurement } from '../../bench/frame/measurement.ts';
import type { Toxic } from '../deployment/toxic-proxy.ts';
import { LINKS, type LinkName, openToxicsFixture, type ToxicsFixture } from '../deployment/toxics-fixture.ts';
import {
  ANSWERED_WITHIN_MS,
  type Cell,
  playCell,
  RECOVERED_WITHIN_MS,
  TOXICS,
} from '../deployment/toxics-run.ts';
import { createRandom } from '../fuzz/random.ts';

/** `npm run toxics [-- seed]` plays every toxic on every link, for longer; the seed decides their order. */
const { TOXICS_SEED } = process.env;
const IS_LONG = TOXICS_SEED !== undefined;
const POISONED_MS = IS_LONG ? 6_000 : 700;
const CELL_MS = 120_000;
const SHORT: readonly (readonly [LinkName, Toxic['kind']])[] = [
  ['database', 'reset_peer'],
  ['chain', 'limit_data'],
  ['backends', 'down'],
];

function cells(): (readonly [LinkName, Toxic])[] {
  const all = LINKS.flatMap((link) => TOXICS.map((toxic) => [link, toxic] as const));
  if (!IS_LONG) return all.filter(([link, { kind }]) => SHORT.some(([l, k]) => l === link && k === kind));
  const random = createRandom(Number(TOXICS_SEED));
  return all
    .map((cell) => ({ cell, rank: random.below(2 ** 30) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ cell }) => cell);
}

describe('a link that is slow, cut, mute or broken', () => {
  const played: Cell[] = [];
  let fixture: ToxicsFixture;

  beforeAll(async () => {
    fixture = await openToxicsFixture();
  });
  afterAll(async () => {
    await fixture?.stop();
    if (IS_LONG) {
      const command = `npm run toxics -- ${TOXICS_SEED}`;
      reportEvidence(
        { run: 'toxics', command, seed: TOXICS_SEED, figures: figuresOf(played) },
        { record: true },
      );
    }
  });

  it.each(cells())(
    '%s: callers are told so in time, and afterwards everything moves again (%o)',
    {
      timeout: CELL_MS,
    },
    async (link, toxic) => {
      const cell = await playCell(fixture, link, toxic, POISONED_MS);
      played.push(cell);
      if (IS_LONG) process.stdout.write(`${JSON.stringify(cell)}\n`);
      expect(cell.broken).toEqual([]);
      expect(cell.recovered).toBeLessThanOrEqual(RECOVERED_WITHIN_MS);
    },
  );
});

function figuresOf(all: readonly Cell[]): Measurement[] {
  const sum = (of: (cell: Cell) => number) => all.reduce((total, cell) => total + of(cell), 0);
  const count = (name: string, value: number) => figure({ name, value, unit: 'count', better: 'higher' });
  return [
    figure({
      name: 'toxics on links that were played to the end',
      value: all.length,
      unit: 'count',
      better: 'higher',
      target: TOXICS.length * LINKS.length,
    }),
    count(
      'requests meanwhile',
      sum(({ answers }) => answers),
    ),
    count(
      'refusals meanwhile',
      sum(({ refusals }) => refusals),
    ),
    figure({
      name: 'answers that no caller may get (500, no code, too late, none)',
      value: sum(({ broken }) => broken.length),
      unit: 'count',
      better: 'lower',
      target: 0,
      details: Object.fromEntries(
        all.map(({ link, toxic, broken }) => [`${link} ${toxic}`, broken.join('; ')]),
      ),
    }),
    ...LINKS.flatMap((link) => {
      const some = all.filter((cell) => cell.link === link);
      const longest = (name: string, of: (cell: Cell) => number, target: number) =>
        figure({
          name: `${link}: ${name}`,
          value: Math.max(0, ...some.map(of)),
          unit: 'ms',
          better: 'lower',
          target,
          details: Object.fromEntries(some.map((cell) => [cell.toxic, of(cell)])),
        });
      return [
        longest('longest answer', ({ longestAnswer }) => longestAnswer, ANSWERED_WITHIN_MS),
        longest('longest recovery', ({ recovered }) => recovered, RECOVERED_WITHIN_MS),
      ];
    }),
  ];
}
