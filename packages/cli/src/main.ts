#!/usr/bin/env node
import { runCli } from './cli.ts';
import { EXIT } from './exit.ts';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    stop.abort();
    // A second one ends at once.
    process.once(name, () => process.exit(EXIT.interrupted));
  });
}
// `causeway … | head` closes our output: nothing more is wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
// Remarks that are read by nobody end nothing: the result and the exit code still count.
process.stderr.on('error', () => {});

const exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  // Opened when it is read: commands that do not ask must end by themselves.
  get stdin() {
    return process.stdin;
  },
  env: process.env,
  folder: process.cwd(),
  signal: stop.signal,
});
// What was still being waited for when it was stopped must not keep the program.
if (exitCode === EXIT.interrupted) process.exit(exitCode);
process.exitCode = exitCode;
