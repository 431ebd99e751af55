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
    run: 'load',
    title: 'Load and overload',
    shows:
      'Forty partners send quotes, orders, reads, lists and cancellations by an open-loop generator (Poisson, timed from when each was due) within the limits of production, to an API and a worker on a durable PostgreSQL, all on one machine. The peak is the highest rate at which 95 % is answered within a second; then half of it, three times of it, ten minutes of memory, and two processes of the API.',
    shortRun: 'test/faults/overload.test.ts',
    findings: [
      {
        found:
          'Every request was begun, however many there were, and a partner’s line could grow to 1,000 at 20 a second: under a lasting overload all would be answered too late.',
        mended:
          'Work in hand is bounded and the rest refused with 503 at once; a line whose first has waited for two seconds is refused with 429 (0061).',
      },
      {
        found:
          'Every answer of 503 wrote an error with its stack into the log: a flood of refusals would be a flood of logs.',
        mended: 'Overload is refused with prepared bytes, past the error mapper.',
      },
      {
        found:
          'With eight times the bound let through as a burst, a process with a tenth of a core worked on it for longer than its clients waited.',
        mended: 'A burst is three times the bound at most, and once in five seconds (0061).',
      },
      {
        found:
          'Processes of the API shared one metrics port: a scrape got any of them, and the supervisor took it for the port of the API.',
        mended: 'The metrics port is exclusive to its process (0062).',
      },
      {
        found:
          'API and worker held 80 MiB that had been freed: glibc keeps an arena for each thread that read modules at the start.',
        mended: '`npm start` allows one arena and trims it (0062).',
      },
    ],
  },
  {
    run: 'hostile',
    title: 'One hostile partner',
    shows:
      'One partner floods its escrow with logs, initiates, opens orders into their limit, names silent hosts and guesses keys as fast as it is answered, while another’s requests are timed, by turns with rounds in which it keeps quiet.',
    shortRun: 'test/faults/hostile-partner.test.ts',
    findings: [
      {
        found: 'A partner over its share began requests while those of light partners were in work.',
        mended: 'It gives way for up to 50 ms each time; a worker apart is nicer than the API (0061).',
      },
    ],
  },
];
