import {
  CountryCodeInput,
  EventId,
  EventListQuery,
  ExportQuery,
  FiatCode,
  TimestampInput,
  Uuid,
} from '@causeway/protocol';

/**
 * What of a path and a query is logged. A value is kept where the schema of its parameter leaves no room for anything
 * personal, and the value is one that the schema allows: ids, numbers within bounds, times, codes, words of a list. Any
 * other value stands as an ellipsis, and a parameter that the route does not know is left out, name and all: a refused
 * request may carry anything anywhere.
 */
export type Keeps = (value: string) => boolean;

/** The parts of a parameter's JSON schema that decide. */
export interface ParameterSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly ParameterSchema[];
  readonly items?: ParameterSchema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ParameterSchema>>;
}

const HIDDEN = '…';
const MAX_LENGTH = 1_000;
/** Of one value: ids and times are shorter. */
const MAX_VALUE_LENGTH = 64;

/** Patterns of ids, times and codes. A pattern that is not here may be one of names. */
const ID_PATTERNS: ReadonlySet<string> = new Set(
  [Uuid, EventId, TimestampInput(''), CountryCodeInput, FiatCode(), ExportQuery.properties.from].map(
    (schema) => (schema as ParameterSchema).pattern ?? '',
  ),
);

const CURSOR_PATTERN = (EventListQuery.properties.after as ParameterSchema).pattern;

const NOTHING: Keeps = () => false;
const BOOLEANS = new Set(['true', 'false']);

export function keepsOf(schema: ParameterSchema): Keeps {
  if (schema.enum !== undefined) return oneOf(schema.enum);
  if (schema.const !== undefined) return oneOf([schema.const]);
  if (schema.anyOf !== undefined) {
    const alternatives = schema.anyOf.map(keepsOf);
    return (value) => alternatives.some((keeps) => keeps(value));
  }
  switch (schema.type) {
    case 'array':
      return keepsOf(schema.items ?? {});
    case 'integer':
    case 'number':
      return within(schema.minimum, schema.maximum);
    case 'boolean':
      return (value) => BOOLEANS.has(value);
    case 'string':
      // A long one could be a phone number as well.
      if (schema.pattern === CURSOR_PATTERN) return matching(NUMBER);
      return schema.pattern !== undefined && ID_PATTERNS.has(schema.pattern)
        ? matching(new RegExp(schema.pattern))
        : NOTHING;
    default:
      return NOTHING;
  }
}

function oneOf(words: readonly unknown[]): Keeps {
  const known = new Set(words.map(String));
  return (value) => known.has(value);
}

function matching(pattern: RegExp): Keeps {
  return (value) => value.length <= MAX_VALUE_LENGTH && pattern.test(value);
}

const NUMBER = /^-?[0-9]{1,9}$/;

/** A number without bounds could be anybody's phone number. */
function within(minimum: number | undefined, maximum: number | undefined): Keeps {
  if (minimum === undefined || maximum === undefined) return NOTHING;
  return (value) => NUMBER.test(value) && Number(value) >= minimum && Number(value) <= maximum;
}

/** How the service writes ids that stand in paths: UUIDs, those of events, accounts and payment details, the default webhook. */
const PATH_ID =
  /^(?:(?:evt_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|retail_[1-9][0-9]{0,17}|default)$/i;

/** Of one route: its words stay as they are, and of its parameters what is an id. */
export function pathKeeper(route: string, params: ObjectSchema | undefined): (path: string) => string {
  const parts = route.split('/').map((part) => {
    if (!part.startsWith(':')) return part;
    const keeps = keepsOf(params?.properties?.[part.slice(1)] ?? {});
    return (value: string) => (PATH_ID.test(value) || keeps(value) ? value : HIDDEN);
  });
  return (path) => {
    const given = path.split('/');
    return parts.map((part, index) => (typeof part === 'string' ? part : part(given[index] ?? ''))).join('/');
  };
}

/** Of a path that no route has: words of some route and ids. */
export function unknownPathKeeper(words: ReadonlySet<string>): (path: string) => string {
  return (path) =>
    path
      .split('/')
      .slice(0, 20)
      .map((part) => (words.has(part) || PATH_ID.test(part) ? part : HIDDEN))
      .join('/')
      .slice(0, MAX_LENGTH);
}

/** Of one route: null where nothing of the query is known to it. */
export function queryKeeper(schema: ObjectSchema | undefined): (query: string) => string | null {
  const known = new Map(
    Object.entries(schema?.properties ?? {}).map(([name, property]) => [name, keepsOf(property)]),
  );
  return (query) => {
    if (query === '' || known.size === 0) return null;
    const kept: string[] = [];
    for (const [name, value] of new URLSearchParams(query)) {
      const keeps = known.get(name);
      if (keeps !== undefined) kept.push(`${name}=${keeps(value) ? value : HIDDEN}`);
    }
    return kept.length === 0 ? null : kept.join('&').slice(0, MAX_LENGTH);
  };
}

const FIELD_NAME = /^[a-z][a-z0-9_]{0,39}(?:\.(?:[a-z][a-z0-9_]{0,39}|[0-9]{1,4})){0,8}$/;
const MAX_FIELDS = 20;

interface ErrorDetails {
  readonly field?: unknown;
  readonly fields?: unknown;
  readonly missing_fields?: unknown;
}

/** The code of a refusal, and the names of the fields that it is about: messages may repeat what was sent. */
export function refusalOf(body: string): {
  readonly code: string | null;
  readonly fields: readonly string[];
} {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; details?: ErrorDetails } };
    const { field, fields, missing_fields } = error?.details ?? {};
    const named = [field, ...listOf(fields), ...listOf(missing_fields)].map((one) =>
      typeof one === 'object' && one !== null && 'path' in one ? one.path : one,
    );
    const names = named.filter((name) => typeof name === 'string' && FIELD_NAME.test(name)) as string[];
    const code = typeof error?.code === 'string' && /^[A-Z_]{1,60}$/.test(error.code) ? error.code : null;
    return { code, fields: [...new Set(names)].slice(0, MAX_FIELDS) };
  } catch {
    // Not an envelope of ours: a stream that broke, an answer cut short.
    return { code: null, fields: [] };
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const PRODUCT = /[A-Za-z][A-Za-z0-9._-]{0,39}\/v?[0-9][A-Za-z0-9._+-]{0,19}/g;
const MAX_PRODUCTS = 5;

/** Names and versions of programs: what is in brackets tells of the machine, and other words may be anything. */
export function programsOf(userAgent: string): string | null {
  const products = userAgent.slice(0, 500).match(PRODUCT)?.slice(0, MAX_PRODUCTS).join(' ').slice(0, 200);
  return products === undefined || products === '' ? null : products;
}
