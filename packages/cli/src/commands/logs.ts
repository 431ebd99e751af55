import { setTimeout as pause } from 'node:timers/promises';
import { isCausewayError, type LoggedRequest, type OperatorLoggedRequest } from '@causeway/sdk';
import { type Invocation, type Run, text } from '../command.ts';
import { CommandError, EXIT, failureLine } from '../exit.ts';
import type { Paint } from '../output.ts';
import type { KeyClass } from '../profile.ts';

/**
 * `causeway logs tail`: API requests as the deployment logs them, followed by asking for what is behind a cursor. The
 * cursor goes on where it was after an error, so nothing is missed or shown twice however long the deployment was away.
 */
type Logged = LoggedRequest | OperatorLoggedRequest;

interface Page {
  readonly requests: readonly Logged[];
  readonly pagination: { readonly next_cursor: string | null };
}

type Query = Readonly<Record<string, string | number>>;
type ReadPage = (query: Query) => Promise<Page>;

const POLL_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const PAGE_ROWS = 200;
const PAST_ROWS = 20;
const MAX_PAST_ROWS = 100_000;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const BEGINNING = '0';

export const tail: Run = async (invocation) => {
  const { output } = invocation;
  const asked = askedFor(invocation);
  const read = await readerOf(invocation);
  const show = (one: Logged) => output.line(one, (paint) => lineOf(one, paint));

  // Where to go on is known before the past is read: what comes meanwhile is shown once.
  const start = (await read({ limit: 1, ...asked.whose })).requests[0]?.cursor ?? BEGINNING;
  for (const one of await readPast(read, asked, start)) show(one);
  if (!asked.follow) return;
  output.note('Waiting for requests; Ctrl-C ends.');
  await follow(invocation, read, { ...asked.filters, ...asked.whose }, start, show);
};

interface Asked {
  readonly filters: Query;
  readonly whose: Query;
  /** Requests of the past to show; all since `from` where it is undefined. */
  readonly past: number;
  readonly from: Query;
  readonly follow: boolean;
}

function askedFor(invocation: Invocation): Asked {
  const given = (name: string) => text(invocation, name);
  const since = given('since');
  const limit = given('limit');
  const status = given('status')?.toLowerCase();
  const method = given('method')?.toUpperCase();
  if (status !== undefined && !/^[1-5](?:xx|[0-9]{2})$/.test(status)) {
    throw wrong('--status is a status such as 409, or a class such as 4xx.');
  }
  if (method !== undefined && !METHODS.includes(method))
    throw wrong(`--method is one of: ${METHODS.join(', ')}.`);
  if (limit !== undefined && !(/^[0-9]{1,6}$/.test(limit) && Number(limit) <= MAX_PAST_ROWS)) {
    throw wrong(`--limit is a number up to ${MAX_PAST_ROWS}.`);
  }
  return {
    filters: defined({
      status,
      error_code: given('code')?.toUpperCase(),
      method,
      order_id: given('order'),
      request_id: given('request-id'),
    }),
    whose: defined({ partner_id: given('partner'), vendor_id: given('vendor') }),
    past: limit === undefined ? (since === undefined ? PAST_ROWS : MAX_PAST_ROWS) : Number(limit),
    from: defined({ from: since === undefined ? undefined : sinceOf(since) }),
    follow: invocation.options.follow !== false,
  };
}

function wrong(message: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.usage });
}

function defined(values: Readonly<Record<string, string | undefined>>): Query {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `10m` as of now, or a time as it is. */
function sinceOf(since: string): string {
  const [, count, unit] = /^([0-9]{1,6})([smhd])$/.exec(since) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(Date.now() - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
  }
  const time = new Date(since);
  if (Number.isNaN(time.getTime()) || !/^[0-9]{4}-/.test(since)) {
    throw wrong('--since is a time span such as 30s, 10m, 2h or 1d, or a time such as 2026-11-16T08:00:00Z.');
  }
  return time.toISOString();
}

async function readerOf(invocation: Invocation): Promise<ReadPage> {
  const keyClass = (text(invocation, 'as') ?? 'partner') as KeyClass;
  for (const name of ['partner', 'vendor']) {
    if (text(invocation, name) !== undefined && keyClass !== 'operator') {
      throw wrong(`--${name} goes with --as operator: other keys see their own requests.`);
    }
  }
  const client = await invocation.client(keyClass);
  // Repeated here, where it is told, and not by the client, where it is not.
  const options = { signal: invocation.signal, maxRetries: 0 };
  switch (keyClass) {
    case 'operator':
      return (query) => client.operator.requestLog.list(query, options);
    case 'vendor':
      return (query) => client.vendor.requestLog.list(query, options);
    default:
      return (query) => client.requestLog.list(query, options);
  }
}

/** The latest of what was there at the start, oldest first. */
async function readPast(
  read: ReadPage,
  { filters, whose, from, past }: Asked,
  start: string,
): Promise<Logged[]> {
  const found: Logged[] = [];
  let cursor: string | null = null;
  while (found.length < past) {
    const page = await read({
      ...filters,
      ...whose,
      ...from,
      ...(cursor === null ? {} : { cursor }),
      limit: Math.min(PAGE_ROWS, past - found.length),
    });
    found.push(...page.requests.filter((one) => BigInt(one.cursor) <= BigInt(start)));
    cursor = page.pagination.next_cursor;
    if (cursor === null) break;
  }
  return found.reverse();
}

/** Until it is interrupted. What passes is waited for, longer each time; what does not ends it with the reason. */
async function follow(
  { output, signal }: Invocation,
  read: ReadPage,
  filters: Query,
  start: string,
  show: (one: Logged) => void,
): Promise<void> {
  let after = start;
  let failures = 0;
  while (!signal.aborted) {
    let waitMs = POLL_MS;
    try {
      const { requests, pagination } = await read({ ...filters, after, limit: PAGE_ROWS });
      if (failures > 0) output.note('The deployment answers again; nothing was missed.');
      failures = 0;
      for (const one of requests) show(one);
      after = pagination.next_cursor ?? after;
      if (requests.length === PAGE_ROWS) continue;
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      waitMs = waitAfter(error, failures++);
      const told = failureLine(error).replace(/\.?$/, '.');
      output.note(`${told} Next try in ${Math.round(waitMs / 1_000)} s.`);
    }
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

function isPassing(error: unknown): boolean {
  return (
    isCausewayError(error) && (error.status === undefined || error.status === 429 || error.status >= 500)
  );
}

function waitAfter(error: unknown, failures: number): number {
  const wanted = isCausewayError(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  return Math.min(MAX_PAUSE_MS, Math.max(wanted, POLL_MS * 2 ** Math.min(failures, 5)));
}

const COLOURS = { '1': 'cyan', '2': 'green', '3': 'cyan', '4': 'yellow', '5': 'red' } as const;

function lineOf(one: Logged, paint: Paint): string {
  const status = String(one.status);
  const colour = COLOURS[status[0] as keyof typeof COLOURS] ?? 'reset';
  const path = one.query === null ? one.path : `${one.path}?${one.query}`;
  const refusal = [one.error_code, one.error_fields.join(',')].filter((part) => part !== null && part !== '');
  const owner = 'partner_id' in one ? (one.partner_id ?? one.vendor_id) : null;
  return [
    paint('dim', one.at),
    paint(colour, status),
    one.method.padEnd(6),
    path,
    ...(refusal.length === 0 ? [] : [paint(colour, refusal.join(' '))]),
    ...(one.idempotent_replay ? ['replayed'] : []),
    // Already in the path of most.
    ...(one.order_id === null || path.includes(one.order_id) ? [] : [`order=${one.order_id}`]),
    ...(owner === null ? [] : [`of=${owner}`]),
    paint('dim', `${one.duration_ms} ms ${one.request_id}`),
  ].join(' ');
}
