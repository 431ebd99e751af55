import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../apps/gateway/src/api.ts';
import type { Database } from '../../apps/gateway/src/db/database.ts';
import { createPrincipals } from '../../apps/gateway/src/http/principals.ts';
import { TOKEN_PREFIX } from '../../apps/gateway/src/lib/crypto.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { widgetSession } from '../harness/widget.ts';

const AT_MOST = 8;
const MADE_UP = 40;

/** Tokens of sessions are known to the database only: somebody who makes them up must not have it asked without end. */
describe('made-up tokens', () => {
  let gateway: TestGateway;
  let api: Api;
  let asked = 0;
  beforeAll(async () => {
    gateway = await startGateway();
    const { deps } = gateway;
    const counting: Database = {
      ...deps.db,
      query(scope, declared, params) {
        if (['console_sessions.find', 'widget_sessions.live'].includes(declared.name)) asked++;
        return deps.db.query(scope, declared, params);
      },
    };
    const principals = createPrincipals(counting, deps.listener, deps.clock, deps.logger);
    await principals.refresh();
    const config = { ...deps.config, rateLimitPublicPerMinute: AT_MOST };
    api = await createApi({ ...deps, db: counting, principals, config }, gateway.baseUrl);
  });
  afterAll(async () => {
    await api?.close();
    await gateway?.stop();
  });

  const ask = async (url: string, headers: Readonly<Record<string, string>>, remoteAddress = '203.0.113.7') =>
    (await api.app.inject({ url, headers, remoteAddress })).statusCode;
  const madeUp = (prefix: string, index: number) => `${prefix}${String(index).padStart(54, 'a')}`;
  const together = (urls: readonly string[], each: (url: string, index: number) => Promise<number>) =>
    Promise.all(urls.flatMap((url) => Array.from({ length: MADE_UP }, (_, index) => each(url, index))));
  /** A minute of the limit may end meanwhile. */
  function expectFewAsked(): void {
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(2 * AT_MOST);
  }
  const CONSOLE = '/api/v1/console/session';

  it('of the console cost an address no more queries than anybody has, and keep nobody out who is signed in', async () => {
    const entered = await gateway.call('POST', '/api/v1/console/sandbox-sign-in', {
      key: null,
      body: { desk: 'partner' },
    });
    const own = { cookie: String(entered.headers.getSetCookie()[0]?.split(';', 1)[0]) };
    expect(await ask(CONSOLE, own)).toBe(200);
    asked = 0;
    const statuses = await together([CONSOLE, '/api/v1/partner/orders'], (url, index) =>
      ask(url, { cookie: `cw_console=${madeUp(TOKEN_PREFIX.console, index)}` }),
    );
    expect([...new Set(statuses)].toSorted()).toEqual([401, 429]);
    expectFewAsked();
    expect(await ask(CONSOLE, own)).toBe(200);
  });

  it('of the widget too, on paths that lead nowhere as well', async () => {
    const { token } = await widgetSession(gateway);
    const session = '/api/v1/widget/session';
    const from = '203.0.113.8';
    expect(await ask(session, { 'x-api-key': token }, from)).toBe(200);
    asked = 0;
    const statuses = await together([session, '/api/v1/nowhere'], (url, index) =>
      ask(url, { 'x-api-key': madeUp(TOKEN_PREFIX.session, index) }, from),
    );
    expect([...new Set(statuses)].toSorted()).toEqual([401, 404, 429]);
    expectFewAsked();
    expect(await ask(session, { 'x-api-key': token }, from)).toBe(200);
  });
});
