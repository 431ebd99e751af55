import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import { didYouMean } from './near-matches.ts';

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

export interface Parsed {
  readonly values: Values;
  readonly positionals: string[];
}

/** Options and words as the command takes them; wrong ones are refused. */
export function parseStrictly(spec: CommandSpec, argv: readonly string[]): Parsed {
  try {
    return parse(argv, optionsOf(spec), true);
  } catch (error) {
    throw usage(unknownOption(error as NodeJS.ErrnoException, spec) ?? (error as Error).message, spec);
  }
}

/** Node's own sentence goes on about arguments that begin with a hyphen. */
function unknownOption({ code, message }: NodeJS.ErrnoException, spec: CommandSpec): string | undefined {
  const [, name] = /'(-[^']*)'/.exec(message) ?? [];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || name === undefined) return undefined;
  const names = Object.keys(optionsOf(spec)).map((known) => `--${known}`);
  return `Unknown option ${name}.${didYouMean(name, names)}`;
}

/** The same for whatever stands there: unknown options are taken for switches. */
export function parseLeniently(
  argv: readonly string[],
  options: Readonly<Record<string, OptionSpec>> = GLOBAL_OPTIONS,
): Parsed {
  return parse(argv, options, false);
}

/**
 * The command with the longest name that the first words spell. Options and their values may stand anywhere, also before
 * the name: which words are values is a matter of the command's own options.
 */
export function commandOf(
  commands: readonly CommandSpec[],
  argv: readonly string[],
): CommandSpec | undefined {
  return commands
    .filter((spec) => {
      const words = spec.name.split(' ');
      if (!words.every((word) => argv.includes(word))) return false;
      const { positionals } = parseLeniently(argv, optionsOf(spec));
      return words.every((word, index) => positionals[index] === word);
    })
    .toSorted((left, right) => right.name.length - left.name.length)
    .at(0);
}

/** Refuses arguments and options that the command does not take. */
export function check(spec: CommandSpec, args: readonly string[], values: Values): void {
  const taken = spec.arguments ?? [];
  const missing = taken.filter(({ optional }, index) => optional !== true && args[index] === undefined);
  if (missing.length > 0) {
    throw usage(`causeway ${spec.name} needs ${missing.map(({ name }) => name).join(', ')}.`, spec);
  }
  if (args.length > taken.length && taken.at(-1)?.multiple !== true) {
    throw usage(`causeway ${spec.name} takes no “${args.slice(taken.length).join(' ')}”.`, spec);
  }
  for (const [index, { name, choices }] of taken.entries()) {
    const value = args[index];
    if (value !== undefined && choices !== undefined && !choices.includes(value)) {
      throw usage(`${name} is one of: ${choices.join(', ')}.`, spec);
    }
  }
  for (const [name, { choices, type }] of Object.entries(spec.options ?? {})) {
    const given = [values[name] ?? []].flat();
    if (type === 'string' && given.includes('')) throw usage(`--${name} is empty.`, spec);
    if (choices !== undefined && given.some((value) => !choices.includes(String(value)))) {
      throw usage(`--${name} is one of: ${choices.join(', ')}.`, spec);
    }
  }
}

/** A wrong command line, with the way to what is right. */
export function usage(message: string, spec?: CommandSpec): CommandError {
  const hint =
    spec === undefined
      ? 'causeway help lists the commands.'
      : `causeway help ${spec.name} says what it takes.`;
  return new CommandError(message, { exitCode: EXIT.usage, hint });
}

const optionsOf = (spec: CommandSpec) => ({ ...spec.options, ...GLOBAL_OPTIONS });

/** With `--no-NAME` for every switch, the last of both counts. `allowNegative` came with Node 20.17. */
function parse(
  argv: readonly string[],
  options: Readonly<Record<string, OptionSpec>>,
  strict: boolean,
): Parsed {
  const negatives = new Map(
    Object.entries(options)
      .filter(([, { type }]) => type === 'boolean')
      .map(([name]) => [`no-${name}`, name]),
  );
  const known = Object.entries(options).map(([name, { type, short, multiple }]) => [
    name,
    { type, ...(short === undefined ? {} : { short }), ...(multiple === true ? { multiple } : {}) },
  ]);
  const switches = [...negatives.keys()].map((name) => [name, { type: 'boolean' }]);
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries([...known, ...switches]) as NonNullable<ParseArgsConfig['options']>,
    allowPositionals: true,
    strict,
    tokens: true,
  });
  const found: Values = { ...values };
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const name = negatives.get(token.name);
    if (name !== undefined) {
      delete found[token.name];
      found[name] = false;
    } else if (options[token.name]?.type === 'boolean') found[token.name] = token.value ?? true;
  }
  return { values: found, positionals };
}
