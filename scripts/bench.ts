import { writeFileSync } from 'node:fs';
import { endOnInterruption } from '../bench/frame/interruption.ts';
import { describeMachine } from '../bench/frame/report.ts';
import { runBenches } from '../bench/frame/run-benches.ts';
import { renderBench } from './docs/bench.ts';

/**
 * `npm run bench [-- names …] [--compare]`: runs bench/*.bench.ts and records the figures in bench/reports/latest.json and
 * docs/reference/bench.md; with `--compare` shows them beside the recorded ones instead.
 */
endOnInterruption();
process.exitCode = await runBenches({
  benches: new URL('../bench/', import.meta.url),
  reports: new URL('../bench/reports/', import.meta.url),
  args: process.argv.slice(2),
  machine: describeMachine(),
  now: () => new Date(),
  print: (text) => console.log(text),
});
writeFileSync(new URL('../docs/reference/bench.md', import.meta.url), renderBench());
