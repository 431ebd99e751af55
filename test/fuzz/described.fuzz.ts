import { ERROR_CODES, ERROR_KEYS } from '@causeway/protocol';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { requestsOf } from '../invariants/carried-ids.ts';
import { type CustomerFixture, makeCustomer } from '../invariants/customer-fixture.ts';
import {
  type DescribedRoute,
  describedRoutes,
  fillPath,
  keysOf,
  requiredQuery,
  type Schema,
} from '../invariants/described-routes.ts';
import { createRandom, type Random } from './random.ts';

/**
 * Every field that the description names, at the edges of what PostgreSQL can hold and beyond: one field at a time, the
 * rest of the request being right and about things that exist, so that the value gets as far as it can.
 */
export interface DescribedFuzzReport {
  readonly cases: number;
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

const INTEGERS: readonly unknown[] = [
  0,
  -1,
  1.5,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  2 ** 63,
  1e308,
  '1e400',
];
const DATES: readonly unknown[] = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '1970-01-01T00:00:00+14:00',
  '1970-01-01T00:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-02-30T00:00:00Z',
  '2026-11-15 10:00:00Z',
  '2026-11-15T10:00:00+23:59',
  '2999-12-31T23:59:59.999999999-23:59',
  '9999-12-31T23:59:59Z',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  'infinity',
  '0000-00-00',
  '0001-01-01',
  '9999-12-31',
];
const TEXTS: readonly unknown[] = [
  '',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00tail',
  '\uffff',
  '💸'.repeat(60),
  "'",
  '\\',
  '%',
  '_%',
  '{',
  'x'.repeat(3_000),
  '9'.repeat(79),
  '9'.repeat(400),
  `0.${'0'.repeat(77)}1`,
  '-0',
  '1e79',
  'NaN',
  'Infinity',
  '00000000-0000-0000-0000-000000000000',
];
const OTHERS: readonly unknown[] = [
  null,
  true,
  [],
  {},
  [null],
  ['\u0000'],
  { a: '\u0000' },
  { '\u0000': 1 },
  { a: '\ud800' },
];

interface Case {
  readonly route: DescribedRoute;
  readonly place: 'path' | 'query' | 'body';
  readonly field: readonly string[];
  readonly value: unknown;
}

const IN_FLIGHT = 12;
const MOST_PROBLEMS = 10;
/** Streams that do not end, and the clock, which all the others depend on. */
const LEFT_OUT = new Set(['sandboxAdvanceClock', 'streamEvents', 'streamVendorEvents']);

export async function fuzzDescribed(
  gateway: TestGateway,
  options: { readonly seed: number; readonly requests: number },
): Promise<DescribedFuzzReport> {
  const customer = await makeCustomer(gateway, gateway.partners[0].apiKey);
  const routes = (await describedRoutes(gateway)).filter(
    ({ operationId, path }) => !LEFT_OUT.has(operationId) && !path.endsWith('/stream'),
  );
  const all = routes.flatMap(casesOf);
  const chosen = shuffled(createRandom(options.seed), all).slice(0, options.requests);
  const statuses: Record<string, number> = {};
  const problems: string[] = [];
  let next = 0;
  // Some routes wait for an order to move before they answer: the others do not wait for them.
  const sender = async () => {
    while (next < chosen.length && problems.length < MOST_PROBLEMS) {
      const one = chosen[next++] as Case;
      const answer = await send(gateway, customer, one);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      const problem = problemWith(one.route, answer);
      if (problem === undefined) continue;
      const what = `${one.place} ${one.field.join('.')} = ${JSON.stringify(one.value).slice(0, 80)}`;
      problems.push(`${one.route.method} ${one.route.path}, ${what}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  return { cases: all.length, requests: chosen.length, statuses, problems };
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}

function casesOf(route: DescribedRoute): Case[] {
  const inPath = route.parameters.flatMap(({ name }) =>
    // An empty part of a path is another path.
    [...TEXTS.slice(1), ...INTEGERS].map((value): Case => ({ route, place: 'path', field: [name], value })),
  );
  const inQuery = (route.operation.parameters ?? [])
    .filter((one) => one.in === 'query')
    .flatMap(({ name, schema = {} }) =>
      valuesFor(schema).map((value): Case => ({ route, place: 'query', field: [name], value })),
    );
  const inBody = fieldsOf(route.bodySchema, []).flatMap(({ field, schema }) =>
    [...valuesFor(schema), ...OTHERS].map((value): Case => ({ route, place: 'body', field, value })),
  );
  return [...inPath, ...inQuery, ...inBody];
}

interface Ends {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Besides what breaks things, the ends of the range that the schema itself allows. */
function valuesFor(schema: Schema & Ends): readonly unknown[] {
  const ends = [schema.minimum, schema.maximum].filter((end) => end !== undefined);
  return [...ends, ...INTEGERS, ...DATES, ...TEXTS];
}

function fieldsOf(
  schema: Schema | undefined,
  before: readonly string[],
): { field: readonly string[]; schema: Schema }[] {
  if (schema === undefined || before.length > 3) return [];
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const field = [...before, name];
    return [{ field, schema: property }, ...fieldsOf(property, field)];
  });
  return [...own, ...alternatives.flatMap((one) => fieldsOf(one, before))];
}

function send(gateway: TestGateway, customer: CustomerFixture, one: Case): Promise<Answer> {
  const { route, place, field, value } = one;
  const [request] = requestsOf(route);
  const ids = (where: string) =>
    Object.fromEntries(
      (request?.ids ?? [])
        .filter((id) => id.place === where)
        .map(({ name, kind }) => [name, customer.ids[kind]]),
    );
  const paths: Record<string, string> = {
    ...Object.fromEntries(route.parameters.map(({ name }) => [name, 'x'])),
    ...ids('path'),
  };
  const query = new URLSearchParams(requiredQuery(route));
  const required = new Set(route.bodySchema?.required ?? []);
  const bodyIds = Object.fromEntries(Object.entries(ids('body')).filter(([name]) => required.has(name)));
  let body: unknown = { ...request?.body, ...bodyIds };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (place === 'path') paths[field[0] as string] = text.toWellFormed();
  if (place === 'query') query.set(field[0] as string, text.toWellFormed());
  if (place === 'body') body = withValue(body, field, value);
  return gateway.call(route.method, `${fillPath(route.path, paths)}?${query}`, {
    key: keysOf(gateway)[route.access],
    ...(route.bodySchema === undefined ? {} : { body }),
  });
}

function withValue(body: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  const object = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const key = name as string;
  return { ...object, [key]: rest.length === 0 ? value : withValue(object[key], rest, value) };
}

/** The path itself can become another one. */
const ELSEWHERE = 'ROUTE_NOT_FOUND';

function problemWith(route: DescribedRoute, { status, headers, text, body }: Answer): string | undefined {
  if (status >= 500) return `answered ${status}: ${text.slice(0, 300)}`;
  if (headers.get('x-request-id') === null) return 'has no X-Request-Id';
  const code = body?.error?.code;
  if (status === 404 && code === ELSEWHERE) return undefined;
  if (!route.statuses.includes(String(status))) return `answers ${status}, which is not described`;
  if (status === 200) return body === undefined || body.success === true ? undefined : 'is no success';
  if (status === 304) return undefined;
  const known = ERROR_CODES.includes(code) || ERROR_KEYS.includes(body?.data?.error_key);
  return known ? undefined : `is not in the error envelope: ${text.slice(0, 200)}`;
}
