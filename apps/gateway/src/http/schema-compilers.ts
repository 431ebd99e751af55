import { AjvCompiler } from '@fastify/ajv-compiler';
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';

/**
 * Makes functions of the routes' schemas. All of them take a second: production spends it at its start, a sandbox when
 * a route is first used, because there a person waits for the start.
 */
export function schemaCompilers(when: 'at start' | 'at first use'): FastifyServerOptions['schemaController'] {
  const buildValidator = strictBodies();
  const buildSerializer = SerializerSelector();
  if (when === 'at start') return { compilersFactory: { buildValidator } };
  return {
    compilersFactory: {
      buildValidator: ((...args: Parameters<typeof buildValidator>) => {
        const compile = buildValidator(...args) as Compile<Validator>;
        return (route: unknown) => validateLater(() => compile(route));
      }) as never,
      buildSerializer: ((...args: Parameters<typeof buildSerializer>) => {
        const compile = buildSerializer(...args) as Compile<Serializer>;
        return (route: unknown) => {
          let serialize: Serializer | undefined;
          return (answer: unknown) => {
            serialize ??= compile(route);
            return serialize(answer);
          };
        };
      }) as never,
    },
  };
}

type Compile<Compiled> = (route: unknown) => Compiled;
type Serializer = (answer: unknown) => string;
type Validator = { (value: unknown): unknown; errors?: unknown };

/** Fastify reads what is wrong from the function that it called. */
function validateLater(compile: () => Validator): Validator {
  let validate: Validator | undefined;
  const later: Validator = (value) => {
    validate ??= compile();
    const answer = validate(value);
    later.errors = validate.errors;
    return answer;
  };
  return later;
}

/**
 * Query strings and paths are text, so their numbers are read from it; a JSON body says what it means and is
 * never bent into shape: an amount sent as a number is an error, not a guess.
 */
function strictBodies(): ReturnType<typeof AjvCompiler> {
  const build = AjvCompiler();
  return ((externalSchemas: unknown, ajvOptions: { customOptions?: object }) => {
    const common = {
      allErrors: true,
      removeAdditional: false,
      useDefaults: true,
      strict: false,
      // Only reports where and why, never the value: values may be personal data.
      verbose: false,
    };
    const strict = build(
      externalSchemas as never,
      { ...ajvOptions, customOptions: { ...common, coerceTypes: false } } as never,
    );
    const lenient = build(
      externalSchemas as never,
      { ...ajvOptions, customOptions: { ...common, coerceTypes: 'array' } } as never,
    );
    return (route: { httpPart?: string; schema: unknown }) =>
      route.httpPart === 'body'
        ? strict({ ...route, schema: lengthFirst(route.schema) } as never)
        : lenient(route as never);
  }) as never;
}

/** An array that is longer than it may be is only told that: a fault for each of its items would take seconds to note. */
function lengthFirst(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lengthFirst);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, lengthFirst(value)]));
  const { items, ...rest } = copy;
  if (items === undefined || typeof copy.maxItems !== 'number') return copy;
  return { ...rest, if: { minItems: copy.maxItems + 1 }, else: { items } };
}
