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
    run: 'fuzz',
    title: 'API fuzz',
    shows:
      'Requests made from the API’s description, right, at the edges, mutated and hostile, over every route (the console’s own too) as every class of caller. Each answer must be described and fit its schema; answers and logs are searched for secrets and for another partner’s data.',
    shortRun: 'test/invariants/fuzz.test.ts',
    findings: [
      {
        found:
          'A body that cannot be read, sent about an order id that is none, was answered 500: the order was looked up before its id was checked.',
        mended: 'What the path names is looked up only where the path fits (http/route.ts).',
      },
    ],
  },
  {
    run: 'reconciliation',
    title: 'Reconciliation of planted corruptions',
    shows:
      'Twelve corruptions are written past the service into database and chain: lost postings, events, deliveries and effects, changed amounts, statuses ahead of the books, transfers and bank payments that one side lacks. Each must be found and named, and nothing else.',
    shortRun: 'test/faults/reconciliation.test.ts',
    findings: [
      {
        found:
          'The reconciliation looked at escrows in use and at the sums of the books: nine of the twelve corruptions were out of its sight.',
        mended:
          'It compares everything that is recorded twice, a bounded number of rows a run (features/reconciliation).',
      },
    ],
  },
];
