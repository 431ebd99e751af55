import type { CamelCased, PaymentFieldSchema, RailFormatSchema, RailSchema } from '@causeway/protocol';
import type { Static } from 'typebox';

type Field = CamelCased<Static<typeof PaymentFieldSchema>>;
type RailFormat = CamelCased<Static<typeof RailFormatSchema>>;
type Rail = CamelCased<Static<typeof RailSchema>>;

export type BeneficiaryType = NonNullable<RailFormat['beneficiaryType']>;

/** What validation needs to know of a field: what the API lists, and what the reference data does not show. */
export interface FieldShape extends Pick<Field, 'key' | 'type' | 'required' | 'pattern' | 'maxLength'> {
  /** What the value means beyond its pattern: check digits, a country, a second field it depends on. */
  readonly format?: string | undefined;
  readonly options?: readonly Pick<NonNullable<Field['options']>[number], 'code'>[] | undefined;
}

export interface FormatShape extends Pick<RailFormat, 'id' | 'institutionTypes' | 'beneficiaryType'> {
  readonly fields: readonly FieldShape[];
  /** Present on consumer-to-consumer wallets, which pay persons only. */
  readonly senderIdentity?: object | undefined;
}

export interface RailShape extends Pick<Rail, 'slug' | 'countries' | 'currencies' | 'requireOneOf'> {
  readonly fields?: readonly FieldShape[] | undefined;
  readonly formats?: readonly FormatShape[] | undefined;
}

/** One entry of `details.fields` of 422 INVALID_RECIPIENT_FIELDS. It never carries the value that was sent. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** What a check may look at besides its own value. */
export interface FieldContext {
  readonly rail: RailShape;
  /** Another field as it was sent, trimmed; empty where it was not sent as text. */
  sent(key: string): string;
}

export interface FieldFormat {
  /** Brings what people type into the one form that is stored; it must not fail on any text. */
  readonly normalise?: (value: string, context: FieldContext) => string;
  /** Why a normalised value that fits its pattern is still wrong. Never quotes the value. */
  readonly explain?: (value: string, context: FieldContext) => string | undefined;
}
