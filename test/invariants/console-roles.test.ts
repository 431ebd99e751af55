import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  CAPABILITIES,
  type Capability,
  CONSOLE_ROUTES,
  can,
  DESKS,
  type Desk,
  OPEN_CONSOLE_ROUTES,
  OPERATION_CAPABILITIES,
  ROLE_MEANINGS,
  ROLES,
  type Role,
} from '@causeway/protocol/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { type ConsoleCaller, consoleUser } from '../harness/console-users.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import {
  type DescribedRoute,
  describedRoutes,
  fillPath,
  requiredQuery,
  sampleOf,
} from './described-routes.ts';
import { BODIES } from './id-factories.ts';

/** A route that somebody at the console may try: of the API, or of the console itself. */
interface Tried {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** The desk whose users it is for; undefined where the console’s own routes leave it to the server. */
  readonly desk: Desk | undefined;
  readonly body: unknown;
}

type Headers = ConsoleCaller['headers'];

const isOpen = (operation: string) => (OPEN_CONSOLE_ROUTES as readonly string[]).includes(operation);
const SAFE = ['GET', 'HEAD'];
/** Moves time for everybody on the gateway: it is tried, but with nothing to move. */
const HARMLESS: Readonly<Record<string, unknown>> = { sandboxAdvanceClock: { seconds: -1 } };

const changeRole = statement<[userId: string, role: Role]>(
  'test.change_console_role',
  'UPDATE console_users SET role = $2 WHERE user_id = $1',
);

describe('roles at the console', () => {
  let gateway: TestGateway;
  let described: DescribedRoute[];
  let tried: Tried[];
  const users = new Map<string, ConsoleCaller>();

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', RATE_LIMIT_PUBLIC_PER_MINUTE: '100000' },
    });
    described = await describedRoutes(gateway);
    tried = [...described.filter(isOfDesk).map(ofApi), ...ofConsole()];
    for (const desk of DESKS) {
      for (const role of ROLES) users.set(`${desk} ${role}`, await consoleUser(gateway, desk, role));
    }
  });
  afterAll(() => gateway?.stop());

  const isOfDesk = ({ access }: DescribedRoute) => (DESKS as readonly string[]).includes(access);
  const userOf = (desk: Desk, role: Role): ConsoleCaller => {
    const found = users.get(`${desk} ${role}`);
    if (found === undefined) throw new Error(`there is no ${role} of the ${desk} desk`);
    return found;
  };

  function ofApi(route: DescribedRoute): Tried {
    const ids = Object.fromEntries(route.parameters.map(({ name }) => [name, randomUUID()]));
    return {
      operationId: route.operationId,
      method: route.method,
      path: fillPath(route.path, ids),
      query: requiredQuery(route),
      desk: route.access as Desk,
      body:
        route.bodySchema === undefined
          ? undefined
          : (HARMLESS[route.operationId] ?? BODIES[route.operationId] ?? sampleOf(route.bodySchema)),
    };
  }

  function ofConsole(): Tried[] {
    return Object.entries(CONSOLE_ROUTES)
      .filter(([operationId]) => !isOpen(operationId))
      .map(([operationId, route]) => {
        const [method = '', path = ''] = route.split(' ');
        // Refused for its form at most: who may call is settled before a body is read.
        const body = SAFE.includes(method) ? undefined : {};
        const filled = path.replaceAll(/\{\w+\}/g, () => randomUUID());
        return { operationId, method, path: filled, query: '', desk: undefined, body };
      });
  }

  const send = (route: Tried, headers: Readonly<Record<string, string>>) =>
    gateway.call(route.method, route.path + route.query, {
      key: null,
      headers,
      ...(route.body === undefined ? {} : { body: route.body }),
    });

  const isRefused = ({ status, body }: Answer) =>
    status === 403 &&
    body?.error?.code === 'FORBIDDEN' &&
    body.error.details?.required_capability !== undefined;

  it('every route has a capability that exists, and every capability’s operation a route', () => {
    const known = Object.keys(CAPABILITIES);
    const wanting = tried.filter(
      ({ operationId }) => !known.includes(OPERATION_CAPABILITIES[operationId] ?? 'none'),
    );
    expect(wanting.map(({ operationId }) => operationId)).toEqual([]);
    const routes = new Set([...described, ...tried].map(({ operationId }) => operationId));
    expect(Object.keys(OPERATION_CAPABILITIES).filter((operation) => !routes.has(operation))).toEqual([]);
    expect(tried.length).toBeGreaterThan(150);
    expect(
      OPEN_CONSOLE_ROUTES.filter((operation) => Object.hasOwn(OPERATION_CAPABILITIES, operation)),
    ).toEqual([]);
  });

  it.each(DESKS)(
    'a role of the %s desk is refused what its capabilities leave out, and nothing else',
    async (desk) => {
      const routes = tried.filter((route) => route.desk === desk);
      expect(routes.length).toBeGreaterThan(15);
      // Roles beside each other: requests wait for the database more than they work.
      await Promise.all(
        ROLES.map(async (role) => {
          for (const route of routes) await expectByRole(route, desk, role);
        }),
      );
    },
  );

  async function expectByRole(route: Tried, desk: Desk, role: Role): Promise<void> {
    const capability = OPERATION_CAPABILITIES[route.operationId];
    const isAllowed = capability !== undefined && can(role, capability);
    const answer = await send(route, userOf(desk, role).headers);
    const where = `${role} ${route.operationId}: ${answer.status} ${answer.text.slice(0, 300)}`;
    expect(isRefused(answer), where).toBe(!isAllowed);
    if (isAllowed) {
      expect([401, 500].includes(answer.status), where).toBe(false);
    } else {
      expect(answer.body.error.details, where).toEqual({ role, required_capability: capability });
    }
  }

  // Proves C7 FORBIDDEN.
  it('the console’s own routes are refused likewise, and each is served at a desk at least', async () => {
    const own = tried.filter((route) => route.desk === undefined);
    const served = new Set<string>();
    await Promise.all(
      DESKS.flatMap((desk) =>
        ROLES.map(async (role) => {
          const user = await consoleUser(gateway, desk, role);
          for (const route of own) {
            // Some end sessions: each is called from a browser of its own.
            const answer = await send(route, (await user.again()).headers);
            const where = `${desk} ${role} ${route.operationId}: ${answer.status} ${answer.text.slice(0, 300)}`;
            expect(answer.status, where).not.toBe(500);
            // A route of one desk is shut to the others’ users.
            if (answer.status === 401 && answer.body.error.code === 'UNAUTHORIZED') continue;
            const capability = OPERATION_CAPABILITIES[route.operationId];
            expect(isRefused(answer), where).toBe(capability === undefined || !can(role, capability));
            expect(answer.body?.error?.code, where).not.toBe('SIGN_IN_REQUIRED');
            served.add(route.operationId);
          }
        }),
      ),
    );
    expect(own.filter(({ operationId }) => !served.has(operationId))).toEqual([]);
  });

  it('nobody is served without a session, and a user of one desk not at another’s', async () => {
    for (const route of tried) {
      const nobody = await send(route, {});
      expect(`${route.operationId}: ${nobody.status}`).toBe(`${route.operationId}: 401`);
      if (route.desk === undefined) continue;
      for (const desk of DESKS.filter((one) => one !== route.desk)) {
        const answer = await send(route, userOf(desk, 'admin').headers);
        const where = `${desk} at ${route.operationId}`;
        expect(`${where}: ${answer.status} ${answer.body?.error?.code}`).toBe(`${where}: 401 UNAUTHORIZED`);
      }
    }
    // A customer’s session at the widget, and its key, are no user’s either.
    for (const route of described.filter(({ access }) => access === 'widget' || access === 'session')) {
      const ids = Object.fromEntries(route.parameters.map(({ name }) => [name, randomUUID()]));
      const { status } = await gateway.call(route.method, fillPath(route.path, ids), {
        key: null,
        headers: userOf('partner', 'admin').headers,
        ...(route.bodySchema === undefined ? {} : { body: sampleOf(route.bodySchema) }),
      });
      expect(`${route.operationId}: ${status}`).toBe(`${route.operationId}: 401`);
    }
  });

  it('no route changes anything for a cookie alone, a wrong token, or a page of another site', async () => {
    const writes = tried.filter(({ method }) => !SAFE.includes(method));
    expect(writes.length).toBeGreaterThan(70);
    const forgeries = [
      ({ cookie }: Headers, _other: string) => ({ cookie }),
      ({ cookie }: Headers, other: string) => ({ cookie, 'x-csrf-token': other }),
      (own: Headers) => ({ ...own, 'sec-fetch-site': 'cross-site' }),
      (own: Headers) => ({ ...own, origin: 'https://evil.example' }),
    ];
    await Promise.all(
      forgeries.map(async (forge) => {
        for (const route of writes) {
          for (const desk of route.desk === undefined ? DESKS : [route.desk]) {
            const other = userOf(desk, 'viewer').headers['x-csrf-token'];
            const { status, body } = await send(route, forge(userOf(desk, 'admin').headers, other));
            if (route.desk === undefined && body?.error?.code === 'UNAUTHORIZED') continue;
            const where = `${desk} ${route.operationId}`;
            expect(`${where}: ${status} ${body?.error?.code}`).toBe(`${where}: 403 CSRF_TOKEN_INVALID`);
          }
        }
      }),
    );
  });

  it('the guide’s tables of roles are the server’s', async () => {
    const guide = await readFile(new URL('../../docs/guides/console.md', import.meta.url), 'utf8');
    for (const role of ROLES) expect(guide).toContain(`| \`${role}\` | ${ROLE_MEANINGS[role]} |\n`);
    const rows = Object.entries(CAPABILITIES).map(([capability, says]) => {
      const may = ROLES.map((role) => (can(role, capability as Capability) ? 'yes' : '–'));
      return `| ${says} | ${may.join(' | ')} |`;
    });
    const [, shown = ''] = guide.split(/^\| may \|.*\n.*\n/m);
    expect(shown.split('\n\n')[0]?.split('\n')).toEqual(rows);
  });

  it('a changed role counts from the next request on', async () => {
    const user = await consoleUser(gateway, 'partner', 'viewer');
    const make = () =>
      user.call('POST', '/api/v1/partner/users', { body: { email: `${randomUUID()}@example.com` } });
    expect((await make()).status).toBe(403);
    await gateway.deps.db.query(SYSTEM, changeRole, [user.userId, 'support']);
    expect((await make()).status).toBe(200);
    await gateway.deps.db.query(SYSTEM, changeRole, [user.userId, 'viewer']);
    expect((await make()).status).toBe(403);
  });
});
