import { runCli } from '../../packages/cli/src/cli.ts';

export interface CliRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface RunningCli {
  stdout(): string;
  stderr(): string;
  /** Its lines of JSON so far. */
  // biome-ignore lint/suspicious/noExplicitAny: lines are read as they are printed
  lines(): any[];
  readonly ended: Promise<CliRun>;
  /** As Ctrl-C does. */
  stop(): Promise<CliRun>;
}

export interface CliOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly folder?: string;
}

/** The command line in this process, as main.ts calls it. */
export function startCli(argv: readonly string[], { env, folder = '/nonexistent' }: CliOptions): RunningCli {
  const written = { stdout: '', stderr: '' };
  const stopped = new AbortController();
  const collect = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const surroundings = { stdout: collect('stdout'), stderr: collect('stderr'), env, folder };
  const ended = runCli(argv, { ...surroundings, signal: stopped.signal }).then((exitCode) => ({
    ...written,
    exitCode,
  }));
  return {
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    lines: () => jsonLines(written.stdout),
    ended,
    stop() {
      stopped.abort();
      return ended;
    },
  };
}

/** Whole lines only: the last one may still be on its way. */
export function jsonLines(text: string): ReturnType<RunningCli['lines']> {
  return text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
