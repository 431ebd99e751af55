import { type ParseArgsConfig, parseArgs } from 'node:util';
import { Causeway, isCausewayError } from '@causeway/sdk';
import type { CommandSpec, Invocation } from './command.ts';
import { COMMANDS, GLOBAL_OPTIONS } from './commands.ts';
import { CommandError, EXIT } from './exit.ts';
import { helpOf, overview } from './help.ts';
import { createOutput, type Output, type Streams } from './output.ts';
import { findProfile, type KeyClass, type Profile } from './profile.ts';
import { VERSION } from './version.ts';

export interface Surroundings extends Streams {
  /** Where a sandbox of this folder is looked for. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** Runs one command line and answers its exit code; never throws. */
export async function runCli(argv: readonly string[], around: Surroundings): Promise<number> {
  const plain = createOutput(around, { json: argv.includes('--json'), quiet: false });
  try {
    return await dispatch(argv, around);
  } catch (error) {
    return report(error, plain, around.signal);
  }
}

async function dispatch(argv: readonly string[], around: Surroundings): Promise<number> {
  const spec = commandOf(argv);
  if (spec === undefined) return withoutCommand(argv, around);
  const { values, positionals } = parse(spec, argv);
  const output = createOutput(around, {
    json: values.json === true,
    quiet: values.quiet === true,
    ...(typeof values.color === 'boolean' ? { color: values.color } : {}),
  });
  if (values.help === true) {
    output.result({ command: spec.name, summary: spec.summary }, (paint) => helpOf(spec, paint));
    return EXIT.ok;
  }
  const args = positionals.slice(spec.name.split(' ').length);
  checkArguments(spec, args);
  checkChoices(spec, values);
  const { run } = await spec.load();
  await run(invocationOf(values, args, output, around));
  return around.signal.aborted ? EXIT.interrupted : EXIT.ok;
}

/** The longest name that the first words spell. Options may stand before and between. */
export function commandOf(argv: readonly string[]): CommandSpec | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  return COMMANDS.filter(({ name }) => name.split(' ').every((word, index) => words[index] === word))
    .toSorted((left, right) => right.name.length - left.name.length)
    .at(0);
}

function withoutCommand(argv: readonly string[], around: Surroundings): number {
  const output = createOutput(around, { json: argv.includes('--json'), quiet: false });
  if (argv.includes('--version')) {
    output.result({ version: VERSION }, () => VERSION);
    return EXIT.ok;
  }
  const words = argv.filter((word) => !word.startsWith('-'));
  const named = words[0] === 'help' ? words.slice(1) : words;
  const exact = commandOf(named);
  if (words[0] === 'help' && exact !== undefined) {
    output.result({ command: exact.name, summary: exact.summary }, (paint) => helpOf(exact, paint));
    return EXIT.ok;
  }
  const group = COMMANDS.filter(({ name }) => named.length > 0 && name.startsWith(`${named[0]} `));
  const asked = words.length === 0 || words[0] === 'help' || argv.includes('--help') || argv.includes('-h');
  if (named.length > 0 && group.length === 0) {
    throw new CommandError(`There is no command “${named.join(' ')}”.`, {
      exitCode: EXIT.usage,
      hint: 'causeway help lists them.',
    });
  }
  if (asked || named.length === 1) {
    output.result(
      (group.length > 0 ? group : COMMANDS).map(({ name, summary }) => ({ command: name, summary })),
      (paint) => overview(group.length > 0 ? group : COMMANDS, paint),
    );
    return asked ? EXIT.ok : EXIT.usage;
  }
  throw new CommandError(`There is no command “${named.join(' ')}”.`, {
    exitCode: EXIT.usage,
    hint: `causeway help ${named[0]} lists those that there are.`,
  });
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function parse(spec: CommandSpec, argv: readonly string[]): { values: Values; positionals: string[] } {
  const options = Object.entries({ ...GLOBAL_OPTIONS, ...spec.options }).map(([name, option]) => [
    name,
    {
      type: option.type,
      ...('short' in option && option.short !== undefined ? { short: option.short } : {}),
      ...('multiple' in option && option.multiple === true ? { multiple: true } : {}),
    },
  ]);
  try {
    return parseArgs({
      args: [...argv],
      options: Object.fromEntries(options) as NonNullable<ParseArgsConfig['options']>,
      allowPositionals: true,
      allowNegative: true,
    });
  } catch (error) {
    throw new CommandError((error as Error).message, {
      exitCode: EXIT.usage,
      hint: `causeway help ${spec.name} says what it takes.`,
    });
  }
}

function checkArguments(spec: CommandSpec, args: readonly string[]): void {
  const taken = spec.arguments ?? [];
  const missing = taken.filter(({ optional }, index) => optional !== true && args[index] === undefined);
  const hint = `causeway help ${spec.name} says what it takes.`;
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    throw new CommandError(`causeway ${spec.name} needs ${names}.`, { exitCode: EXIT.usage, hint });
  }
  if (args.length > taken.length) {
    const rest = args.slice(taken.length).join(' ');
    throw new CommandError(`causeway ${spec.name} takes no “${rest}”.`, { exitCode: EXIT.usage, hint });
  }
  for (const [index, { name, choices }] of taken.entries()) {
    const value = args[index];
    if (value !== undefined && choices !== undefined && !choices.includes(value)) {
      throw new CommandError(`${name} is one of: ${choices.join(', ')}.`, { exitCode: EXIT.usage, hint });
    }
  }
}

function checkChoices(spec: CommandSpec, values: Values): void {
  for (const [name, { choices }] of Object.entries(spec.options ?? {})) {
    const given = [values[name] ?? []].flat();
    const wrong = given.find((value) => choices !== undefined && !choices.includes(String(value)));
    if (wrong !== undefined) {
      throw new CommandError(`--${name} is one of: ${choices?.join(', ')}.`, { exitCode: EXIT.usage });
    }
  }
}

function invocationOf(
  values: Values,
  args: readonly string[],
  output: Output,
  { env, folder, signal }: Surroundings,
): Invocation {
  let found: Promise<Profile> | undefined;
  const wanted = typeof values.profile === 'string' ? values.profile : undefined;
  const profile = () => (found ??= findProfile(env, wanted, folder));
  return {
    args,
    options: values as Invocation['options'],
    output,
    env,
    signal,
    folder,
    profile,
    client: async (keyClass = 'partner') => clientOf(await profile(), keyClass),
  };
}

export function clientOf({ name, baseUrl, keys }: Profile, keyClass: KeyClass): Causeway {
  const apiKey = keys[keyClass];
  if (apiKey === undefined) {
    throw new CommandError(`The profile “${name}” has no key of a ${keyClass}.`, {
      exitCode: EXIT.unauthorized,
      hint: `causeway login --as ${keyClass} adds one.`,
    });
  }
  return new Causeway({ baseUrl, apiKey });
}

function report(error: unknown, output: Output, signal: AbortSignal): number {
  if (signal.aborted) return EXIT.interrupted;
  if (error instanceof CommandError) {
    output.error(error.message);
    if (error.hint !== undefined) output.note(error.hint);
    return error.exitCode;
  }
  if (isCausewayError(error)) {
    output.error(`${error.code}: ${error.message}`);
    if (Object.keys(error.details).length > 0) output.note(JSON.stringify(error.details));
    if (error.requestId !== undefined) output.note(`request ${error.requestId}`);
    return exitCodeOf(error.status);
  }
  output.error(error instanceof Error ? error.message : String(error));
  return EXIT.failed;
}

function exitCodeOf(status: number | undefined): number {
  if (status === undefined || status >= 500) return EXIT.unavailable;
  if (status === 401 || status === 403) return EXIT.unauthorized;
  return status === 404 ? EXIT.notFound : EXIT.refused;
}
