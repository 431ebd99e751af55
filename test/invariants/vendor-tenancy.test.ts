import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../harness/database.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';
import { type DescribedRoute, describedRoutes, fillPath, sampleOf } from './described-routes.ts';

const SIGNATURE = `0x${'ab'.repeat(64)}1b`;
/** Bodies that get past validation; whatever is refused after that says whose the id is. */
const BODIES: Readonly<Record<string, object>> = {
  acceptVendorOrder: { refund_signature: SIGNATURE, payment_details: { full_name: 'Vendor Ltd' } },
  signVendorRefund: { refund_signature: SIGNATURE },
  confirmVendorFiat: { release_signature: SIGNATURE },
  signVendorRelease: { release_signature: SIGNATURE },
  submitVendorProof: { payment_reference: 'E2E-1', release_signature: SIGNATURE },
  changeVendorOffer: { available_balance: '1' },
};
const QUERIES: Readonly<Record<string, string>> = { getVendorSigningParameters: '?purpose=refund' };

describe('tenancy of every vendor route', () => {
  let gateway: TestGateway;
  let routes: DescribedRoute[];
  let owner: pg.Client;
  /** Of the vendor that has an order; the other has none of it. */
  let own: { vendorId: string; key: string; ids: Record<string, string> };
  let otherVendor: { vendorId: string; key: string };

  beforeAll(async () => {
    gateway = await startGateway();
    routes = (await describedRoutes(gateway)).filter(({ access }) => access === 'vendor');
    owner = await connect(gateway.databaseUrl);
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
    const driver = ordersDriver(gateway);
    const orderId = await driver.onrampOrder();
    await driver.offrampOrder();
    const { rows } = await owner.query('SELECT vendor_id FROM orders WHERE order_id = $1', [orderId]);
    const vendorId = rows[0].vendor_id as string;
    const offers = await owner.query('SELECT offer_id FROM offers WHERE vendor_id = $1 LIMIT 1', [vendorId]);
    own = {
      vendorId,
      key: await keyOf((id) => id === vendorId),
      ids: { order_id: orderId, offer_id: offers.rows[0].offer_id },
    };
    const busy = await owner.query('SELECT vendor_id FROM orders');
    const isBusy = (id: string) => busy.rows.some((row) => row.vendor_id === id);
    otherVendor = { vendorId: await idOf((id) => !isBusy(id)), key: await keyOf((id) => !isBusy(id)) };
  });
  afterAll(async () => {
    await owner?.end();
    await gateway?.stop();
  });

  async function vendors(): Promise<{ id: string; key: string }[]> {
    const found = [];
    for (const { apiKey } of gateway.sandbox.vendors) {
      const principal = await gateway.deps.principals.find(apiKey);
      found.push({ id: (principal as { vendorId: string }).vendorId, key: apiKey });
    }
    return found;
  }
  const pick = async (matches: (id: string) => boolean) => {
    const found = (await vendors()).find(({ id }) => matches(id));
    if (found === undefined) throw new Error('the sandbox has no such vendor');
    return found;
  };
  const keyOf = async (matches: (id: string) => boolean) => (await pick(matches)).key;
  const idOf = async (matches: (id: string) => boolean) => (await pick(matches)).id;

  const send = (route: DescribedRoute, ids: Record<string, string>, key: string): Promise<Answer> =>
    gateway.call(route.method, fillPath(route.path, ids) + (QUERIES[route.operationId] ?? ''), {
      key,
      ...(route.bodySchema === undefined
        ? {}
        : { body: BODIES[route.operationId] ?? sampleOf(route.bodySchema) }),
    });
  const withIds = () => routes.filter(({ parameters }) => parameters.length > 0);
  const unknown: Record<string, string> = {
    order_id: '0199a0d0-0000-7000-8000-000000000001',
    offer_id: '0199a0d0-0000-7000-8000-000000000002',
  };

  it('another vendor’s id and an unknown one are answered with the same bytes, and change nothing', async () => {
    expect(withIds().length).toBeGreaterThan(10);
    const before = await everything();
    for (const route of withIds()) {
      const where = `${route.method} ${route.path}`;
      const foreign = await send(route, own.ids, otherVendor.key);
      const missing = await send(route, unknown, otherVendor.key);
      expect(`${where}: ${foreign.status} ${foreign.text}`).toBe(
        `${where}: ${missing.status} ${missing.text}`,
      );
      expect(`${where}: ${foreign.status}`).toBe(`${where}: 404`);
    }
    expect(await everything()).toEqual(before);
  });

  it('a vendor’s transactions see its own rows and its orders’, whatever is asked of the database, and nothing without a vendor', async () => {
    const tables = await readableTables();
    expect(tables).toContain('orders');
    // Its own keys, and never what they are told by.
    expect(tables).not.toContain('rate_limit_windows');
    const hashes = asVendor(own.vendorId, () => owner.query('SELECT key_hash FROM api_keys'));
    await expect(hashes).rejects.toMatchObject({ code: '42501' });
    expect(await seen(null)).toEqual(Object.fromEntries(tables.map((table) => [table, 0])));
    const theirs = await seen(otherVendor.vendorId);
    for (const table of ['orders', 'users', 'partners', 'quotes', 'events', 'intents', 'recipients']) {
      expect(`${table}: ${theirs[table]}`).toBe(`${table}: 0`);
    }
    expect(theirs.vendors).toBe(1);
    const mine = await seen(own.vendorId);
    expect([mine.vendors, mine.partners]).toEqual([1, 1]);
    expect(mine.orders).toBeGreaterThan(0);
    expect(mine.users).toBeLessThanOrEqual(mine.orders ?? 0);
  });

  it('a vendor’s transactions cannot change a partner, a customer or another vendor’s offer', async () => {
    const attempts: [string, unknown[]][] = [
      ['UPDATE users SET kyc_status = $1', ['REJECTED']],
      ['UPDATE partners SET wallet_address = $1', [`0x${'1'.repeat(40)}`]],
      ['UPDATE quotes SET status = $1', ['used']],
      ['UPDATE vendors SET wallet_address = $1', [`0x${'1'.repeat(40)}`]],
      ['DELETE FROM orders WHERE order_id = $1', [own.ids.order_id]],
      ['UPDATE orders SET vendor_id = $1', [otherVendor.vendorId]],
      ['UPDATE users SET user_id = $1', [unknown.order_id]],
    ];
    for (const [sql, params] of attempts) {
      await expect(
        asVendor(own.vendorId, () => owner.query(sql, params)),
        sql,
      ).rejects.toMatchObject({
        code: '42501',
      });
    }
    const others = await asVendor(otherVendor.vendorId, () =>
      owner.query('UPDATE offers SET available_balance = 0 WHERE offer_id = $1', [own.ids.offer_id]),
    );
    expect(others.rowCount).toBe(0);
    const declined = await asVendor(otherVendor.vendorId, () =>
      owner.query('SELECT * FROM decline_order($1, NULL)', [own.ids.order_id]),
    );
    expect(declined.rowCount).toBe(0);
  });

  it('one’s own id is found, so that the refusals above say something', async () => {
    // What gives the subject away comes last.
    const isFarewell = ({ operationId }: DescribedRoute) => /^(decline|withdraw)/.test(operationId);
    for (const route of withIds().toSorted((a, b) => Number(isFarewell(a)) - Number(isFarewell(b)))) {
      const { status, text } = await send(route, own.ids, own.key);
      expect([404, 401].includes(status), `${route.method} ${route.path}: ${status} ${text}`).toBe(false);
      expect(status, `${route.method} ${route.path}: ${text}`).toBeLessThan(500);
    }
  });

  async function everything(): Promise<unknown> {
    const { rows } = await owner.query(
      `SELECT (SELECT jsonb_agg(o ORDER BY order_id) FROM orders o) AS orders,
              (SELECT md5(jsonb_agg(f ORDER BY offer_id)::text) FROM offers f) AS offers,
              (SELECT count(*) FROM escrow_signatures) AS signatures`,
    );
    return rows[0];
  }

  async function asVendor<T>(vendorId: string | null, work: () => Promise<T>): Promise<T> {
    await owner.query('BEGIN');
    try {
      await owner.query('SET LOCAL ROLE causeway_vendor');
      if (vendorId !== null)
        await owner.query(`SELECT set_config('causeway.vendor_id', $1, true)`, [vendorId]);
      return await work();
    } finally {
      await owner.query('ROLLBACK');
    }
  }

  async function readableTables(): Promise<string[]> {
    const { rows } = await owner.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
          AND has_any_column_privilege('causeway_vendor', oid, 'SELECT') ORDER BY relname`,
    );
    return rows.map(({ relname }) => relname as string);
  }

  async function seen(vendorId: string | null): Promise<Record<string, number>> {
    const tables = await readableTables();
    return asVendor(vendorId, async () => {
      const counts: Record<string, number> = {};
      for (const table of tables) {
        const { rows } = await owner.query(`SELECT count(*)::int AS total FROM ${table}`);
        counts[table] = rows[0].total;
      }
      return counts;
    });
  }
});
