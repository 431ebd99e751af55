/** The API description, read for people and programs: each operation with one request that shows how it is called. */
export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** The class of key it takes; none where it is public. */
  readonly keyClass: KeyClass | undefined;
  readonly pathParameters: readonly ApiParameter[];
  readonly query: readonly ApiParameter[];
  readonly headers: readonly ApiParameter[];
  readonly body: ApiBody | undefined;
}

export interface ApiParameter {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
  readonly example: string;
}

export interface ApiBody {
  readonly mediaType: string;
  /** Of a JSON body. */
  readonly example: unknown;
}

export const KEY_CLASSES = ['partner', 'widget', 'session', 'vendor', 'operator'] as const;
export type KeyClass = (typeof KEY_CLASSES)[number];

export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, Node>>>>;
}

/** A part of the description: what is read of it is checked where it is read. */
type Node = Readonly<Record<string, unknown>>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export function operationsOf(document: ApiDocument): ApiOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [operationOf(document, method, path, operation)];
    }),
  );
}

function operationOf(document: ApiDocument, method: string, path: string, operation: Node): ApiOperation {
  const parameters = listOf(operation.parameters).map((parameter) => follow(document, parameter));
  const placed = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => parameterOf(document, parameter));
  return {
    id: textOf(operation.operationId),
    method: method.toUpperCase(),
    path,
    tag: String((operation.tags as readonly unknown[] | undefined)?.[0] ?? 'Other'),
    summary: textOf(operation.summary) || `${method.toUpperCase()} ${path}`,
    description: textOf(operation.description),
    keyClass: keyClassOf(operation.security),
    pathParameters: placed('path'),
    query: placed('query'),
    headers: placed('header'),
    body: bodyOf(document, operation.requestBody),
  };
}

function keyClassOf(security: unknown): KeyClass | undefined {
  const [scheme] = listOf(security).flatMap((requirement) => Object.keys(requirement));
  return scheme === undefined ? undefined : classOfScheme(scheme);
}

/** Schemes are named after the class whose key they carry. */
export function classOfScheme(scheme: string): KeyClass | undefined {
  return KEY_CLASSES.find((name) => scheme.toLowerCase().startsWith(name));
}

function parameterOf(document: ApiDocument, parameter: Node): ApiParameter {
  const given = exampleOf(document, parameter) ?? sample(document, parameter.schema);
  // A parameter that may be repeated is shown once.
  const example = Array.isArray(given) ? given[0] : given;
  return {
    name: textOf(parameter.name),
    required: parameter.required === true,
    description: textOf(parameter.description) || textOf(follow(document, parameter.schema).description),
    example:
      typeof example === 'object' && example !== null ? JSON.stringify(example) : String(example ?? ''),
  };
}

function bodyOf(document: ApiDocument, requestBody: unknown): ApiBody | undefined {
  if (requestBody === undefined) return undefined;
  const content = Object.entries(nodeOf(follow(document, requestBody).content));
  const [mediaType, media] = content.find(([type]) => type === 'application/json') ?? content[0] ?? [];
  if (mediaType === undefined) return undefined;
  if (mediaType !== 'application/json') return { mediaType, example: undefined };
  const described = nodeOf(media);
  return { mediaType, example: exampleOf(document, described) ?? sample(document, described.schema) };
}

/** The example that the description gives: of the place itself, else of its schema. */
function exampleOf(document: ApiDocument, place: Node): unknown {
  if (place.example !== undefined) return place.example;
  const named = Object.values(nodeOf(place.examples)).map((example) => follow(document, example));
  if (named[0] !== undefined && 'value' in named[0]) return named[0].value;
  const schema = follow(document, place.schema);
  return schema.example ?? (Array.isArray(schema.examples) ? schema.examples[0] : undefined);
}

const MAX_DEPTH = 8;
const SAMPLES_OF_FORMAT: Readonly<Record<string, string>> = {
  uuid: '01990000-0000-7000-8000-000000000000',
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00.000Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
};

/** A value that fits a schema without an example: what must be there, and nothing else. */
function sample(document: ApiDocument, schema: unknown, depth = 0): unknown {
  const node = follow(document, schema);
  if (node.example !== undefined) return node.example;
  if (Array.isArray(node.examples)) return node.examples[0];
  if (node.const !== undefined) return node.const;
  if (node.default !== undefined) return node.default;
  if (Array.isArray(node.enum)) return node.enum[0];
  const [alternative] = [...listOf(node.anyOf), ...listOf(node.oneOf), ...listOf(node.allOf)];
  if (alternative !== undefined) return sample(document, alternative, depth);
  const type = Array.isArray(node.type) ? node.type[0] : node.type;
  switch (type) {
    case 'object': {
      if (depth >= MAX_DEPTH) return {};
      const required = Array.isArray(node.required) ? node.required.map(String) : [];
      const properties = nodeOf(node.properties);
      return Object.fromEntries(
        required.map((name) => [name, sample(document, properties[name], depth + 1)]),
      );
    }
    case 'array':
      return depth >= MAX_DEPTH ? [] : [sample(document, node.items, depth + 1)];
    case 'integer':
    case 'number':
      return node.minimum ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return SAMPLES_OF_FORMAT[textOf(node.format)] ?? '';
    default:
      return null;
  }
}

/** What a `$ref` leads to; the description refers to nothing outside itself. */
function follow(document: ApiDocument, value: unknown): Node {
  const node = nodeOf(value);
  if (typeof node.$ref !== 'string') return node;
  const parts = node.$ref.replace(/^#\//, '').split('/');
  const target = parts.reduce<unknown>(
    (at, part) => nodeOf(at)[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  return follow(document, target);
}

function nodeOf(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}

function listOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.map(nodeOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Operations by chapter, in the order of the description's tags. */
export function byTag(
  document: ApiDocument,
  operations: readonly ApiOperation[],
): { readonly name: string; readonly description: string; readonly operations: readonly ApiOperation[] }[] {
  const described = new Map((document.tags ?? []).map(({ name, description }) => [name, description ?? '']));
  const names = [...new Set([...described.keys(), ...operations.map(({ tag }) => tag)])];
  return names
    .map((name) => ({
      name,
      description: described.get(name) ?? '',
      operations: operations.filter(({ tag }) => tag === name),
    }))
    .filter((chapter) => chapter.operations.length > 0);
}
