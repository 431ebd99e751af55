import { ConfigError, loadConfig } from '../apps/gateway/src/config.ts';
import { resetHome } from '../apps/gateway/src/local/home.ts';

/** Throws a sandbox away, so that the next start begins afresh: npm run sandbox:reset */
try {
  const { environment, causewayHome, databaseUrl } = loadConfig(process.env, []);
  if (environment !== 'sandbox')
    throw new ConfigError(['CAUSEWAY_ENV is production: there is no sandbox to reset']);
  const { path, removed, kept } = await resetHome(causewayHome);
  process.stdout.write(
    removed.length === 0
      ? `There is no sandbox in ${path}.\n`
      : `The sandbox in ${path} is gone; the next start makes a new one, with new keys.\n`,
  );
  if (kept.length > 0) process.stdout.write(`Left alone, because no sandbox wrote it: ${kept.join(', ')}\n`);
  if (databaseUrl !== undefined) {
    process.stdout.write('DATABASE_URL is set: that database is yours and was not touched.\n');
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'It failed.'}\n`);
  process.exitCode = 1;
}
