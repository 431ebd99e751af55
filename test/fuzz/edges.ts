import type { Schema } from '../invariants/described-routes.ts';
import type { FuzzRoute } from './routes.ts';

/** Values at the edges of what PostgreSQL and JSON can hold, and beyond. */
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

/** One field of a request and what it could be: the rest of the request stays as it is, so that the value gets far. */
export interface EdgeField {
  readonly place: 'path' | 'query' | 'body';
  readonly field: readonly string[];
  readonly values: readonly unknown[];
}

export function edgeFieldsOf(route: FuzzRoute): EdgeField[] {
  // An empty part of a path is another path.
  const inPath = route.parameters.map(
    ({ name }): EdgeField => ({
      place: 'path',
      field: [name],
      values: [...TEXTS.slice(1), ...INTEGERS],
    }),
  );
  const inQuery = (route.operation.parameters ?? [])
    .filter((one) => one.in === 'query')
    .map(
      ({ name, schema = {} }): EdgeField => ({ place: 'query', field: [name], values: valuesFor(schema) }),
    );
  const inBody = fieldsOf(route.bodySchema, []).map(
    ({ field, schema }): EdgeField => ({ place: 'body', field, values: [...valuesFor(schema), ...OTHERS] }),
  );
  return [...inPath, ...inQuery, ...inBody];
}

/** Besides what breaks things, the ends of the range that the schema itself allows. */
function valuesFor(schema: Schema & { readonly maximum?: number }): readonly unknown[] {
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

export function withValue(body: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  const object = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const key = name as string;
  return { ...object, [key]: rest.length === 0 ? value : withValue(object[key], rest, value) };
}
