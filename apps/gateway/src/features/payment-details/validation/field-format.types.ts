/**
 * What validation needs to know of a rail. The shape is that of the currencies backend's reference data, stated here
 * by structure: this folder is pure and reaches no backend.
 */
export type BeneficiaryType = 'individual' | 'business';

export interface FieldShape {
  readonly key: string;
  readonly type: string;
  readonly required: boolean;
  readonly pattern?: string | undefined;
  readonly maxLength: number;
  /** What the value means beyond its pattern: check digits, a country, a second field it depends on. */
  readonly format?: string | undefined;
  readonly options?: readonly { readonly code: string }[] | undefined;
}

export interface FormatShape {
  readonly id: string;
  readonly institutionTypes: readonly string[];
  readonly beneficiaryType?: BeneficiaryType | undefined;
  readonly fields: readonly FieldShape[];
  /** Present on consumer-to-consumer wallets, which pay persons only. */
  readonly senderIdentity?: object | undefined;
}

export interface RailShape {
  readonly slug: string;
  readonly countries: readonly string[];
  readonly currencies: readonly string[];
  readonly fields?: readonly FieldShape[] | undefined;
  readonly formats?: readonly FormatShape[] | undefined;
  /** Groups of fields of which at least one has to be sent. */
  readonly requireOneOf?: readonly (readonly string[])[] | undefined;
}

/** One entry of `details.fields` of 422 INVALID_RECIPIENT_FIELDS. It never carries the value that was sent. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** What a check may look at besides its own value. */
export interface FieldContext {
  readonly rail: RailShape;
  /** Codes of the chosen institution on this rail; empty where none is known. */
  readonly institutionCodes: readonly string[];
  /** Another field as it was sent, trimmed; empty where it was not sent as text. */
  sent(key: string): string;
}

export interface FieldFormat {
  /** Brings what people type into the one form that is stored; it must not fail on any text. */
  readonly normalise?: (value: string, context: FieldContext) => string;
  /** Why a normalised value that fits its pattern is still wrong. Never quotes the value. */
  readonly explain?: (value: string, context: FieldContext) => string | undefined;
}
