import { loadConfig } from '../apps/gateway/src/config.ts';
import { connectCommand, rotateKeys } from '../apps/gateway/src/features/privacy/rotate-keys.ts';

/**
 * Seals with DATA_ENCRYPTION_KEY what the keys in DATA_ENCRYPTION_KEYS_PREVIOUS sealed. Every process of the deployment has
 * to run with both settings before it is started; afterwards the previous keys can be thrown away.
 */
const deps = connectCommand(loadConfig(process.env, []));
try {
  for (const { column, rows } of await rotateKeys(deps.db, deps.sealer)) {
    process.stdout.write(`${String(rows).padStart(10)}  ${column}\n`);
  }
  process.stdout.write('Everything is sealed with DATA_ENCRYPTION_KEY.\n');
} finally {
  await deps.db.close();
}
