import { stripVTControlCharacters, styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Where a command writes. Results go to stdout, everything else to stderr: pipes get results only. */
export interface Output {
  readonly json: boolean;
  /** Whether stdout is a terminal: colour and progress are for people only. */
  readonly interactive: boolean;
  /** The result of a command: one JSON document with `--json`, otherwise what `human` makes of it. */
  result(value: unknown, human: (paint: Paint) => string): void;
  /** One line of a stream: one JSON document a line with `--json`. */
  line(value: unknown, human: (paint: Paint) => string): void;
  /** Progress and remarks, on stderr; silent with `--json` and with `--quiet`. */
  note(message: string): void;
  /** Failures, on stderr. */
  error(message: string): void;
}

export type Paint = (style: Style, text: string) => string;

export interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function createOutput(
  { stdout, stderr, env }: Streams,
  { json, quiet, color }: { readonly json: boolean; readonly quiet: boolean; readonly color?: boolean },
): Output {
  const coloured = (isTTY: boolean | undefined) =>
    color ?? (isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
  const painter =
    (on: boolean): Paint =>
    (style, text) =>
      on ? styleText(style, text, { validateStream: false }) : text;
  const paint = painter(!json && coloured(stdout.isTTY));
  const paintError = painter(coloured(stderr.isTTY));
  return {
    json,
    interactive: !json && stdout.isTTY === true,
    result: (value, human) =>
      void stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${human(paint)}\n`),
    line: (value, human) => void stdout.write(json ? `${JSON.stringify(value)}\n` : `${human(paint)}\n`),
    note: (message) => void (json || quiet || stderr.write(`${paintError('dim', message)}\n`)),
    error: (message) => void stderr.write(`${paintError('red', 'error')} ${message}\n`),
  };
}

/** Columns as wide as their widest cell; colours do not count. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const width = (text: string) => stripVTControlCharacters(text).length;
  const widths = header.map((title, column) =>
    Math.max(width(title), ...rows.map((row) => width(row[column] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
      .join('  ')
      .trimEnd();
  return [paint('dim', line(header)), ...rows.map(line)].join('\n');
}

/** Names and values, one a line. */
export function fields(
  entries: readonly (readonly [string, string | null | undefined])[],
  paint: Paint,
): string {
  const shown = entries.filter((entry): entry is readonly [string, string] => entry[1] != null);
  const widest = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(widest))}  ${value}`).join('\n');
}
