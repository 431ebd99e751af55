import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { call } from '../harness/call.ts';
import { connect, emptyDatabase } from '../harness/database.ts';
import { type GatewayProcess, startProcess } from '../harness/process.ts';
import { until } from '../harness/until.ts';

const ADDRESS = '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB';
const OWNER = `owner_${process.pid}`;

let folder: string;
let admin: pg.Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-production-'));
  const chain = {
    slug: 'base-mainnet',
    chain_id: 8453,
    rpc_urls: ['http://127.0.0.1:9'],
    public_rpc_url: 'https://mainnet.base.org',
    confirmations: 12,
    contracts: Object.fromEntries(
      [
        'safe_singleton',
        'safe_proxy_factory',
        'multi_send_call_only',
        'fallback_handler',
        'forwarder',
        'router',
      ].map((name) => [name, ADDRESS]),
    ),
    tokens: [{ code: 'USDC', address: ADDRESS, decimals: 6 }],
    treasury: ADDRESS,
  };
  await writeFile(join(folder, 'chains.json'), JSON.stringify([chain]));
  admin = await connect(inject('ground').adminUrl);
  await admin.query(`CREATE ROLE ${OWNER} LOGIN PASSWORD 'pw'`);
  await admin.query(
    `GRANT causeway_partner, causeway_customer, causeway_vendor, causeway_system, causeway_backup TO ${OWNER} WITH INHERIT TRUE, SET TRUE`,
  );
});
afterAll(async () => {
  await admin?.query(`DROP OWNED BY ${OWNER}`);
  await admin?.end();
  await rm(folder, { recursive: true, force: true });
});

async function ownDatabase(): Promise<{ asOwner: string; asSuperuser: string }> {
  const asSuperuser = await emptyDatabase();
  const url = new URL(asSuperuser);
  await admin.query(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${OWNER}`);
  url.username = OWNER;
  url.password = 'pw';
  return { asOwner: url.href, asSuperuser };
}

function production(databaseUrl: string, env: Readonly<Record<string, string>> = {}): GatewayProcess {
  return startProcess(
    {
      CAUSEWAY_ENV: 'production',
      CAUSEWAY_HOME: folder,
      DATABASE_URL: databaseUrl,
      PUBLIC_BASE_URL: 'https://pay.example.com',
      CHAINS_FILE: join(folder, 'chains.json'),
      SERVICE_SIGNER_KEY: `0x${randomBytes(32).toString('hex')}`,
      DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      OPERATOR_KEY: `cw_operator_${randomBytes(24).toString('hex')}`,
      HOST: '127.0.0.1',
      PORT: '0',
      ...env,
    },
    ['api'],
  );
}

/** For a process that tells its public address and not its port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

function migration(databaseUrl: string): GatewayProcess {
  return startProcess({ CAUSEWAY_ENV: 'production', DATABASE_URL: databaseUrl }, ['migrate']);
}

describe('npm start in production', () => {
  // Proves D11.1.
  it('that may not migrate waits for npm start -- migrate, which says what it applied and ends; it has no sandbox routes', async () => {
    const { asOwner } = await ownDatabase();
    const early = production(asOwner, { MIGRATE_AT_START: 'false' });
    expect(await early.exited).toBe(1);
    expect(early.output()).toContain('Run: npm start -- migrate');

    const first = migration(asOwner);
    expect(await first.exited, first.output()).toBe(0);
    expect(first.output()).toMatch(/^Applied 0001_tenancy\.sql\nApplied 0002_/);
    const second = migration(asOwner);
    expect(await second.exited).toBe(0);
    expect(second.output()).toBe('Nothing to apply.\n');

    const port = await freePort();
    const started = production(asOwner, { MIGRATE_AT_START: 'false', PORT: String(port) });
    await until('it to start', () => {
      if (started.child.exitCode !== null) throw new Error(started.output());
      return started.output().includes('"started"');
    });
    const answers = await Promise.all(
      [
        '/api/v1/sandbox/settings',
        '/api/v1/sandbox/clock',
        '/widget/playground',
        '/api/v1/no-such-route',
      ].map((path) => call(`http://127.0.0.1:${port}`, 'GET', path)),
    );
    for (const { status, body, text } of answers) {
      expect([status, body.error.code, text]).toEqual([404, 'ROUTE_NOT_FOUND', answers[3]?.text]);
    }
    started.child.kill('SIGTERM');
    expect(await started.exited).toBe(0);
  });

  it('refuses a chains file with a wrong checksum in an address, by field and chain', async () => {
    const text = await readFile(join(folder, 'chains.json'), 'utf8');
    const [chain] = JSON.parse(text) as [object];
    const path = join(folder, 'mistyped.json');
    await writeFile(path, JSON.stringify([{ ...chain, treasury: ADDRESS.replace('0xAB', '0xaB') }]));
    const { asOwner } = await ownDatabase();
    const started = production(asOwner, { CHAINS_FILE: path });
    expect(await started.exited).toBe(1);
    expect(started.output()).toContain('has a treasury of base-mainnet with a wrong checksum (EIP-55)');
  });

  it('names what is wrong with the files of several variables at once, before it touches the database', async () => {
    const { asOwner, asSuperuser } = await ownDatabase();
    const absent = join(folder, 'absent');
    const started = production(asOwner, { SANCTIONS_LIST_FILE: absent, SERVICE_SIGNER_KEYSTORE: absent });
    expect(await started.exited).toBe(1);
    expect(started.output()).toContain(`The configuration has 2 problems:
  - SERVICE_SIGNER_KEYSTORE (${absent}): cannot be read (ENOENT).
  - SANCTIONS_LIST_FILE (${absent}): cannot be read (ENOENT).`);
    const look = await connect(asSuperuser);
    const { rowCount } = await look.query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
    await look.end();
    expect(rowCount).toBe(0);
  });

  it('refuses a database from before the baseline, and says how to start afresh', async () => {
    const { asOwner, asSuperuser } = await ownDatabase();
    const look = await connect(asSuperuser);
    await look.query('CREATE TABLE schema_migrations (name text PRIMARY KEY, checksum text NOT NULL)');
    await look.query(`GRANT SELECT ON schema_migrations TO causeway_system;
      INSERT INTO schema_migrations VALUES ('0002_intents_and_outbox.sql', '')`);
    await look.end();
    const refused = migration(asOwner);
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toMatch(/could not start: The database was made by .*`npm run sandbox:reset`/);
  });

  // Proves trap 47.
  it('refuses a superuser before it migrates anything, and tells how to make a login', async () => {
    const { asSuperuser } = await ownDatabase();
    const refused = production(asSuperuser);
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain('is a superuser or bypasses row-level security');
    expect(refused.output()).toContain('CREATE ROLE causeway_app LOGIN');
    const look = await connect(asSuperuser);
    const { rowCount } = await look.query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
    await look.end();
    expect(rowCount).toBe(0);
  });
});
