import { readdirSync } from 'node:fs';
import type { Measurement } from './measurement.ts';
import { compareWithRecorded, renderChanges } from './regression.ts';
import {
  type BenchReport,
  isSameMachine,
  type Machine,
  machineText,
  readReport,
  renderTable,
  type SavedReport,
  writeReport,
} from './report.ts';

/** What a `*.bench.ts` file exports. */
interface BenchModule {
  run(report: BenchReport): Promise<void> | void;
}

export interface RunBenchesOptions {
  /** The folder of the `*.bench.ts` files, and the one of the reports; both end in a slash. */
  readonly benches: URL;
  readonly reports: URL;
  /** Words: benches whose name contains one of them, or all where there is none. `--compare`: see `runBenches`. */
  readonly args: readonly string[];
  readonly machine: Machine;
  readonly now: () => Date;
  readonly print: (text: string) => void;
}

const SUFFIX = '.bench.ts';
const COMPARE = '--compare';

/** 0: as it should be; 1: a target missed, a regression or a bench ended by an error; 2: nothing was run. */
export type ExitCode = 0 | 1 | 2;

/** The names of the benches in a folder. */
export function benchNames(benches: URL): string[] {
  return readdirSync(benches)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort();
}

/**
 * Runs the benches one after the other. Without `--compare` each is recorded as soon as it ends, so that a later failure
 * loses nothing, and a missed target fails the run. With it nothing is recorded: the run is shown beside the report, and
 * a regression fails it.
 */
export async function runBenches(options: RunBenchesOptions): Promise<ExitCode> {
  const { benches, args, print } = options;
  const names = benchNames(benches);
  const words = args.filter((arg) => arg !== COMPARE);
  const wrong = words.find((word) => !names.some((name) => name.includes(word)));
  if (wrong !== undefined || names.length === 0) {
    print(`no bench is called like "${wrong ?? ''}"; there are: ${names.join(', ') || 'none'}`);
    return 2;
  }
  const chosen = names.filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
  const finish = args.includes(COMPARE)
    ? comparison(options)
    : recording(options, names, chosen.length === names.length);
  let exitCode: ExitCode = 0;
  for (const name of chosen) {
    print(`\n${name}`);
    const { measurements, error } = await runBench(new URL(`${name}${SUFFIX}`, benches));
    if (finish(name, measurements, error === null) === 'bad') exitCode = 1;
    // Printed only: an error's text may hold addresses and paths, which the saved report must not.
    if (error !== null) print(`${name} ended by an error: ${error}`);
    if (error !== null) exitCode = 1;
  }
  return exitCode;
}

type Finish = (bench: string, measurements: readonly Measurement[], finished: boolean) => 'good' | 'bad';

function recording(options: RunBenchesOptions, names: readonly string[], all: boolean): Finish {
  const { reports, machine, now, print } = options;
  const recorded = readReport(reports);
  const isOurs = recorded === undefined || isSameMachine(recorded.machine, machine);
  if (!isOurs && !all) {
    print(
      `The recorded figures are of another machine (${machineText(recorded.machine)}, here ${machineText(machine)}): ` +
        'these are shown and not recorded. A run of every bench replaces the report.',
    );
  }
  // A bench that is no more has no figures either.
  const kept = Object.entries(isOurs ? (recorded?.benches ?? {}) : {}).filter(([name]) =>
    names.includes(name),
  );
  let report: SavedReport = { machine, benches: Object.fromEntries(kept) };
  return (bench, measurements, finished) => {
    const section = { measuredAt: now().toISOString(), finished, measurements };
    report = { machine, benches: { ...report.benches, [bench]: section } };
    if (isOurs || all) writeReport(reports, report);
    print(renderTable(measurements));
    return measurements.some(({ passed }) => passed === false) ? 'bad' : 'good';
  };
}

function comparison({ reports, print }: RunBenchesOptions): Finish {
  const recorded = readReport(reports)?.benches ?? {};
  return (bench, measurements) => {
    const changes = compareWithRecorded(recorded[bench]?.measurements ?? [], measurements);
    print(renderChanges(changes));
    return changes.some(({ verdict }) => verdict === 'REGRESSED') ? 'bad' : 'good';
  };
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
