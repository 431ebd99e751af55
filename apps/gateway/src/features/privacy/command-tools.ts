import { createDatabase, type Database } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { createClock } from '../../lib/clock.ts';
import { createSealer, type Sealer } from '../../lib/crypto.ts';
import { createIdGenerator } from '../../lib/ids.ts';

/** The little that a command beside the running deployment needs of it. */
export interface CommandDeps extends UnitDeps {
  readonly sealer: Sealer;
}

export interface CommandSettings {
  readonly databaseUrl?: string | undefined;
  readonly dataEncryptionKey?: string | undefined;
  readonly dataEncryptionKeysPrevious?: readonly string[] | undefined;
}

/** Throws what to set when the settings do not lead to a deployment. */
export function connectCommand(settings: CommandSettings): CommandDeps {
  const { databaseUrl, dataEncryptionKey } = settings;
  if (databaseUrl === undefined || dataEncryptionKey === undefined) {
    throw new Error('Set DATABASE_URL and DATA_ENCRYPTION_KEY to those of the deployment.');
  }
  const bytes = (key: string) => Buffer.from(key, 'hex');
  const db: Database = createDatabase({ connectionString: databaseUrl, poolSize: 2 });
  return {
    db,
    clock: createClock(),
    ids: createIdGenerator(),
    sealer: createSealer([
      bytes(dataEncryptionKey),
      ...(settings.dataEncryptionKeysPrevious ?? []).map(bytes),
    ]),
  };
}
