import type { Measurement } from '../../bench/frame/measurement.ts';
import { figure } from '../../bench/frame/measurement.ts';
import { SCORE_TARGET } from './areas.ts';
import type { AreaResult, Survivor } from './run-area.ts';
import { VERDICTS, type Verdict } from './verdicts.ts';

/** The file in which every survivor has its verdict, area by area. */
export const SURVIVORS = new URL('../../bench/reports/reliability/mutation-survivors.md', import.meta.url);

const HEAD = [
  '# Mutants that survived',
  '',
  'Made by `npm run mutation`. A mutant is a small change of the code; one that no test notices survives. *Equivalent*: the program does the same with it. *Accepted*: it does not, and the reason says why no',
  'test is wanted. Verdicts are kept in `scripts/mutation/verdicts.ts`.',
].join('\n');

export function verdictOn(survivor: Survivor, verdicts: readonly Verdict[] = VERDICTS): Verdict | undefined {
  return verdicts.find(
    ({ file, original, replacement, on = '' }) =>
      survivor.file.endsWith(file) &&
      survivor.original === original &&
      survivor.replacement === replacement &&
      survivor.context.includes(on),
  );
}

/** The share of mutants that tests noticed; equivalent ones count against it, although none can be noticed. */
export function areaFigure(
  area: string,
  { killed, timedOut, survivors }: AreaResult,
  verdicts: readonly Verdict[] = VERDICTS,
): Measurement {
  const noticed = killed + timedOut;
  const found = survivors.map((survivor) => verdictOn(survivor, verdicts)?.verdict);
  const count = (verdict: Verdict['verdict'] | undefined) => found.filter((one) => one === verdict).length;
  return figure({
    name: `${area}: mutants noticed`,
    value: Math.round((1_000 * noticed) / (noticed + survivors.length)) / 10,
    unit: '%',
    better: 'higher',
    target: SCORE_TARGET,
    details: {
      area,
      mutants: noticed + survivors.length,
      killed,
      timedOut,
      survived: survivors.length,
      equivalent: count('equivalent'),
      accepted: count('accepted'),
      undecided: count(undefined),
    },
  });
}

export function survivorSection(
  area: string,
  survivors: readonly Survivor[],
  verdicts: readonly Verdict[] = VERDICTS,
): string {
  const rows = survivors.map((survivor) => {
    const { file, line, original, replacement, covered } = survivor;
    const verdict = verdictOn(survivor, verdicts);
    const said = verdict === undefined ? '**undecided** | ' : `${verdict.verdict} | ${cell(verdict.why)}`;
    const place = `${file}:${line}${covered ? '' : ' (no test runs it)'}`;
    return `| ${place} | ${code(original)} | ${code(replacement)} | ${said} |`;
  });
  if (rows.length === 0) return `## ${area}\n\nNone.`;
  return [
    `## ${area}`,
    '',
    '| Where | Was | Became | Verdict | Why |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** The page with the area's section in place of an earlier one. */
export function withSection(page: string, area: string, section: string): string {
  const [, ...others] = page.split(/^(?=## )/m);
  const kept = others.filter((one) => !one.startsWith(`## ${area}\n`));
  const sections = [...kept.map((one) => one.trim()), section].sort();
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

const LONGEST_CODE = 90;

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const short = line.length > LONGEST_CODE ? `${line.slice(0, LONGEST_CODE)} …` : line;
  return short === '' ? 'nothing' : `\`${cell(short).replaceAll('`', '´')}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
