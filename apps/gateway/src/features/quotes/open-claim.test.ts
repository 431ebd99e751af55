import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { createIdGenerator } from '../../lib/ids.ts';

const EVERYONE = '00000000-0000-0000-0000-000000000000';
const ids = createIdGenerator(() => Date.parse('2026-01-01'));
const NO_LIMIT = 1_000;

/** A retry after a crash finds the claim of the attempt before it: it is counted once, and needs no room of its own. */
describe('a claim on a quote', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database?.close());

  let partner: string;
  let user: string;
  beforeEach(() => {
    partner = ids.uuid();
    user = ids.uuid();
  });

  interface Limits {
    readonly orders?: number;
    readonly value?: number;
    readonly customerOrders?: number;
    readonly customerValue?: number;
  }

  /** What stands in the way, or null. */
  async function claim(quote: string, crypto: string, limits: Limits = {}): Promise<unknown> {
    const { rows } = await database.owner.query(
      'SELECT open_quote_claim($1, $2, $3, $4, $5, $6, $7, $8) AS refusal',
      [
        quote,
        partner,
        user,
        crypto,
        limits.orders ?? NO_LIMIT,
        limits.value ?? NO_LIMIT,
        limits.customerOrders ?? NO_LIMIT,
        limits.customerValue ?? NO_LIMIT,
      ],
    );
    return rows[0].refusal;
  }

  async function totals(): Promise<unknown> {
    const { rows } = await database.owner.query(
      `SELECT user_id, open_orders, crypto FROM open_order_totals WHERE partner_id = $1 AND open_orders > 0 ORDER BY user_id`,
      [partner],
    );
    return rows;
  }
  const counted = (orders: number, crypto: string) => [
    { user_id: EVERYONE, open_orders: orders, crypto },
    { user_id: user, open_orders: orders, crypto },
  ];

  it.each([
    ['the partner’s orders', { orders: 1 }],
    ['the partner’s value', { value: 5 }],
    ['the customer’s orders', { customerOrders: 1 }],
    ['the customer’s value', { customerValue: 5 }],
  ])('is opened again where %s leave no room for another, and counts once', async (_, limits) => {
    const quote = ids.uuid();
    expect(await claim(quote, '5', limits)).toBeNull();
    expect(await claim(ids.uuid(), '1', limits)).not.toBeNull();
    expect(await claim(quote, '5', limits)).toBeNull();
    expect(await totals()).toEqual(counted(1, '5'));
  });

  it('is opened again with room for more, and counts once', async () => {
    const quote = ids.uuid();
    for (let attempt = 0; attempt < 3; attempt++) expect(await claim(quote, '5')).toBeNull();
    expect(await totals()).toEqual(counted(1, '5'));
  });

  it('says whose limit refuses it and what counts towards that, and takes nothing', async () => {
    expect(await claim(ids.uuid(), '5.5')).toBeNull();
    const refusals = [
      [{ orders: 1 }, { scope: 'partner', unit: 'orders', limit: 1, current: 1 }],
      [{ value: 6 }, { scope: 'partner', unit: 'usd', limit: 6, current: 5 }],
      [{ customerOrders: 1 }, { scope: 'customer', unit: 'orders', limit: 1, current: 1 }],
      [{ customerValue: 6 }, { scope: 'customer', unit: 'usd', limit: 6, current: 5 }],
    ] as const;
    for (const [limits, refusal] of refusals) expect(await claim(ids.uuid(), '1', limits)).toEqual(refusal);
    expect(await totals()).toEqual(counted(1, '5.5'));
  });

  it('is taken up to the limit exactly', async () => {
    expect(await claim(ids.uuid(), '2', { value: 5, customerValue: 5 })).toBeNull();
    expect(await claim(ids.uuid(), '3', { value: 5, customerValue: 5 })).toBeNull();
    expect(await totals()).toEqual(counted(2, '5'));
  });
});
