import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { describedRoutes, type Schema } from './described-routes.ts';

interface Bounded extends Schema {
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/** What PostgreSQL, and a JSON number, can hold exactly. */
const EXACT = Number.MAX_SAFE_INTEGER;
/** A pattern that ends and repeats nothing without a limit bounds the length itself. */
const UNLIMITED = /(?<!\\)[*+]|\{\d+,\}/;

/** Every place in an input where something without a limit would be let in. */
function unbounded(schema: Bounded, path: string): string[] {
  const alternatives = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as readonly Bounded[] | undefined;
  if (alternatives !== undefined) return alternatives.flatMap((one) => unbounded(one, path));
  if (schema.enum !== undefined || schema.const !== undefined) return [];
  switch (schema.type) {
    case 'integer':
    case 'number': {
      const { minimum = -Infinity, maximum = Infinity } = schema;
      return minimum < -EXACT || maximum > EXACT ? [`${path}: ${schema.type} without bounds`] : [];
    }
    case 'string': {
      if (schema.format === 'date-time' && !schema.pattern?.includes('19[7-9]')) {
        return [`${path}: point in time without bounds`];
      }
      const isLimited =
        schema.maxLength !== undefined ||
        (schema.pattern?.startsWith('^') && schema.pattern.endsWith('$') && !UNLIMITED.test(schema.pattern));
      return isLimited ? [] : [`${path}: text without an end`];
    }
    case 'array': {
      const items = unbounded((schema.items ?? {}) as Bounded, `${path}[]`);
      return schema.maxItems === undefined ? [`${path}: list without an end`, ...items] : items;
    }
    default:
      return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
        unbounded(property as Bounded, `${path}.${name}`),
      );
  }
}

/** Bounded by the size of the request, and never stored as they come: documents, and what is judged by hand. */
const BOUNDED_ELSEWHERE = [/\.content: text without an end$/];

describe('every field of every request', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  it('has bounds that PostgreSQL accepts: numbers, texts, lists and points in time', async () => {
    const found: string[] = [];
    for (const { method, path, bodySchema, operation } of await describedRoutes(gateway)) {
      const where = `${method} ${path}`;
      for (const { name, in: place, schema = {} } of operation.parameters ?? []) {
        // An address is bounded as a whole, and so is a header.
        const known = unbounded(schema as Bounded, `${where} ${place} ${name}`);
        found.push(...(place === 'query' ? known : known.filter((one) => !one.endsWith('without an end'))));
      }
      if (bodySchema !== undefined) found.push(...unbounded(bodySchema as Bounded, `${where} body`));
    }
    expect(found.filter((one) => !BOUNDED_ELSEWHERE.some((pattern) => pattern.test(one)))).toEqual([]);
  });
});
