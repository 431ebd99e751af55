import { type TSchema, Type } from 'typebox';

/** Building blocks of every wire schema. */

/** In either case; the service answers in small letters. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

export const Uuid = Type.String({
  pattern: UUID_PATTERN,
  examples: ['0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
});

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC',
  examples: ['2026-11-15T10:00:00.000Z'],
});

/**
 * A point in time as a request carries it: a calendar that every part of the program, the database included, can hold and
 * reckon with, and exactly the form that `Date` reads everywhere.
 */
export const TimestampInput = (description: string) =>
  Type.String({
    format: 'date-time',
    pattern:
      '^(?:19[7-9][0-9]|2[0-9]{3})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$',
    maxLength: 40,
    description: `${description}; ISO 8601 with a time zone, from 1970 on`,
    examples: ['2026-11-01T00:00:00Z'],
  });

/** A number that the service gave out as an id: exact in JSON, and the database's. */
export const NumericId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const DecimalString = Type.String({
  description: 'A decimal number as text; parse it as a decimal, never as a float',
  examples: ['100.00'],
});

/**
 * An amount as a request carries it. Only its length is limited here; digits and precision are judged against the
 * currency, so that the error can say which of them is wrong.
 */
export const AmountInput = Type.String({ maxLength: 80, examples: ['100.00'] });

// What is below zero is told so by name; the bounds are those of an exact number.
const PercentNumber = Type.Number({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
});

export const PercentInput = Type.Union([Type.String({ maxLength: 40 }), PercentNumber], {
  description: 'Percent, at most 6 decimals; "1" means 1 %',
  examples: ['1'],
});

// Long enough for what is no code: that it is not supported has an error of its own.
export const CurrencyCodeInput = Type.String({ minLength: 1, maxLength: 50, examples: ['EUR'] });

export const SlugInput = Type.String({ minLength: 1, maxLength: 100 });

export const CountryCodeInput = Type.String({ pattern: '^[A-Za-z]{2}$', examples: ['DE'] });

export const EvmAddress = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });

/** Filters of a listing. */
export const FiatCode = (options: object = {}) =>
  Type.String({
    description: 'ISO 4217, either case',
    pattern: '^[A-Za-z]{3}$',
    examples: ['KES'],
    ...options,
  });

export const CountryFilter = Type.Optional(
  Type.String({
    description: 'ISO 3166-1 alpha-2, either case',
    minLength: 2,
    maxLength: 2,
    examples: ['GH'],
  }),
);

export const CurrencyFilter = Type.Optional(
  Type.String({ description: 'ISO 4217, either case', minLength: 3, maxLength: 3, examples: ['GHS'] }),
);

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An answer that says nothing but success. */
export const EmptySchema = Type.Object({});

export const MessageSchema = Type.Object({ message: Type.String() });

export const LivenessSchema = Type.Object({ status: Type.Literal('ok') });

/** One of these words; JSON Schema's `enum`, so that an error can list what is allowed. */
export function literals<const Values extends readonly string[]>(values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] });
}

/** The same as alternatives, each a constant of its own. */
export function constants<const Values extends readonly string[]>(
  values: Values,
  options: Readonly<Record<string, unknown>> = {},
) {
  return Type.Unsafe<Values[number]>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  );
}

/** An answer as code holds it: built once, shared and never changed. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

/** A wire shape with the names that code uses. */
export type CamelCased<T> = T extends readonly (infer Item)[]
  ? readonly CamelCased<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends string ? CamelCase<Key> : Key]: CamelCased<T[Key]> }
    : T;
