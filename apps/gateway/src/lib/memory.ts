import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects garbage now. A start parses megabytes of reference data and then needs little of it again; V8 would keep the space until
 * it is under pressure, and a small machine would run out first.
 */
export function releaseStartMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // The flavour that also gives empty pages back; a plain collection keeps them for later.
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
