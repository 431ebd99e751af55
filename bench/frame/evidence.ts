import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Measurement } from './measurement.ts';
import { describeMachine, type Machine, renderTable } from './report.ts';

/**
 * What a reliability run has shown: bench/reports/reliability/<run>.json, one file a run, replaced by the next run of it.
 * docs/reference/reliability.md is made from these files and from the list of runs in reliability-runs.ts.
 */
export interface Evidence {
  readonly run: string;
  readonly command: string;
  /** What repeats the run; null where nothing of it is drawn by chance. */
  readonly seed: string | null;
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly figures: readonly Measurement[];
}

export interface EvidenceInput {
  readonly run: string;
  readonly command: string;
  readonly seed?: string | number | undefined;
  readonly figures: readonly Measurement[];
}

const REPORTS = new URL('../reports/reliability/', import.meta.url);

/** Prints the figures and, unless it was a short run, records them. Returns whether every target was met. */
export function reportEvidence(input: EvidenceInput, options: { readonly record: boolean }): boolean {
  const { run, command, seed, figures } = input;
  process.stdout.write(`\n${renderTable(figures)}\n`);
  if (options.record) {
    const evidence: Evidence = {
      run,
      command,
      seed: seed === undefined ? null : String(seed),
      measuredAt: new Date().toISOString(),
      machine: describeMachine(),
      figures,
    };
    mkdirSync(REPORTS, { recursive: true });
    writeFileSync(new URL(`${run}.json`, REPORTS), `${JSON.stringify(evidence, null, 2)}\n`);
  }
  return figures.every(({ passed }) => passed !== false);
}

/** Undefined where the run has not been recorded yet. */
export function readEvidence(run: string): Evidence | undefined {
  try {
    return JSON.parse(readFileSync(new URL(`${run}.json`, REPORTS), 'utf8')) as Evidence;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
