import { NAMED_ENUMS, namedSchemas } from '@causeway/protocol';

/** JSON Schema as it is written; what this file does not look at passes through. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** The schemas of one description: each named shape stands in it once, and is referred to everywhere else. */
export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  /** The schema as it stands in the description: a reference where its shape has a name. */
  refer(schema: Schema): Schema;
  /** Adds a schema under a name of its own and answers a reference to it. */
  add(name: string, schema: Schema): Schema;
}

/** They say something about a place, not about a shape, and may stand beside a reference. */
const ANNOTATIONS = ['description', 'examples', 'default', 'writeOnly', 'deprecated'] as const;
const ANY_NAME = '^.*$';

export function createComponents(): Components {
  const written = new Map<string, Schema>();
  const names = nameIndex();

  function refer(given: Schema): Schema {
    const schema = withoutConstants(given);
    const found = names.of(given, schema);
    return found === undefined ? expand(schema) : reference(found.name, found.schema, schema);
  }

  function reference(name: string, named: Schema, here: Schema): Schema {
    if (!written.has(name)) {
      // Taken at once, so that a name that is met again while it is written is a reference already.
      written.set(name, {});
      written.set(name, expand(named));
    }
    const own = annotationsOf(here);
    const shared = annotationsOf(named);
    const different = Object.entries(own).filter(([key, value]) => !same(value, shared[key]));
    return { $ref: `#/components/schemas/${name}`, ...Object.fromEntries(different) };
  }

  /** A copy with references inside. */
  function expand(schema: Schema): Schema {
    const { patternProperties, properties, items, anyOf, oneOf, allOf, additionalProperties, ...rest } =
      schema;
    const values = patternProperties?.[ANY_NAME];
    return {
      ...rest,
      ...(properties && { properties: mapValues(properties, refer) }),
      // A record: generators read it from additionalProperties only.
      ...(values && { additionalProperties: refer(values) }),
      ...(patternProperties && !values && { patternProperties: mapValues(patternProperties, refer) }),
      ...(additionalProperties !== undefined && {
        additionalProperties:
          typeof additionalProperties === 'boolean' ? additionalProperties : refer(additionalProperties),
      }),
      ...(items && { items: refer(items) }),
      ...(anyOf && { anyOf: anyOf.map(refer) }),
      ...(oneOf && { oneOf: oneOf.map(refer) }),
      ...(allOf && { allOf: allOf.map(refer) }),
    };
  }

  return {
    get schemas() {
      return Object.fromEntries([...written].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    refer,
    add(name, schema) {
      const expanded = expand(schema);
      const before = written.get(name);
      if (before !== undefined && !same(before, expanded)) throw new Error(`two schemas are called ${name}`);
      written.set(name, expanded);
      return { $ref: `#/components/schemas/${name}` };
    },
  };
}

interface Named {
  readonly name: string;
  readonly schema: Schema;
}

/**
 * Finds a schema's name: by the object itself, else by its shape, because what is optional or described otherwise in
 * one place is a copy there. Words are named by their list.
 */
function nameIndex() {
  const enums = new Map<string, Named>();
  for (const { name, meanings } of NAMED_ENUMS) {
    const words = Object.keys(meanings);
    const schema = { type: 'string', enum: words, 'x-enum-descriptions': Object.values(meanings) };
    enums.set(JSON.stringify(words), { name, schema });
  }
  const objects = new Map<Schema, Named>();
  const shapes = new Map<string, Named[]>();
  for (const [name, schema] of namedSchemas() as ReadonlyMap<string, Schema>) {
    const words = withoutConstants(schema).enum;
    const known = enums.get(JSON.stringify(words));
    if (known?.name === name) Object.assign(known.schema, annotationsOf(schema));
    if (words !== undefined) continue;
    if (NAMED_ENUMS.some((one) => one.name === name)) throw new Error(`words and a shape are called ${name}`);
    objects.set(schema, { name, schema });
    const shape = shapeOf(schema);
    shapes.set(shape, [...(shapes.get(shape) ?? []), { name, schema }]);
  }
  return {
    of(given: Schema, schema: Schema): Named | undefined {
      if (schema.enum !== undefined) return enums.get(JSON.stringify(schema.enum));
      const known = objects.get(given);
      if (known !== undefined) return known;
      // Without a rule of its own a text is told from another by what is said of it.
      const isBare = Object.keys(schema).every((key) => key === 'type' || isAnnotation(key));
      const alike = shapes.get(shapeOf(schema)) ?? [];
      return (
        alike.find((one) => one.schema.description === schema.description) ??
        (isBare || schema.description === undefined ? undefined : alike[0])
      );
    },
  };
}

/** Alternatives that are constants are one list of words: generators make a type of it. */
function withoutConstants(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (anyOf === undefined || anyOf.length === 0 || !anyOf.every((one) => typeof one.const === 'string')) {
    return schema;
  }
  return { ...rest, type: 'string', enum: anyOf.map((one) => one.const) };
}

function annotationsOf(schema: Schema): Readonly<Record<string, unknown>> {
  const all = schema as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    ANNOTATIONS.filter((key) => all[key] !== undefined).map((key) => [key, all[key]]),
  );
}

const isAnnotation = (key: string) => (ANNOTATIONS as readonly string[]).includes(key);

function shapeOf(schema: Schema): string {
  const bare = Object.entries(schema).filter(([key]) => !isAnnotation(key));
  return canonical(Object.fromEntries(bare));
}

/** The same text for the same value, however its fields are ordered. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function same(a: unknown, b: unknown): boolean {
  return canonical(a ?? null) === canonical(b ?? null);
}

function mapValues<V, R>(record: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
