import { afterEach, expect, test } from 'vitest';
import { startCurrenciesServer } from '../../../../../backends/currencies/src/server.ts';
import { machineNow } from '../../lib/clock.ts';
import { rateSourcesOf } from '../../upstream/rates/rate-sources.ts';
import { type DiscoveryGateway, startDiscoveryGateway } from './testing/discovery-gateway.ts';

let gateway: DiscoveryGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

async function call(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${gateway?.baseUrl}/api/v1${path}`, init);
  return { status: response.status, body: await response.json() };
}

// Proves C7 SERVICE_UNAVAILABLE, C2.1 row 2.
test('with a remote backend that was never reached, every endpoint says so in its own envelope', async () => {
  // Port 9 is for discarding: no server answers there.
  gateway = await startDiscoveryGateway({ currenciesUrl: 'http://127.0.0.1:9' });
  for (const path of ['crypto-currencies', 'corridors', 'payment-rails?country=GH&direction=onramp']) {
    expect(await call(`/supported/${path}`)).toEqual({
      status: 503,
      body: { success: false, data: { error_key: 'service_unavailable' } },
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
  // The catalogue is the backend's.
  expect(await put('/rails/pix', { slug: 'pix' })).toMatchObject({
    status: 409,
    body: { error: { code: 'OPERATION_NOT_ALLOWED' } },
  });
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

test('what a remote backend quotes is written down, so that its history outlives it', async () => {
  const backend = await startCurrenciesServer({
    host: '127.0.0.1',
    port: 0,
    clock: { now: machineNow },
    sources: rateSourcesOf(['simulated'], { now: machineNow }),
  });
  gateway = await startDiscoveryGateway({ currenciesUrl: backend.url });
  await backend.close();
  expect(await call('/rates?base=USDC&quote=KES')).toMatchObject({
    status: 200,
    body: { data: { rates: [{ status: 'fresh' }] } },
  });
  const points = async () =>
    (await call('/rates/history?base=USDC&quote=KES')).body as { data: { points: object[] } };
  await expect.poll(async () => (await points()).data.points.length).toBeGreaterThan(0);
});
