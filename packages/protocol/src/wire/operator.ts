import { Type } from 'typebox';

/** Building blocks of the operator's routes. */

export const OPERATOR_TAG = 'Operator';

export const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$',
  description: 'Kept in the audit log; name no person in it',
  examples: ['Documents checked by hand, ticket 4711'],
});

export const OptionalReason = Type.Optional(Reason);

/** The body of an action that needs nothing but its reason. */
export const ReasonInput = Type.Object({ reason: Reason });

export const TextMap = Type.Record(Type.String(), Type.String());

/** One of these words, in a query: the reference shows the first. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], examples: [values[0]] });
}
