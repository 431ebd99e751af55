import { spawn } from 'node:child_process';
import { changedSince, readList, writeList } from '../test/failpoints/list.ts';

/**
 * npm run failpoints -- list [revision]   writes the list of the code's commits and outbound calls, and says which ones
 *                                         were added or removed since that revision (the last commit by default)
 * npm run failpoints [-- part of a name [fail|die]]
 *                                         hits each, or those whose name contains it: by an error, by a death, or both
 */
/** Processes are restarted all the time, so that everything takes longer than tests allow for. */
const PATIENCE = '20';

const [what = '', second] = process.argv.slice(2);
if (what === 'list') {
  const sites = writeList();
  const { added, removed } = changedSince(second ?? 'HEAD', sites);
  for (const name of added) process.stdout.write(`+ ${name}\n`);
  for (const name of removed) process.stdout.write(`- ${name}\n`);
  process.stdout.write(`${sites.length} sites, ${2 * sites.length} failpoints\n`);
} else {
  if (what !== '' && !readList().some(({ name }) => name.includes(what.replace(/^(before|after) /, '')))) {
    throw new Error(`no failpoint is called "${what}"; npm run failpoints -- list`);
  }
  const child = spawn('vitest', ['run', '--maxWorkers=1', 'test/failpoints'], {
    stdio: 'inherit',
    env: {
      ...process.env,
      FAILPOINTS: what,
      FAILPOINTS_MODES: second ?? 'fail,die',
      TEST_PATIENCE: PATIENCE,
    },
  });
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
