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
    run: 'crash',
    title: 'Crashes',
    shows:
      'Two api and two worker processes, PostgreSQL and the chain, each a process of its own, are killed at random moments while clients buy, sell, cancel, take refunds and pay into fiat accounts. The clients journal every answer and repeat what was not answered under its Idempotency-Key. Afterwards journal, database, books, chain, bank and webhook receiver are compared: nothing lost, nothing twice.',
    shortRun:
      '`test/faults/crash.test.ts`: one api and one worker process, two kills, one stop of PostgreSQL and one of the chain.',
    findings: [
      {
        found:
          'A process killed during a request that leaves the service (`authorize-refund`, a webhook test) kept its Idempotency-Key for a minute: the repeated request was told IDEMPOTENCY_IN_PROGRESS until then.',
        mended: 'The lease of the key lasts 5 s and is renewed while the work runs (`http/idempotency.ts`).',
      },
    ],
  },
  {
    run: 'toxics',
    title: 'Toxic links',
    shows:
      'Every toxic of Toxiproxy (latency, down, bandwidth, slow close, time-out, reset, slicer, limited data) on every link: PostgreSQL, chain node, backends, webhook receiver. Callers go on asking meanwhile and must be answered in time, with a code of the catalogue, and 503 or 504 with Retry-After where the service cannot work; after the healing orders, deliveries and pools must move again.',
    shortRun: '`test/faults/toxics.test.ts`: three cells of the matrix, each for less than a second.',
    findings: [
      {
        found:
          'A way to PostgreSQL that swallows what is sent, without closing the connection, kept requests without an answer and their connections out of the pool until TCP gave up, a quarter of an hour later: the time-out of a statement is the server’s, and the server never saw it.',
        mended:
          'A connection that has not answered after 18 s is given up, more than the 15 s that a statement may now take (`db/batch.ts`); the caller gets 503 with Retry-After before clients give up at 30 s.',
      },
    ],
  },
];
