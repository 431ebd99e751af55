import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIdGenerator } from '../apps/gateway/src/lib/ids.ts';
import { makeSecrets } from '../apps/gateway/src/sandbox.ts';
import { withDatabase } from './database.ts';
import { type RunningServer, startServerProcess } from './frame/server-process.ts';

/** A whole gateway in a process of its own, on a database of its own, without the limits that would end a load. */
export interface BenchGateway {
  readonly server: RunningServer;
  readonly home: string;
  readonly databaseUrl: string;
  /** Of the first partner by name. */
  readonly apiKey: string;
  /** What it was started with, for a baseline beside it. */
  readonly env: Readonly<Record<string, string>>;
}

export const POOL_SIZE = 10;

export const NO_LIMITS = {
  RATE_LIMIT_PARTNER_PER_MINUTE: '10000000',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '10000000',
  OPEN_ORDERS_PER_PARTNER: '1000000000',
  OPEN_ORDERS_PER_CUSTOMER: '1000000000',
  HELD_VALUE_PER_PARTNER_USD: '1000000000',
  HELD_VALUE_PER_CUSTOMER_USD: '1000000000',
};

/** `script` and `settings` are those of a server in bench/servers; for as long as it is used. */
export async function withGateway(
  script: URL,
  settings: Readonly<Record<string, string>>,
  use: (gateway: BenchGateway) => Promise<void>,
  databaseSettings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-bench-home-'));
  try {
    await withDatabase(async (databaseUrl) => {
      const { partners } = await makeSecrets(home, createIdGenerator());
      const [partner] = partners.toSorted((left, right) => (left.name < right.name ? -1 : 1));
      const apiKey = partner?.apiKey ?? '';
      const env = {
        CAUSEWAY_HOME: home,
        BENCH_HOME: home,
        BENCH_KEY: apiKey,
        BENCH_POOL: String(POOL_SIZE),
        DATABASE_URL: databaseUrl,
        DATABASE_POOL_SIZE: String(POOL_SIZE),
        METRICS_PORT: 'off',
        PORT: '0',
        ...NO_LIMITS,
        ...settings,
      };
      const server = await startServerProcess({ script, env });
      try {
        await use({ server, home, databaseUrl, apiKey, env });
      } finally {
        await server.stop();
      }
    }, databaseSettings);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
