import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program of the machine that a test uses where it is there, and is skipped without. */
export interface Installed {
  readonly path: string;
  readonly major: number;
  readonly minor: number;
}

const DEBIAN = '/usr/lib/postgresql';

/** Every version of the program that the machine has, those in PATH first. */
export function installed(name: string): readonly Installed[] {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin'))
    : [];
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', ...versions];
  return folders
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const found = /(\d+)\.(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }));
      return found === null ? [] : [{ path, major: Number(found[1]), minor: Number(found[2]) }];
    });
}
