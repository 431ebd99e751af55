import type { TSchema } from 'typebox';
import * as errorDetails from '../errors/details.ts';
import { PartnerErrorResponse, SupportedErrorResponse } from '../errors/index.ts';
import * as wire from '../wire/index.ts';

/** Queries, paths and filters are described as parameters, one by one. */
const PARAMETERS = /(Query|Params|Headers|Filter)$/;

/**
 * Every wire schema by the name that the API's description, and each client generated from it, has for its shape: the
 * name of its export without `Schema`. A schema that is exported from `wire/` needs nothing else to be a named one.
 */
export function namedSchemas(): ReadonlyMap<string, TSchema> {
  const named = new Map<string, TSchema>([
    ['PartnerError', PartnerErrorResponse],
    ['SupportedResourceError', SupportedErrorResponse],
  ]);
  for (const [exported, value] of Object.entries(wire)) {
    if (!isSchema(value) || PARAMETERS.test(exported) || exported.startsWith('Optional')) continue;
    named.set(exported.replace(/Schema$/, ''), withoutNull(value));
  }
  for (const [exported, value] of Object.entries(errorDetails)) {
    if (isSchema(value)) named.set(pascalCase(exported), value);
  }
  for (const [type, { data }] of Object.entries(wire.PARTNER_EVENTS))
    named.set(`${pascalCase(type)}Data`, data);
  return named;
}

/** `order.status.changed`, `INVALID_STATUS` and `getOrder` as names of types. */
export function pascalCase(words: string): string {
  const spaced = /[a-z]/.test(words) ? words : words.toLowerCase();
  return spaced.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_whole, first: string) =>
    first.toUpperCase(),
  );
}

/** A body that may be left out may be null as well: the name is that of what is in it otherwise. */
export function withoutNull(schema: TSchema): TSchema {
  const alternatives = (schema as { anyOf?: readonly TSchema[] }).anyOf;
  const others = alternatives?.filter((one) => (one as { type?: unknown }).type !== 'null');
  const [only] = others ?? [];
  return alternatives !== undefined && others?.length === 1 && only !== undefined ? only : schema;
}

function isSchema(value: unknown): value is TSchema {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { type, anyOf } = value as { type?: unknown; anyOf?: unknown };
  return typeof type === 'string' || Array.isArray(anyOf);
}
