import { runBenches } from '../bench/frame/run-benches.ts';

/** `npm run bench [-- name]`: runs bench/*.bench.ts and saves bench/reports/latest.json and latest.md. */
process.exitCode = await runBenches({
  benches: new URL('../bench/', import.meta.url),
  reports: new URL('../bench/reports/', import.meta.url),
  filter: process.argv[2],
  now: () => new Date(),
  print: (text) => console.log(text),
});
