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
    run: 'simulation',
    title: 'Deterministic simulation',
    shows:
      'The order engine, transactor and watcher over a PostgreSQL inside the process, with clock, scheduling, chain, bank, parties and network owned by one seed. After each step: books balance, books are the chain, one payout an order, help in reach, every status published once.',
    shortRun:
      'test/simulation/simulation.test.ts: 300 seeds of 12 steps, a replay, and a planted bug that is found and shrunk',
    findings: [
      {
        found:
          'An operator decides about a deposit while a node is out of reach: two questions are asked at once, the second fails while the first is waited for, and the unhandled failure ends the API process.',
        mended:
          'All questions are waited for together (`lookAtDeposit`); the simulation counts every unhandled rejection as a violation.',
      },
    ],
  },
];
