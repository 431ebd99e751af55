import type { ErrorCode } from '@causeway/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure } from '../../bench/frame/measurement.ts';
import { type FuzzReport, fuzzMatrix } from '../fuzz/matrix.fuzz.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

/** `npm run fuzz` asks for many more; FUZZ_SEED repeats a run. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 600);
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_115);
const IS_LONG = process.env.FUZZ_REQUESTS !== undefined;
/** The webhook of the fuzzed partner answers nothing; without chains no transaction can be sent. */
const OUTSIDE: readonly ErrorCode[] = [
  'WEBHOOK_DELIVERY_FAILED',
  ...(IS_LONG ? [] : (['TRANSACTOR_UNAVAILABLE'] as const)),
];

let gateway: TestGateway;
let log: string[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    // A long run reaches escrows too; the short one does without, because chains take time to start.
    ...(IS_LONG ? { chains: true } : { worker: true }),
    env: {
      RATE_LIMIT_PARTNER_PER_MINUTE: '10000000',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '10000000',
      RATE_LIMIT_WRONG_KEYS_PER_MINUTE: '10000000',
    },
    onLog: (line) => log.push(line),
  });
});
afterAll(() => gateway?.stop());

/** The order that asks for its payer was put there by hand: a worker asked to return its crypto finds no escrow. */
const isExpected = (line: string) =>
  line.includes('has no escrow yet') || OUTSIDE.some((code) => line.includes(`"code":"${code}"`));

it(
  `requests of every route and caller get no 5xx, only described answers and nothing that is not theirs: ${REQUESTS} requests, seed ${SEED}`,
  async () => {
    const failures: string[] = [];
    const takeLog = () => {
      const lines = log;
      log = [];
      failures.push(...lines.filter((line) => line.includes('"level":"error"') && !isExpected(line)));
      return lines;
    };
    const report = await fuzzMatrix(gateway, { seed: SEED, requests: REQUESTS, outside: OUTSIDE, takeLog });
    if (IS_LONG) tell(report, failures.length);
    expect(report.problems.slice(0, 5)).toEqual([]);
    expect(failures.slice(0, 5)).toEqual([]);
    // Deep enough: callers get through to what is theirs, and are refused by form, by state and by key.
    const statuses = new Set([...report.statuses.values()].flatMap((counts) => Object.keys(counts)));
    expect([...statuses]).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404', '409', '422']));
    expect(report.cells.tried).toBeGreaterThanOrEqual(Math.min(report.cells.all, REQUESTS / 3));
    expect((await gateway.call('GET', '/health', { key: null })).status).toBe(200);
  },
  60 * 60_000,
);

it('a body that cannot be read, about an id that is none, is refused for its form', async () => {
  const paths = ['..%2f..', '%00', 'x'].map((id) => `/api/v1/partner/orders/${id}/authorize-refund`);
  for (const path of paths) {
    const { status, body } = await gateway.call('POST', path, { rawBody: '{' });
    expect([path, status, body.error.code]).toEqual([path, 400, 'VALIDATION_ERROR']);
  }
});

function tell(report: FuzzReport, failures: number): void {
  const { requests, seconds, routes, callers, cells, statuses, secrets, problems } = report;
  for (const [caller, counts] of statuses) process.stdout.write(`${caller}: ${JSON.stringify(counts)}\n`);
  const none = (name: string, value: number) =>
    figure({ name, value, unit: 'answers', better: 'lower', target: 0 });
  const of = (...kinds: readonly string[]) => problems.filter(({ kind }) => kinds.includes(kind)).length;
  reportEvidence(
    {
      run: 'fuzz',
      command: `npm run fuzz -- ${REQUESTS} ${SEED}`,
      seed: SEED,
      figures: [
        figure({ name: 'requests', value: requests, unit: 'requests', better: 'higher', target: REQUESTS }),
        figure({
          name: 'requests a second',
          value: Math.round(requests / seconds),
          unit: 'ops/s',
          better: 'higher',
        }),
        figure({ name: 'routes', value: routes, unit: 'routes', better: 'higher' }),
        figure({
          name: 'routes by class of caller, tried',
          value: cells.tried,
          unit: 'cells',
          better: 'higher',
          target: Math.min(cells.all, requests),
          details: { callers, cells: cells.all, ...byCaller(statuses) },
        }),
        none(
          'answers with 5xx that are a fault of the service, or none at all',
          of('server_error', 'transport'),
        ),
        // Told as the contract has it: 502 WEBHOOK_DELIVERY_FAILED, where a partner's own endpoint does not answer.
        figure({
          name: 'answers with 502, because the partner’s webhook does not answer',
          value:
            [...statuses.values()].reduce((sum, counts) => sum + (counts['502'] ?? 0), 0) -
            of('server_error'),
          unit: 'answers',
          better: 'lower',
        }),
        none('answers that do not fit the description', of('schema')),
        none('routes that served another class of caller', of('access')),
        figure({
          name: 'secrets and foreign data in answers or logs',
          value: of('leak'),
          unit: 'finds',
          better: 'lower',
          target: 0,
          details: { searched: secrets },
        }),
        figure({ name: 'errors in the log', value: failures, unit: 'lines', better: 'lower', target: 0 }),
      ],
    },
    { record: true },
  );
}

function byCaller(statuses: FuzzReport['statuses']): Record<string, string> {
  return Object.fromEntries(
    [...statuses].map(([caller, counts]) => [
      caller,
      Object.entries(counts)
        .map(([status, count]) => `${status}×${count}`)
        .join(' '),
    ]),
  );
}
