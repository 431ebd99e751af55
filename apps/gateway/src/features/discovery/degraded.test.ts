import { afterEach, expect, test } from 'vitest';
import { machineNow } from '../../lib/clock.ts';
import { createHttpCurrencies } from '../../upstream/http-currencies.ts';
import { type DiscoveryGateway, startDiscoveryGateway, testLogger } from './testing/discovery-gateway.ts';

let gateway: DiscoveryGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

async function call(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${gateway?.baseUrl}/api/v1${path}`, init);
  return { status: response.status, body: await response.json() };
}

test('with a remote backend that was never reached, every endpoint says so in its own envelope', async () => {
  // Port 9 is for discarding: nobody answers there.
  const currencies = createHttpCurrencies({
    baseUrl: 'http://127.0.0.1:9',
    logger: testLogger,
    wall: machineNow,
  });
  gateway = await startDiscoveryGateway({ currencies, withRates: false });
  for (const path of ['crypto-currencies', 'corridors', 'payment-rails?country=GH&direction=onramp']) {
    expect(await call(`/supported/${path}`)).toEqual({
      status: 500,
      body: { success: false, data: { error_key: 'internal_error' } },
    });
  }
  for (const path of ['/rates', '/currencies', '/currency/convert?from=USDC&to=KES&amount=1']) {
    expect(await call(path)).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
  }

  const put = (path: string, data: object) =>
    call(`/operator/reference${path}`, {
      method: 'PUT',
      headers: { 'x-api-key': gateway?.operatorKey ?? '', 'content-type': 'application/json' },
      body: JSON.stringify({ data, reason: 'test' }),
    });
  // The catalogue is the backend's; the spreads are the gateway's own.
  expect(await put('/rails/pix', { slug: 'pix' })).toMatchObject({
    status: 409,
    body: { error: { code: 'OPERATION_NOT_ALLOWED' } },
  });
  const spread = { currency: 'KES', onramp_pct: '1', offramp_pct: '1' };
  expect((await put('/spreads/KES', spread)).status).toBe(200);
});

test('before there is a rate, reference data is served and nothing is priced', async () => {
  gateway = await startDiscoveryGateway({ withRates: false });
  expect((await call('/supported/fiat-currencies')).status).toBe(200);
  const { body } = await call('/supported/corridors');
  const { corridors } = (body as { data: { corridors: object[] } }).data;
  expect(corridors.length).toBeGreaterThan(100);
  for (const corridor of corridors) {
    expect(corridor).toMatchObject({ onramp: null, offramp: null, updated_at: null });
  }
  for (const path of ['/rates', '/currency/convert?from=USDC&to=KES&amount=1']) {
    expect(await call(path)).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
  }
});
