import type { RailShape } from './rail-shape.types.ts';

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
