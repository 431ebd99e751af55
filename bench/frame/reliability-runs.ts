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
    run: 'failpoints',
    title: 'Failpoints',
    shows:
      'Every commit and every call to another program is read from the code. At each, before and after, the process is killed or the connection breaks, while a walk calls every operation. Repeated requests must have one answer, books and chain agree, no effect be lost or left lying.',
    shortRun: 'the list is that of the code, and an order whose process is killed at two of them.',
    findings: [
      {
        found:
          'A request that writes and then waits or reads (identify at the widget, authorize-refund, authorize-return, the check of a reconciliation difference) was refused when it was repeated with its key, where the process had ended between its commit and the stored response.',
        mended:
          'The transaction that writes says so under the key; the repeated request finds the answer instead of beginning anew.',
      },
    ],
  },
];
