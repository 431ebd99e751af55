import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enableFiatAccounts, startBank } from '../harness/bank.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import {
  type CarriedId,
  carriesCustomersIds,
  requestsOf,
  undeclaredIds,
  unownedPairs,
} from './carried-ids.ts';
import { type CustomerFixture, KINDS, makeCustomer } from './customer-fixture.ts';
import {
  type DescribedRoute,
  describedRoutes,
  fillPath,
  keysOf,
  type PathParameter,
  sampleOf,
} from './described-routes.ts';
import { BODIES, type Caller, FACTORIES, type IdFactory } from './id-factories.ts';

/** What belongs to a customer is asked for by its own id alone: any customer of the partner's will do. */
const NAMES_NO_CUSTOMER: ReadonlySet<string> = new Set(['exportFiatAccount']);

describe('tenancy of every described route', () => {
  let gateway: TestGateway;
  let routes: DescribedRoute[];
  let bank: ReturnType<typeof startBank>;
  const real = new Map<string, Promise<string>>();

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', RATE_LIMIT_PUBLIC_PER_MINUTE: '100000' },
    });
    routes = await describedRoutes(gateway);
    // The other partner has accounts too.
    await enableFiatAccounts(gateway, 1);
    bank = startBank(gateway);
  });
  afterAll(async () => {
    await bank?.stop();
    await gateway?.stop();
  });

  const caller =
    (key: string): Caller =>
    (method, path, body) =>
      gateway.call(method, path, { key, ...(body === undefined ? {} : { body }) });

  function factoryOf(parameter: PathParameter, route: DescribedRoute): IdFactory {
    const factory = FACTORIES[parameter.qualified] ?? FACTORIES[parameter.name];
    if (factory === undefined) {
      throw new Error(
        `${route.method} ${route.path} has a parameter this test cannot make ids for. ` +
          `Add '${parameter.qualified}' or '${parameter.name}' to FACTORIES in test/invariants/id-factories.ts.`,
      );
    }
    return factory;
  }

  /** A real id of a partner, made once until the ids are dropped. */
  function realId(parameter: PathParameter, route: DescribedRoute, partner: 0 | 1): Promise<string> {
    const name = `${parameter.qualified} ${partner}`;
    const made = real.get(name) ?? makeId(parameter, route, partner);
    real.set(name, made);
    return made;
  }

  async function makeId(parameter: PathParameter, route: DescribedRoute, partner: 0 | 1): Promise<string> {
    const before = await idsOf(
      route,
      partner,
      route.parameters.slice(0, route.parameters.indexOf(parameter)),
    );
    return factoryOf(parameter, route).make(caller(gateway.partners[partner].apiKey), before, gateway);
  }

  async function idsOf(
    route: DescribedRoute,
    partner: 0 | 1,
    parameters: readonly PathParameter[],
  ): Promise<Record<string, string>> {
    const pairs = parameters.map(async (one) => [one.name, await realId(one, route, partner)] as const);
    return Object.fromEntries(await Promise.all(pairs));
  }

  const ownIds = (route: DescribedRoute) => idsOf(route, 0, route.parameters);

  const bodyOf = (route: DescribedRoute) => BODIES[route.operationId] ?? sampleOf(route.bodySchema);
  const send = (route: DescribedRoute, ids: Record<string, string>, key: string | null) =>
    gateway.call(route.method, fillPath(route.path, ids), {
      key,
      ...(route.bodySchema === undefined ? {} : { body: bodyOf(route) }),
    });
  const partnerRoutesWithIds = () =>
    routes.filter(({ access, parameters }) => access === 'partner' && parameters.length > 0);

  // Proves C5 rule 1, D2.4.
  it('every route that is not public refuses no key, a wrong key and a key of another kind alike', async () => {
    const guarded = routes.filter(({ access }) => access !== 'public');
    expect(guarded.length).toBeGreaterThan(15);
    const keys = keysOf(gateway);
    for (const route of guarded) {
      const ids = Object.fromEntries(route.parameters.map(({ name }) => [name, 'not-an-id']));
      const others = Object.entries(keys).filter(([kind, key]) => kind !== route.access && key !== null);
      for (const key of [null, 'cw_test_wrong', ...others.map(([, key]) => key)]) {
        const { status, body } = await send(route, ids, key);
        expect([route.method, route.path, status, body?.error?.code]).toEqual([
          route.method,
          route.path,
          401,
          'UNAUTHORIZED',
        ]);
      }
    }
  });

  // Proves C4.
  it('a malformed id is 400 on every route that takes one', async () => {
    for (const route of partnerRoutesWithIds()) {
      const own = await ownIds(route);
      for (const parameter of route.parameters) {
        for (const malformed of factoryOf(parameter, route).malformed) {
          const { status } = await send(
            route,
            { ...own, [parameter.name]: malformed },
            gateway.partners[0].apiKey,
          );
          expect([route.method, route.path, malformed, status]).toEqual([
            route.method,
            route.path,
            malformed,
            400,
          ]);
        }
      }
    }
  });

  // Proves C1 rule 5, C5 rule 5, D3.1, trap 6.
  it('another partner’s id and an unknown id are answered with the same bytes, and change nothing', async () => {
    expect(partnerRoutesWithIds().length).toBeGreaterThan(8);
    for (const route of partnerRoutesWithIds()) {
      real.clear();
      const own = await ownIds(route);
      for (const parameter of route.parameters) {
        const factory = factoryOf(parameter, route);
        const foreign = await send(
          route,
          { ...own, [parameter.name]: await realId(parameter, route, 1) },
          gateway.partners[0].apiKey,
        );
        const unknown = await send(
          route,
          { ...own, [parameter.name]: factory.unknown() },
          gateway.partners[0].apiKey,
        );
        const where = `${route.method} ${route.path}, ${parameter.name}`;
        expect(`${where}: ${foreign.status} ${foreign.text}`).toBe(
          `${where}: ${unknown.status} ${unknown.text}`,
        );
        expect(comparable(foreign)).toEqual(comparable(unknown));
        if (!factory.ignored)
          expect(`${where}: ${unknown.status} ${unknown.text}`).toContain(`${where}: 404 `);
      }
    }
  });

  it('one’s own id is found, so that the refusals above say something', async () => {
    for (const route of partnerRoutesWithIds()) {
      // Made anew for each route: the one before may have used its subject up.
      real.clear();
      const { status, text } = await send(route, await ownIds(route), gateway.partners[0].apiKey);
      const hint =
        status === 400
          ? ` — the sampled body is not valid: add '${route.operationId}' to BODIES in test/invariants/id-factories.ts`
          : '';
      expect(
        [400, 401, 404].includes(status),
        `${route.method} ${route.path}: ${status} ${text}${hint}`,
      ).toBe(false);
      expect(status, `${route.method} ${route.path}: ${text}`).toBeLessThan(500);
    }
  });

  it('an id in a body, a query or behind another id is known by its name', () => {
    const partners = routes.filter(({ access }) => access === 'partner');
    expect(partners.flatMap(undeclaredIds)).toEqual([]);
    const paired = routes.filter(({ access }) => access !== 'public');
    expect(paired.flatMap(unownedPairs)).toEqual([]);
  });

  // Proves C5 rule 5, C4.9 rule 2, trap 7.
  it('another customer’s id is answered as an unknown one, wherever a request carries it', async () => {
    const [{ apiKey: key }, { apiKey: otherKey }] = gateway.partners;
    const neighbour = await makeCustomer(gateway, key);
    const otherPartnersCustomer = await makeCustomer(gateway, otherKey);
    const carrying = routes.filter(carriesCustomersIds);
    const tried = new Set<string>();
    for (const route of carrying) {
      for (const request of requestsOf(route)) {
        // Made anew: what is right below uses its subjects up.
        const own = await makeCustomer(gateway, key);
        const ask = (changed?: CarriedId, value?: string) =>
          sendCarrying(route, own, request, changed, value);
        for (const carried of request.ids) {
          const where = `${route.operationId}, ${carried.name} in its ${carried.place}`;
          const { unknown, within } = KINDS[carried.kind];
          const missing = answerOf(await ask(carried, unknown()));
          expect(`${where}: ${missing}`).toContain(carried.place === 'query' ? ': 200 ' : ': 404 ');
          // An operator serves every partner; that somebody's id is not another's holds for operators too.
          if (route.access === 'partner') {
            const foreign = await ask(carried, otherPartnersCustomer.ids[carried.kind]);
            expect(`${where}: ${answerOf(foreign)}`).toBe(`${where}: ${missing}`);
          }
          if (within !== undefined) {
            // What belongs to a partner is somebody else's only with another partner.
            const isPartners = within === 'partner' || NAMES_NO_CUSTOMER.has(route.operationId);
            const other = isPartners ? otherPartnersCustomer : neighbour;
            const others = await ask(carried, other.ids[carried.kind]);
            expect(`${where}: ${answerOf(others)}`).toBe(`${where}: ${missing}`);
            tried.add(`${route.operationId} ${carried.name}`);
          }
        }
        const right = await ask();
        expect([400, 401, 404].includes(right.status), `${route.operationId}: ${right.text}`).toBe(false);
        expect(right.status, `${route.operationId}: ${right.text}`).toBeLessThan(500);
      }
    }
    expect([...tried].sort()).toEqual(
      expect.arrayContaining([
        'createOfframpQuote payment_details_id',
        'createOfframpQuote recipient_destination_id',
        'getFiatAccount id',
        'sandboxDeposit id',
        'revealDocument document_id',
        'submitPayerDetails payment_details_id',
      ]),
    );
  });

  function sendCarrying(
    route: DescribedRoute,
    own: CustomerFixture,
    request: ReturnType<typeof requestsOf>[number],
    changed?: CarriedId,
    value?: string,
  ): Promise<Answer> {
    const idOf = (id: CarriedId) => (id === changed ? (value ?? '') : own.ids[id.kind]);
    const at = (place: CarriedId['place']) => request.ids.filter((id) => id.place === place);
    const query = new URLSearchParams(at('query').map((id): [string, string] => [id.name, idOf(id)]));
    const path = fillPath(route.path, Object.fromEntries(at('path').map((id) => [id.name, idOf(id)])));
    const body = {
      ...request.body,
      ...Object.fromEntries(
        at('body').map((id) => [id.name, id.name === 'payment_details_id' ? Number(idOf(id)) : idOf(id)]),
      ),
    };
    return gateway.call(route.method, query.size === 0 ? path : `${path}?${query}`, {
      key: keysOf(gateway)[route.access],
      ...(route.bodySchema === undefined ? {} : { body }),
    });
  }

  const answerOf = ({ status, text }: Answer) => `${status} ${text}`;

  function comparable({ headers }: Answer): Record<string, string> {
    const changing = new Set(['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset']);
    return Object.fromEntries([...headers].filter(([name]) => !changing.has(name)));
  }
});
