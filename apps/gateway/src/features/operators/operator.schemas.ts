import { Type } from 'typebox';

/** Building blocks of the operator's routes. */

export const OPERATOR_TAG = 'Operator';

export const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$',
  description: 'Kept in the audit log; name nobody in it',
  examples: ['Documents checked by hand, ticket 4711'],
});

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, maximum: 100_000_000, default: 0 }),
});

export const OffsetPage = Type.Object({
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
});

export const TextMap = Type.Record(Type.String(), Type.String());
