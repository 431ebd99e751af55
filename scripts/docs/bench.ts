import type { Measurement } from '../../bench/frame/measurement.ts';
import {
  type BenchSection,
  formatFigure,
  formatNumber,
  formatTarget,
  machineText,
  readReport,
  type SavedReport,
} from '../../bench/frame/report.ts';
import { benchNames } from '../../bench/frame/run-benches.ts';

const BENCHES = new URL('../../bench/', import.meta.url);

/** docs/reference/bench.md: the recorded run of every bench there is. */
export function renderBench(): string {
  return renderBenchPage(benchNames(BENCHES), readReport(new URL('reports/', BENCHES)));
}

export function renderBenchPage(names: readonly string[], report: SavedReport | undefined): string {
  return [
    '# Measurements',
    '',
    '<!-- Made by npm run docs from bench/reports. Do not edit. -->',
    '',
    report === undefined ? 'Not recorded yet.' : `Recorded on ${machineText(report.machine)}.`,
    '',
    '`npm run bench` measures and records, `npm run bench -- http quotes` only the benches of these names. `npm run bench -- --compare`',
    'records nothing: it shows a run beside this one, and fails where a ratio (or gas) got worse by more than noise, which it takes',
    'from the spread of the rounds of both runs. Times and rates depend on the machine; ratios are of two sides measured in turns in one run.',
    '',
    'What a hostile partner costs another, with the method: [bench/reports/hostile-partner.md](../../bench/reports/hostile-partner.md).',
    ...names.flatMap((name) => sectionOf(name, report?.benches[name])),
    '',
  ].join('\n');
}

function sectionOf(name: string, section: BenchSection | undefined): string[] {
  const heading = ['', `## ${name}`, ''];
  if (section === undefined) return [...heading, 'Not recorded yet.'];
  const { measuredAt, finished, measurements } = section;
  return [
    ...heading,
    `${measuredAt.slice(0, 10)}${finished ? '' : '; **ended by an error, figures are missing**'}`,
    '',
    '| Measurement | Ours | Baseline | Ratio | Target | Met |',
    '|---|---:|---:|---:|---:|---|',
    ...measurements.map((measurement) => `| ${cellsOf(measurement).join(' | ')} |`),
  ];
}

function cellsOf(measurement: Measurement): string[] {
  const { name, value, unit, passed, details } = measurement;
  const isRatio = unit === 'ratio';
  const side = (figure: unknown) =>
    typeof figure === 'number' ? formatFigure(figure, String(details.sidesUnit ?? '')).trim() : '–';
  return [
    name.replaceAll('|', '\\|'),
    isRatio ? side(details.candidateMedian) : formatFigure(value, unit),
    isRatio ? side(details.baselineMedian) : '–',
    isRatio ? formatNumber(value) : '–',
    formatTarget(measurement) || '–',
    passed === null ? '–' : passed ? 'yes' : '**no**',
  ];
}
