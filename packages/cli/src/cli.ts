import { type CausewayError, isCausewayError } from '@causeway/sdk';
import { type CommandSpec, GLOBAL_OPTIONS, type Input, type Invocation } from './command.ts';
import { COMMANDS } from './commands.ts';
import { CommandError, EXIT, failureLine } from './exit.ts';
import { describeCommand, describeCommands, helpOf, overview } from './help.ts';
import { nearMatches } from './near-matches.ts';
import { createOutput, type Output, type Streams } from './output.ts';
import { check, commandOf, parseLeniently, parseStrictly, usage, type Values } from './parse.ts';
import { findProfile, type Profile } from './profile.ts';
import { unlessAborted } from './signals.ts';
import { VERSION } from './version.ts';

/** For a command to end by itself after SIGINT or SIGTERM. */
const STOP_WITHIN_MS = 1_000;

export interface Surroundings extends Streams {
  /** Where a sandbox of this folder is looked for. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Nothing can be typed or piped in without it. */
  readonly stdin?: Input;
}

/** Runs one command line and answers its exit code; never throws. */
export async function runCli(argv: readonly string[], around: Surroundings): Promise<number> {
  // Until the command is known, so that whatever is wrong is told in the form that was asked for.
  const told = { output: outputOf(parseLeniently(argv).values, around) };
  try {
    const spec = commandOf(COMMANDS, argv);
    if (spec === undefined) return withoutCommand(argv, told.output);
    const { values, positionals } = parseStrictly(spec, argv);
    told.output = outputOf(values, around);
    return await runCommand(spec, values, positionals, told.output, around);
  } catch (error) {
    return report(error, told.output, around.signal);
  }
}

async function runCommand(
  spec: CommandSpec,
  values: Values,
  positionals: readonly string[],
  output: Output,
  around: Surroundings,
): Promise<number> {
  if (values.help === true) {
    output.result(describeCommand(spec), (paint) => helpOf(spec, paint));
    return EXIT.ok;
  }
  const args = positionals.slice(spec.name.split(' ').length);
  check(spec, args, values);
  const { run } = await spec.load();
  const running = run(invocationOf(values, args, output, around));
  await (spec.endsItself === true ? running : untilStopped(running, around.signal));
  return around.signal.aborted ? EXIT.interrupted : EXIT.ok;
}

/** For a command that is stopped while it waits for what knows nothing of the signal: it is not waited for any longer. */
async function untilStopped(running: Promise<void>, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const begin = () => {
    timer = setTimeout(() => late.abort(), STOP_WITHIN_MS);
  };
  signal.addEventListener('abort', begin, { once: true });
  if (signal.aborted) begin();
  try {
    await unlessAborted(running, late.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', begin);
  }
}

/** `causeway`, `causeway --version`, `causeway orders`, and what is no command. */
function withoutCommand(argv: readonly string[], output: Output): number {
  const { values, positionals } = parseLeniently(argv);
  const unknown = Object.keys(values).find((name) => !(name in GLOBAL_OPTIONS));
  const [word] = positionals;
  if (word === undefined) {
    if (unknown !== undefined) throw usage(`There is no option --${unknown}.`);
    if (values.version === true) output.result({ version: VERSION }, () => VERSION);
    else output.result(describeCommands(COMMANDS), (paint) => overview(COMMANDS, paint));
    return EXIT.ok;
  }
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${word} `));
  if (group.length > 0 && positionals.length === 1) {
    output.result(describeCommands(group), (paint) => overview(group, paint));
    return values.help === true ? EXIT.ok : EXIT.usage;
  }
  throw noCommand(COMMANDS, positionals);
}

function noCommand(commands: readonly CommandSpec[], words: readonly string[]): CommandError {
  const names = commands.map(({ name }) => name);
  const groups = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))];
  const [near] = [...nearMatches(words.slice(0, 2).join(' '), names), ...nearMatches(words[0] ?? '', groups)];
  return new CommandError(`There is no command “${words.join(' ')}”.`, {
    exitCode: EXIT.usage,
    hint: near === undefined ? 'causeway help lists them.' : `Did you mean causeway ${near}?`,
  });
}

function outputOf(values: Values, around: Surroundings): Output {
  const { color } = values;
  return createOutput(around, {
    json: values.json === true,
    quiet: values.quiet === true,
    ...(typeof color === 'boolean' ? { color } : {}),
  });
}

function invocationOf(
  values: Values,
  args: readonly string[],
  output: Output,
  around: Surroundings,
): Invocation {
  const { env, folder, signal } = around;
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
    client: async (keyClass = 'partner') => {
      // Help and completion need no client.
      const { clientOf } = await import('./deployment.ts');
      return clientOf(await profile(), keyClass);
    },
    get stdin() {
      return around.stdin ?? nothing();
    },
  };
}

async function* nothing(): AsyncGenerator<string, void, void> {}

function report(error: unknown, output: Output, signal: AbortSignal): number {
  if (signal.aborted) return EXIT.interrupted;
  if (error instanceof CommandError) {
    const { message, exitCode, hint } = error;
    output.error(message, { code: codeNameOf(exitCode), exitCode, hint });
    return exitCode;
  }
  if (isCausewayError(error)) {
    const { code, details, requestId } = error;
    const exitCode = exitCodeOf(error);
    const more = { details: { ...details }, requestId, hint: hintOf(exitCode) };
    output.error(failureLine(error), { code, exitCode, ...more });
    return exitCode;
  }
  output.error(failureLine(error), {
    code: codeNameOf(EXIT.failed),
    exitCode: EXIT.failed,
  });
  return EXIT.failed;
}

/** For programs that read `--json`: the name of the exit code. */
function codeNameOf(exitCode: number): string {
  return (Object.entries(EXIT).find(([, code]) => code === exitCode)?.[0] ?? 'failed').toUpperCase();
}

function hintOf(exitCode: number): string | undefined {
  if (exitCode === EXIT.unauthorized)
    return 'causeway profiles shows which key is used, causeway login saves another.';
  return exitCode === EXIT.unavailable ? 'causeway doctor says what is wrong.' : undefined;
}

function exitCodeOf({ code, status }: CausewayError): number {
  // A proxy, a page for guests of a network, another program at that address: the service has said nothing.
  if (code === 'INVALID_ANSWER') return EXIT.unavailable;
  if (status === undefined || status >= 500) return EXIT.unavailable;
  if (status === 401 || status === 403) return EXIT.unauthorized;
  return status === 404 ? EXIT.notFound : EXIT.refused;
}
