import { type Evidence, readEvidence } from '../../bench/frame/evidence.ts';
import type { Measurement } from '../../bench/frame/measurement.ts';
import { RELIABILITY_RUNS, type ReliabilityRun } from '../../bench/frame/reliability-runs.ts';
import { formatFigure, formatTarget, machineText } from '../../bench/frame/report.ts';

/** docs/reference/reliability.md: what each run has shown, how to repeat it, and what it found. */
export function renderReliability(): string {
  return renderReliabilityPage(RELIABILITY_RUNS.map((run) => ({ ...run, evidence: readEvidence(run.run) })));
}

type RunWithEvidence = ReliabilityRun & { readonly evidence: Evidence | undefined };

export function renderReliabilityPage(runs: readonly RunWithEvidence[]): string {
  return [
    '# Reliability',
    '',
    '<!-- Made by npm run docs from bench/reports/reliability and bench/frame/reliability-runs.ts. Do not edit. -->',
    '',
    'What is done to a deployment, or to a part of it, and what came of it. Every run is a command; a short one is in `npm test`. The seed repeats a run.',
    'Targets are those of the project; a figure without a target is only reported.',
    'How long lists of a million orders take, and what each statement of an order costs, is in [bench](bench.md).',
    '',
    '| Run | Figure | Result | Target | Met | Command | Seed |',
    '|---|---|---:|---:|---|---|---|',
    ...runs.flatMap(rowsOf),
    ...runs.flatMap(sectionOf),
    '',
  ].join('\n');
}

function rowsOf({ title, evidence }: RunWithEvidence): string[] {
  if (evidence === undefined) return [`| ${cell(title)} | not recorded yet | – | – | – | – | – |`];
  return evidence.figures.map((figure, index) => {
    const once = index === 0 ? [`\`${evidence.command}\``, evidence.seed ?? '–'] : ['', ''];
    return `| ${[index === 0 ? cell(title) : '', ...cellsOf(figure), ...once].join(' | ')} |`;
  });
}

function cellsOf(figure: Measurement): string[] {
  const { name, value, unit, passed } = figure;
  return [
    cell(name),
    formatFigure(value, unit),
    formatTarget(figure) || '–',
    passed === null ? '–' : passed ? 'yes' : '**no**',
  ];
}

function sectionOf({ title, shows, shortRun, findings, evidence }: RunWithEvidence): string[] {
  return [
    '',
    `## ${title}`,
    '',
    shows,
    '',
    ...(evidence === undefined
      ? ['Not recorded yet.']
      : [
          `Recorded on ${evidence.measuredAt.slice(0, 10)}: ${machineText(evidence.machine)}.`,
          '',
          `Again: \`${evidence.command}\`${evidence.seed === null ? '' : ` (seed ${evidence.seed})`}.`,
        ]),
    '',
    `In \`npm test\`: ${shortRun}`,
    '',
    ...(findings.length === 0
      ? ['Found so far: nothing.']
      : [
          '| Found | Mended |',
          '|---|---|',
          ...findings.map(({ found, mended }) => `| ${cell(found)} | ${cell(mended)} |`),
        ]),
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
