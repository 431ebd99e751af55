import { UUID_PATTERN } from '@causeway/protocol';
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
  const first = when === 'at first use';
  return {
    compilersFactory: {
      buildValidator: ((...args: Parameters<typeof buildValidator>) => {
        const compile = keptBySchema('validate', args, () => buildValidator(...args) as Compile<Validator>);
        return first ? (route: Route) => validateLater(() => compile(route)) : compile;
      }) as never,
      buildSerializer: ((...args: Parameters<typeof buildSerializer>) => {
        const compile = keptBySchema(
          'serialize',
          args,
          () => buildSerializer(...args) as Compile<Serializer>,
        );
        return first ? (route: Route) => serializeLater(() => compile(route)) : compile;
      }) as never,
    },
  };
}

interface Route {
  readonly httpPart?: string;
  readonly schema: unknown;
}
type Compile<Compiled> = (route: Route) => Compiled;
type Serializer = (answer: unknown) => string;
type Validator = { (value: unknown): unknown; errors?: unknown };

/** What was made of each schema, by what the schema says. */
const made = new Map<string, unknown>();

/** Routes have many schemas in common, and the servers of one process have all: each is compiled once. */
function keptBySchema<Compiled>(
  purpose: string,
  settings: readonly unknown[],
  build: () => Compile<Compiled>,
): Compile<Compiled> {
  let compile: Compile<Compiled> | undefined;
  const ground = `${purpose} ${JSON.stringify(settings)}`;
  return (route) => {
    const key = `${ground} ${route.httpPart === 'body'} ${JSON.stringify(route.schema)}`;
    const before = made.get(key) as Compiled | undefined;
    if (before !== undefined) return before;
    compile ??= build();
    const compiled = compile(route);
    made.set(key, compiled);
    return compiled;
  };
}

function serializeLater(compile: () => Serializer): Serializer {
  let serialize: Serializer | undefined;
  return (answer) => {
    serialize ??= compile();
    return serialize(answer);
  };
}

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
      keywords: [LOWER_CASED],
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
        ? strict({ ...route, schema: lengthFirst(idsLowerCased(route.schema)) } as never)
        : lenient({ ...route, schema: idsLowerCased(route.schema) } as never);
  }) as never;
}

/**
 * An id means the same in capitals, as some languages write it. It is lower-cased at the door, because what is sealed
 * names the id that it belongs to, letter by letter.
 */
const LOWER_CASED = {
  keyword: 'lowerCased',
  type: 'string',
  schemaType: 'boolean',
  modifying: true,
  errors: false,
  validate: (_asked: boolean, text: string, _schema: unknown, at: Place) => {
    at.parentData[at.parentDataProperty] = text.toLowerCase();
    return true;
  },
} as const;

interface Place {
  readonly parentData: Record<string | number, unknown>;
  readonly parentDataProperty: string | number;
}

function idsLowerCased(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(idsLowerCased);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, idsLowerCased(value)]),
  );
  return copy.pattern === UUID_PATTERN ? { ...copy, [LOWER_CASED.keyword]: true } : copy;
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
