import {
  CONSOLE_ROUTES,
  can,
  type Desk,
  OPEN_CONSOLE_ROUTES,
  OPERATION_CAPABILITIES,
  ROLES,
} from '@causeway/protocol/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { enableFiatAccounts, startBank } from '../harness/bank.ts';
import { type ConsoleCaller, consoleUser } from '../harness/console-users.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';
import { type CustomerFixture, makeCustomer, PRICE } from './customer-fixture.ts';
import {
  type DescribedRoute,
  describedRoutes,
  fillPath,
  type PathParameter,
  requiredQuery,
  sampleOf,
} from './described-routes.ts';
import { BODIES, type Caller, FACTORIES, makeFiatAccount } from './id-factories.ts';
import {
  KYC,
  OWN_ACCOUNT,
  PERSON,
  PERSONS_VALUES,
  RECIPIENT,
  RECIPIENTS_VALUES,
  SENDER,
  THEIR_ACCOUNT,
} from './sample-persons.ts';
import { leaks } from './sealed-values.ts';

type Ids = Record<string, string>;

/** Bodies that get past validation, so that it is the id that is refused. */
const CONSOLE_BODIES: Readonly<Record<string, object>> = {
  changeTeamMember: { role: 'viewer' },
  renamePasskey: { label: 'Mine' },
};

const addPasskey = statement<[passkeyId: string, userId: string]>(
  'test.insert_passkey',
  `INSERT INTO console_passkeys (passkey_id, user_id, partner_id, vendor_id, public_key, sign_count, label, created_at)
   SELECT $1, user_id, partner_id, vendor_id, '\\x00', 0, 'Laptop', now() FROM console_users WHERE user_id = $2
   ON CONFLICT DO NOTHING`,
);

describe('what users of the console see', () => {
  let gateway: TestGateway;
  let routes: DescribedRoute[];
  let bank: ReturnType<typeof startBank>;
  /** An admin of each of the two partners. */
  let ours: ConsoleCaller;
  let theirs: ConsoleCaller;
  let theirCustomer: CustomerFixture;

  beforeAll(async () => {
    gateway = await startGateway({
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', RATE_LIMIT_PUBLIC_PER_MINUTE: '100000' },
    });
    await enableFiatAccounts(gateway, 1);
    bank = startBank(gateway);
    routes = await describedRoutes(gateway);
    ours = await consoleUser(gateway, 'partner', 'admin');
    theirs = await consoleUser(gateway, 'partner', 'admin', { owner: 1 });
    theirCustomer = await makeCustomer(gateway, gateway.partners[1].apiKey);
  });
  afterAll(async () => {
    await bank?.stop();
    await gateway?.stop();
  });

  const made = new Map<string, Promise<string>>();
  /** A real id, made once with the cookie of the partner’s own user: what is refused leaves it as it is. */
  function realId(parameter: PathParameter, before: Ids, owner: ConsoleCaller): Promise<string> {
    const factory = FACTORIES[parameter.qualified] ?? FACTORIES[parameter.name];
    if (factory === undefined) throw new Error(`there is no factory for ${parameter.qualified}`);
    const as: Caller = (method, path, body) => owner.call(method, path, body === undefined ? {} : { body });
    const name = `${owner.userId} ${parameter.qualified}`;
    const id = made.get(name) ?? factory.make(as, before, gateway);
    made.set(name, id);
    return id;
  }

  async function idsOf(parameters: readonly PathParameter[], owner: ConsoleCaller): Promise<Ids> {
    const ids: Ids = {};
    for (const one of parameters) ids[one.name] = await realId(one, ids, owner);
    return ids;
  }

  const send = (route: DescribedRoute, ids: Ids, caller: Pick<ConsoleCaller, 'call'>) =>
    caller.call(route.method, fillPath(route.path, ids) + requiredQuery(route), {
      ...(route.bodySchema === undefined
        ? {}
        : { body: BODIES[route.operationId] ?? sampleOf(route.bodySchema) }),
    });
  const said = ({ status, text }: Answer) => `${status} ${text}`;
  const byKey = (key: string): Pick<ConsoleCaller, 'call'> => ({
    call: (method, path, options = {}) => gateway.call(method, path, { ...options, key }),
  });

  it('another partner’s id and an unknown one are answered with the same bytes', async () => {
    const withIds = routes.filter(({ access, parameters }) => access === 'partner' && parameters.length > 0);
    expect(withIds.length).toBeGreaterThan(30);
    for (const route of withIds) {
      const own = await idsOf(route.parameters, ours);
      const foreign = await idsOf(route.parameters, theirs);
      for (const parameter of route.parameters) {
        const factory = FACTORIES[parameter.qualified] ?? FACTORIES[parameter.name];
        if (factory === undefined || factory.ignored) continue;
        const where = `${route.operationId}, ${parameter.name}`;
        const other = { ...own, [parameter.name]: foreign[parameter.name] ?? '' };
        const unknown = await send(route, { ...own, [parameter.name]: factory.unknown() }, ours);
        expect(`${where}: ${said(await send(route, other, ours))}`).toBe(`${where}: ${said(unknown)}`);
        expect(`${where}: ${unknown.status}`).toBe(`${where}: 404`);
      }
    }
  });

  it('no list and no page of a partner’s user names anything of another partner', async () => {
    const foreign = Object.entries(theirCustomer.ids)
      // Numbers are short enough to stand anywhere.
      .filter(([, id]) => id.length > 20)
      .map(([, id]) => id);
    expect(foreign.length).toBeGreaterThan(8);
    const strangers = [...foreign, theirs.userId, theirs.email];
    const reads = routes.filter(({ access, method }) => access === 'partner' && method === 'GET');
    for (const route of reads) {
      const answer = await send(route, await idsOf(route.parameters, ours), ours);
      expect([route.operationId, answer.status < 500, leaks(answer.text, strangers)]).toEqual([
        route.operationId,
        true,
        [],
      ]);
    }
    // They are there to be found, by their own users.
    const own = await theirs.call('GET', '/api/v1/partner/users?limit=100');
    expect(own.text).toContain(theirCustomer.ids.user);
  });

  it('another vendor’s id and an unknown one are answered with the same bytes', async () => {
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
    await ordersDriver(gateway).onrampOrder();
    const withIds = routes.filter(({ access, parameters }) => access === 'vendor' && parameters.length > 0);
    expect(withIds.length).toBeGreaterThan(10);
    const found: { caller: ConsoleCaller; order?: string; offer?: string }[] = [];
    for (const owner of gateway.sandbox.vendors.keys()) {
      const caller = await consoleUser(gateway, 'vendor', 'admin', { owner });
      const orders = (await caller.call('GET', '/api/v1/vendor/orders')).body.data.orders;
      const offers = (await caller.call('GET', '/api/v1/vendor/offers')).body.data.offers;
      found.push({ caller, order: orders[0]?.order_id, offer: offers[0]?.offer_id });
    }
    const busy = found.find(({ order, offer }) => order !== undefined && offer !== undefined);
    const idle = found.find(({ order }) => order === undefined);
    if (busy === undefined || idle === undefined) throw new Error('the sandbox has no such two vendors');
    const ids = { order_id: busy.order ?? '', offer_id: busy.offer ?? '' };
    const unknown = {
      order_id: '0199a0d0-0000-7000-8000-000000000001',
      offer_id: '0199a0d0-0000-7000-8000-000000000002',
    };
    for (const route of withIds) {
      const missing = said(await send(route, unknown, idle.caller));
      expect(`${route.operationId}: ${said(await send(route, ids, idle.caller))}`).toBe(
        `${route.operationId}: ${missing}`,
      );
      // A body that does not fit is refused before anything is looked for.
      expect(missing).toMatch(/^(404|400) /);
    }
    const seen = await busy.caller.call('GET', `/api/v1/vendor/orders/${ids.order_id}`);
    expect(seen.status).toBe(200);
  });

  describe('of the console itself', () => {
    const own = Object.entries(CONSOLE_ROUTES).filter(
      ([operation]) => !(OPEN_CONSOLE_ROUTES as readonly string[]).includes(operation),
    );

    /** By parameter: a real id at the other partner’s desk. */
    const FOREIGN: Readonly<Record<string, () => Promise<string>>> = {
      user_id: async () => theirs.userId,
      session_id: async () =>
        (await theirs.call('GET', '/api/v1/console/sessions')).body.data.sessions[0].session_id,
      invitation_id: async () => {
        const body = { email: `${crypto.randomUUID()}@console.example`, role: 'viewer' };
        return (await theirs.call('POST', '/api/v1/console/team/invitations', { body })).body.data
          .invitation_id;
      },
      passkey_id: () => insertPasskey(theirs),
    };

    async function insertPasskey({ userId }: ConsoleCaller): Promise<string> {
      const passkeyId = `passkey-${userId}`;
      await gateway.deps.db.query(SYSTEM, addPasskey, [passkeyId, userId]);
      return passkeyId;
    }

    it('another desk’s id and an unknown one are answered with the same bytes, and nothing changes', async () => {
      const withIds = own.filter(([, route]) => route.includes('{'));
      for (const [operation, declared] of withIds) {
        const [method = '', path = ''] = declared.split(' ');
        const [, name = ''] = /\{(\w+)\}/.exec(path) ?? [];
        const make = FOREIGN[name];
        if (make === undefined) continue;
        const foreign = await make();
        const unknown = name === 'passkey_id' ? 'passkey-of-nobody' : crypto.randomUUID();
        const ask = (id: string) =>
          ours.call(method, path.replace(`{${name}}`, id), {
            ...(method === 'GET' ? {} : { body: CONSOLE_BODIES[operation] ?? {} }),
          });
        const missing = said(await ask(unknown));
        expect(`${operation}: ${missing}`).toContain(`${operation}: 404 `);
        expect(`${operation}: ${said(await ask(foreign))}`).toBe(`${operation}: ${missing}`);
      }
      const { members } = (await theirs.call('GET', '/api/v1/console/team')).body.data;
      expect(members.find(({ user_id }: { user_id: string }) => user_id === theirs.userId)).toMatchObject({
        role: 'admin',
        disabled_at: null,
      });
    });

    it('what is read there names nobody of another desk', async () => {
      await FOREIGN.invitation_id?.();
      // The address alone: the paths that were tried above, ids and all, are part of one’s own activity.
      const strangers = [theirs.email];
      for (const [operation, declared] of own.filter(([, route]) => /^GET [^{]*$/.test(route))) {
        const { status, text } = await ours.call('GET', declared.slice(4));
        expect([operation, status < 500, leaks(text, strangers)]).toEqual([operation, true, []]);
      }
      expect((await theirs.call('GET', '/api/v1/console/team')).text).toContain(theirs.email);
    });
  });

  describe('of persons', () => {
    let ids: Readonly<Record<string, string>>;
    beforeAll(async () => {
      const post = async (path: string, body: object) => {
        const answer = await gateway.call('POST', `/api/v1${path}`, { body });
        expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text]);
        return answer.body.data;
      };
      const { id: user } = await post('/partner/users', PERSON);
      await post(`/partner/users/${user}/kyc`, KYC);
      await post(`/sandbox/users/${user}/kyc-status`, { status: 'VERIFIED' });
      const { id: details } = await post(`/partner/users/${user}/payment-details`, OWN_ACCOUNT);
      const { recipient_id } = await post('/partner/recipients', RECIPIENT);
      const recipient = `/recipients/${recipient_id}`;
      await post(`/sandbox${recipient}/screening-status`, { screening_status: 'clear' });
      await post(`/partner${recipient}/destinations`, THEIR_ACCOUNT);
      const quote = { ...PRICE, user_uuid: user, payment_details_id: details };
      const { quote_id } = await post('/partner/offramp/quote', quote);
      const { order_id } = await post('/partner/offramp/initiate', { quote_id });
      const as: Caller = (method, path, body) => gateway.call(method, path, { body });
      const account = await makeFiatAccount(as, { user_uuid: user });
      await post(`/sandbox/users/${user}/fiat-accounts/${account}/deposits`, { amount: '25.00', ...SENDER });
      ids = { user_uuid: user, recipient_id, order_id, id: account };
    });

    const KEYS: Readonly<Record<Desk, () => string>> = {
      partner: () => gateway.partners[0].apiKey,
      operator: () => gateway.sandbox.operatorKey,
      vendor: () => gateway.sandbox.vendors[0]?.apiKey ?? '',
    };
    /** Whose paths name persons who are there, or nobody. */
    const readsOf = (desk: Desk) =>
      routes.filter(
        ({ access, method, parameters }) =>
          access === desk && method === 'GET' && parameters.every(({ name }) => name in ids),
      );
    /** What every answer tells of the moment at which it was made. */
    const still = (text: string) =>
      text.replaceAll(
        /"(server_time|generated_at|as_of|request_id|now|\w*age_seconds|read_at)":("[^"]*"|\d+)/g,
        '"$1":0',
      );

    it.each(['partner', 'operator', 'vendor'] as const)(
      'a user of the %s desk reads what a key of the class reads, as masked as that',
      async (desk) => {
        const admin = await consoleUser(gateway, desk, 'admin');
        const differing: string[] = [];
        for (const route of readsOf(desk)) {
          // The log of requests grows with every request.
          if (/Requests$/.test(route.operationId)) continue;
          // Customers are masked for everybody at the console: showing one in full is an act of its own, on record.
          if (['listUsers', 'getUser'].includes(route.operationId)) continue;
          // Rates, balances and ages change by themselves: what differs twice differs by who asks.
          const answers = async () => {
            const both = [
              await send(route, ids, byKey(KEYS[desk]())),
              await send(route, ids, admin),
            ] as const;
            return both.map(({ status, text }) => `${status} ${still(text)}`);
          };
          let [expected, read] = await answers();
          for (let again = 0; again < 3 && read !== expected; again++) [expected, read] = await answers();
          if (read !== expected) differing.push(`${route.operationId}: ${read} instead of ${expected}`);
        }
        expect(differing).toEqual([]);
      },
    );

    it('whoever may not reveal personal data reads none in full', async () => {
      const values = [...PERSONS_VALUES, ...RECIPIENTS_VALUES];
      const told: string[] = [];
      for (const desk of ['partner', 'operator', 'vendor'] as const) {
        for (const role of ROLES.filter((one) => !can(one, 'personal.reveal'))) {
          const user = await consoleUser(gateway, desk, role);
          for (const route of readsOf(desk)) {
            // A bank’s statement is whole: a capability of its own allows to take it along.
            if (route.operationId === 'exportFiatAccount') continue;
            if (!can(role, OPERATION_CAPABILITIES[route.operationId] ?? 'read')) continue;
            const { text } = await send(route, ids, user);
            told.push(...leaks(text, values).map((value) => `${role} ${route.operationId}: ${value}`));
          }
        }
      }
      expect(told).toEqual([]);
      // They are there to be revealed.
      const admin = await consoleUser(gateway, 'operator', 'admin');
      const revealed = await admin.call('POST', `/api/v1/operator/users/${ids.user_uuid}/reveal`, {
        body: { reason: 'a test' },
      });
      expect(revealed.text).toContain(PERSON.last_name);
    });
  });
});
