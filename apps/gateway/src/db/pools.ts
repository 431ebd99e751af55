import pg from 'pg';
import { type BatchItem, batchItem, runBatch } from './batch.ts';
import { enter, partnerScope, type Scope, SYSTEM, vendorScope } from './scope.ts';
import { checkConnection, type WorkingRole } from './server.ts';
import { statement } from './statement.ts';

/** What a transaction is run on. */
export type Connection = Pick<pg.PoolClient, 'query' | 'release'>;

export interface Connections {
  checkOut(scope: Scope): Promise<Connection>;
  /** Notifies all who listen to these channels. */
  announce(channels: readonly string[], payloads: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly connectionString: string;
  /** Most connections of each role. */
  readonly poolSize: number;
  /** Refuse a login that could see past row-level security. Sandboxes and tests work as the server's superuser. */
  readonly production?: boolean;
}

const ANNOUNCE = statement<[channels: readonly string[], payloads: readonly string[]]>(
  'db.announce',
  'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS news (channel, payload)',
);

/** A pool for each role, whose connections are known to be bound by it. */
export function pooledConnections(options: PoolOptions): Connections {
  const pools = {
    partner: createPool(options, 'causeway_partner', enter(partnerScope(''))),
    vendor: createPool(options, 'causeway_vendor', enter(vendorScope(''))),
    system: createPool(options, 'causeway_system', enter(SYSTEM)),
  };
  return {
    checkOut: ({ kind }) => pools[kind === 'customer' ? 'partner' : kind].connect(),
    async announce(channels, payloads) {
      const client = await pools.system.connect();
      let broken = true;
      try {
        await runBatch(client, [...enter(SYSTEM), batchItem(ANNOUNCE, [channels, payloads])]);
        broken = false;
      } finally {
        client.release(broken);
      }
    },
    async close() {
      await Promise.all([pools.partner.end(), pools.vendor.end(), pools.system.end()]);
    },
  };
}

function createPool(options: PoolOptions, role: WorkingRole, entering: readonly BatchItem[]): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.poolSize,
    application_name: role.replace('_', '-'),
    connectionTimeoutMillis: 10_000,
    // The first requests of a new connection are slow: it reads the catalogue, and plans every statement five times.
    idleTimeoutMillis: 600_000,
    onConnect: (client) => checkConnection(client, role, entering, options.production ?? false),
  });
  // An idle connection that the server closes (restart, fail-over) is replaced on the next checkout.
  pool.on('error', () => {});
  // So is one that is lost while checked out, between two statements: the next statement on it reports the
  // loss, whereas an error without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
