import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRETS_FILE } from '../../apps/gateway/src/local/sandbox-secrets.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';
import { ordersDriver } from '../scenarios/orders-driver.ts';
import {
  createBystander,
  type Persons,
  runCustomerFlows,
  runOrderFlows,
  stumble,
  vendorClient,
} from './personal-flows.ts';
import { BYSTANDERS_VALUES, PERSON, PERSONS_VALUES, RECIPIENTS_VALUES } from './sample-persons.ts';
import { dump, leaks, readWithKeys } from './sealed-values.ts';

const EVERYBODY = [...PERSONS_VALUES, ...RECIPIENTS_VALUES];

describe('personal data at rest and in logs', () => {
  let gateway: TestGateway;
  let sink: WebhookSink;
  let persons: Persons;
  let orders: readonly string[];
  const log: string[] = [];
  const masterKey = randomBytes(32);

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      env: { DATA_ENCRYPTION_KEY: masterKey.toString('hex') },
      // The API and the worker of this process write to the same log.
      onLog: (line) => log.push(line),
    });
    sink = await startWebhookSink({ tls: true, secret: gateway.partners[0].webhookSecret });
    await gateway.call('POST', '/api/v1/partner/webhooks', { body: { url: sink.url } });
    persons = await runCustomerFlows(gateway);
    orders = await runOrderFlows(gateway, persons);
    await stumble(gateway, log);
    await until('a webhook of each order', () =>
      orders.every((id) => sink.received.some(({ event }) => event?.data.order_id === id)),
    );
  }, 180_000);
  afterAll(async () => {
    await gateway?.stop();
    await sink?.close();
  });

  const operate = (path: string, body: object) =>
    gateway.call('POST', `/api/v1/operator${path}`, { key: gateway.sandbox.operatorKey, body });

  function keys(): string[] {
    const { partners, sandbox } = gateway;
    return [
      masterKey.toString('hex'),
      sandbox.operatorKey,
      ...partners.flatMap(({ apiKey, widgetKey, webhookSecret, walletPrivateKey }) => [
        apiKey,
        widgetKey,
        webhookSecret,
        walletPrivateKey,
      ]),
      ...sandbox.vendors.map(({ apiKey }) => apiKey),
    ];
  }
  const secrets = () => [...EVERYBODY, persons.iban, ...BYSTANDERS_VALUES, ...keys()];

  async function filesOf(folder: string): Promise<string[]> {
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    return files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  }

  /** What of these values can be read, by table, with the master key and whatever keys it opens. */
  async function readable(values: readonly string[]): Promise<string[]> {
    const { texts } = readWithKeys(await dump(gateway.databaseUrl), masterKey);
    return [...texts].flatMap(([table, text]) => leaks(text, values).map((leak) => `${table}: ${leak}`));
  }

  // Proves trap 27.
  it('are not in any table of the database', async () => {
    const tables = await dump(gateway.databaseUrl);
    for (const needed of [
      ...[
        'users',
        'kyc_profiles',
        'kyc_documents',
        'payment_details',
        'recipient_versions',
        'quotes',
        'orders',
      ],
      ...[
        'payment_proofs',
        'order_stop_reasons',
        'dispute_statements',
        'idempotent_responses',
        'actor_responses',
        'events',
        'intents',
      ],
      ...['operator_audit', 'webhook_deliveries', 'vendor_events', 'compliance_cases', 'request_log'],
      ...['fiat_clients', 'fiat_accounts', 'fiat_payments'],
    ]) {
      expect([needed, (tables.get(needed) ?? '').length > 0]).toEqual([needed, true]);
    }
    const found = [...tables].flatMap(([table, text]) =>
      leaks(text, secrets()).map((leak) => `${table}: ${leak}`),
    );
    expect(found).toEqual([]);
  });

  // Proves trap 27.
  it('are not in the logs of API and worker, refusals and failures included', () => {
    const text = log.join('\n');
    expect(text).toContain('intent handler threw');
    expect(text).toContain('a careless line');
    expect(text).toContain('"route":"/api/v1/partner/users/:user_uuid"');
    expect(log.length).toBeGreaterThan(20);
    expect(leaks(text, secrets())).toEqual([]);
  });

  it('are not in any file of the deployment, stored documents included', async () => {
    const home = gateway.env.CAUSEWAY_HOME as string;
    expect(await filesOf(join(home, 'documents'))).toHaveLength(4);
    for (const file of await filesOf(home)) {
      const text = (await readFile(file)).toString('latin1');
      // A sandbox keeps its keys in one file, which is what that file is for.
      const values = relative(home, file) === SECRETS_FILE ? [...EVERYBODY, ...BYSTANDERS_VALUES] : secrets();
      expect([file, leaks(text, values)]).toEqual([file, []]);
    }
  });

  // Proves trap 27, C4.7 rule 1.
  it('are not in webhooks, and not in what a vendor or an operator lists', async () => {
    expect(leaks(JSON.stringify(sink.received.map(({ event }) => event)), secrets())).toEqual([]);
    const [vendor] = gateway.sandbox.vendors;
    const lists = [
      ...['/vendor/orders?limit=100', '/vendor/statement', '/vendor/request-log?limit=500'].map(
        (path) => [path, vendor?.apiKey] as const,
      ),
      ...[
        ...[
          '/operator/audit?limit=100',
          '/operator/kyc-reviews',
          '/operator/proof-reviews',
          '/operator/fiat-payments',
          '/operator/orders',
          '/operator/request-log?limit=500',
        ],
        ...orders.map((id) => `/operator/orders/${id}`),
      ].map((path) => [path, gateway.sandbox.operatorKey] as const),
    ];
    for (const [path, key] of lists) {
      const { status, text } = await gateway.call('GET', `/api/v1${path}`, { key: key ?? null });
      expect([path, status, leaks(text, secrets())]).toEqual([path, 200, []]);
    }
  });

  it('would be found if they were there', async () => {
    const hidden = Buffer.from(`x${PERSON.last_name}y`);
    expect(leaks('quartermain', secrets())).toContain(PERSON.last_name);
    expect(leaks(hidden.toString('hex'), secrets())).toContain(PERSON.last_name);
    // Every value of every person is in the database, readable with the keys.
    const found = await readable(EVERYBODY);
    expect(await readable([persons.iban])).toContain(`fiat_accounts: ${persons.iban}`);
    const values = new Set(found.map((leak) => leak.slice(leak.indexOf(': ') + 2)));
    expect(EVERYBODY.filter((value) => !values.has(value) && !isPicture(value))).toEqual([]);
    for (const table of [
      ...['orders', 'payment_proofs', 'order_stop_reasons', 'dispute_statements'],
      'idempotent_responses',
    ]) {
      expect([table, found.some((leak) => leak.startsWith(`${table}: `))]).toEqual([table, true]);
    }
  });

  // The content of documents is in the store, not in the database.
  const isPicture = (value: string) => value.startsWith('a picture');

  describe('of persons who are erased', () => {
    it('is refused while an order pays them or they have one', async () => {
      const driver = ordersDriver(gateway);
      const orderId = await driver.offrampOrder({
        user_uuid: undefined,
        payment_details_id: undefined,
        sender_id: persons.userId,
        recipient_id: persons.recipientId,
        recipient_destination_id: persons.destinationId,
      });
      for (const path of [`/users/${persons.userId}/erase`, `/recipients/${persons.recipientId}/erase`]) {
        const { status, body } = await operate(path, { reason: 'too early' });
        expect([status, body.error?.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      }
      expect((await driver.act(orderId, 'cancel')).status).toBe(200);
    });

    it('cannot be read any more with every key there is, and the books stay as they are', async () => {
      const before = await books();
      const erased = await operate(`/users/${persons.userId}/erase`, { reason: 'asked for' });
      expect(erased.status, erased.text).toBe(200);
      // The recipient is somebody else, whose own data stays; what named both is gone.
      expect(await readable([...PERSONS_VALUES, persons.iban])).toEqual([]);
      expect((await readable(RECIPIENTS_VALUES)).length).toBeGreaterThan(0);
      expect(
        (await operate(`/recipients/${persons.recipientId}/erase`, { reason: 'asked for' })).status,
      ).toBe(200);
      expect(await readable(EVERYBODY)).toEqual([]);
      expect(await books()).toEqual(before);
      const documents = join(gateway.env.CAUSEWAY_HOME as string, 'documents');
      // Those of somebody else stay.
      await until('the documents to be deleted', async () => (await filesOf(documents)).length === 2);
    });

    it('leaves orders that read as before, without personal data', async () => {
      const driver = ordersDriver(gateway);
      for (const id of orders) {
        const order = await driver.read(id);
        expect(order).toMatchObject({ status: 'completed', user_id: persons.userId });
        expect(order.amounts.fiat_amount).toMatch(/^[0-9.]+$/);
        expect(leaks(JSON.stringify(order), EVERYBODY)).toEqual([]);
        const instructions = await (await vendorClient(gateway, id)).get('payment-instructions');
        expect([instructions.status, leaks(instructions.text, EVERYBODY)]).toEqual([409, []]);
      }
      await driver.booksBalance();
      const again = await gateway.call('POST', '/api/v1/partner/users', {
        body: PERSON,
        headers: { 'idempotency-key': 'details-once' },
      });
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
      // Answers about others are still answered as they were.
      const bystander = await createBystander(gateway);
      expect([bystander.status, bystander.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    });
  });

  /** What has to stay: who owes whom, and what was promised and done. */
  async function books() {
    const tables = await dump(gateway.databaseUrl);
    const driver = ordersDriver(gateway);
    const read = await Promise.all(orders.map((id) => driver.read(id)));
    return {
      ledger: [tables.get('ledger_entries'), tables.get('ledger_postings')],
      transactions: tables.get('chain_transactions')?.split('\n').length,
      cases: tables.get('compliance_cases'),
      orders: read.map(({ status, amounts, fee_breakdown, timeline, tx_hash }) => ({
        status,
        amounts,
        fee_breakdown,
        timeline,
        tx_hash,
      })),
    };
  }
});
