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
      'Forty partners send quotes, orders, reads, lists and cancellations by an open-loop generator (Poisson, timed from when each was due) within the limits of production, to an API and a worker on a durable PostgreSQL, all on one machine, set up as the guide has it for one (`API_SCHEDULING=realtime`); clients do not wait for its cores. The peak is the highest rate at which 95 % is answered within a second, twice in a row; then by turns that rate again, or the next lower one that is followed in that minute, half of it, beside a bare Fastify that does nothing and tells what the machine itself makes a request wait, and three times it, each turn held against its own peak; ten minutes of memory; and one and two processes of the API, as they are by default.',
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
      {
        found:
          'Every order priced every corridor anew, with an answer of 70 kB for the next caller: 3 ms of each request for it, on the event loop of all others.',
        mended: 'The list is the same until a price in it changes (features/discovery/corridors.ts).',
      },
      {
        found:
          'Workers looked for deliveries after every event, also of partners without a webhook: 40 claims a second, 2 ms to plan each.',
        mended: 'They are woken for deliveries, not for events (engine/outbox.ts).',
      },
      {
        found:
          'The heap grew to three times what lives in it: 390 MiB after 70 s at half of the peak, and growing.',
        mended: 'It is collected when it is a third larger: 243 MiB at most over ten minutes (0062).',
      },
      {
        found:
          'The request log wrote 16 rows a statement while requests kept coming, instead of 500: a batch that found new rows at its end wrote them at once.',
        mended: 'What is noted while a batch is written waits for the next one.',
      },
      {
        found:
          'Row-level security read and parsed a setting for every row that a statement looked at: a list of 20 orders took 4 ms instead of 1 once the planner chose to read all customers for it.',
        mended: 'Policies ask once a statement; a test refuses one that asks every row (0066).',
      },
      {
        found:
          'At three times the peak the process was busy with refusing: of its one thread, 0.4 went into 1,500 refusals a second, while the database had half of a core to do.',
        mended:
          'A partner whose key is known is refused before Fastify has seen the request (`http/admission.ts`, 0067).',
      },
      {
        found:
          'Each minute PostgreSQL vacuumed a dozen tables, after which ten connections planned everything anew; each second the log of requests was one statement of 20 to 40 ms. One request in a hundred waited for either.',
        mended: 'Vacuum after 50,000 changes, a hundred rows a statement (0066).',
      },
      {
        found:
          'At half of a peak of 854 requests a second p99s of reads and of discovery were over their targets: four times a second the young generation was collected for 3 ms, because a hook at the end of every answer made all objects of a request outlive it.',
        mended:
          'No such hook, and fewer objects (0069). While the host was calm, 430 requests a second had p99s of 9 ms for quotes, 7 for reads and 4 for discovery (medians of eight rounds); in four calm minutes at another time, with a peak of 1,018, half of it had 12 to 18, 8 to 16 and 5 to 12 (four rounds). On a busy host, as in the figures above, reads and discovery miss their targets.',
      },
      {
        found:
          'A peak found in one minute, and latencies and overload of the minutes after it, said nothing about each other: others on the host changed what this machine carries by half.',
        mended: 'The three are played by turns, and each turn is held against its own peak.',
      },
      {
        found:
          'In a minute that did not carry the peak, a turn took what was answered in time at it for its own peak: under overload that is less than the minute could carry, and latencies at half of it were those of a third.',
        mended: 'A turn asks for less until it is followed, and halves that.',
      },
      {
        found:
          'Of what opening an order costs PostgreSQL, a sixth was reading and planning the CHECKs of its tables, anew for every statement.',
        mended: 'The same rules are types and functions that a connection prepares once (0070).',
      },
      {
        found:
          'Each order rewrote the four indexes of an offer twice and notified in its transactions, and what streams show was announced up to fifty times a second: of the eleven round trips of an order its requests wait for seven.',
        mended:
          'Reservations change their row in place and are announced after their commit; news that can wait travels together (0079).',
      },
      {
        found:
          'A p99 of few milliseconds was taken for the program’s own. A bare Fastify that does nothing, asked by a process that does nothing else, had one of 3 to 15 ms in the same seconds.',
        mended: 'It is measured in every turn, and what a p99 has above it is told beside the p99.',
      },
      {
        found:
          'At half of the peak the event loop waited for a core for a tenth to a quarter of the time, behind connections of the database, and so did the generator. Priorities had been tried, and niceness does nothing about that.',
        mended:
          '`API_SCHEDULING=realtime`, for machines that have both: reads from 11.7 to 7.5 ms, discovery from 5.6 to 2.1 at 500 requests a second (0081).',
      },
      {
        found:
          'With 256 connections the generator kept an overload of 1.4 times to itself: the server saw 256 clients that it answered.',
        mended: 'It has 1,024.',
      },
      {
        found:
          'A new database makes a file of its log every ten seconds under load, 16 MB of zeros, while commits wait, and reads wait for a connection: moments of 20 to 100 ms, which is most of what is left of a p99.',
        mended:
          'The guide recommends `min_wal_size`, and the run makes the files before it measures, as a database that has run for a day has them (0081): by turns reads from 9.2 to 6.2 ms and quotes from 18.8 to 11.4. The figures above are from before that.',
      },
    ],
  },
  {
    run: 'order-cost',
    title: 'What an order costs',
    shows:
      'This tree and the one before decision 0060 (`e1eac786`) beside each other, each as its `npm start` has it. Forty orders a second are quoted and opened for ten seconds, by turns. The processor of the database, and of the program, for an order with all that it leaves behind, less what each does without requests; the ratio is the median of nine turns (0082).',
    shortRun: 'test/faults/order-cost.test.ts',
    findings: [
      {
        found:
          'What quote and initiate cost was looked for in their own statements, which are the smaller part of what an order makes the database do.',
        mended:
          'Everything is counted: plans, round trips, effects, announcements, claims and reservations that end (0066, 0075, 0079). The statements of the two requests by themselves cost 0.70 of what they did.',
      },
    ],
  },
  {
    run: 'listings',
    title: 'Lists of a partner that grows',
    shows:
      'One partner with 100,000 and with 1,000,000 orders asks for pages of them, one after the other, each with its exact total, and for a year of statistics. The median of 500 requests each, after as many that warm it up.',
    shortRun:
      '`test/races/order-counts.test.ts`: totals and pages are those of the orders, while they are counted.',
    findings: [
      {
        found:
          'The plan of the list was made anew at every call, for longer than it ran; with 1,000,000 orders a year of statistics ran out of time.',
        mended: 'Some plans are kept (0065).',
      },
      {
        found:
          'The first page took 5.3 to 5.5 ms with either number of orders (target 5): its totals were added up as numerics, and all customers of the partner were read for the names of twenty.',
        mended:
          'Integers are added up, and every connection says that a page at random costs hardly more than the next one (`db/server.ts`).',
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
      {
        found:
          'Four threads of V8 marked the heap on two cores, and every connection planned all its statements anew each minute, after small tables had been analyzed.',
        mended:
          'One helper thread; tables that every order changes are analyzed after thousands of changes (0066).',
      },
      {
        found:
          'An order that ended read all reservations and the totals of all customers: a fifth of what it cost the database.',
        mended:
          'What it held is found by its quote, and ended together with what else ends just then (0066).',
      },
    ],
  },
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
      {
        found:
          'A repeated request of a sandbox whose first answer was lost moved the clock a second time, and orders expired that still had time.',
        mended: 'The mark that the clock was moved is written with the move.',
      },
      {
        found:
          'An event of a sandbox order whose answer was lost with its process was refused when it was repeated: it had happened, so it did not apply any more.',
        mended:
          'That it was begun is written with it (`features/sandbox/order-events.ts`). The recorded figures were gathered by several runs: 653 of the deaths are of the program before this mend, all else is of the program after it.',
      },
    ],
  },
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
      {
        found:
          'A file about an account that is not there was answered 404 and told as an error in the log as well.',
        mended: 'What goes wrong before the first line is the answer alone (http/csv-route.ts).',
      },
    ],
  },
  {
    run: 'reconciliation',
    title: 'Reconciliation of planted corruptions',
    shows:
      'Corruptions of every kind are written past the service into database and chain: lost postings, events, deliveries and effects, changed amounts, statuses ahead of the books, transfers and bank payments that one side lacks. Each must be found and named, and nothing else.',
    shortRun: 'test/faults/reconciliation.test.ts',
    findings: [
      {
        found:
          'The reconciliation looked at escrows in use and at the sums of the books: nine of the twelve corruptions were out of its sight.',
        mended:
          'It compares everything that is recorded twice, a bounded number of rows a run (features/reconciliation).',
      },
      {
        found:
          'Of three seeds one lost the event that tells of an on-ramp order’s first status, which was not missed: a vendor who declines leads to the same status and tells nobody. Nor was the first number of a stream.',
        mended:
          'The first status is held against the ways in which an order begins, each event against one change, and a stream against its floor (`reconcile-orders.ts`, `reconcile-events.store.ts`).',
      },
      {
        found:
          'One row of each table was removed, and one unit added to each amount, by turns: an order’s fiat amount and fees could be changed unseen until they were booked, and a payment moved to another account.',
        mended:
          'Amounts, fees and rate of an order are compared with its quote (`order_amount`), and a payment with the account at the bank (`bank_payment_account`).',
      },
    ],
  },
  {
    run: 'crash',
    title: 'Crashes',
    shows:
      'Two api and two worker processes, PostgreSQL and the chain, each a process of its own, are killed at random moments while clients buy, sell, cancel, take refunds and pay into fiat accounts. The clients journal every answer and repeat what was not answered under its Idempotency-Key. Afterwards journal, database, books, chain, bank and webhook receiver are compared: nothing lost, nothing twice.',
    shortRun:
      '`test/faults/crash.test.ts`: one api and one worker process, one kill, one stop of PostgreSQL and one of the chain.',
    findings: [
      {
        found:
          'A process killed during a request that leaves the service (`authorize-refund`, a webhook test) kept its Idempotency-Key for a minute: the repeated request was told IDEMPOTENCY_IN_PROGRESS until then.',
        mended: 'The lease of the key lasts 5 s and is renewed while the work runs (`http/idempotency.ts`).',
      },
      {
        found:
          'A worker made itself nicer than the API before it started: where both workers had been killed, effects waited for a start with a third of the processor.',
        mended: 'It yields when it stands (`main.ts`).',
      },
      {
        found:
          'What a killed worker had in hand waited for a lease of 15 s, a webhook for one of 20 s: after six of 147 kills nothing happened for 5 to 9 s.',
        mended: 'Leases of 4 s, later 2.5 s, that are renewed while the work lasts (0064).',
      },
      {
        found:
          'With leases of 4 s one kill of 147 that left a worker is over 5 s (5.7 s; 95 of 100 are within 0.6 s), and one stop of PostgreSQL of 50 (8.0 s). Where both workers or both APIs are killed, work waits for their start: 4.4 to 14.5 s, on two cores that carry all of it and for a part of this run other work as well.',
        mended:
          'Leases of 2.5 s and a shorter start (0068): in the run recorded here every kind of fault is over within 5 s. The 8.0 s did not come again; a standstill now says what is open.',
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
      {
        found:
          '10,000 seeds: a deposit was never credited. One process read blocks by a list of escrows that lacked a new one, another searched the blocks before them for the new one, and then the first moved the cursor: what these blocks held for it was read by neither.',
        mended:
          'Whoever moves the cursor marks escrows that were caught up with meanwhile as to be searched again (chain/watcher/watched-escrows.ts). It was ten of the 10,000; an eleventh was a simulation that ended before its order did. The figures are of the run after that.',
      },
    ],
  },
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
      {
        found:
          'In machines 37 of 470 went unnoticed: where the parameters of an action are read, who had cancelled an order that is refunded later, that a hold keeps its reason, that a repetition is no action.',
        mended: 'The code was right in each; those have tests now, the others are equivalent.',
      },
      {
        found:
          'In matching 54 of 730 went unnoticed: that the best of several vendors takes a quote over, also behind the offer that was quoted, both ends of a range, and which offers widen the range that a refusal tells.',
        mended:
          'The code was right in each; those have tests now, the others are equivalent or only count another of two reasons.',
      },
    ],
  },
];
