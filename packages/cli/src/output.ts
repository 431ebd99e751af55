import { randomInt } from 'node:crypto';
import { inspect, stripVTControlCharacters } from 'node:util';

type Style = keyof typeof inspect.colors & string;

/** Where a command writes. Results go to stdout, everything else to stderr: pipes get results only. */
export interface Output {
  readonly json: boolean;
  /** Whether stdout is a terminal: colour and progress are for people only. */
  readonly interactive: boolean;
  /** The result of a command: one JSON document with `--json`, otherwise what `human` makes of it. */
  result(value: unknown, human: (paint: Paint) => string): void;
  /** One line of a stream: one JSON document a line with `--json`. */
  line(value: unknown, human: (paint: Paint) => string): void;
  /** Remarks, on stderr; silent with `--json` and with `--quiet`. */
  note(message: string): void;
  /** What is only worth saying while somebody watches: as `note`, and silent unless stderr is a terminal. */
  progress(message: string): void;
  /** A question at a terminal, on stderr: shown in any case and without an end of line. */
  ask(question: string): void;
  /** A failure, on stderr; one JSON document with `--json`. */
  error(message: string, more?: FailureDetails): void;
}

/** What belongs to a failure besides its message. */
export interface FailureDetails {
  readonly code?: string | undefined;
  readonly exitCode?: number | undefined;
  /** What to do next, on a line of its own. */
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly requestId?: string | undefined;
}

export type Paint = (style: Style, text: string) => string;

export interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * In front of the colours that this program sets itself, and never written: what it is not in front of came with data, and
 * a name or an answer must not drive the terminal. Digits, so that `stripVTControlCharacters` knows it.
 */
const OURS = Array.from({ length: 4 }, () => String(randomInt(1_000, 10_000))).join(';');
const COLOUR = new RegExp(`\\x1b\\[${OURS};(\\d+)m`, 'g');
/** Controls but tab and line feed, and the marks that turn the direction of text around. */
const HARMFUL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const codeOf = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0');

/** Text of others as it may be printed: what a terminal would obey is shown by its number. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, (character) => `\\u${codeOf(character)}`);
}

/** As `harmless`, except for colours made by `paint`. */
function printable(text: string): string {
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 0 ? harmless(part) : `\u001b[${part}m`))
    .join('');
}

/** The same document for every reader of JSON, without a character that a terminal obeys. */
const encoded = (value: unknown, indent?: number) =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(HARMFUL, (character) => `\\u${codeOf(character)}`);

export function createOutput(
  { stdout, stderr, env }: Streams,
  { json, quiet, color }: { readonly json: boolean; readonly quiet: boolean; readonly color?: boolean },
): Output {
  const coloured = (isTTY: boolean | undefined) =>
    color ?? (isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
  const paint = painter(!json && coloured(stdout.isTTY));
  const paintError = painter(coloured(stderr.isTTY));
  const note = (message: string) =>
    void (json || quiet || stderr.write(printable(`${paintError('dim', message)}\n`)));
  return {
    json,
    interactive: !json && stdout.isTTY === true,
    result: (value, human) =>
      void stdout.write(json ? `${encoded(value, 2)}\n` : printable(`${human(paint)}\n`)),
    line: (value, human) => void stdout.write(json ? `${encoded(value)}\n` : printable(`${human(paint)}\n`)),
    note,
    progress: (message) => void (stderr.isTTY === true && note(message)),
    ask: (question) => void stderr.write(harmless(question)),
    error: (message, more = {}) => {
      const { code, exitCode, hint, details = {}, requestId } = more;
      if (json) {
        const error = {
          code: code ?? null,
          message,
          exit_code: exitCode,
          hint,
          details,
          request_id: requestId,
        };
        stderr.write(`${encoded({ error })}\n`);
        return;
      }
      stderr.write(printable(`${paintError('red', 'error')} ${message}\n`));
      if (hint !== undefined) note(hint);
      if (Object.keys(details).length > 0) note(JSON.stringify(details));
      if (requestId !== undefined) note(`request ${requestId}`);
    },
  };
}

function painter(on: boolean): Paint {
  return (style, text) => {
    const [start, end] = inspect.colors[style] ?? [0, 0];
    return on ? `\u001b[${OURS};${start}m${text}\u001b[${OURS};${end}m` : text;
  };
}

/** One line, whatever it holds. */
const cellOf = (text: string) => text.replaceAll('\n', '\\n').replaceAll('\t', ' ');
const width = (text: string) => harmless(stripVTControlCharacters(text)).length;

/** Columns as wide as their widest cell; colours do not count. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const cells = rows.map((row) => row.map(cellOf));
  const widths = header.map((title, column) =>
    Math.max(width(title), ...cells.map((row) => width(row[column] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
      .join('  ')
      .trimEnd();
  return [paint('dim', line(header)), ...cells.map(line)].join('\n');
}

/** Names and values, one a line. */
export function fields(
  entries: readonly (readonly [string, string | null | undefined])[],
  paint: Paint,
): string {
  const shown = entries.filter((entry): entry is readonly [string, string] => entry[1] != null);
  const widest = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(widest))}  ${cellOf(value)}`).join('\n');
}
