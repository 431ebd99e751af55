import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';

/** What the demo prints: headings, calls, webhooks, tables. Colour and pauses only on a terminal. */
export interface Narrator {
  heading(text: string): Promise<void>;
  /** What happens, in a sentence. */
  tell(text: string): Promise<void>;
  /** A call of the API and what matters of its answer. */
  call(method: string, path: string, status: number, answer: string): void;
  webhook(text: string): void;
  /** What the chain holds at this moment. */
  balances(text: string): void;
  table(columns: readonly string[], rows: readonly (readonly string[])[]): void;
  verdict(isGood: boolean, text: string): void;
}

const PAUSE_MS = 900;
const METHOD_WIDTH = 6;
const PATH_WIDTH = 72;

export function createNarrator(stream: NodeJS.WriteStream, isFast: boolean): Narrator {
  type Style = Parameters<typeof styleText>[0];
  // `styleText` looks at the stream, NO_COLOR and FORCE_COLOR itself.
  const style = (kind: Style, text: string) => styleText(kind, text, { stream });
  const print = (line = '') => stream.write(`${line}\n`);
  const pause = () => (isFast || !stream.isTTY ? Promise.resolve() : sleep(PAUSE_MS));

  return {
    async heading(text) {
      print();
      print(style('bold', text));
      await pause();
    },
    async tell(text) {
      print(`  ${text}`);
      await pause();
    },
    call(method, path, status, answer) {
      const shown = `${method.padEnd(METHOD_WIDTH)} ${shortened(path)}`.padEnd(PATH_WIDTH);
      print(
        `  ${style('cyan', '→')} ${shown} ${style(status < 400 ? 'green' : 'red', `${status}`)} ${answer}`,
      );
    },
    webhook(text) {
      print(`  ${style('magenta', '←')} webhook ${text}`);
    },
    balances(text) {
      print(`  ${style('yellow', '=')} ${text}`);
    },
    table(columns, rows) {
      const widths = columns.map((name, index) =>
        Math.max(name.length, ...rows.map((row) => row[index]?.length ?? 0)),
      );
      // Names to the left, figures to the right.
      const line = (cells: readonly string[]) =>
        cells
          .map((cell, index) =>
            index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0),
          )
          .join('  ');
      print();
      print(`  ${style('dim', line(columns))}`);
      for (const row of rows) print(`  ${line(row)}`);
    },
    verdict(isGood, text) {
      print(`  ${style(isGood ? 'green' : 'red', isGood ? '✓' : '✗')} ${text}`);
    },
  };
}

/** Ids are long and say little: their last eight characters are enough to follow one. */
export function shortened(text: string): string {
  return text
    .replace(/^\/api\/v1/, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}([0-9a-f]{8})/g, '…$1')
    .replaceAll(/0x([0-9a-fA-F]{6})[0-9a-fA-F]{26,}([0-9a-fA-F]{4})/g, '0x$1…$2');
}

/** Fields that tell something, in the order in which they are shown. */
const TELLING = [
  ...['id', 'order_id', 'status', 'next_action', 'rail'],
  ...['crypto_amount', 'fiat_amount', 'amount_human', 'quote_id', 'url', 'message'],
];

/** One line of an answer's `data` without what the path has said, or the error's code. */
export function gistOf(answer: unknown, path: string): string {
  const { data, error } = answer as {
    data?: Record<string, unknown>;
    error?: { code: string; message: string };
  };
  if (error !== undefined) return `${error.code}: ${error.message}`;
  const amounts = (data?.amounts ?? {}) as Record<string, unknown>;
  const found = TELLING.map((name) => [name, data?.[name] ?? amounts[name]] as const)
    .filter(([, value]) => typeof value === 'number' || (typeof value === 'string' && !path.includes(value)))
    .slice(0, 3)
    .map(([name, value]) => `${name}=${value}`);
  return shortened(found.join(' '));
}
