import { readFile, writeFile } from 'node:fs/promises';
import { checkLock, isForOnePlatform, LOCK, type LockEntry } from './lock-faults.ts';

/**
 * `npm run lock`, after every `npm install`: takes the engines off the native packages, because npm silently leaves out
 * those that exclude the Node it runs on (an older one than we bring), and says what else is wrong. It adds nothing.
 */
const lock = JSON.parse(await readFile(LOCK, 'utf8')) as { packages: Record<string, LockEntry> };
let freed = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!isForOnePlatform(entry) || entry.engines === undefined) continue;
  const { engines: _engines, ...rest } = entry;
  lock.packages[path] = rest;
  freed += 1;
}
if (freed > 0) await writeFile(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
const faults = await checkLock();
process.stdout.write([`${freed} native packages freed of their engines`, ...faults, ''].join('\n'));
process.exitCode = faults.length === 0 ? 0 : 1;
