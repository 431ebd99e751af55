import { spawnSync } from 'node:child_process';
import { listOperations, ROOT, readRecords } from './sdk/operations.ts';

/**
 * Lists every operation of the API, the SDK's method for it and the test files whose last run called it through that method.
 * Without records, or with --run, the files that together call all of them run first.
 */
const FILES = ['test/examples/api-examples.test.ts', 'test/scenarios/sdk.test.ts'];

if (process.argv.includes('--run') || readRecords().length === 0) {
  const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'served', ...FILES], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exitCode = 1;
}

const records = readRecords();
const { lines, missing } = listOperations(records);
for (const line of lines) console.log(line.trimEnd());
const from = `${records.length} test ${records.length === 1 ? 'file' : 'files'}`;
console.log(`\n${lines.length} operations; called through the SDK as ${from} ran last.`);
if (missing.length > 0) {
  console.error(`No recorded test calls ${missing.join(', ')}. Run npm run sdk:operations -- --run`);
  process.exitCode = 1;
}
