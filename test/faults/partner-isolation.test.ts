import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import {
  THIRD_PARTY,
  THIRD_PARTY_DESTINATION,
  type ThirdPartyIds,
  thirdPartyQuote,
} from '../harness/third-party-payout.ts';
import { until } from '../harness/until.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';

const leftOver = statement<[], { claims: string; reservations: string; open_orders: string; crypto: string }>(
  'test.left_over',
  `SELECT (SELECT count(*) FROM quote_claims)::text AS claims, (SELECT count(*) FROM offer_reservations)::text AS reservations,
          coalesce(sum(open_orders), 0)::text AS open_orders, coalesce(sum(crypto), 0)::text AS crypto
     FROM open_order_totals`,
);

const CONNECTIONS = 3;
const AT_ONCE = 16;
/** A connection that is waited for in vain is given up after 10 s. */
const PROMPT_MS = 8_000;

describe('one partner’s load on few connections', () => {
  let gateway: TestGateway;
  let recipient: ThirdPartyIds;
  let sender: string;

  beforeAll(async () => {
    gateway = await startGateway({ env: { DATABASE_POOL_SIZE: String(CONNECTIONS) } });
    const user = await post('/partner/users', { email: 'sender@example.com' });
    sender = user.body.data.id;
    await post(`/partner/users/${sender}/kyc`, { ...SUBMISSION, phone_number: '+4915112345678' });
    await post(`/sandbox/users/${sender}/kyc-status`, { status: 'VERIFIED' });
    const made = await post('/partner/recipients', THIRD_PARTY);
    const { recipient_id } = made.body.data;
    await post(`/sandbox/recipients/${recipient_id}/screening-status`, { screening_status: 'clear' });
    const destinations = `/partner/recipients/${recipient_id}/destinations`;
    const added = await post(destinations, THIRD_PARTY_DESTINATION);
    recipient = { recipient_id, recipient_destination_id: added.body.data.recipient_destination_id };
  });
  afterAll(() => gateway?.stop());

  const post = (path: string, body: unknown) => gateway.call('POST', `/api/v1${path}`, { body });

  async function quotes(count: number): Promise<string[]> {
    const made: Answer[] = [];
    for (let n = 0; n < count; n++) {
      made.push(await post('/partner/offramp/quote', thirdPartyQuote(sender, recipient)));
    }
    for (const { text, status } of made) expect(status, text).toBe(200);
    return made.map(({ body }) => body.data.quote_id as string);
  }

  it('more initiates at once than connections, each of which reads the sender’s identity, are all answered promptly, and so is everybody else', async () => {
    const quoteIds = await quotes(AT_ONCE);
    const began = performance.now();
    const [other, ...answers] = await Promise.all([
      gateway.call('GET', '/api/v1/partner/orders', { key: gateway.partners[1].apiKey }),
      ...quoteIds.map((quote_id) => post('/partner/offramp/initiate', { quote_id })),
    ]);
    expect(performance.now() - began).toBeLessThan(PROMPT_MS);
    expect(answers.map(({ status, text }) => (status === 200 ? status : text))).toEqual(
      Array(AT_ONCE).fill(200),
    );
    expect(other?.status).toBe(200);
  });
});

describe('what a partner may have open', () => {
  let gateway: TestGateway;
  const limits = { partner: 6, customer: 4, partnerUsd: 2_000, customerUsd: 1_000 };

  beforeAll(async () => {
    gateway = await startGateway({
      worker: true,
      env: {
        OPEN_ORDERS_PER_PARTNER: String(limits.partner),
        OPEN_ORDERS_PER_CUSTOMER: String(limits.customer),
        HELD_VALUE_PER_PARTNER_USD: String(limits.partnerUsd),
        HELD_VALUE_PER_CUSTOMER_USD: String(limits.customerUsd),
      },
    });
    // Simulated actors are off: what is opened stays open.
    for (const { apiKey } of gateway.partners) {
      await gateway.call('PUT', '/api/v1/sandbox/settings', { key: apiKey, body: { auto_advance: false } });
    }
  });
  afterAll(() => gateway?.stop());

  const driver = (n: 0 | 1) => ordersDriver(gateway, gateway.partners[n]);

  async function quote(n: 0 | 1, userId: string, cryptoAmount = '50'): Promise<string> {
    const { body, text } = await gateway.call('POST', '/api/v1/partner/onramp/quote', {
      key: gateway.partners[n].apiKey,
      body: { user_uuid: userId, crypto_currency: 'USDC', fiat_currency: 'EUR', crypto_amount: cryptoAmount },
    });
    expect(body, text).toMatchObject({ success: true });
    return body.data.quote_id;
  }
  const initiate = (n: 0 | 1, quoteId: string, headers: Record<string, string> = {}) =>
    gateway.call('POST', '/api/v1/partner/onramp/initiate', {
      key: gateway.partners[n].apiKey,
      body: { quote_id: quoteId },
      headers,
    });
  const refused = ({ status, body }: Answer) => [status, body.error?.code, body.error?.details];
  const opened = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200);

  async function cancelAll(n: 0 | 1): Promise<void> {
    const key = gateway.partners[n].apiKey;
    const { body } = await gateway.call('GET', '/api/v1/partner/orders?limit=100', { key });
    const open = (body.data.orders as { order_id: string; status: string }[]).filter(
      ({ status }) => status !== 'cancelled',
    );
    for (const { order_id } of open) {
      const cancelled = await gateway.call('POST', `/api/v1/partner/orders/${order_id}/cancel`, { key });
      expect(cancelled.status, cancelled.text).toBe(200);
    }
  }

  async function allGivenBack(): Promise<void> {
    await until('every claim and every reservation given back', async () => {
      const [row] = await gateway.deps.db.query(SYSTEM, leftOver, []);
      return (
        row?.claims === '0' && row.reservations === '0' && row.open_orders === '0' && Number(row.crypto) === 0
      );
    });
  }

  // Proves D13.3, trap 46, C7 OPEN_ORDER_LIMIT.
  it('is exact however many initiates race, for a customer and for the partner, and another partner is not concerned', async () => {
    const [ada, grace, other] = [await driver(0).user(), await driver(0).user(), await driver(1).user()];
    const adas = await Promise.all(Array.from({ length: 10 }, () => quote(0, ada)));
    const hers = await Promise.all(adas.map((id) => initiate(0, id)));
    expect(opened(hers)).toHaveLength(limits.customer);
    for (const answer of hers.filter(({ status }) => status !== 200)) {
      expect(refused(answer)).toEqual([
        429,
        'OPEN_ORDER_LIMIT',
        { scope: 'customer', limit: limits.customer, current: limits.customer, unit: 'orders' },
      ]);
    }
    const graces = await Promise.all(Array.from({ length: 6 }, () => quote(0, grace)));
    const theirs = await Promise.all(graces.map((id) => initiate(0, id)));
    expect(opened(theirs)).toHaveLength(limits.partner - limits.customer);
    const late = theirs.find(({ status }) => status !== 200) as Answer;
    expect(refused(late)).toEqual([
      429,
      'OPEN_ORDER_LIMIT',
      { scope: 'partner', limit: limits.partner, current: limits.partner, unit: 'orders' },
    ]);
    const free = await initiate(1, await quote(1, other));
    expect(free.status, free.text).toBe(200);
    // A refused quote is unharmed: it is initiated once there is room.
    await cancelAll(0);
    const waiting = graces.find((_id, index) => theirs[index]?.status !== 200) as string;
    await until('room for it', async () => (await initiate(0, waiting)).status === 200);
    await Promise.all([cancelAll(0), cancelAll(1)]);
    await allGivenBack();
  });

  // Proves D13.3, trap 46.
  it('is limited in value as well, and what does not fit reserves nothing of any vendor’s', async () => {
    const ada = await driver(0).user();
    // 703.51 with the platform's fee.
    expect((await initiate(0, await quote(0, ada, '700'))).status).toBe(200);
    const over = await initiate(0, await quote(0, ada, '296'));
    expect(refused(over)).toEqual([
      429,
      'OPEN_ORDER_LIMIT',
      { scope: 'customer', limit: limits.customerUsd, current: 703, unit: 'usd' },
    ]);
    expect((await initiate(0, await quote(0, ada, '290'))).status).toBe(200);
    expect((await initiate(0, await quote(0, await driver(0).user(), '990'))).status).toBe(200);
    const third = await initiate(0, await quote(0, await driver(0).user(), '11'));
    expect(refused(third)[2]).toEqual({
      scope: 'partner',
      limit: limits.partnerUsd,
      current: 1_989,
      unit: 'usd',
    });
    await cancelAll(0);
    await allGivenBack();
  });

  it('an operator gives a partner limits of its own, and takes them back', async () => {
    const partnerId = await partnerIdOf(1);
    const change = (fields: object) =>
      gateway.call('PATCH', `/api/v1/operator/partners/${partnerId}`, {
        key: gateway.sandbox.operatorKey,
        body: { ...fields, reason: 'agreed' },
      });
    const lowered = await change({ customer_open_order_limit: 1 });
    expect(lowered.body.data).toMatchObject({
      ...{ customer_open_order_limit: 1, open_order_limit: null },
      deployment_limits: {
        ...{ open_order_limit: limits.partner, held_value_limit: limits.partnerUsd },
        ...{ customer_open_order_limit: limits.customer, customer_held_value_limit: limits.customerUsd },
      },
    });
    const ada = await driver(1).user();
    expect((await initiate(1, await quote(1, ada))).status).toBe(200);
    expect(refused(await initiate(1, await quote(1, ada)))[2]).toMatchObject({ scope: 'customer', limit: 1 });
    await change({ customer_open_order_limit: null });
    expect((await initiate(1, await quote(1, ada))).status).toBe(200);
    await cancelAll(1);
    await allGivenBack();
  });

  // Proves trap 2.
  it('a repeated key at the limit gets its first answer; a refusal for want of room is not kept', async () => {
    const ada = await driver(0).user();
    const ids = [];
    for (let n = 0; n <= limits.customer; n++) ids.push(await quote(0, ada));
    const [last = '', ...first] = ids.toReversed();
    for (const id of first) expect((await initiate(0, id, { 'idempotency-key': id })).status).toBe(200);
    expect((await initiate(0, last, { 'idempotency-key': last })).status).toBe(429);
    const again = await initiate(0, first[0] as string, { 'idempotency-key': first[0] as string });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    await cancelAll(0);
    await until(
      'room for the refused one, under the same key',
      async () => (await initiate(0, last, { 'idempotency-key': last })).status === 200,
    );
    await cancelAll(0);
    await allGivenBack();
  });

  // Proves trap 2.
  it('a key keeps its first answer at the limit, where that was a refusal too, and is for no other request', async () => {
    const ada = await driver(0).user();
    const setKyc = (status: string) =>
      gateway.call('POST', `/api/v1/sandbox/users/${ada}/kyc-status`, { body: { status } });
    const early = await quote(0, ada);
    const key = { 'idempotency-key': `early-${early}` };
    await setKyc('UNDER_REVIEW');
    const first = await initiate(0, early, key);
    expect([first.status, first.body.error.code]).toEqual([422, 'KYC_NOT_CLEARED']);
    await setKyc('VERIFIED');
    for (let n = 0; n < limits.customer; n++) {
      expect((await initiate(0, await quote(0, ada))).status).toBe(200);
    }
    expect((await initiate(0, early)).status).toBe(429);
    const again = await initiate(0, early, key);
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
      422,
      first.text,
      'true',
    ]);
    const reused = await initiate(0, await quote(0, ada), key);
    expect([reused.status, reused.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    await cancelAll(0);
    await allGivenBack();
  });

  // Proves trap 46.
  it('an initiate that is refused for another reason gives back at once what it had taken', async () => {
    const ada = await driver(0).user();
    const id = await quote(0, ada);
    await gateway.call('POST', `/api/v1/sandbox/users/${ada}/kyc-status`, {
      body: { status: 'UNDER_REVIEW' },
    });
    expect((await initiate(0, id)).body.error.code).toBe('KYC_NOT_CLEARED');
    expect((await initiate(0, id, { 'idempotency-key': 'refused' })).body.error.code).toBe('KYC_NOT_CLEARED');
    await allGivenBack();
  });

  async function partnerIdOf(n: 0 | 1): Promise<string> {
    const principal = await gateway.deps.principals.find(gateway.partners[n].apiKey);
    return (principal as { partnerId: string }).partnerId;
  }
});

describe('a partner that opens all it can', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
  });
  afterAll(() => gateway?.stop());

  it('does not take a corridor from the others: with the limits of a new deployment they still trade in it', async () => {
    const [hostile, other] = [ordersDriver(gateway), ordersDriver(gateway, gateway.partners[1])];
    const body = { crypto_currency: 'USDC', fiat_currency: 'EUR' };
    let refusals = 0;
    for (let customer = 0; customer < 8 && refusals < 8; customer++) {
      const user_uuid = await hostile.user();
      for (let n = 0; n < 8; n++) {
        const quoted = await gateway.call('POST', '/api/v1/partner/onramp/quote', {
          body: { ...body, user_uuid, crypto_amount: '90000' },
        });
        expect(quoted.status, quoted.text).toBe(200);
        const { quote_id } = quoted.body.data;
        const made = await gateway.call('POST', '/api/v1/partner/onramp/initiate', { body: { quote_id } });
        if (made.status === 200) continue;
        expect(made.body.error.code).toBe('OPEN_ORDER_LIMIT');
        refusals++;
        break;
      }
    }
    expect(refusals).toBeGreaterThan(4);
    const order = await other.onrampOrder({ ...body, fiat_amount: '5000.00' });
    expect((await other.read(order)).status).toBe('awaiting_liquidity_provider');
    const large = await gateway.call('POST', '/api/v1/partner/onramp/quote', {
      key: gateway.partners[1].apiKey,
      body: { ...body, user_uuid: await other.user(), crypto_amount: '90000' },
    });
    expect(large.status, large.text).toBe(200);
  });
});
