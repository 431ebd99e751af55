/** A fault that a run has found, and what was done about it. */
export interface Finding {
  readonly found: string;
  readonly mended: string;
}

/** A reliability run: what it shows and what it has found so far. Its latest figures are in bench/reports/reliability. */
export interface ReliabilityRun {
  /** File of the report, and the name in `npm run <command>`. */
  readonly run: string;
  readonly title: string;
  /** One or two sentences: what is done, and what is compared afterwards. */
  readonly shows: string;
  /** The short run that every `npm test` includes. */
  readonly shortRun: string;
  readonly findings: readonly Finding[];
}

export const RELIABILITY_RUNS: readonly ReliabilityRun[] = [
  {
    run: 'mutation',
    title: 'Planted faults',
    shows:
      'Money, machines, matching and signatures are changed in small ways, one at a time (a comparison turned, a condition dropped, a list emptied), and the tests of the area run for each. The score is the share that they notice; changes that make no difference count against it. Verdicts on the rest: `bench/reports/reliability/mutation-survivors.md`.',
    shortRun:
      '`scripts/mutation/report.test.ts`: every area is recorded at its target, every survivor has a verdict, no verdict is about code that is gone.',
    findings: [
      {
        found:
          'In the first run 43 of 474 planted faults in money and 24 of 350 in signatures went unnoticed: the longest amounts, powers of ten at their limit, text behind a signature, both ways to write v, a point that is none.',
        mended:
          'The code was right in each; 30 of the 67 have tests now, the others are equivalent or accepted one by one.',
      },
      {
        found:
          'What a deposit pays (one order, several, one that is held) could only be tried with a database, so no quick test held it.',
        mended: 'A rule of its own with tests for each case: `features/fiat-accounts/deposit-matching.ts`.',
      },
      {
        found:
          'The order in which a table’s rows, guards and named refusals are asked was tested only through the machines that happen to use it, and some questions about statuses not at all.',
        mended: '`machines/define-machine.test.ts` tries every kind of row on a small table of its own.',
      },
    ],
  },
];
