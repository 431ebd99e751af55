import { randomBytes } from 'node:crypto';
import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Sealer } from '../../lib/crypto.ts';

/** The name of the deployment's fact that holds the wrapped key of the blind indexes. */
export const INDEX_KEY_FACT = 'blind_index_key';
export const INDEX_KEY_CONTEXT = 'deployment_facts.blind_index_key';

const installIndexKey = statement<[name: string, wrapped: string, at: Date]>(
  'privacy.install_index_key',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, to_jsonb($2::text), $3)
   ON CONFLICT (name) DO NOTHING`,
);

const readIndexKey = statement<[name: string], { wrapped: string }>(
  'privacy.read_index_key',
  `SELECT value #>> '{}' AS wrapped FROM deployment_facts WHERE name = $1`,
);

/**
 * The key of the blind indexes. It is made once and kept wrapped by the master key: were it derived from the master key,
 * a rotation would make every index useless.
 */
export async function loadIndexKey(db: Database, sealer: Sealer, clock: Clock): Promise<Uint8Array> {
  const fresh = sealer.seal(randomBytes(32).toString('base64'), INDEX_KEY_CONTEXT);
  await db.query(SYSTEM, installIndexKey, [INDEX_KEY_FACT, fresh, clock.date()]);
  const [row] = await db.query(SYSTEM, readIndexKey, [INDEX_KEY_FACT]);
  if (row === undefined) throw new Error('the key of the blind indexes is missing');
  return Buffer.from(sealer.open(row.wrapped, INDEX_KEY_CONTEXT), 'base64');
}
