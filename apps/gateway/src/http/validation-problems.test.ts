import { CancelOrderInput, Nullable, PercentInput } from '@causeway/protocol';
import { AjvCompiler } from '@fastify/ajv-compiler';
import type { FastifySchemaValidationError } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { meantProblems } from './validation-problems.ts';

const compile = AjvCompiler()({}, { customOptions: { allErrors: true, strict: false, coerceTypes: false } });

function problemsOf(schema: TSchema, value: unknown): string[] {
  const validate = compile({ schema } as never) as {
    (value: unknown): boolean;
    errors?: FastifySchemaValidationError[];
  };
  if (validate(value)) return [];
  return meantProblems(validate.errors ?? []).map(({ instancePath, message }) =>
    `${instancePath} ${message}`.trim(),
  );
}

const Text = Type.String({ maxLength: 3 });
const Pair = Type.Object({ a: Nullable(Text) });

describe('the problems of a value that fits no branch of a union', () => {
  it.each<[string, TSchema, unknown, string[]]>([
    [
      'an object is not told that it is not null',
      CancelOrderInput,
      { reason: 5 },
      ['/reason must be string'],
    ],
    [
      'nor is one with a text that is too long',
      CancelOrderInput,
      { reason: 'x'.repeat(501) },
      ['/reason must NOT have more than 500 characters'],
    ],
    ['of no branch: each is told', CancelOrderInput, 'why', ['must be object', 'must be null']],
    ['null first', Type.Union([Type.Null(), Text]), 'long', ['must NOT have more than 3 characters']],
    ['a number where a text is taken too', PercentInput, 1e300, ['must be <= 9007199254740991']],
    ['a field of an object', Pair, { a: 'long' }, ['/a must NOT have more than 3 characters']],
    [
      'items: each by its own value',
      Type.Array(Nullable(Text)),
      ['long', null, 7],
      ['/0 must NOT have more than 3 characters', '/2 must be string', '/2 must be null'],
    ],
    [
      'a union within a union',
      Type.Union([Type.Object({ b: Nullable(Pair) }), Type.Null()]),
      { b: { a: 'long' } },
      ['/b/a must NOT have more than 3 characters'],
    ],
    [
      'two branches of its type: both were meant',
      Type.Union([Type.Object({ a: Text }), Type.Object({ b: Text }), Type.Null()]),
      {},
      ["must have required property 'a'", "must have required property 'b'"],
    ],
    ['no union', Type.Object({ a: Text }), { a: 1 }, ['/a must be string']],
  ])('%s', (_what, schema, value, expected) => {
    expect(problemsOf(schema, value)).toEqual(expected);
  });
});
