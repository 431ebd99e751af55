import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import type { MutationArea } from './areas.ts';

/** A change that no test noticed. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly mutator: string;
  /** The text that was changed, and what it was changed into. */
  readonly original: string;
  readonly replacement: string;
  /** The whole line on which it begins. */
  readonly context: string;
  /** False where no test even runs the code. */
  readonly covered: boolean;
}

export interface AreaResult {
  readonly killed: number;
  /** Tests did not end: noticed, too. */
  readonly timedOut: number;
  readonly survivors: readonly Survivor[];
}

/** Properties draw the same cases for every mutant of every run: a score does not depend on luck. */
export const SEED = 20_261_117;

/** Where Stryker keeps what it knows: a second run tries only what has changed since. */
const CACHE = '.cache/mutation';
/** Not copied to where the mutants run: it is large, and no test of an area reads it. */
const NOT_NEEDED = ['.cache', '.causeway', '/docs', '/bench/reports', '/apps/console', '/apps/widget'];

export async function runArea(name: string, { mutate, tests, without }: MutationArea): Promise<AreaResult> {
  const known = `${CACHE}/${name}.json`;
  await forgetStaticSurvivors(known);
  process.env.MUTATION_TESTS = tests.join(' ');
  process.env.MUTATION_SEED = String(SEED);
  const mutants = await new Stryker({
    mutate: [...mutate],
    mutator: { plugins: null, excludedMutations: [...without] },
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: 1,
    incremental: true,
    incrementalFile: known,
    tempDirName: `${CACHE}/${name}`,
    ignorePatterns: NOT_NEEDED,
    // It would be rewritten with TypeScript's old interface, which TypeScript 7 does not have; no test needs it.
    tsconfigFile: 'not-rewritten.json',
    disableTypeChecks: false,
    // Beside other work a test takes longer than in the first run.
    timeoutMS: 30_000,
    timeoutFactor: 3,
    reporters: ['progress-append-only'],
    allowConsoleColors: false,
    warnings: false,
  }).runMutationTest();
  const count = (status: string) => mutants.filter((mutant) => mutant.status === status).length;
  const left = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const survivors = await Promise.all(
    left.map(async ({ fileName, location: { start, end }, mutatorName, replacement, status }) => {
      const text = await readFile(fileName, 'utf8');
      return {
        file: relative('.', fileName),
        line: start.line,
        mutator: mutatorName,
        original: textAt(text, start, end),
        replacement: replacement ?? '',
        context: text.split('\n')[start.line - 1]?.trim() ?? '',
        covered: status === 'Survived',
      };
    }),
  );
  return {
    killed: count('Killed'),
    timedOut: count('Timeout'),
    survivors: survivors.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line),
  };
}

interface KnownMutants {
  readonly files: Record<
    string,
    { mutants: readonly { readonly status: string; readonly static?: boolean }[] }
  >;
}

/** What runs when a module loads is no test's own, so Stryker does not see that a new test could notice a change of it. */
async function forgetStaticSurvivors(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const known = JSON.parse(text) as KnownMutants;
  for (const file of Object.values(known.files)) {
    file.mutants = file.mutants.filter((mutant) => mutant.static !== true || mutant.status !== 'Survived');
  }
  await writeFile(path, JSON.stringify(known));
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Lines and columns count from one, as in the report of a mutant. */
function textAt(text: string, start: Position, end: Position): string {
  const lines = text.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = (lines[last] ?? '').slice(0, end.column - 1);
  lines[0] = (lines[0] ?? '').slice(start.column - 1);
  return lines.join('\n');
}
