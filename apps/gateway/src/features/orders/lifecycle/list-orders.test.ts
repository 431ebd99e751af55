import { MAX_OFFSET } from '@causeway/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../../test/harness/gateway.ts';

describe('GET /partner/orders', () => {
  let gateway: TestGateway;
  let userId: string;
  const orderIds: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    const { call } = gateway;
    userId = (await call('POST', '/api/v1/partner/users', { body: { email: 'list@example.com' } })).body.data
      .id;
    await call('POST', `/api/v1/sandbox/users/${userId}/kyc-status`, { body: { status: 'VERIFIED' } });
    for (const reference of ['a', 'b', 'c']) {
      const quote = await call('POST', '/api/v1/partner/onramp/quote', {
        body: { user_uuid: userId, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '25.00' },
      });
      const order = await call('POST', '/api/v1/partner/onramp/initiate', {
        body: { quote_id: quote.body.data.quote_id, reference_id: reference },
      });
      orderIds.unshift(order.body.data.order_id);
    }
    await call('POST', `/api/v1/partner/orders/${orderIds[0]}/cancel`);
  });
  afterAll(() => gateway?.stop());

  async function list(query: string, key?: string) {
    const answer = await gateway.call(
      'GET',
      `/api/v1/partner/orders${query}`,
      key === undefined ? {} : { key },
    );
    expect(answer.status).toBe(200);
    return {
      ids: answer.body.data.orders.map((order: { order_id: string }) => order.order_id),
      pagination: answer.body.data.pagination,
    };
  }

  // Proves C4.6 row 10, D5.1.
  it('answers newest first, twenty a page by default, with the total', async () => {
    expect(await list('')).toEqual({ ids: orderIds, pagination: { page: 1, limit: 20, total: 3 } });
  });

  // Proves D5.1.
  it('pages without losing or repeating an order', async () => {
    const first = await list('?limit=2');
    const second = await list('?limit=2&page=2');
    expect([...first.ids, ...second.ids]).toEqual(orderIds);
    expect(second.pagination).toEqual({ page: 2, limit: 2, total: 3 });
    for (const page of [1000, MAX_OFFSET]) {
      const pagination = { page, limit: 100, total: 3 };
      expect(await list(`?page=${page}&limit=100`)).toEqual({ ids: [], pagination });
    }
  });

  // Proves D5.1.
  it('filters by each field of the contract, a repeated status meaning any of them', async () => {
    expect((await list('?status=cancelled')).ids).toEqual([orderIds[0]]);
    expect((await list('?status=cancelled&status=awaiting_liquidity_provider')).ids).toEqual(orderIds);
    expect((await list('?reference_id=b')).ids).toEqual([orderIds[1]]);
    expect((await list('?order_type=offramp')).ids).toEqual([]);
    expect((await list(`?user_uuid=${userId}&order_type=onramp`)).ids).toEqual(orderIds);
    expect((await list('?created_from=2000-01-01T00:00:00Z&created_to=2001-01-01T00:00:00Z')).ids).toEqual(
      [],
    );
  });

  // Proves C2.10 rule 6, C4.6 row 9.
  it('has of each order what GET /partner/orders/{order_id} has', async () => {
    const [newest = '', second = ''] = orderIds;
    const { body } = await gateway.call('GET', `/api/v1/partner/orders/${second}`);
    const decimal = expect.stringMatching(/^[0-9]+\.[0-9]+$/);
    expect(body.data).toMatchObject({
      order_id: second,
      status: 'awaiting_liquidity_provider',
      quote_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      reference_id: 'b',
      order_type: 'onramp',
      amounts: {
        crypto_amount: decimal,
        fiat_amount: '25.00',
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
      },
      fee_breakdown: { platform_fee: decimal, partner_fee: decimal, total_fee: decimal },
      timeline: [{ status: 'awaiting_liquidity_provider', at: expect.stringMatching(/Z$/) }],
      allowed_actions: ['cancel'],
      next_action: expect.any(String),
      fiat_funding_source: 'vendor_details',
      tx_hash: null,
      send_out_tx_hash: null,
    });
    const listed = await gateway.call('GET', '/api/v1/partner/orders');
    expect(listed.body.data.orders[1]).toEqual(body.data);
    expect(listed.body.data.orders[0]).toMatchObject({ order_id: newest, status: 'cancelled' });
  });

  it('shows another partner none of it', async () => {
    expect(await list('', gateway.partners[1].apiKey)).toEqual({
      ids: [],
      pagination: { page: 1, limit: 20, total: 0 },
    });
  });

  // Proves D5.1.
  it.each([
    'status=nope',
    'limit=0',
    'limit=101',
    'page=0',
    'page=x',
    'user_uuid=1',
    'created_from=yesterday',
    'order_type=',
  ])('refuses %s and names the field', async (query) => {
    const { status, body } = await gateway.call('GET', `/api/v1/partner/orders?${query}`);
    expect(status).toBe(400);
    expect(body.error.code).toBe('VALIDATION_ERROR');
    expect(body.error.details.fields[0].path).toContain(query.split('=')[0]);
  });
});
