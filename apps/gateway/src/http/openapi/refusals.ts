import { type ErrorCode, errorEntry, partnerErrorResponseOf, pascalCase } from '@causeway/protocol';
import type { Components, Schema } from './components.ts';

type Json = Readonly<Record<string, unknown>>;

/** The headers that answers carry, by name. */
export const HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': {
    description: 'Names this request in our logs; send your own to have it taken.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
  'RateLimit-Limit': { description: 'Requests that a minute has room for.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests that are left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the room is full again.', schema: { type: 'integer' } },
};

const headerRefs = (...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** A list of more is of one operation or two, and no name. */
const CODES_IN_A_NAME = 3;
const TOO_MANY = 429;
const UNAVAILABLE = 503;

function headersOf(status: number): Json {
  if (status === TOO_MANY) {
    return headerRefs(
      'X-Request-Id',
      'Retry-After',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
    );
  }
  return status === UNAVAILABLE ? headerRefs('X-Request-Id', 'Retry-After') : headerRefs('X-Request-Id');
}

/** Error responses by name: one a code, and alternatives where several codes of an operation share a status. */
export interface Refusals {
  readonly responses: Readonly<Record<string, Json>>;
  /** By status. */
  of(codes: readonly ErrorCode[]): Readonly<Record<string, Json>>;
}

export function createRefusals(components: Components): Refusals {
  const responses = new Map<string, Json>();

  function schemaOf(code: ErrorCode): Schema {
    const name = pascalCase(code);
    return components.add(
      name.endsWith('Error') ? name : `${name}Error`,
      partnerErrorResponseOf(code) as Schema,
    );
  }

  function contentOf(schema: Schema, code?: ErrorCode): Json {
    const example = code === undefined ? undefined : exampleOf(code);
    return { 'application/json': { schema, ...(example && { example }) } };
  }

  function responseOf(codes: readonly ErrorCode[], status: number): Json {
    const [only] = codes.length === 1 ? codes : [];
    const response = {
      description: only === undefined ? codes.join(', ') : `${only}: ${errorEntry(only).doc}`,
      headers: headersOf(status),
      content: contentOf(only === undefined ? { anyOf: codes.map(schemaOf) } : schemaOf(only), only),
    };
    if (codes.length > CODES_IN_A_NAME) return response;
    const name = codes.map(pascalCase).join('Or');
    responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    get responses() {
      return Object.fromEntries([...responses].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    of(codes) {
      const byStatus = new Map<number, ErrorCode[]>();
      for (const code of new Set(codes)) {
        const { status } = errorEntry(code);
        byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
      }
      return Object.fromEntries(
        [...byStatus].map(([status, sharing]) => [status, responseOf(sharing, status)]),
      );
    },
  };
}

/** Where a code has no details its whole answer is known. */
function exampleOf(code: ErrorCode): Json | undefined {
  const { details, message } = errorEntry(code);
  return details === null ? { success: false, error: { code, message, details: {} } } : undefined;
}
