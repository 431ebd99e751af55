import { type TSchema, Type } from 'typebox';
import { type ErrorCode, errorEntry } from './catalogue.ts';
import { ERROR_KEYS } from './error-keys.ts';

/** What every endpoint answers where it succeeds. */
export function successResponseOf<D extends TSchema>(data: D) {
  return Type.Object({ success: Type.Literal(true), data }, { description: 'Success' });
}

/** Any error of a partner endpoint. Codes are open: clients must tolerate new ones. */
export const PartnerErrorResponse = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.String({ description: 'A code of the error catalogue.' }),
      message: Type.String({ description: 'For people; may be reworded at any time.' }),
      details: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Depends on the code; `{}` when it has none.',
      }),
    }),
  },
  { description: 'Error of a partner endpoint' },
);

/** Any error of a supported-resources endpoint. */
export const SupportedErrorResponse = Type.Object(
  {
    success: Type.Literal(false),
    data: Type.Object({
      error_key: Type.Union(ERROR_KEYS.map((key) => Type.Literal(key))),
    }),
  },
  { description: 'Error of a supported-resources endpoint' },
);

/** The envelope of one code, its details spelled out: what a route's reference page shows. */
export function partnerErrorResponseOf(code: ErrorCode): TSchema {
  const entry = errorEntry(code);
  return Type.Object(
    {
      success: Type.Literal(false),
      error: Type.Object({
        code: Type.Literal(code),
        message: Type.String({ examples: [entry.message] }),
        details: entry.details ?? Type.Object({}),
      }),
    },
    { description: entry.doc },
  );
}
