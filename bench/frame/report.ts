import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Measurement } from './measurement.ts';

/** What a bench file's `run` is given. */
export interface BenchReport {
  add(measurement: Measurement): void;
}

/** One bench file's latest run. Holds nothing that tells whose machine it was: the report is meant to be shared. */
export interface BenchSection {
  readonly measuredAt: string;
  readonly node: string;
  readonly cores: number;
  /** False where the bench threw: the measurements are those it made before. */
  readonly finished: boolean;
  readonly measurements: readonly Measurement[];
}

export type SavedReport = Readonly<Record<string, BenchSection>>;

export function makeSection(at: Date, finished: boolean, measurements: readonly Measurement[]): BenchSection {
  return {
    measuredAt: at.toISOString(),
    node: process.version,
    cores: availableParallelism(),
    finished,
    measurements,
  };
}

/** Puts one bench's section into latest.json and latest.md; a run of some benches keeps the figures of the others. */
export function saveSection(directory: URL, bench: string, section: BenchSection): void {
  mkdirSync(directory, { recursive: true });
  const all = { ...readSaved(directory), [bench]: section };
  const sorted = Object.fromEntries(Object.entries(all).sort(([left], [right]) => (left < right ? -1 : 1)));
  writeFileSync(new URL('latest.json', directory), `${JSON.stringify(sorted, null, 2)}\n`);
  writeFileSync(new URL('latest.md', directory), renderMarkdown(sorted));
}

function readSaved(directory: URL): SavedReport {
  let text: string;
  try {
    text = readFileSync(new URL('latest.json', directory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  return JSON.parse(text) as SavedReport;
}

export function renderMarkdown(report: SavedReport): string {
  const sections = Object.entries(report).map(([bench, section]) => {
    const { measuredAt, node, cores, finished } = section;
    const rows = section.measurements.map((measurement) => `| ${tableCells(measurement).join(' | ')} |`);
    return [
      `## ${bench}`,
      '',
      `${measuredAt}, Node ${node}, ${cores} cores${finished ? '' : ', **ended by an error**'}`,
      '',
      '| measurement | result | target | spread | verdict |',
      '|---|---:|---:|---:|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return `# Measurements\n\nWritten by \`npm run bench\`.\n\n${sections.join('\n')}`;
}

/** The table that the command prints. */
export function renderTable(measurements: readonly Measurement[]): string {
  const rows = [['measurement', 'result', 'target', 'spread', 'verdict'], ...measurements.map(tableCells)];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function tableCells(measurement: Measurement): string[] {
  const { name, value, unit, better, target, passed, details } = measurement;
  const bound = better === 'higher' ? '≥' : '≤';
  return [
    name,
    `${formatNumber(value)} ${unit}`,
    target === null ? '' : `${bound} ${formatNumber(target)}`,
    typeof details.spread === 'number' ? `${Math.round(details.spread * 100)} %` : '',
    passed === null ? 'reported' : passed ? 'met' : 'MISSED',
  ];
}

function formatNumber(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 3 : 0 });
}
