import { QUEUE_KINDS, QUEUE_TARGET_MINUTES, type QueueKind } from '@causeway/protocol/console';
import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';

/**
 * How the text of a variable becomes a value: a schema says which texts are taken, then the text is decoded. Messages of
 * `InvalidValue` say what is expected, never what was given.
 */
export interface ValueType<T> {
  /** The kind of value, for the reference. */
  readonly label: string;
  parse(text: string): T;
  /** Whether an empty text is a value of its own; elsewhere an empty variable counts as not set. */
  readonly emptyIsValue?: boolean;
}

export class InvalidValue extends Error {
  override readonly name = 'InvalidValue';
}

export function valueType<T>(
  label: string,
  schema: TSchema,
  problem: string,
  decode: (text: string) => T,
): ValueType<T> {
  return {
    label,
    parse(given) {
      if (!Value.Check(schema, given)) throw new InvalidValue(problem);
      return decode(given);
    },
  };
}

/** Entries with commas between; of a wrong one its place is told, never its text. */
export function listOf<T>(
  label: string,
  entry: TSchema,
  problem: string,
  decode: (entry: string) => T,
): ValueType<readonly T[]> {
  const list = Type.Array(entry);
  return {
    label,
    parse(given) {
      const entries = given
        .split(',')
        .map((text) => text.trim())
        .filter((text) => text !== '');
      const [wrong] = Value.Errors(list, entries);
      if (wrong === undefined) return entries.map(decode);
      throw new InvalidValue(`entry ${Number.parseInt(wrong.instancePath.slice(1), 10) + 1} ${problem}`);
    },
  };
}

export const asGiven = (text: string): string => text;
export const matching = (pattern: RegExp) => Type.String({ pattern });
export const passing = (check: (text: string) => boolean) => Type.Refine(Type.String(), check);

export const PORT_MAX = 65_535;

export const text: ValueType<string> = valueType('text', Type.String(), 'must be text', asGiven);

export const path: ValueType<string> = valueType('path', Type.String(), 'must be a path', asGiven);

export const flag: ValueType<boolean> = valueType(
  '`true` or `false`',
  Type.Enum(['true', '1', 'false', '0']),
  'must be true or false',
  (given) => given === 'true' || given === '1',
);

export const onOrOff: ValueType<boolean> = valueType(
  '`on` or `off`',
  Type.Enum(['on', 'off']),
  'must be on or off',
  (given) => given === 'on',
);

export function oneOf<const T extends string>(...values: readonly T[]): ValueType<T> {
  const label = values.map((value) => `\`${value}\``).join(', ');
  return valueType(
    label,
    Type.Enum([...values]),
    `must be one of ${values.join(', ')}`,
    (given) => given as T,
  );
}

const digitsFrom = (min: number, max: number) =>
  Type.Refine(matching(/^\d{1,15}$/), (given) => Number(given) >= min && Number(given) <= max);

export function wholeNumber(min: number, max: number): ValueType<number> {
  const problem = `must be a whole number from ${min} to ${max}`;
  return valueType(`whole number, ${min} to ${max}`, digitsFrom(min, max), problem, Number);
}

export const MOST_PROCESSES = 64;

/** A number, or as many as fit. */
export const processCount: ValueType<number | 'auto'> = {
  label: `\`auto\` or a whole number, 1 to ${MOST_PROCESSES}`,
  parse: (given) => (given === 'auto' ? given : wholeNumber(1, MOST_PROCESSES).parse(given)),
};

const TARGET = new RegExp(`^(${QUEUE_KINDS.join('|')})=([1-9]\\d{0,5})$`);
const targets = listOf(
  'minutes by kind',
  matching(TARGET),
  'must be a kind of the queue, an equals sign and minutes',
  (entry) => entry.split('=') as [QueueKind, string],
);

/** Minutes by kind; what is not named keeps its default. */
export const queueTargets: ValueType<Readonly<Record<QueueKind, number>>> = {
  label: 'list of `kind=minutes`, comma between',
  emptyIsValue: true,
  parse: (given) => ({
    ...QUEUE_TARGET_MINUTES,
    ...Object.fromEntries(targets.parse(given).map(([kind, minutes]) => [kind, Number(minutes)])),
  }),
};

export const port: ValueType<number> = { ...wholeNumber(0, PORT_MAX), label: 'port, 0 takes any free one' };

export const portOrOff: ValueType<number | null> = {
  label: 'port, 0 takes any free one; `off` or empty for none',
  emptyIsValue: true,
  parse: (given) => (given === '' || given === 'off' ? null : port.parse(given)),
};

export const dollarsOrOff: ValueType<string | null> = {
  label: 'dollars, as a decimal; `off` for none',
  parse: (given) => {
    if (given === 'off') return null;
    if (!/^(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(given)) {
      throw new InvalidValue('must be dollars from 0, with at most 6 decimals, or off');
    }
    return given;
  },
};

const ports = listOf(
  'list of ports',
  digitsFrom(1, PORT_MAX),
  `must be a whole number from 1 to ${PORT_MAX}`,
  Number,
);

export const portsOrAny: ValueType<readonly number[] | 'any'> = {
  label: 'list of ports, comma between; `any` for all of them',
  parse(given) {
    if (given === 'any') return 'any';
    const named = ports.parse(given);
    if (named.length === 0) throw new InvalidValue('must name at least one port, or be any');
    return named;
  },
};

/** A percentage stays decimal text: no float ever touches it. */
export const percentage: ValueType<string> = valueType(
  'decimal, 0 or more and below 100, at most 6 decimals',
  matching(/^\d{1,2}(?:\.\d{1,6})?$/),
  'must be a decimal below 100 with at most 6 decimals, such as 0.5',
  asGiven,
);

export const score: ValueType<number> = valueType(
  'decimal above 0 and at most 1',
  Type.Refine(matching(/^[01](?:\.\d{1,4})?$/), (given) => Number(given) > 0 && Number(given) <= 1),
  'must be a decimal above 0 and at most 1',
  Number,
);

export type RateSourceName = 'simulated' | 'ecb' | 'kraken' | `http://${string}` | `https://${string}`;

const RATE_SOURCE = /^(?:simulated|ecb|kraken|https?:\/\/[^\s/]+.*)$/s;

const namedRateSources = listOf(
  'comma list of simulated, ecb, kraken and addresses of JSON feeds',
  matching(RATE_SOURCE),
  'must be simulated, ecb, kraken or the address of a JSON feed',
  (name) => name as RateSourceName,
);

export const rateSources: ValueType<readonly RateSourceName[]> = {
  ...namedRateSources,
  parse(given) {
    const named = namedRateSources.parse(given);
    if (named.length === 0) throw new InvalidValue('must name at least one source');
    return named;
  },
};
