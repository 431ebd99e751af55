import pg from 'pg';
import { sha256Hex } from '../apps/gateway/src/lib/crypto.ts';
import { createIdGenerator } from '../apps/gateway/src/lib/ids.ts';
import { insertPartner } from '../test/harness/partners.ts';
import { withDatabase } from './database.ts';
import { compare } from './frame/compare.ts';
import type { BenchReport } from './frame/report.ts';
import { startServerProcess } from './frame/server-process.ts';

/** What the shell costs: an authenticated, limited, measured route against bare Fastify sending the same bytes. */
const TARGET_RATIO = 0.8;
const KEY = `cw_test_${'b'.repeat(32)}`;

export async function run(report: BenchReport): Promise<void> {
  await withDatabase(async (databaseUrl) => {
    await seedPartner(databaseUrl);
    report.add(
      await compare({
        name: 'authenticated trivial route against bare Fastify',
        baseline: {
          start: () => startServerProcess({ script: new URL('./servers/bare.ts', import.meta.url), request }),
        },
        candidate: {
          start: () =>
            startServerProcess({
              script: new URL('./servers/shell.ts', import.meta.url),
              env: { DATABASE_URL: databaseUrl },
              request,
            }),
        },
        connections: 32,
        // Many short rounds: a noisy machine spoils single ones, not their median.
        durationSeconds: 1,
        rounds: 21,
        targetRatio: TARGET_RATIO,
      }),
    );
  });
}

const request = { headers: { 'x-api-key': KEY } };

async function seedPartner(databaseUrl: string): Promise<void> {
  const ids = createIdGenerator();
  const partnerId = ids.uuid();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await insertPartner(client, partnerId);
  await client.query(
    `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, created_at)
     VALUES ($1, 'partner', $2, $3, 'bench', '2026-01-01')`,
    [ids.uuid(), partnerId, sha256Hex(KEY)],
  );
  await client.end();
}
