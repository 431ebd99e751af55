import { DESKS, type Desk, ROLES, type Role } from '@causeway/protocol/console';
import { type ConsoleCaller, consoleUser } from '../harness/console-users.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { widgetCustomer } from '../harness/widget.ts';
import type { FuzzRoute } from './routes.ts';

/** A class of callers: what it sends to be known, and which routes it may be served by. */
export interface FuzzCaller {
  readonly name: string;
  /** Sees what belongs to every partner. */
  readonly seesAll: boolean;
  /** Served vendors' routes: some of what a partner's order says is told to its vendor. */
  readonly isVendor: boolean;
  /** Known by the cookie of the console. */
  readonly hasSession: boolean;
  serves(route: FuzzRoute): boolean;
  /** What it sends; `spoilt` chooses among wrong keys. */
  headers(spoilt: number): Readonly<Record<string, string>>;
  /** Some requests end the session of who makes them, or of everybody: it signs in again. */
  renew(): Promise<void>;
}

const WRONG_KEYS = [
  'cw_test_wrong',
  'cw_test_00000000000000000000000000000000',
  'x',
  'x'.repeat(2_000),
  'cw_operator_\u00ff\u00fe',
  '../../etc/passwd',
  "' OR 1=1 --",
  'Bearer Bearer Bearer',
];

const nothingToRenew = async () => {};

function withKey(access: FuzzRoute['access'], key: string): FuzzCaller {
  return {
    hasSession: false,
    name: `${access} key`,
    seesAll: access === 'operator',
    isVendor: access === 'vendor',
    serves: (route) => route.access === access || route.access === 'public',
    headers: () => ({ 'x-api-key': key }),
    renew: nothingToRenew,
  };
}

async function atConsole(gateway: TestGateway, desk: Desk, role: Role): Promise<FuzzCaller> {
  let user: ConsoleCaller = await consoleUser(gateway, desk, role);
  return {
    hasSession: true,
    name: `${desk} desk, ${role}`,
    seesAll: desk === 'operator',
    isVendor: desk === 'vendor',
    serves: ({ access }) => access === desk || access === 'console' || access === 'public',
    headers: () => ({ ...user.headers }),
    async renew() {
      const { status } = await user.call('GET', '/api/v1/console/session');
      if (status === 401) user = await consoleUser(gateway, desk, role);
    },
  };
}

async function atWidget(gateway: TestGateway): Promise<FuzzCaller> {
  let customer = await widgetCustomer(gateway);
  return {
    ...withKey('session', customer.token),
    name: 'customer',
    headers: () => ({ authorization: `Bearer ${customer.token}` }),
    async renew() {
      const { status } = await customer.ask('GET', '');
      if (status === 401) customer = await widgetCustomer(gateway);
    },
  };
}

export async function fuzzCallers(gateway: TestGateway): Promise<FuzzCaller[]> {
  const { partners, sandbox } = gateway;
  const [partner] = partners;
  const nobody = { seesAll: false, isVendor: false, hasSession: false, renew: nothingToRenew };
  const serves = ({ access }: FuzzRoute) => access === 'public';
  const desks = DESKS.flatMap((desk) =>
    ROLES.filter((role) => role === 'admin' || role === 'viewer').map((role) =>
      atConsole(gateway, desk, role),
    ),
  );
  return [
    { ...nobody, name: 'no key', serves, headers: () => ({}) },
    {
      ...nobody,
      name: 'wrong key',
      serves,
      headers: (spoilt) => ({ 'x-api-key': WRONG_KEYS[spoilt % WRONG_KEYS.length] ?? '' }),
    },
    withKey('partner', partner.apiKey),
    withKey('widget', partner.widgetKey),
    await atWidget(gateway),
    withKey('vendor', sandbox.vendors[0]?.apiKey ?? ''),
    withKey('operator', sandbox.operatorKey),
    ...(await Promise.all(desks)),
  ];
}
