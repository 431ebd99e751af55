import type { Measurement } from './measurement.ts';
import { alignColumns, formatFigure } from './report.ts';
import { median, medianError } from './statistics.ts';

/**
 * A run beside the committed report. Only figures that mean the same on every machine are judged: ratios against a
 * baseline of the same run, and gas. Times, rates and memory are shown with their change.
 */
type ChangeVerdict = 'REGRESSED' | 'better' | 'within noise' | 'not judged' | 'not recorded' | 'not measured';

export interface Change {
  readonly name: string;
  readonly unit: string;
  readonly recorded: number | null;
  readonly measured: number | null;
  /** Share of the recorded figure, signed. */
  readonly change: number | null;
  /** Changes up to this share are noise; null where the figure is not judged. */
  readonly noise: number | null;
  readonly verdict: ChangeVerdict;
}

/** Rounds of one run do not show what differs from run to run (memory layout, order of compilation). */
const LEAST_NOISE = { ratio: 0.05, gas: 0.01 } as const;
/** Standard errors: with fewer, a table of some forty figures would often name one that is none. */
const ERRORS_APART = 3;
/** Fewer rounds have no spread worth the name. */
const LEAST_ROUNDS = 3;

export function compareWithRecorded(
  recorded: readonly Measurement[],
  measured: readonly Measurement[],
): Change[] {
  const before = new Map(recorded.map((measurement) => [measurement.name, measurement]));
  const names = new Set(measured.map(({ name }) => name));
  return [
    ...measured.map((now) => changeOf(before.get(now.name), now)),
    ...recorded
      .filter(({ name }) => !names.has(name))
      .map(({ name, unit, value }) => ({ ...NONE, name, unit, recorded: value, ...NOT_MEASURED })),
  ];
}

const NONE = { recorded: null, measured: null, change: null, noise: null };
const NOT_MEASURED = { verdict: 'not measured' as const };

function changeOf(before: Measurement | undefined, now: Measurement): Change {
  const { name, unit, value } = now;
  if (before === undefined || before.unit !== unit) {
    return { ...NONE, name, unit, measured: value, verdict: 'not recorded' };
  }
  const change = (value - before.value) / before.value;
  const shown = { name, unit, recorded: before.value, measured: value, change };
  const noise = noiseOf(before, now);
  if (noise === null) return { ...shown, noise, verdict: 'not judged' };
  const gain = now.better === 'higher' ? change : -change;
  // Written so that NaN, the result of a measurement gone wrong, is a regression.
  if (!(gain >= -noise)) return { ...shown, noise, verdict: 'REGRESSED' };
  return { ...shown, noise, verdict: gain > noise ? 'better' : 'within noise' };
}

function noiseOf(before: Measurement, now: Measurement): number | null {
  if (now.unit === 'gas') return LEAST_NOISE.gas;
  if (now.unit !== 'ratio') return null;
  const errors = [before, now].map(({ details }) => relativeError(details.ratios));
  if (errors.includes(null)) return null;
  return Math.max(LEAST_NOISE.ratio, ERRORS_APART * Math.hypot(...(errors as number[])));
}

function relativeError(rounds: Measurement['details'][string] | undefined): number | null {
  if (!Array.isArray(rounds) || rounds.length < LEAST_ROUNDS) return null;
  return medianError(rounds) / median(rounds);
}

export function renderChanges(changes: readonly Change[]): string {
  const percent = (share: number | null, sign: string) =>
    share === null ? '' : `${sign}${(share * 100).toFixed(1)} %`;
  return alignColumns([
    ['measurement', 'recorded', 'now', 'change', 'noise', 'verdict'],
    ...changes.map(({ name, unit, recorded, measured, change, noise, verdict }) => [
      name,
      recorded === null ? '' : formatFigure(recorded, unit),
      measured === null ? '' : formatFigure(measured, unit),
      percent(change, change !== null && change > 0 ? '+' : ''),
      percent(noise, '± '),
      verdict,
    ]),
  ]);
}
