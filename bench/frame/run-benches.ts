import { readdirSync } from 'node:fs';
import type { Measurement } from './measurement.ts';
import { type BenchReport, makeSection, renderTable, saveSection } from './report.ts';

/** What a `*.bench.ts` file exports. */
interface BenchModule {
  run(report: BenchReport): Promise<void> | void;
}

export interface RunBenchesOptions {
  /** The folder of the `*.bench.ts` files, and the one of the reports; both end in a slash. */
  readonly benches: URL;
  readonly reports: URL;
  /** Only benches whose name contains this. */
  readonly filter?: string | undefined;
  readonly now: () => Date;
  readonly print: (text: string) => void;
}

const SUFFIX = '.bench.ts';

/** 0: every target met; 1: a target missed or a bench ended by an error; 2: nothing to run. */
export type ExitCode = 0 | 1 | 2;

/** Runs the benches one after the other and saves each as soon as it ends, so that a later failure loses nothing. */
export async function runBenches(options: RunBenchesOptions): Promise<ExitCode> {
  const { benches, reports, filter = '', now, print } = options;
  const names = readdirSync(benches)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort();
  const chosen = names.filter((name) => name.includes(filter));
  if (chosen.length === 0) {
    print(`no bench is called like "${filter}"; there are: ${names.join(', ') || 'none'}`);
    return 2;
  }
  let exitCode: ExitCode = 0;
  for (const name of chosen) {
    print(`\n${name}`);
    const { measurements, error } = await runBench(new URL(`${name}${SUFFIX}`, benches));
    saveSection(reports, name, makeSection(now(), error === null, measurements));
    print(renderTable(measurements));
    // Printed only: an error's text may hold addresses and paths, which the saved report must not.
    if (error !== null) print(`${name} ended by an error: ${error}`);
    if (error !== null || measurements.some(({ passed }) => passed === false)) exitCode = 1;
  }
  return exitCode;
}

async function runBench(file: URL): Promise<{ measurements: Measurement[]; error: string | null }> {
  const measurements: Measurement[] = [];
  try {
    const bench = (await import(file.href)) as BenchModule;
    await bench.run({ add: (measurement) => measurements.push(measurement) });
    // A bench that measures nothing would otherwise look like one that met every target.
    return { measurements, error: measurements.length === 0 ? 'it measured nothing' : null };
  } catch (error) {
    return { measurements, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
