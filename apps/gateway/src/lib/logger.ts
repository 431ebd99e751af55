import { format } from 'node:util';
import { type DestinationStream, destination, type LogFn, type Logger, pino, stdTimeFunctions } from 'pino';
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
  /** Standard output by default. */
  readonly destination?: DestinationStream;
}

type Fields = Record<string, unknown>;

/**
 * A pino logger through which no key, secret, signature or personal data passes: fields, child bindings, errors with
 * their causes, messages and their arguments are all masked first. Below its level a call costs what pino's does: nothing.
 */
export function createLogger({
  level,
  format: lineFormat,
  bindings = {},
  destination: to,
}: LoggerOptions): Logger {
  const output = to ?? destination({ fd: 1, sync: true });
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
  return logger;
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

/** One readable line an entry, for people at a terminal. */
function prettyStream(output: DestinationStream): DestinationStream {
  return {
    write(line) {
      const { time, level, msg = '', err, ...fields } = JSON.parse(line) as Fields;
      const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
      const head = `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${msg}${pairs.join('')}\n`;
      output.write(head + (err === undefined ? '' : prettyError(err)));
    },
  };
}

function prettyError(error: unknown): string {
  const { stack, cause } = (error ?? {}) as { stack?: unknown; cause?: unknown };
  const text = typeof stack === 'string' ? stack : JSON.stringify(error);
  const indented = `${text.replace(/^/gm, '    ')}\n`;
  return cause === undefined ? indented : `${indented}    caused by\n${prettyError(cause)}`;
}
