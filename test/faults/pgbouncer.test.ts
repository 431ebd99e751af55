import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { prepareDatabase } from '../../apps/gateway/src/db/start.ts';
import { pickPort } from '../../apps/gateway/src/local/free-port.ts';
import { cloneDatabase, connect } from '../harness/database.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { installed } from '../harness/installed.ts';
import { until } from '../harness/until.ts';

/** The real thing where the machine has one (Debian: `apt-get install pgbouncer`). */
const [pgbouncer] = installed('pgbouncer');
const keepsStatementsApart = pgbouncer !== undefined && (pgbouncer.major > 1 || pgbouncer.minor >= 21);

const LOGIN = `pooled_${process.pid}`;
const SERVER_CONNECTIONS = 4;
const UNPRIVILEGED_ID = 65_534;

let admin: pg.Client;
let folder: string;
let pooler: ChildProcess | undefined;

function asLogin(databaseUrl: string, port?: number): string {
  const url = new URL(databaseUrl);
  url.username = LOGIN;
  url.password = 'pw';
  if (port !== undefined) url.port = String(port);
  return url.href;
}

async function startPooler(settings: Readonly<Record<string, string | number>>): Promise<number> {
  const port = await pickPort(undefined);
  const { port: serverPort } = new URL(inject('ground').adminUrl);
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    default_pool_size: SERVER_CONNECTIONS,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  // It refuses to run as root.
  const as = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
  pooler = spawn(pgbouncer?.path ?? '', [join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...as });
  await until('PgBouncer to listen', async () => {
    if (pooler?.exitCode !== null) throw new Error(`PgBouncer ended with ${pooler?.exitCode}`);
    const socket = connectSocket(port, '127.0.0.1');
    return once(socket, 'connect')
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  });
  return port;
}

describe.skipIf(pgbouncer === undefined)('behind PgBouncer', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-pgbouncer-'));
    await writeFile(join(folder, 'users'), `"${LOGIN}" "pw"\n`);
    await chmod(folder, 0o755);
    admin = await connect(inject('ground').adminUrl);
    await admin.query(`CREATE ROLE ${LOGIN} LOGIN PASSWORD 'pw'`);
    await admin.query(
      `GRANT causeway_partner, causeway_customer, causeway_vendor, causeway_system TO ${LOGIN} WITH INHERIT FALSE, SET TRUE`,
    );
  });
  afterEach(async () => {
    pooler?.kill('SIGKILL');
    if (pooler?.exitCode === null && pooler.signalCode === null) await once(pooler, 'exit');
    pooler = undefined;
  });
  afterAll(async () => {
    await admin?.query(`DROP ROLE ${LOGIN}`);
    await admin?.end();
    await rm(folder, { recursive: true, force: true });
  });

  it('in session mode a process starts with one address', async () => {
    const url = asLogin(await cloneDatabase(), await startPooler({ pool_mode: 'session' }));
    await prepareDatabase({ databaseUrl: url, directUrl: url, mayMigrate: false });
  });

  it('that mixes up prepared statements in transaction mode, a process refuses to start and says what to change', async () => {
    const off: Record<string, number> = keepsStatementsApart ? { max_prepared_statements: 0 } : {};
    const port = await startPooler({ pool_mode: 'transaction', ...off });
    const databaseUrl = await cloneDatabase();
    await expect(
      prepareDatabase({
        databaseUrl: asLogin(databaseUrl, port),
        directUrl: asLogin(databaseUrl),
        mayMigrate: false,
      }),
    ).rejects.toThrow(/1\.21 or newer.*max_prepared_statements/);
  });

  describe.skipIf(!keepsStatementsApart)('in transaction mode', () => {
    const settings = { pool_mode: 'transaction', max_prepared_statements: 200 };

    it('without an address of its own for notifications, a process refuses to start and names the variable', async () => {
      const url = asLogin(await cloneDatabase(), await startPooler(settings));
      await expect(prepareDatabase({ databaseUrl: url, directUrl: url, mayMigrate: false })).rejects.toThrow(
        'DATABASE_DIRECT_URL',
      );
    });

    // Proves trap 47.
    it('orders of two partners complete over a few shared connections, and neither sees the other’s', async () => {
      const port = await startPooler(settings);
      const gateway = await startGateway({
        chains: true,
        addresses: (databaseUrl) => ({ pooled: asLogin(databaseUrl, port), direct: asLogin(databaseUrl) }),
      });
      try {
        const [first, second] = gateway.partners;
        const orders = await Promise.all(
          [first, second, first, second].map(({ apiKey }, index) =>
            complete(gateway, apiKey, `p${index}@example.com`),
          ),
        );
        const own = { [first.apiKey]: [orders[0], orders[2]], [second.apiKey]: [orders[1], orders[3]] };
        await Promise.all(
          Array.from({ length: 80 }, async (_, index) => {
            const key = index % 2 === 0 ? first.apiKey : second.apiKey;
            const { body } = await gateway.call('GET', '/api/v1/partner/orders', { key });
            const seen = body.data.orders.map(({ order_id }: { order_id: string }) => order_id);
            expect(seen.sort()).toEqual(own[key]?.sort());
          }),
        );
        const { rows } = await admin.query<{ application: string; connections: number }>(
          `SELECT application_name AS application, count(*)::int AS connections FROM pg_stat_activity WHERE usename = $1 GROUP BY 1`,
          [LOGIN],
        );
        const held = rows.filter(({ application }) => application !== 'causeway-listener');
        expect(held.reduce((sum, { connections }) => sum + connections, 0)).toBeLessThanOrEqual(
          SERVER_CONNECTIONS,
        );
      } finally {
        await gateway.stop();
      }
    });
  });
});

async function complete({ call }: TestGateway, key: string, email: string): Promise<string> {
  const user = (await call('POST', '/api/v1/partner/users', { key, body: { email } })).body.data.id;
  await call('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { key, body: { status: 'VERIFIED' } });
  const quote = await call('POST', '/api/v1/partner/onramp/quote', {
    key,
    body: { user_uuid: user, crypto_currency: 'USDT', fiat_currency: 'EUR', fiat_amount: '50.00' },
  });
  const order = await call('POST', '/api/v1/partner/onramp/initiate', {
    key,
    body: { quote_id: quote.body.data.quote_id },
  });
  const orderId = order.body.data.order_id as string;
  const reaches = (status: string) =>
    until(`${orderId} in ${status}`, async () => {
      const { body } = await call('GET', `/api/v1/partner/orders/${orderId}`, { key });
      return body.data.status === status;
    });
  await reaches('awaiting_fiat_transfer');
  await call('POST', `/api/v1/partner/orders/${orderId}/confirm-payment-sent`, { key });
  await reaches('completed');
  return orderId;
}
