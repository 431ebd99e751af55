import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { advisoryFaults, readLock, readSnapshot, SNAPSHOT } from './advisory-faults.ts';
import { askRegistry, withAnswer } from './registry-advisories.ts';

/**
 * `npm run advisories`: asks the registry that npm is set to for the advisories about the lock file's packages, keeps them in
 * the repository and says which concern it. Where the registry does not answer, nothing is changed and the command fails.
 */
const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const lock = await readLock();
const before = await readSnapshot();
const snapshot = withAnswer(before, await askRegistry(registry, lock), new Date().toISOString().slice(0, 10));
await writeFile(SNAPSHOT, `${JSON.stringify(snapshot, null, 2)}\n`);
const faults = advisoryFaults(lock, snapshot);
const known = snapshot.advisories.length;
process.stdout.write(
  [`${known} advisories, ${known - before.advisories.length} of them new`, ...faults, ''].join('\n'),
);
process.exitCode = faults.length === 0 ? 0 : 1;
