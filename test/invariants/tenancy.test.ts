import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import {
  type DescribedRoute,
  describedRoutes,
  fillPath,
  keysOf,
  type PathParameter,
  sampleOf,
} from './described-routes.ts';

/**
 * A stranger's id and an id that never existed are answered with the same bytes. Routes come from the OpenAPI
 * description; only what an id is, and how to get a real one, is said here.
 */
interface IdFactory {
  /** A real id that belongs to the partner with this key. */
  make(as: Caller): Promise<string>;
  /** Well-formed, but nobody's. */
  unknown(): string;
  /** Answered 400. Empty where the contract accepts any text. */
  readonly malformed: readonly string[];
  /** Set where the contract does not look at the id at all. */
  readonly ignored?: true;
}
type Caller = (method: string, path: string, body?: unknown) => Promise<Answer>;

const uuidId = { unknown: () => randomUUID(), malformed: ['not-an-id', "'--", '0', 'x'.repeat(400)] };

/** By `segment/{name}` where a name alone is ambiguous, else by name. */
const FACTORIES: Readonly<Record<string, IdFactory>> = {
  user_uuid: { ...uuidId, make: makeUser },
  order_id: { ...uuidId, make: makeOrder },
  recipient_id: { ...uuidId, make: makeRecipient },
  'deliveries/{id}': { ...uuidId, make: makeDelivery },
  'webhooks/{id}': { make: async () => 'any', unknown: () => 'other', malformed: [], ignored: true },
};

/** Bodies for routes whose schema alone does not say what makes sense, by operationId. */
const KYC = {
  method: 'direct_data',
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1990-12-10',
  nationality: 'DE',
  id_type: 'PASSPORT',
  id_number: 'C01X00T47',
  id_issue_country: 'DE',
  address: 'Unter den Linden 1',
  city: 'Berlin',
  postal_code: '10117',
  country_code: 'DE',
};
const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
};
const BODIES: Readonly<Record<string, unknown>> = {
  submitKyc: KYC,
  submitKycShort: KYC,
  createPaymentDetails: SEPA,
  createDestination: SEPA,
  // The first event of the list would ask a chain, and there is none here.
  sandboxOrderEvent: { event: 'order_expires' },
  uploadKycDocument: { document_type: 'ID_FRONT', content_type: 'image/png', content: 'iVBORw0KGgo=' },
  uploadKycDocumentShort: { document_type: 'ID_FRONT', content_type: 'image/png', content: 'iVBORw0KGgo=' },
};

async function makeUser(as: Caller): Promise<string> {
  const made = await as('POST', '/api/v1/partner/users', { email: `${randomUUID()}@example.com` });
  return made.body.data.id;
}

async function makeRecipient(as: Caller): Promise<string> {
  const made = await as('POST', '/api/v1/partner/recipients', {
    recipient_name: 'Grace Hopper',
    recipient_country: 'DE',
  });
  return made.body.data.recipient_id;
}

async function makeDelivery(as: Caller): Promise<string> {
  await as('POST', '/api/v1/partner/webhooks', { url: 'https://127.0.0.1:9/hook' });
  const user = await makeUser(as);
  await as('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { status: 'VERIFIED' });
  const listed = await as('GET', '/api/v1/partner/webhooks/deliveries');
  return listed.body.data.deliveries[0].id;
}

async function makeOrder(as: Caller): Promise<string> {
  const user = await makeUser(as);
  await as('POST', `/api/v1/sandbox/users/${user}/kyc-status`, { status: 'VERIFIED' });
  const quote = await as('POST', '/api/v1/partner/onramp/quote', {
    user_uuid: user,
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fiat_amount: '100.00',
  });
  const order = await as('POST', '/api/v1/partner/onramp/initiate', { quote_id: quote.body.data.quote_id });
  return order.body.data.order_id;
}

describe('tenancy of every described route', () => {
  let gateway: TestGateway;
  let routes: DescribedRoute[];
  const real = new Map<string, Promise<string>>();

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', RATE_LIMIT_PUBLIC_PER_MINUTE: '100000' },
    });
    routes = await describedRoutes(gateway);
  });
  afterAll(() => gateway?.stop());

  const caller =
    (key: string): Caller =>
    (method, path, body) =>
      gateway.call(method, path, { key, ...(body === undefined ? {} : { body }) });

  function factoryOf(parameter: PathParameter, route: DescribedRoute): IdFactory {
    const factory = FACTORIES[parameter.qualified] ?? FACTORIES[parameter.name];
    if (factory === undefined) {
      throw new Error(
        `${route.method} ${route.path} has a parameter this test cannot make ids for. ` +
          `Add '${parameter.qualified}' or '${parameter.name}' to FACTORIES in test/invariants/tenancy.test.ts.`,
      );
    }
    return factory;
  }

  /** A real id of a partner, made once until the ids are forgotten. */
  function realId(parameter: PathParameter, route: DescribedRoute, partner: 0 | 1): Promise<string> {
    const name = `${parameter.qualified} ${partner}`;
    const made = real.get(name) ?? factoryOf(parameter, route).make(caller(gateway.partners[partner].apiKey));
    real.set(name, made);
    return made;
  }

  async function ownIds(route: DescribedRoute): Promise<Record<string, string>> {
    const pairs = route.parameters.map(async (one) => [one.name, await realId(one, route, 0)] as const);
    return Object.fromEntries(await Promise.all(pairs));
  }

  const bodyOf = (route: DescribedRoute) => BODIES[route.operationId] ?? sampleOf(route.bodySchema);
  const send = (route: DescribedRoute, ids: Record<string, string>, key: string | null) =>
    gateway.call(route.method, fillPath(route.path, ids), {
      key,
      ...(route.bodySchema === undefined ? {} : { body: bodyOf(route) }),
    });
  const partnerRoutesWithIds = () =>
    routes.filter(({ access, parameters }) => access === 'partner' && parameters.length > 0);

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

  it('another partner’s id and an unknown id are answered with the same bytes, and change nothing', async () => {
    expect(partnerRoutesWithIds().length).toBeGreaterThan(8);
    for (const route of partnerRoutesWithIds()) {
      real.clear();
      const own = await ownIds(route);
      for (const parameter of route.parameters) {
        const factory = factoryOf(parameter, route);
        const strangers = await send(
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
        expect(`${where}: ${strangers.status} ${strangers.text}`).toBe(
          `${where}: ${unknown.status} ${unknown.text}`,
        );
        expect(comparable(strangers)).toEqual(comparable(unknown));
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
          ? ` — the sampled body is not valid: add '${route.operationId}' to BODIES in test/invariants/tenancy.test.ts`
          : '';
      expect(
        [400, 401, 404].includes(status),
        `${route.method} ${route.path}: ${status} ${text}${hint}`,
      ).toBe(false);
      expect(status, `${route.method} ${route.path}: ${text}`).toBeLessThan(500);
    }
  });

  function comparable({ headers }: Answer): Record<string, string> {
    const changing = new Set(['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset']);
    return Object.fromEntries([...headers].filter(([name]) => !changing.has(name)));
  }
});
