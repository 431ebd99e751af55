import { pascalCase } from '@causeway/protocol';
import { type Components, canonical, type Schema } from './components.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  /** Left out where it is not. */
  readonly required?: true;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface WithParameters {
  parameters?: readonly (Parameter | { readonly $ref: string })[];
}

/** The fields of an object as parameters. */
export function parametersOf(
  place: Parameter['in'],
  object: Schema | undefined,
  components: Components,
): Parameter[] {
  const required = new Set(object?.required ?? []);
  return Object.entries(object?.properties ?? {}).map(([name, schema]) => {
    // A default stands in where a parameter is left out.
    const needed = place === 'path' || (required.has(name) && !('default' in schema));
    return parameterOf(place, name, schema, needed, components);
  });
}

/** Description and example belong to the parameter rather than to its schema. */
export function parameterOf(
  place: Parameter['in'],
  name: string,
  schema: Schema,
  required: boolean,
  components: Components,
): Parameter {
  const { description, examples } = schema;
  const { description: _text, examples: _values, ...shape } = components.refer(schema);
  return {
    name,
    in: place,
    ...(required && { required }),
    ...(description !== undefined && { description }),
    schema: shape,
    ...(examples?.[0] !== undefined && { example: examples[0] }),
  };
}

const SHARED_FROM = 3;

/**
 * Replaces parameters that several operations have by references, and answers them by name. A name is that of the
 * parameter; where there are several of one name the one that is used most has it, and the others stay where they are.
 */
export function shareParameters(operations: readonly WithParameters[]): Readonly<Record<string, Parameter>> {
  const uses = new Map<string, { readonly parameter: Parameter; count: number }>();
  for (const { parameters = [] } of operations) {
    for (const parameter of parameters as readonly Parameter[]) {
      const key = canonical(parameter);
      const known = uses.get(key) ?? { parameter, count: 0 };
      known.count += 1;
      uses.set(key, known);
    }
  }
  const shared = new Map<string, { readonly key: string; readonly parameter: Parameter }>();
  // Sorting is stable: of those that are used equally often the first one described wins.
  for (const [key, { parameter, count }] of [...uses].sort(([, a], [, b]) => b.count - a.count)) {
    const name = pascalCase(parameter.name);
    if (count >= SHARED_FROM && !shared.has(name)) shared.set(name, { key, parameter });
  }
  const refs = new Map(
    [...shared].map(([name, { key }]) => [key, { $ref: `#/components/parameters/${name}` }]),
  );
  for (const operation of operations) {
    if (operation.parameters === undefined) continue;
    operation.parameters = operation.parameters.map((one) => refs.get(canonical(one)) ?? one);
  }
  return Object.fromEntries([...shared].map(([name, { parameter }]) => [name, parameter]));
}
