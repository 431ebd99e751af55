import pg from 'pg';

/**
 * Years of business, for tables that must not get slower with it: a million orders with their quotes, ledger, events and
 * effects, of ten thousand partners. One partner in it has a tenth of everything, and it is the one that is measured.
 */
export interface History {
  readonly orders: number;
  readonly partners: number;
  readonly users: number;
}

/** Every row is the one that a gateway has made last, with what differs from order to order put in its place. */
interface Copies {
  readonly table: string;
  /** How many, as a count of the series that expressions call `n`. */
  readonly count: number;
  readonly template?: string;
  readonly put: Readonly<Record<string, string>>;
}

/** The measured partner has every tenth order. */
function partnerOf(n: string): string {
  return `CASE WHEN ${n} % 10 = 0 THEN pg_temp.measured_partner() ELSE pg_temp.id_of('partner', ${n} % $partners) END`;
}
const USER_OF = `CASE WHEN n % 10 = 0 THEN pg_temp.id_of('measured user', n % 1000) ELSE pg_temp.id_of('user', n % $users) END`;
/** All over but one in ten thousand. */
const STATUS_OF = `CASE WHEN n % 10000 = 99 THEN 'awaiting_fiat_transfer' WHEN n % 100 < 90 THEN 'completed'
  WHEN n % 100 < 97 THEN 'cancelled' ELSE 'failed' END`;
const TIMELINE = JSON.stringify(
  [
    'awaiting_liquidity_provider',
    'awaiting_vendor_escrow_funding',
    'awaiting_fiat_transfer',
    'completed',
  ].map((status) => ({ status, at: '2026-01-01T00:00:00.000Z' })),
);

function copiesOf({ orders, partners, users }: History): readonly Copies[] {
  const owner = { partner_id: partnerOf('n') };
  const at = { created_at: 'pg_temp.at(n)' };
  const ended = { settled_at: 'pg_temp.at(n)' };
  return [
    {
      table: 'partners',
      count: partners,
      put: {
        partner_id: `pg_temp.id_of('partner', n - 1)`,
        name: `'Partner ' || n`,
        webhook_enabled: 'true',
      },
    },
    {
      table: 'users',
      count: users,
      put: {
        user_id: `pg_temp.id_of('user', n - 1)`,
        partner_id: `pg_temp.id_of('partner', (n - 1) % $partners)`,
        email_index: `'user ' || n`,
      },
    },
    {
      table: 'users',
      count: 1_000,
      put: {
        user_id: `pg_temp.id_of('measured user', n - 1)`,
        partner_id: 'pg_temp.measured_partner()',
        email_index: `'measured user ' || n`,
      },
    },
    {
      table: 'quotes',
      count: orders,
      put: { quote_id: `pg_temp.made('quote', n)`, user_id: USER_OF, ...owner, ...at },
    },
    {
      table: 'orders',
      count: orders,
      put: {
        order_id: `pg_temp.made('order', n)`,
        quote_id: `pg_temp.made('quote', n)`,
        user_id: USER_OF,
        ...owner,
        ...at,
        reference_id: `'ref-' || n`,
        status: STATUS_OF,
        counted_status: STATUS_OF,
        timeline: `'${TIMELINE}'::jsonb`,
        deadline_at: `CASE WHEN n % 10000 = 99 THEN timestamptz '2999-01-01' END`,
        revision: '4',
      },
    },
    {
      table: 'ledger_entries',
      count: orders,
      template: `SELECT NULL::uuid AS entry_id, NULL::uuid AS partner_id, NULL::uuid AS order_id, 'vendor_escrow_funded' AS kind`,
      put: {
        entry_id: `pg_temp.made('entry', n)`,
        order_id: `pg_temp.made('order', n)`,
        dedupe_key: `pg_temp.made('order', n) || ':vendor_escrow_funded'`,
        ...owner,
        ...at,
      },
    },
    {
      table: 'ledger_postings',
      count: orders * 2,
      template: `SELECT 'USDC@base-mainnet' AS asset`,
      put: {
        entry_id: `pg_temp.made('entry', (n + 1) / 2)`,
        line: 'n % 2 + 1',
        partner_id: partnerOf('((n + 1) / 2)'),
        account: `'escrow:' || pg_temp.made('order', (n + 1) / 2)`,
        amount: '100000000 * (2 * (n % 2) - 1)',
      },
    },
    {
      table: 'events',
      count: orders,
      put: {
        event_id: `'evt_' || pg_temp.made('event', n)`,
        subject_id: `pg_temp.made('order', n)`,
        ...owner,
        ...at,
      },
    },
    {
      table: 'event_stream',
      count: orders,
      put: { event_id: `'evt_' || pg_temp.made('event', n)`, ...owner, position: 'n', sequence: 'n' },
    },
    {
      table: 'webhook_deliveries',
      count: orders,
      template: `SELECT true AS in_order, 1 AS attempts, '[]'::jsonb AS attempt_log`,
      put: {
        delivery_id: `pg_temp.made('delivery', n)`,
        event_id: `'evt_' || pg_temp.made('event', n)`,
        subject_id: `pg_temp.made('order', n)`,
        ...owner,
        ...at,
        ...ended,
        position: 'n',
        run_at: 'pg_temp.at(n)',
        status: `'delivered'`,
      },
    },
    {
      table: 'intents',
      count: orders,
      put: {
        intent_id: `pg_temp.made('intent', n)`,
        dedupe_key: `pg_temp.made('order', n) || ':vendor.offer-order:1'`,
        ...owner,
        ...at,
        ...ended,
        run_at: 'pg_temp.at(n)',
        status: `'confirmed'`,
        attempts: '1',
      },
    },
  ];
}

/** Ids as the gateway makes them: they begin with the time, so that old rows are beside old rows. */
const WORDS = `
  CREATE FUNCTION pg_temp.at(n bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE
    RETURN to_timestamp(1735689600 + n * 31);
  CREATE FUNCTION pg_temp.made(what text, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE
    RETURN (lpad(to_hex(1735689600000 + n * 31000), 12, '0') || '7' || substr(md5(what || n::text), 1, 19))::uuid;
  CREATE FUNCTION pg_temp.id_of(what text, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE
    RETURN md5(what || n::text)::uuid;`;

export function writeHistory(connectionString: string, history: History): Promise<void> {
  return write(connectionString, copiesOf(history), history);
}

/** Orders that a partner has open at a time, the newest of the measured one's. */
const OPEN_ORDERS = 1_000;

/** Orders of the measured partner alone, so many in a year, for its lists and statistics. */
export function writeOrdersOfOnePartner(connectionString: string, orders: number): Promise<void> {
  const users = 1_000;
  const isOpen = `n > ${orders - OPEN_ORDERS}`;
  const copies: readonly Copies[] = [
    {
      table: 'users',
      count: users,
      put: {
        user_id: `pg_temp.id_of('measured user', n - 1)`,
        partner_id: 'pg_temp.measured_partner()',
        email_index: `'measured user ' || n`,
      },
    },
    {
      table: 'orders',
      count: orders,
      put: {
        order_id: `pg_temp.made('order', n * ${Math.round(1_000_000 / orders)})`,
        quote_id: `pg_temp.made('quote', n)`,
        user_id: `pg_temp.id_of('measured user', n % ${users})`,
        partner_id: 'pg_temp.measured_partner()',
        created_at: `pg_temp.at(n * ${Math.round(1_000_000 / orders)})`,
        reference_id: `'ref-' || n`,
        status: `CASE WHEN ${isOpen} THEN 'awaiting_fiat_transfer' ELSE ${STATUS_OF} END`,
        counted_status: `CASE WHEN NOT ${isOpen} THEN ${STATUS_OF} END`,
        timeline: `'${TIMELINE}'::jsonb`,
        deadline_at: `CASE WHEN ${isOpen} THEN timestamptz '2999-01-01' END`,
        revision: '4',
      },
    },
  ];
  return write(connectionString, copies, { orders, partners: 1, users });
}

/** What a worker would have counted (count-orders.ts). */
const COUNTED = `TRUNCATE order_counts, order_figures;
  INSERT INTO order_counts (partner_id, day, status, order_type, orders)
    SELECT partner_id, (created_at AT TIME ZONE 'UTC')::date, counted_status, order_type, count(*)
      FROM orders WHERE counted_status IS NOT NULL GROUP BY 1, 2, 3, 4;
  INSERT INTO order_figures
    SELECT partner_id, created_at, order_id, counted_status, fiat_currency, fiat_decimals, fiat_amount, crypto_currency,
           crypto_decimals, crypto_amount, CASE counted_status WHEN 'completed' THEN created_at + interval '5 minutes' END
      FROM orders WHERE counted_status IS NOT NULL ORDER BY created_at`;

async function write(connectionString: string, all: readonly Copies[], history: History): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows: measured } = await client.query('SELECT partner_id FROM orders LIMIT 1');
    // No trigger runs, those of foreign keys included: what is written is right, and there is no listener.
    await client.query(`SET session_replication_role = replica; SET synchronous_commit = off;
      SET maintenance_work_mem = '256MB'; ${WORDS}
      CREATE FUNCTION pg_temp.measured_partner() RETURNS uuid LANGUAGE sql IMMUTABLE
        RETURN '${measured[0].partner_id}'::uuid;`);
    for (const copies of all) await writeCopies(client, copies, history);
    await client.query(COUNTED);
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

async function writeCopies(client: pg.Client, copies: Copies, history: History): Promise<void> {
  const { table, count, put, template = `SELECT * FROM ${table} LIMIT 1` } = copies;
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = '' AND attgenerated = ''`,
    [table],
  );
  const columns = rows.map(({ name }) => name);
  const { fields } = await client.query(`${template} `);
  const known = columns.filter((name) => name in put || fields.some((field) => field.name === name));
  const values = known
    .map((name) => put[name] ?? `template.${name}`)
    .join(', ')
    .replaceAll('$partners', String(history.partners))
    .replaceAll('$users', String(history.users));
  // Sorting a million keys once is several times as quick as finding the place of each.
  await client.query('UPDATE pg_index SET indisready = false WHERE indrelid = $1::regclass', [table]);
  await client.query(
    `INSERT INTO ${table} (${known.join(', ')})
     SELECT ${values} FROM generate_series(1, ${count}) n, (${template}) template`,
  );
  await client.query(`REINDEX TABLE ${table}`);
}
