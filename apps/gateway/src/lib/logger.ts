import { format } from 'node:util';
import {
  type DestinationStream,
  destination,
  type LogFn,
  type Logger,
  pino,
  stdTimeFunctions,
  symbols,
} from 'pino';
import { maskText, redact } from './redaction.ts';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Fields of every line, for example the role of the process. */
  readonly bindings?: Readonly<Record<string, unknown>>;
  /** In place of a file descriptor. */
  readonly destination?: DestinationStream;
  /** 1, standard output, by default. */
  readonly fd?: number;
}

type Fields = Record<string, unknown>;

/** What waits for a reader that is too slow. Beyond this lines are dropped and counted: requests matter more. */
const MAX_WAITING_BYTES = 32 * 1_024 * 1_024;

/**
 * A pino logger through which no key, secret, signature or personal data passes: fields, child bindings, errors with
 * their causes, messages and their arguments are all masked first. Below its level a call costs what pino's does: nothing.
 */
export function createLogger({
  level,
  format: lineFormat,
  bindings = {},
  destination: to,
  fd = 1,
}: LoggerOptions): Logger {
  // Written in the background, in order, and what waits is written when the process exits.
  const file = to === undefined ? destination({ fd, sync: false, maxLength: MAX_WAITING_BYTES }) : undefined;
  const output = to ?? (file as DestinationStream);
  const logger = pino(
    {
      level,
      base: redact(bindings) as Fields,
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Fields,
      },
      // Fields arrive here already reduced to safe data; the frameworks' own serialisers must not look again.
      serializers: { err: (value) => value, req: (value) => value, res: (value) => value },
      hooks: {
        logMethod(parameters, method) {
          method.apply(this, maskParameters(parameters));
        },
      },
    },
    lineFormat === 'pretty' ? prettyStream(output) : output,
  );

  // pino formats the bindings of the root only; children inherit from it, so these two cover all of them.
  const { child, setBindings } = logger;
  logger.child = function maskedChild(this: Logger, fields: Fields, ...options: unknown[]) {
    return Reflect.apply(child, this, [redact(fields), ...options]);
  } as typeof logger.child;
  logger.setBindings = function maskedSetBindings(this: Logger, fields: Fields) {
    Reflect.apply(setBindings, this, [redact(fields)]);
  };
  if (file !== undefined) tellOfDroppedLines(file, logger);
  return logger;
}

function tellOfDroppedLines(file: ReturnType<typeof destination>, logger: Logger): void {
  let dropped = 0;
  file.on('drop', (lines: string) => {
    dropped += lines.split('\n').length - 1;
  });
  file.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    logger.warn({ lines }, 'log lines were dropped because their reader is too slow');
  });
}

/** Takes lines that are complete JSON and hold nothing that would have to be masked; for those there are many of. */
export interface LineWriter {
  write(line: string): void;
  /** Hands on what was gathered, and gathers no more. */
  close(): void;
}

const GATHERED_CHARACTERS = 65_536;
const GATHERED_MS = 100;

/**
 * Lines on the same way as those of the logger, past all that it does for a line. For a file descriptor they are gathered
 * for a moment, because a write a line costs more than the line.
 */
export function lineWriter(logger: Logger): LineWriter {
  const stream = Reflect.get(logger, symbols.streamSym) as DestinationStream & { flushSync?(): void };
  if (stream.flushSync === undefined) return { write: (line) => stream.write(line), close: () => {} };
  let gathered = '';
  let timer: NodeJS.Timeout | undefined;

  function handOn(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = gathered;
    gathered = '';
    if (lines !== '') stream.write(lines);
  }
  function handOnAtExit(): void {
    handOn();
    stream.flushSync?.();
  }
  process.once('exit', handOnAtExit);
  return {
    write(line) {
      gathered += line;
      if (gathered.length >= GATHERED_CHARACTERS) handOn();
      else timer ??= setTimeout(handOn, GATHERED_MS).unref();
    },
    close() {
      process.off('exit', handOnAtExit);
      handOn();
    },
  };
}

/**
 * The message is made here, complete, because pino would otherwise take it unmasked from an error or put arguments
 * into it after every hook has run.
 */
function maskParameters(parameters: readonly unknown[]): Parameters<LogFn> {
  const [first, ...rest] = parameters;
  if (typeof first !== 'object' || first === null) return [undefined, maskedMessage(first, rest)];
  const fields = first instanceof Error ? { err: first } : first;
  const [message = messageOf(fields), ...values] = rest;
  return message === undefined ? [fields] : [fields, maskedMessage(message, values)];
}

function messageOf(fields: object): string | undefined {
  const { msg, err } = fields as { msg?: unknown; err?: { message?: unknown } | null };
  return msg === undefined && typeof err?.message === 'string' ? err.message : undefined;
}

function maskedMessage(message: unknown, values: readonly unknown[]): string {
  if (typeof message === 'string' && values.length === 0) return maskText(message);
  return maskText(format(typeof message === 'string' ? message : redact(message), ...values.map(redact)));
}

/** One readable line an entry, for people at a terminal. What was gathered comes as several. */
function prettyStream(output: DestinationStream & { flushSync?(): void }): DestinationStream {
  return {
    write(lines) {
      output.write(lines.split('\n').map(prettyLine).join(''));
    },
    ...(output.flushSync === undefined ? {} : { flushSync: () => output.flushSync?.() }),
  };
}

function prettyLine(line: string): string {
  if (line === '') return '';
  const { time, level, msg = '', err, ...fields } = JSON.parse(line) as Fields;
  if (msg === 'request') {
    const { method, route, status, ms, request_id } = fields;
    return `${clockOf(time)} ${status} ${method ?? '-'} ${route ?? '(no route)'}  ${ms} ms  ${request_id}\n`;
  }
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const head = `${clockOf(time)} ${String(level).toUpperCase().padEnd(5)} ${msg}${pairs.join('')}\n`;
  return head + (err === undefined ? '' : prettyError(err));
}

function clockOf(time: unknown): string {
  return String(time).slice(11, 23);
}

function prettyError(error: unknown): string {
  const { stack, cause } = (error ?? {}) as { stack?: unknown; cause?: unknown };
  const text = typeof stack === 'string' ? stack : JSON.stringify(error);
  const indented = `${text.replace(/^/gm, '    ')}\n`;
  return cause === undefined ? indented : `${indented}    caused by\n${prettyError(cause)}`;
}
