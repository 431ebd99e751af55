import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { enableFiatAccounts } from '../harness/bank.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { type CustomerFixture, makeCustomer } from '../invariants/customer-fixture.ts';
import type { FuzzCaller } from './callers.ts';
import type { Needle } from './leaks.ts';
import type { FuzzRoute } from './routes.ts';

/** A customer of the other partner: every value of it occurs nowhere else. */
const FOREIGN = {
  email: 'peregrine.thistlewood@foreign-canary.example',
  first_name: 'Peregrine',
  last_name: 'Thistlewood',
  reference_id: 'canary-reference-8c1f',
  recipient_name: 'Cosima Featherstonehaugh',
  iban: 'NL91ABNA0417164300',
  webhook: 'https://foreign-canary.example/hook',
};
/** What is no personal data, and nothing that a log may not name. */
const NOT_PERSONAL = new Set(['reference_id', 'webhook']);

/** The other partner with a customer that can be found again in any answer, and one of everything that has an id. */
export async function plantForeign(gateway: TestGateway): Promise<{
  readonly customer: CustomerFixture;
  readonly needles: readonly Needle[];
}> {
  const key = gateway.partners[1].apiKey;
  const post = async (path: string, body: object) => {
    const {
      status,
      text,
      body: answer,
    } = await gateway.call('POST', `/api/v1/partner/${path}`, { key, body });
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return answer.data;
  };
  const { email, first_name, last_name, reference_id, recipient_name, iban, webhook } = FOREIGN;
  await enableFiatAccounts(gateway, 1);
  const customer = await makeCustomer(gateway, key);
  const user = await post('users', { email, first_name, last_name, reference_id, country_code: 'NL' });
  await post('recipients', { recipient_name, recipient_country: 'NL' });
  await gateway.call('POST', `/api/v1/sandbox/users/${user.id}/kyc-status`, {
    key,
    body: { status: 'VERIFIED' },
  });
  await post(`users/${user.id}/payment-details`, {
    rail: 'iban-sepa',
    currency: 'EUR',
    country_code: 'NL',
    details: { full_name: `${first_name} ${last_name}`, iban },
  });
  await post('webhooks', { url: webhook });
  const values = Object.entries(FOREIGN).map(
    ([name, text]): Needle => ({
      text,
      what: `the other partner’s ${name}`,
      forbiddenTo: 'other partners and vendors',
      inLogs: !NOT_PERSONAL.has(name),
    }),
  );
  const { partner, fiat_account, payment_details, payer_details, ...told } = customer.ids;
  const ids = Object.entries({ ...told, second_user: user.id as string }).map(
    ([name, text]): Needle => ({
      text,
      what: `the id of the other partner’s ${name}`,
      forbiddenTo: 'other partners',
      inLogs: false,
    }),
  );
  return { customer, needles: [...values, ...ids] };
}

const SECRET_FIELDS = /key|secret|password/i;
/** Published in the pages of a partner. */
const NO_SECRETS = new Set(['widgetKey']);

/** Everything secret of the sandbox, and the offers of a vendor that the fuzzed one must not see. */
export async function sandboxNeedles(gateway: TestGateway): Promise<Needle[]> {
  const file = await readFile(join(gateway.env.CAUSEWAY_HOME ?? '', SECRETS_FILE), 'utf8');
  const found: Needle[] = [];
  JSON.parse(file, (name, value) => {
    if (typeof value === 'string' && SECRET_FIELDS.test(name) && !NO_SECRETS.has(name)) {
      found.push({
        text: value.replace(/^0x/, ''),
        what: `the sandbox’s ${name}`,
        forbiddenTo: 'everybody',
        inLogs: true,
      });
    }
    return value;
  });
  return found;
}

/** A session's cookie and token are secrets too, but for who sends them. */
export function sessionNeedles(callers: readonly FuzzCaller[]): Needle[] {
  return callers.flatMap((caller) =>
    Object.entries(caller.headers(0))
      .filter(([name]) => name === 'cookie' || name === 'authorization')
      .map(
        ([, value]): Needle => ({
          text: value.replace(/^(?:Bearer |cw_console=)/, ''),
          what: `the session of ${caller.name}`,
          forbiddenTo: 'everybody',
          inLogs: true,
        }),
      ),
  );
}

/** Keys and sessions of the callers themselves: who revokes them would end the run. */
const NOT_TO_BE_HARMED = /^(?:key|session|partner|vendor)_id$/;

/** Ids of what there is, by name, as lists tell them to whom they belong. */
export async function harvestIds(
  gateway: TestGateway,
  routes: readonly FuzzRoute[],
  callers: readonly FuzzCaller[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, Set<string>>();
  const lists = routes.filter(({ method, parameters }) => method === 'GET' && parameters.length === 0);
  for (const route of lists) {
    const caller = callers.find((one) => one.serves(route) && one.name !== 'no key');
    if (caller === undefined) continue;
    const headers = { ...caller.headers(0), accept: 'application/json' };
    const { text } = await gateway.call('GET', route.path, { key: null, headers });
    for (const [, name = '', id = ''] of text.matchAll(/"(\w+_id)":"([0-9a-z_-]{3,60})"/g)) {
      if (NOT_TO_BE_HARMED.test(name)) continue;
      found.set(name, (found.get(name) ?? new Set()).add(id));
    }
  }
  return new Map([...found].map(([name, ids]) => [name, [...ids].slice(0, 20)]));
}
