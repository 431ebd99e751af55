import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec, type Run } from './command.ts';
import type { Paint } from './output.ts';
import { commandOf, usage } from './parse.ts';

/** `causeway help [COMMAND]` of a table of commands. */
export function helpCommand(commands: readonly CommandSpec[]): Run {
  return async ({ args, output }) => {
    const spec = args.length === 0 ? undefined : commandOf(commands, args);
    if (spec !== undefined) {
      output.result(describeCommand(spec), (paint) => helpOf(spec, paint));
      return;
    }
    const shown =
      args.length === 0 ? commands : commands.filter(({ name }) => name.startsWith(`${args[0]} `));
    if (shown.length === 0 || args.length > 1) throw usage(`There is no command “${args.join(' ')}”.`);
    output.result(describeCommands(shown), (paint) => overview(shown, paint));
  };
}

/** All commands, one a line. */
export function overview(commands: readonly CommandSpec[], paint: Paint): string {
  return [
    `${paint('bold', 'causeway')} COMMAND [options]`,
    '',
    columns(commands.map((spec) => [usageOf(spec), spec.summary])),
    '',
    'Options of every command:',
    columns(Object.entries(GLOBAL_OPTIONS).map(optionLine)),
    '',
    'causeway help COMMAND says more; causeway open docs leads to the guides.',
  ].join('\n');
}

export function helpOf(spec: CommandSpec, paint: Paint): string {
  const options = Object.entries(spec.options ?? {});
  return [
    `${paint('bold', `causeway ${usageOf(spec)}`)}${options.length > 0 ? ' [options]' : ''}`,
    '',
    spec.summary,
    ...(spec.description === undefined ? [] : ['', spec.description]),
    ...section(
      'Arguments',
      (spec.arguments ?? []).map(({ name, description, choices }) => [
        name,
        choices === undefined ? description : `${description} One of: ${choices.join(', ')}.`,
      ]),
    ),
    ...section('Options', options.map(optionLine)),
    '',
    'Examples',
    ...spec.examples.map((example) => `  ${example}`),
  ].join('\n');
}

/** The same as data, for `--json`. */
export function describeCommand(spec: CommandSpec): object {
  return {
    command: spec.name,
    usage: `causeway ${usageOf(spec)}`,
    summary: spec.summary,
    description: spec.description ?? null,
    arguments: spec.arguments ?? [],
    options: describeOptions(spec.options ?? {}),
    examples: spec.examples,
  };
}

export function describeCommands(commands: readonly CommandSpec[]): object {
  return { commands: commands.map(describeCommand), options: describeOptions(GLOBAL_OPTIONS) };
}

function describeOptions(options: Readonly<Record<string, OptionSpec>>): object[] {
  return Object.entries(options).map(([name, option]) => ({ name: `--${name}`, ...option }));
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : ['', title, columns(rows)];
}

function usageOf({ name, arguments: taken = [] }: CommandSpec): string {
  const words = taken.map((one) => `${one.name}${one.multiple === true ? '…' : ''}`);
  return [name, ...words.map((word, index) => (taken[index]?.optional === true ? `[${word}]` : word))].join(
    ' ',
  );
}

function optionLine([name, option]: readonly [string, OptionSpec]): readonly [string, string] {
  const { short, value, multiple, choices, description } = option;
  const shown = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  const more = [
    choices === undefined ? '' : ` One of: ${choices.join(', ')}.`,
    multiple === true ? ' May be given several times.' : '',
  ];
  return [shown, `${description}${more.join('')}`];
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const widest = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(widest)}  ${right}`).join('\n');
}
