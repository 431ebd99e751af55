import { type ValueType, wholeNumber } from './values.ts';

export const ENVIRONMENTS = ['sandbox', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export const ROLES = ['api', 'worker'] as const;
export type Role = (typeof ROLES)[number];

interface VariableOptions<T> {
  readonly example?: string;
  /** Its value is never printed. */
  readonly secret?: boolean;
  readonly requiredInProduction?: boolean;
  /** Variables any of which makes up for this one where it is required. */
  readonly alternatives?: readonly string[];
  /** Which roles read it; both unless said. */
  readonly roles?: readonly Role[];
  /** What is wrong with a value in an environment, if anything is. */
  refuse?(value: T, environment: Environment): string | undefined;
}

/** Given as text, so that it goes through the same parser and reads the same in the reference. */
type DefaultText = string | Readonly<Record<Environment, string>>;

export interface Variable<T> extends VariableOptions<T> {
  readonly name: string;
  readonly type: ValueType<T>;
  readonly default?: DefaultText;
  readonly description: string;
}

export function withDefault<T>(
  name: string,
  type: ValueType<T>,
  defaultText: DefaultText,
  description: string,
  options: VariableOptions<T> = {},
): Variable<T> & { readonly default: DefaultText } {
  return { name, type, default: defaultText, description, ...options };
}

export function optional<T>(
  name: string,
  type: ValueType<T>,
  description: string,
  options: VariableOptions<T> = {},
): Variable<T> & { readonly default?: undefined } {
  return { name, type, description, ...options };
}

/** A problem that a value has in production only. */
export const inProduction =
  <T>(problem: (value: T) => string | undefined) =>
  (value: T, environment: Environment) =>
    environment === 'production' ? problem(value) : undefined;

export const seconds = wholeNumber(1, 2_592_000);
export const api: readonly Role[] = ['api'];
export const worker: readonly Role[] = ['worker'];
