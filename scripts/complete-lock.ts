import { readFile, writeFile } from 'node:fs/promises';
import { checkLock, isForOnePlatform, LOCK, type LockEntry } from './lock-faults.ts';

/**
 * `npm run lock`, after every `npm install`. It takes two things off the native packages and adds nothing: their engines,
 * because npm silently leaves out those that exclude the Node it runs on, which is not the one we bring; and the names
 * of their programs, because npm 10 removes a name that a package which does not fit shares with the one that does
 * (packages/node/bin/node stands in). Then it says what else is wrong.
 */
const lock = JSON.parse(await readFile(LOCK, 'utf8')) as { packages: Record<string, LockEntry> };
let freed = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  const { engines, bin, ...rest } = entry;
  if (!isForOnePlatform(entry) || (engines ?? bin) === undefined) continue;
  lock.packages[path] = rest;
  freed += 1;
}
if (freed > 0) await writeFile(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
const faults = await checkLock();
process.stdout.write(
  [`${freed} native packages freed of engines and program names`, ...faults, ''].join('\n'),
);
process.exitCode = faults.length === 0 ? 0 : 1;
