/** JSON Schema as far as the API's description uses it. */
export interface Schema {
  readonly $ref?: string;
  /** What the description calls it, where it was referred to. */
  readonly $name?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly nullable?: boolean;
}

/** TypeScript types from JSON Schema: each shape that has a name is written once and named everywhere else. */
export interface TypePrinter {
  /** The type of a schema; `name` is what it is called where its shape has no name yet. */
  typeOf(schema: Schema, name?: string): string;
  /** Gives a shape a name, whether it is met or not. */
  declare(name: string, schema: Schema): void;
  /** All declarations, in the order of their names. */
  declarations(): string;
  isDeclared(name: string): boolean;
}

/** A request is checked against exactly these words; an answer may have new ones (C9), which a client must expect. */
const CLOSED = /(Input|Request|Query|Params)$/;

export function typePrinter(known: ReadonlyMap<string, Schema>): TypePrinter {
  const names = new Map<string, string[]>();
  const declared = new Map<string, string>();
  // The shortest name first; the order in which a module lists its exports depends on who loads it.
  for (const [name, schema] of [...known].sort(
    ([left], [right]) => left.length - right.length || (left < right ? -1 : 1),
  )) {
    const key = shapeOf(schema);
    if (isWorthAName(schema)) names.set(key, [...(names.get(key) ?? []), name]);
  }

  /** Several shapes may be equal: the operation's own name tells which is meant. */
  function nameOf(schema: Schema, hint = ''): string | undefined {
    if (schema.$name !== undefined) return schema.$name;
    const candidates = names.get(shapeOf(schema)) ?? [];
    return candidates.findLast((name) => hint.includes(name)) ?? candidates[0];
  }

  function declare(name: string, schema: Schema): void {
    if (declared.has(name)) return;
    // Taken at once: what is met again on the way is a reference already.
    declared.set(name, '');
    const comment = schema.description === undefined ? '' : `${jsDoc(schema.description)}\n`;
    const body = print(schema, !CLOSED.test(name), 0);
    const isObject = schema.type === 'object' && body.startsWith('{');
    declared.set(
      name,
      `${comment}export ${isObject ? `interface ${name} ${body}` : `type ${name} = ${body};`}`,
    );
  }

  function typeOf(schema: Schema, name?: string): string {
    const found = nameOf(schema, name);
    if (found !== undefined) {
      declare(found, schema.$name === undefined ? (known.get(found) ?? schema) : schema);
      return found;
    }
    if (name === undefined) return print(schema, true, 0);
    if (schema.type === 'array' && schema.items !== undefined) {
      const item = typeOf(schema.items, `${name}Item`);
      return /[ |&]/.test(item) ? `(${item})[]` : `${item}[]`;
    }
    if (!print(schema, true, 0).includes('{')) return print(schema, true, 0);
    declare(name, schema);
    return name;
  }

  function nested(schema: Schema, isOpen: boolean, depth: number): string {
    const found = nameOf(schema);
    if (found === undefined) return print(schema, isOpen, depth);
    declare(found, schema.$name === undefined ? (known.get(found) ?? schema) : schema);
    return found;
  }

  function print(schema: Schema, isOpen: boolean, depth: number): string {
    const words = wordsOf(schema);
    if (words !== undefined) {
      const union = words.map((word) => JSON.stringify(word)).join(' | ');
      return isOpen && words.length > 1 && words.every((word) => typeof word === 'string')
        ? `${union} | (string & {})`
        : union;
    }
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives !== undefined) {
      return [...new Set(alternatives.map((one) => nested(one, isOpen, depth)))].join(' | ');
    }
    if (schema.allOf !== undefined) return schema.allOf.map((one) => nested(one, isOpen, depth)).join(' & ');
    const type = Array.isArray(schema.type) ? undefined : schema.type;
    const printed =
      type === undefined && Array.isArray(schema.type)
        ? schema.type.map((one) => print({ ...schema, type: one }, isOpen, depth)).join(' | ')
        : byType(type as string | undefined, schema, isOpen, depth);
    return schema.nullable === true ? `${printed} | null` : printed;
  }

  function byType(type: string | undefined, schema: Schema, isOpen: boolean, depth: number): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type;
      case 'number':
      case 'integer':
        return 'number';
      case 'array': {
        const item = schema.items === undefined ? 'unknown' : nested(schema.items, isOpen, depth);
        return /[ |&]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
      }
      case 'object':
        return objectType(schema, isOpen, depth);
      default:
        return schema.properties === undefined ? 'unknown' : objectType(schema, isOpen, depth);
    }
  }

  function objectType(schema: Schema, isOpen: boolean, depth: number): string {
    const { properties = {}, required = [] } = schema;
    const values = valuesOf(schema);
    if (Object.keys(properties).length === 0) {
      return values === undefined
        ? 'Record<string, never>'
        : `Record<string, ${nested(values, isOpen, depth)}>`;
    }
    const indent = '  '.repeat(depth + 1);
    const lines = Object.entries(properties).map(([key, property]) => {
      const comment =
        property.description === undefined ? '' : `${indent}${jsDoc(property.description, indent)}\n`;
      const isRequired = required.includes(key) && (isOpen || property.default === undefined);
      const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
      return `${comment}${indent}${name}${isRequired ? '' : '?'}: ${nested(property, isOpen, depth + 1)};`;
    });
    return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
  }

  return {
    typeOf,
    declare,
    isDeclared: (name) => declared.has(name),
    declarations: () =>
      [...declared]
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([, text]) => text)
        .join('\n\n'),
  };
}

function isWorthAName(schema: Schema): boolean {
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  return hasProperties || (wordsOf(schema)?.length ?? 0) > 1;
}

/** An enum, a constant, or alternatives that are all constants. */
function wordsOf(schema: Schema): readonly unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum !== undefined) return schema.enum;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives === undefined || alternatives.length === 0) return undefined;
  const words = alternatives.map((one) => one.const);
  return words.every((word) => word !== undefined) ? words : undefined;
}

function valuesOf({ patternProperties, additionalProperties }: Schema): Schema | undefined {
  const [pattern] = Object.values(patternProperties ?? {});
  if (pattern !== undefined) return pattern;
  if (additionalProperties === true) return {};
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** What two schemas have in common that describe the same values: annotations and spellings do not count. */
function shapeOf(schema: Schema): string {
  return JSON.stringify(shape(schema));
}

function shape(schema: Schema): unknown {
  const words = wordsOf(schema);
  if (words !== undefined) return { enum: [...words].map(String).sort() };
  const values = valuesOf(schema);
  const alternatives = schema.anyOf ?? schema.oneOf;
  const properties = Object.entries(schema.properties ?? {}).sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  return {
    type: schema.type,
    ...(schema.nullable === true ? { nullable: true } : {}),
    ...(schema.items === undefined ? {} : { items: shape(schema.items) }),
    ...(alternatives === undefined ? {} : { anyOf: alternatives.map(shape) }),
    ...(schema.allOf === undefined ? {} : { allOf: schema.allOf.map(shape) }),
    ...(values === undefined ? {} : { values: shape(values) }),
    ...(properties.length === 0
      ? {}
      : {
          properties: properties.map(([key, property]) => [key, shape(property)]),
          required: [...(schema.required ?? [])].sort(),
        }),
  };
}

export function jsDoc(text: string, indent = ''): string {
  const lines = text.replaceAll('*/', '* /').trim().split('\n');
  return lines.length === 1
    ? `/** ${lines[0]} */`
    : `/**\n${lines.map((line) => `${indent} * ${line}`).join('\n')}\n${indent} */`;
}

export function pascalCase(words: string): string {
  return words.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_whole, first: string) =>
    first.toUpperCase(),
  );
}

export function camelCase(words: string): string {
  return words.replaceAll(/_([a-z0-9])/g, (_whole, first: string) => first.toUpperCase());
}

/** A value that fits: the schema's own example, else the plainest of its kind. Optional parts are left out. */
export function sampleOf(schema: Schema, samples: Readonly<Record<string, unknown>> = {}): unknown {
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  const words = wordsOf(schema);
  if (words !== undefined) return words[0];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives?.some(({ type }) => type === 'null')) return null;
  if (alternatives?.[0] !== undefined) return sampleOf(alternatives[0], samples);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([key]) => schema.required?.includes(key))
          .map(([key, property]) => [key, samples[key] ?? sampleOf(property, samples)]),
      );
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return 1;
    default:
      return /address|0x/.test(schema.pattern ?? '') ? `0x${'0'.repeat(40)}` : 'sample';
  }
}
