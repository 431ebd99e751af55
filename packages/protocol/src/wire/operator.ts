import { type Static, Type } from 'typebox';
import { Uuid } from './common.ts';

/** Building blocks of the operator's routes. */

export const OPERATOR_TAG = 'Operator';

export const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$',
  description: 'Kept in the audit log; name no person in it',
  examples: ['Documents checked by hand, ticket 4711'],
});

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] }),
  offset: Type.Integer({ minimum: 0, maximum: 100_000_000, default: 0, examples: [0] }),
});

export const OffsetPage = Type.Object({
  total: Type.Integer({ examples: [1] }),
  limit: Type.Integer({ examples: [20] }),
  offset: Type.Integer({ examples: [0] }),
});

export const TextMap = Type.Record(Type.String(), Type.String());

/** For lists that grow without end: where they are cut, the cursor says how to go on. */
export const CursorQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] }),
  cursor: Type.Optional(Uuid),
});

export const CursorPage = Type.Object({
  limit: Type.Integer({ examples: [20] }),
  next_cursor: Type.Union([Uuid, Type.Null()]),
});

/** From one row more than the page has. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  idOf: (row: Row) => string,
): { readonly page: readonly Row[]; readonly pagination: Static<typeof CursorPage> } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, pagination: { limit, next_cursor: rows.length > limit && last ? idOf(last) : null } };
}

/** One of these words, in a query: the reference shows the first. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], examples: [values[0]] });
}
