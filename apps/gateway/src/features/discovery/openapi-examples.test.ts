import { AjvCompiler } from '@fastify/ajv-compiler';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dereference } from '../../../../../test/harness/api-description.ts';
import { registerMeasurement } from '../../http/measurement.ts';
import { registerOpenApi } from '../../http/openapi.ts';
import { createMetrics } from '../../lib/metrics.ts';
import type { Currencies } from '../../ports/currencies.ts';
import { type DiscoveryDeps, registerDiscoveryRoutes } from './reference.routes.ts';

/** Describing routes needs none of what answering them needs. */
const UNUSED = {
  currencies: { onChange() {} } as unknown as Currencies,
  offers: { onChange() {} },
} as unknown as DiscoveryDeps;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
interface Operation {
  operationId: string;
  parameters?: { name: string; schema: { [name: string]: Json }; example?: Json }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}
interface Description {
  paths: Record<string, Record<string, Operation>>;
}

let app: FastifyInstance;
let description: Description;
beforeAll(async () => {
  app = Fastify();
  await registerOpenApi(app, { baseUrl: 'http://localhost', sandbox: true });
  registerMeasurement(app, createMetrics());
  registerDiscoveryRoutes(app, UNUSED);
  await app.ready();
  description = dereference(app.apiDescription()) as unknown as Description;
});
afterAll(() => app.close());

const compile = AjvCompiler()({}, {
  customOptions: { strict: false, coerceTypes: false, useDefaults: false },
} as never);

function operations(): [string, Operation][] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation,
    ]),
  );
}

/** Every schema inside a schema that carries examples, with where it stands. */
function exemplified(schema: Json, at: string): { at: string; schema: { examples: Json[] } }[] {
  if (schema === null || typeof schema !== 'object') return [];
  if (Array.isArray(schema)) return schema.flatMap((item, index) => exemplified(item, `${at}/${index}`));
  const own = Array.isArray(schema.examples) ? [{ at, schema: schema as { examples: Json[] } }] : [];
  const inner = Object.entries(schema)
    .filter(([name]) => name !== 'examples')
    .flatMap(([name, value]) => exemplified(value, `${at}/${name}`));
  return [...own, ...inner];
}

// Proves C4.2.
test('all six supported resources and nineteen pass-through endpoints are described', () => {
  const paths = Object.keys(description.paths);
  expect(paths.filter((path) => path.startsWith('/api/v1/supported/'))).toHaveLength(6);
  expect(paths.filter((path) => !/supported\/|operator|openapi/.test(path))).toHaveLength(19);
});

test('every example is valid by the schema it stands in', () => {
  let checked = 0;
  for (const [name, operation] of operations()) {
    const bodies = Object.entries(operation.responses).flatMap(([status, { content }]) =>
      Object.values(content ?? {}).map(({ schema }) => ({ at: `${name} ${status}`, schema })),
    );
    const sent = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => ({
      at: `${name} body`,
      schema,
    }));
    // The description moves the example of a parameter out of its schema.
    const parameters = (operation.parameters ?? []).map(({ name: parameter, schema, example }) => ({
      at: `${name} ?${parameter}`,
      schema: example === undefined ? schema : { ...schema, examples: [example] },
    }));
    for (const { at, schema } of [...bodies, ...sent, ...parameters]) {
      for (const found of exemplified(schema, at)) {
        const validate = compile({ schema: found.schema } as never) as unknown as {
          (value: Json): boolean;
          errors?: unknown;
        };
        for (const example of found.schema.examples) {
          expect(validate(example), `${found.at}: ${JSON.stringify(validate.errors)}`).toBe(true);
          checked += 1;
        }
      }
    }
  }
  expect(checked).toBeGreaterThan(200);
});

test('every answer and every parameter has an example', () => {
  for (const [name, operation] of operations()) {
    const success = Object.values(operation.responses['200']?.content ?? {});
    for (const { schema } of success) expect(exemplified(schema, '').length, name).toBeGreaterThan(0);
    for (const parameter of operation.parameters ?? []) {
      expect(parameter.example, `${name} ?${parameter.name}`).toBeDefined();
    }
  }
});

test('every operation has a name of its own', () => {
  const names = operations().map(([, { operationId }]) => operationId);
  expect(new Set(names).size).toBe(names.length);
});
