import { type TSchema, Type } from 'typebox';
import { type DetailsOf, type ErrorCode, errorEntry } from './catalogue.ts';
import { ERROR_KEYS } from './error-entry.ts';

type WithDetails<Code extends ErrorCode> =
  Record<string, never> extends DetailsOf<Code>
    ? { readonly details?: DetailsOf<Code> }
    : { readonly details: DetailsOf<Code> };

export type CausewayErrorInit<Code extends ErrorCode> = WithDetails<Code> & {
  /** A public message that says more than the catalogue's; ignored for 5xx codes. */
  readonly message?: string;
  /** What really happened, for logs. It never leaves the process. */
  readonly cause?: unknown;
};

// Details that a code requires must be given; where all of them are optional the whole argument is.
type InitArguments<Code extends ErrorCode> =
  Record<string, never> extends CausewayErrorInit<Code>
    ? [init?: CausewayErrorInit<Code>]
    : [init: CausewayErrorInit<Code>];

/** `{ success: false, error }`: what every partner endpoint answers when it refuses or fails. */
export interface PartnerErrorBody<Code extends ErrorCode = ErrorCode> {
  readonly success: false;
  readonly error: {
    readonly code: Code;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

/**
 * A refusal or failure with a code of the catalogue.
 *
 * @example throw new CausewayError('ORDER_NOT_FOUND');
 * @example throw new CausewayError('INVALID_STATUS', { details: { status: 'completed', allowed_actions: [] } });
 * @example throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause: error });
 */
export class CausewayError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, ...[init]: InitArguments<Code>) {
    const entry = errorEntry(code);
    // The cause is stored by Error itself as a non-enumerable property, so no serialiser walks into it.
    super(
      init?.message ?? entry.message,
      init !== undefined && 'cause' in init ? { cause: init.cause } : undefined,
    );
    this.name = 'CausewayError';
    this.code = code;
    this.status = entry.status;
    this.details = init?.details ?? {};
  }

  /** An error that is serialised by accident shows what a partner may see, and no more. */
  toJSON(): PartnerErrorBody {
    return toPartnerErrorBody(this);
  }
}

/**
 * The body a partner gets for anything that was thrown. What is not a CausewayError is an INTERNAL_ERROR, 5xx messages
 * are always the catalogue's, and only detail fields that the catalogue declares are let through: no stack, SQL or
 * upstream text can reach a partner by this way.
 */
export function toPartnerErrorBody(error: unknown): PartnerErrorBody {
  const code = error instanceof CausewayError ? error.code : 'INTERNAL_ERROR';
  const entry = errorEntry(code);
  const known = error instanceof CausewayError ? error : null;
  return {
    success: false,
    error: {
      code,
      message: known !== null && entry.status < 500 ? known.message : entry.message,
      details: known === null ? {} : declaredDetails(code, known.details),
    },
  };
}

/** The HTTP status for anything that was thrown. */
export function errorStatus(error: unknown): number {
  return error instanceof CausewayError ? error.status : errorEntry('INTERNAL_ERROR').status;
}

function declaredDetails(
  code: ErrorCode,
  details: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const schema = errorEntry(code).details;
  const declared: Record<string, unknown> = {};
  if (schema === null) return declared;
  for (const field of Object.keys(schema.properties)) {
    if (details[field] !== undefined) declared[field] = details[field];
  }
  return declared;
}

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
