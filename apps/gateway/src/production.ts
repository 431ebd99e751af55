import type { Config } from './config.ts';
import { type Database, SYSTEM } from './db/database.ts';
import { statement } from './db/statement.ts';
import type { Surroundings } from './deps.ts';
import type { MovableClock } from './lib/clock.ts';
import { sha256Hex } from './lib/crypto.ts';
import type { IdGenerator } from './lib/ids.ts';

/** A production deployment brings everything itself; the configuration has already refused what is missing. */
export function productionSurroundings(config: Config): Surroundings {
  const { databaseUrl, serviceSignerKey, dataEncryptionKey } = config;
  if (databaseUrl === undefined || serviceSignerKey === undefined || dataEncryptionKey === undefined) {
    throw new Error('production needs DATABASE_URL, SERVICE_SIGNER_KEY and DATA_ENCRYPTION_KEY');
  }
  return {
    databaseUrl,
    serviceSignerKey: serviceSignerKey as `0x${string}`,
    dataEncryptionKey,
    chains: config.chains,
  };
}

const installFirstOperatorKey = statement<[keyId: string, keyHash: string, hint: string, at: Date]>(
  'operators.install_first_key',
  `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, label, created_at)
   SELECT $1, 'operator', NULL, $2, $3, 'first operator key', $4
    WHERE NOT EXISTS (SELECT FROM api_keys WHERE kind = 'operator')`,
);

/** Without it nobody could make a second one. */
export async function installOperatorKey(
  tools: { readonly db: Database; readonly ids: IdGenerator; readonly clock: MovableClock },
  config: Config,
): Promise<void> {
  if (config.operatorKey === undefined) return;
  await tools.db.query(SYSTEM, installFirstOperatorKey, [
    tools.ids.uuid(),
    sha256Hex(config.operatorKey),
    `cw_operator_…${config.operatorKey.slice(-4)}`,
    tools.clock.date(),
  ]);
}
