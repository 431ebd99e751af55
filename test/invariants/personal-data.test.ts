import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentOf, fileOf, SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import { type CallOptions, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';

/** Values that occur nowhere else: whoever finds one has found a leak. */
const PERSON = {
  email: 'zebulon.quartermain@leak-check.example',
  first_name: 'Zebulon',
  last_name: 'Quartermain',
  phone_number: '+442079460123',
};
const KYC = {
  ...SUBMISSION,
  first_name: PERSON.first_name,
  last_name: PERSON.last_name,
  date_of_birth: '1971-03-17',
  id_number: 'QX90817263',
  address: '17 Wolkenkuckucksheim Lane',
  city: 'Quetzaltenango',
  postal_code: 'ZQ9 8XW',
};
const IBAN = 'DE02120300000000202051';
const RECIPIENT = {
  recipient_name: 'Xanthippe Vandersloot',
  recipient_native_name: '欧阳娜娜',
  recipient_country: 'NL',
  recipient_id_type: 'PASSPORT',
  recipient_id_number: 'NLX5566778',
  recipient_business_registration_number: 'KVK87654321',
};
const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Xanthippe Vandersloot', iban: IBAN },
};
const PICTURE = 'a picture of Zebulon';

describe('personal data at rest and in logs', () => {
  let gateway: TestGateway;
  let sink: WebhookSink;
  const log: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway({ worker: true, onLog: (line) => log.push(line) });
    sink = await startWebhookSink({ tls: true, secret: gateway.partners[0].webhookSecret });
    await everythingOnce();
  });
  afterAll(async () => {
    await gateway?.stop();
    await sink?.close();
  });

  function secrets(): string[] {
    const { partners, sandbox } = gateway;
    return [
      ...Object.values(PERSON),
      KYC.date_of_birth,
      KYC.id_number,
      'Wolkenkuckucksheim',
      KYC.city,
      KYC.postal_code,
      IBAN,
      'Xanthippe',
      'Vandersloot',
      RECIPIENT.recipient_native_name,
      RECIPIENT.recipient_id_number,
      RECIPIENT.recipient_business_registration_number,
      PICTURE,
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

  it('are not in any table of the database', async () => {
    const tables = await dump(gateway.databaseUrl);
    for (const needed of [
      'users',
      'kyc_profiles',
      'kyc_documents',
      'payment_details',
      'recipient_versions',
      'idempotent_answers',
      'events',
      'intents',
      'operator_audit',
    ]) {
      expect([needed, (tables.get(needed) ?? '').length > 0]).toEqual([needed, true]);
    }
    const found = [...tables].flatMap(([table, text]) =>
      leaks(text, secrets()).map((leak) => `${table}: ${leak}`),
    );
    expect(found).toEqual([]);
  });

  it('are not in the logs, refusals and failures included', () => {
    expect(log.length).toBeGreaterThan(10);
    expect(leaks(log.join('\n'), secrets())).toEqual([]);
  });

  it('are not in stored documents or in webhooks', async () => {
    const folder = join(gateway.env.CAUSEWAY_HOME as string, 'documents');
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const documents = files.filter((file) => file.isFile());
    expect(documents).toHaveLength(2);
    for (const file of documents) {
      const bytes = await readFile(join(file.parentPath, file.name));
      expect(leaks(bytes.toString('latin1'), secrets())).toEqual([]);
    }
    expect(sink.received.length).toBeGreaterThan(0);
    expect(leaks(JSON.stringify(sink.received.map(({ event }) => event)), secrets())).toEqual([]);
  });

  it('would be found if they were there', () => {
    const hidden = Buffer.from(`x${PERSON.last_name}y`);
    expect(leaks(`quartermain`, secrets())).toEqual([PERSON.last_name]);
    expect(leaks(hidden.toString('hex'), secrets())).toEqual([PERSON.last_name]);
  });

  /** One of everything that customers' routes can do, right and wrong. */
  async function everythingOnce(): Promise<void> {
    const call = (method: string, path: string, body?: unknown, options: CallOptions = {}) =>
      gateway.call(method, `/api/v1${path}`, { body, ...options });
    const operator = { key: gateway.sandbox.operatorKey };
    await call('POST', '/partner/webhooks', { url: sink.url });
    const keyed = { headers: { 'idempotency-key': 'create-once' } };
    const created = await call('POST', '/partner/users', PERSON, keyed);
    await call('POST', '/partner/users', PERSON, keyed);
    await call('POST', '/partner/users', PERSON);
    const user = `/partner/users/${created.body.data.id}`;
    await call('GET', `/partner/users?email=${encodeURIComponent(PERSON.email)}`);
    await call('POST', `${user}/kyc`, { ...KYC, nationality: 'XX', last_name: PERSON.last_name });
    await call('POST', `${user}/kyc`, KYC, { headers: { 'idempotency-key': 'submit-once' } });
    const picture = { ...documentOf('ID_FRONT'), content: fileOf('image/jpeg', PICTURE).toString('base64') };
    await call('POST', `${user}/documents`, { ...picture, content_type: 'image/png' });
    await call('POST', `${user}/documents`, picture);
    await call('POST', `${user}/documents`, { ...picture, document_type: 'SELFIE' });
    await until('VERIFIED', async () => (await call('GET', user)).body.data.kyc.status === 'VERIFIED');
    await call('PATCH', `${user}/kyc`, { city: KYC.city, address: [KYC.address] });
    await call('PATCH', `${user}/kyc`, { city: KYC.city, address: KYC.address });
    await call('POST', `${user}/payment-details`, {
      ...SEPA,
      details: { full_name: PERSON.last_name, iban: `${IBAN}9` },
    });
    await call('POST', `${user}/payment-details`, SEPA);

    const registered = await call('POST', '/partner/recipients', RECIPIENT, {
      headers: { 'idempotency-key': 'register' },
    });
    const recipient = `/partner/recipients/${registered.body.data.recipient_id}`;
    await call('PATCH', recipient, { recipient_name: `${RECIPIENT.recipient_name} Review` });
    await call('PATCH', recipient, { recipient_name: RECIPIENT.recipient_name, recipient_country: 'ZZ' });
    await call('POST', `${recipient}/destinations`, SEPA);
    await call('GET', `/partner/recipients?search=${encodeURIComponent(RECIPIENT.recipient_name)}`);
    await call('GET', `/partner/recipients?search=${IBAN}&limit=0`);
    await until('review', async () => (await call('GET', recipient)).body.data.screening_status === 'review');

    const operatorUser = user.replace('partner', 'operator');
    await call('POST', `${operatorUser}/reveal`, { reason: 'leak check' }, operator);
    await call(
      'POST',
      `${recipient.replace('partner', 'operator')}/reveal`,
      { reason: 'leak check' },
      operator,
    );
    // Broken on purpose: the worst place for a value to turn up is the report of a failure.
    await gateway.call('POST', '/api/v1/partner/users', { rawBody: `{"email":"${PERSON.email}",` });
    await gateway.call('GET', `/api/v1/partner/users/${encodeURIComponent(PERSON.email)}`);
    gateway.deps.logger.error(
      { err: new Error('row'), body: { ...PERSON, ...KYC, ...SEPA } },
      'a careless line',
    );
    await until('the webhook', () => sink.received.length > 0);
    await until('documents stored', async () => {
      const client = await connect(gateway.databaseUrl);
      const { rows } = await client.query('SELECT FROM kyc_documents WHERE waiting IS NOT NULL');
      await client.end();
      return rows.length === 0;
    });
  }
});

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return client;
}

/** Every table as text, bytes as hex. */
async function dump(databaseUrl: string): Promise<Map<string, string>> {
  const client = await connect(databaseUrl);
  try {
    const { rows } = await client.query(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const tables = new Map<string, string>();
    for (const { name } of rows) {
      const content = await client.query(`SELECT t::text AS line FROM ${name} t`);
      tables.set(name, content.rows.map(({ line }) => line).join('\n'));
    }
    return tables;
  } finally {
    await client.end();
  }
}

/** Which values a text holds: as they are, in any case, as JSON escapes them, in hex or in base64. */
function leaks(text: string, values: readonly string[]): string[] {
  const lower = text.toLowerCase();
  return values.filter((value) => {
    const bytes = Buffer.from(value);
    const inBase64 = [0, 1, 2].map((shift) => {
      const shifted = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
      // The first and last characters depend on the neighbours.
      return shifted.slice(shift === 0 ? 0 : 4, -4);
    });
    return (
      lower.includes(value.toLowerCase()) ||
      lower.includes(JSON.stringify(value).slice(1, -1).toLowerCase()) ||
      lower.includes(bytes.toString('hex')) ||
      inBase64.some((encoded) => encoded.length >= 8 && text.includes(encoded))
    );
  });
}
