import type { CommandSpec, OptionSpec } from './command.ts';
import { GLOBAL_OPTIONS } from './commands.ts';
import type { Paint } from './output.ts';

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
    'causeway help COMMAND says more. Guide: docs/guides/cli.md',
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

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : ['', title, columns(rows)];
}

function usageOf({ name, arguments: taken = [] }: CommandSpec): string {
  return [name, ...taken.map((one) => (one.optional === true ? `[${one.name}]` : one.name))].join(' ');
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
