import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { widgetSession } from '../harness/widget.ts';
import { type DescribedRoute, describedRoutes, fillPath, sampleOf } from './described-routes.ts';

const NO_ID = '00000000-0000-7000-8000-00000000dead';

const bothWays = (key: string): Record<string, string>[] => [
  { 'x-api-key': key },
  { authorization: `Bearer ${key}` },
];

describe('a widget’s key and a session’s token against every described route', () => {
  let gateway: TestGateway;
  let routes: DescribedRoute[];

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', RATE_LIMIT_PUBLIC_PER_MINUTE: '100000' },
    });
    routes = await describedRoutes(gateway);
  });
  afterAll(() => gateway?.stop());

  const send = (route: DescribedRoute, headers: Record<string, string>): Promise<Answer> => {
    const ids = Object.fromEntries(route.parameters.map(({ name }) => [name, NO_ID]));
    return gateway.call(route.method, fillPath(route.path, ids), {
      key: null,
      headers,
      ...(route.bodySchema === undefined ? {} : { body: sampleOf(route.bodySchema) }),
    });
  };

  it('the key starts sessions and does nothing else', async () => {
    const own = routes.filter(({ access }) => access === 'widget');
    expect(own.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /api/v1/widget/sessions']);
    const guarded = routes.filter(({ access }) => access !== 'widget' && access !== 'public');
    expect(guarded.length).toBeGreaterThan(100);
    const { widgetKey } = gateway.partners[0];
    for (const route of guarded) {
      for (const headers of bothWays(widgetKey)) {
        const { status } = await send(route, headers);
        expect([401, 403], `${route.method} ${route.path}: ${status}`).toContain(status);
      }
    }
  });

  it('the token of a session is taken by the session’s own routes alone', async () => {
    const own = routes.filter(({ access }) => access === 'session');
    expect(own.length).toBeGreaterThan(15);
    expect(own.filter(({ path }) => !path.startsWith('/api/v1/widget/session'))).toEqual([]);
    const { token } = await widgetSession(gateway);
    const guarded = routes.filter(({ access }) => access !== 'session' && access !== 'public');
    for (const route of guarded) {
      for (const headers of bothWays(token)) {
        const { status } = await send(route, headers);
        expect([401, 403], `${route.method} ${route.path}: ${status}`).toContain(status);
      }
    }
  });
});
