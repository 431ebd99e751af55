#!/usr/bin/env node
import { runCli } from './cli.ts';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    stop.abort();
    // A second one ends at once.
    process.once(name, () => process.exit(130));
  });
}
// `causeway … | head` closes our output: nothing more is wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runCli(process.argv.slice(2), {
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
