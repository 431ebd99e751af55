import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type GatewayProcess, startProcess } from '../harness/process.ts';
import { until } from '../harness/until.ts';

describe('roles in processes of their own, around one database', () => {
  let api: TestGateway;
  let worker: GatewayProcess;

  beforeAll(async () => {
    api = await startGateway({ chains: true, worker: false });
    worker = startProcess(api.env, ['worker']);
    await worker.ready();
  });
  afterAll(async () => {
    worker?.child.kill('SIGKILL');
    await api?.stop();
  });

  it('an order opened here is carried by the worker there, the clock moved here is seen there, SIGTERM drains', async () => {
    const { call } = api;
    const user = (await call('POST', '/api/v1/partner/users', { body: { email: 'two@example.com' } })).body
      .data.id;
    await call('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { body: { status: 'VERIFIED' } });
    const orderId = await open(user);
    await reaches(orderId, 'awaiting_fiat_transfer');

    await call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
    const stuck = await open(user);
    await call('POST', '/api/v1/sandbox/clock/advance', { body: { seconds: 901 } });
    await reaches(stuck, 'cancelled');

    worker.child.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
  });

  async function open(user: string): Promise<string> {
    const quote = await api.call('POST', '/api/v1/partner/onramp/quote', {
      body: { user_uuid: user, crypto_currency: 'USDT', fiat_currency: 'EUR', fiat_amount: '50.00' },
    });
    const order = await api.call('POST', '/api/v1/partner/onramp/initiate', {
      body: { quote_id: quote.body.data.quote_id },
    });
    return order.body.data.order_id;
  }

  function reaches(orderId: string, status: string) {
    return until(`${orderId} in ${status}`, async () => {
      const { body } = await api.call('GET', `/api/v1/partner/orders/${orderId}`);
      return body.data.status === status && body.data;
    });
  }
});
