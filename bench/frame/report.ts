import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Measurement } from './measurement.ts';

/** What a bench file's `run` is given. */
export interface BenchReport {
  add(measurement: Measurement): void;
}

/** What figures depend on, and nothing that tells whose machine it was: the report is committed. */
export interface Machine {
  readonly cores: number;
  readonly memoryGib: number;
  readonly processor: string;
  readonly architecture: string;
  readonly node: string;
}

/** One bench file's latest run. */
export interface BenchSection {
  readonly measuredAt: string;
  /** False where the bench threw: the measurements are those it made before. */
  readonly finished: boolean;
  readonly measurements: readonly Measurement[];
}

/** bench/reports/latest.json. All of it comes from one machine: figures of two do not stand in one table. */
export interface SavedReport {
  readonly machine: Machine;
  readonly benches: Readonly<Record<string, BenchSection>>;
}

const FILE = 'latest.json';
const SIGNIFICANT_DIGITS = 6;

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    processor: cpus()[0]?.model.trim() || 'unknown',
    architecture: process.arch,
    node: process.version,
  };
}

export function machineText({ cores, memoryGib, processor, architecture, node }: Machine): string {
  return `${cores} cores, ${memoryGib} GiB of memory, ${processor} (${architecture}), Node ${node}`;
}

export function isSameMachine(left: Machine, right: Machine): boolean {
  return JSON.stringify(Object.entries(left).sort()) === JSON.stringify(Object.entries(right).sort());
}

/** Undefined where nothing has been recorded yet. */
export function readReport(directory: URL): SavedReport | undefined {
  let text: string;
  try {
    text = readFileSync(new URL(FILE, directory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return JSON.parse(text) as SavedReport;
}

export function writeReport(directory: URL, report: SavedReport): void {
  mkdirSync(directory, { recursive: true });
  const benches = Object.fromEntries(Object.entries(report.benches).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = JSON.stringify({ machine: report.machine, benches }, roundNumbers, 2);
  // The rounds of a figure in one line: a new run then changes few lines.
  const compact = text.replaceAll(/\[\s+([^[\]{}"]+?)\s+\]/g, (_, items: string) => {
    return `[${items.split(/,\s+/).join(', ')}]`;
  });
  writeFileSync(new URL(FILE, directory), `${compact}\n`);
}

function roundNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value)
    ? Number(value.toPrecision(SIGNIFICANT_DIGITS))
    : value;
}

/** The table that the command prints. */
export function renderTable(measurements: readonly Measurement[]): string {
  return alignColumns([
    ['measurement', 'result', 'target', 'spread', 'verdict'],
    ...measurements.map(({ name, value, unit, passed, details, ...rest }) => [
      name,
      formatFigure(value, unit),
      formatTarget(rest),
      typeof details.spread === 'number' ? `${Math.round(details.spread * 100)} %` : '',
      passed === null ? 'reported' : passed ? 'met' : 'MISSED',
    ]),
  ]);
}

export function alignColumns(rows: readonly (readonly string[])[]): string {
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

export function formatTarget({ target, better }: Pick<Measurement, 'target' | 'better'>): string {
  return target === null ? '' : `${better === 'higher' ? '≥' : '≤'} ${formatNumber(target)}`;
}

export function formatFigure(value: number, unit: string): string {
  return `${formatNumber(value)} ${unit}`;
}

export function formatNumber(value: number): string {
  // JSON has no NaN: the result of a measurement gone wrong comes back as null.
  if (!Number.isFinite(value)) return 'no figure';
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 3 : 0 });
}
