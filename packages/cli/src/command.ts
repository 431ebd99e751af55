import type { Causeway } from '@causeway/sdk';
import type { Output } from './output.ts';
import type { KeyClass, Profile } from './profile.ts';

/** An option as `parseArgs` takes it, with what help and completion say of it. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** Name of the value in help: `--forward-to URL`. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly description: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** The last one may be given several times. */
  readonly multiple?: boolean;
  readonly choices?: readonly string[];
}

/** What a command is called with; kept apart from its code, so that help and completion load none of it. */
export interface CommandSpec {
  /** Words as typed: `orders show`. */
  readonly name: string;
  readonly summary: string;
  /** More than the summary, for `causeway help COMMAND`. */
  readonly description?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: Readonly<Record<string, OptionSpec>>;
  readonly examples: readonly string[];
  /** Puts back or saves what it has begun when it is stopped, for as long as that takes; others are given a moment. */
  readonly endsItself?: true;
  load(): Promise<{ readonly run: Run }>;
}

export type Run = (invocation: Invocation) => Promise<void>;

export interface Invocation {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly output: Output;
  /** The environment; `main.ts` alone reads it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends with SIGINT or SIGTERM: long-running commands stop cleanly. */
  readonly signal: AbortSignal;
  /** The folder that the command was called in. */
  readonly folder: string;
  readonly profile: () => Promise<Profile>;
  /** A client with the profile's key of that class. */
  readonly client: (keyClass?: KeyClass) => Promise<Causeway>;
  readonly stdin: Input;
}

/** What may be typed or piped in. */
export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean;
  /** Of a terminal: keys one by one, without showing them. */
  setRawMode?(on: boolean): unknown;
}

/** Options that every command takes. */
export const GLOBAL_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { type: 'boolean', description: 'Print JSON: one document, or one a line where it streams.' },
  profile: { type: 'string', value: 'NAME', description: 'Use another profile than the current one.' },
  quiet: { type: 'boolean', short: 'q', description: 'No progress and no remarks.' },
  color: { type: 'boolean', description: 'Colours, also where it is no terminal.' },
  'no-color': { type: 'boolean', description: 'No colours; so does NO_COLOR in the environment.' },
  help: { type: 'boolean', short: 'h', description: 'What a command does and takes.' },
  version: { type: 'boolean', description: 'The version of this program.' },
};

/** The value of a string option, or undefined. */
export function text(invocation: Pick<Invocation, 'options'>, name: string): string | undefined {
  const value = invocation.options[name];
  return typeof value === 'string' ? value : undefined;
}

/** The values of an option that may be given several times. */
export function texts(invocation: Pick<Invocation, 'options'>, name: string): readonly string[] {
  const value = invocation.options[name];
  return Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
}

export function flag(invocation: Pick<Invocation, 'options'>, name: string): boolean {
  return invocation.options[name] === true;
}
