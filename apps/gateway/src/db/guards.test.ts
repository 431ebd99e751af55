import { CANCELLERS, VENDOR_EVENT_TYPES } from '@causeway/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';

const ID = '00000000-0000-7000-8000-000000000000';

/** What the database itself refuses, whichever role writes: the last line of defence under everything the program checks. */
const CASES: readonly [type: string, refused: readonly string[], taken: readonly string[]][] = [
  ['units', ['-1', '1e78'], ['0', '1', '9'.repeat(78)]],
  ['positive_units', ['0', '-1'], ['1']],
  ['moved_units', ['0'], ['1', '-1']],
  ['crypto_decimals', ['-1', '31'], ['0', '18', '30']],
  ['fiat_decimals', ['-1', '7'], ['0', '2', '3']],
  ['order_direction', ['swap', ''], ['onramp', 'offramp']],
  ['order_kind', ['swap'], ['onramp', 'offramp', 'payment_request']],
  ['quote_anchor', ['both'], ['fiat', 'crypto']],
  ['quote_status', ['open', 'expired'], ['active', 'used']],
  ['provider_scope', ['none'], ['all', 'p2p', 'direct']],
  ['provider_kind', ['all'], ['p2p', 'direct']],
  ['transaction_hash', ['0x12', `0x${'g'.repeat(64)}`], [`0x${'a'.repeat(64)}`]],
  ['partner_reference', ['r'.repeat(256)], ['', 'r'.repeat(255)]],
  ['effect_kind', ['', 'k'.repeat(61)], ['vendor.offer-order']],
  ['dedupe_key', ['', 'k'.repeat(201)], ['key']],
  ['intent_status', ['done'], ['prepared', 'submitted', 'unknown', 'confirmed', 'failed']],
  ['error_text', ['e'.repeat(2001)], ['']],
  ['ledger_account', ['Escrow', 'a'.repeat(161), 'a:'], ['outside:partner:1', 'fees']],
  ['ledger_asset', ['ab', 'a'.repeat(61)], ['EUR', 'USDC@base-mainnet']],
  ['stream_sequence', ['0', '-1'], ['1']],
  ['vendor_event_type', ['order.made'], VENDOR_EVENT_TYPES],
  ['delivery_status', ['sent'], ['pending', 'delivered', 'failed', 'cancelled']],
  ['delivery_attempts', ['-1', '11'], ['0', '10']],
  ['crypto_code', ['usdc', 'X'], ['USDC', 'USDT0']],
  ['fiat_code', ['EU', 'EURO', 'eur'], ['EUR']],
  ['offer_side', ['sell'], ['SELL', 'BUY']],
  ['offer_price', ['0', `0.${'1'.repeat(31)}`], ['0.5']],
  ['offer_margin', ['100', '-100', '0.1234567'], ['-5', '0.5']],
  ['offer_minimum', ['-1', '0.1234567'], ['0']],
  ['offer_balance', ['-0.000001'], ['0', '1000000']],
  ['reserved_balance', ['0'], ['0.000001']],
  ['payment_options', ['[]', '{}'], ['[{}]']],
  ['event_identifier', ['', 'evt_', `evt_${'g'.repeat(36)}`, `evt_${ID} `], [`evt_${ID}`]],
  ['open_order_count', ['-1'], ['0', '1']],
  ['open_order_value', ['-0.000001'], ['0', '0.000001']],
];

describe('the types of the database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(1);
  });
  afterAll(() => database?.close());

  const cast = (type: string, value: string) => database.owner.query(`SELECT $1::text::${type}`, [value]);

  // Proves D1.4.
  it.each(CASES)('%s refuses what it must never hold', async (type, refused, taken) => {
    for (const value of refused) await expect(cast(type, value), value).rejects.toThrow();
    for (const value of taken) await expect(cast(type, value), value).resolves.toBeDefined();
  });

  it('are all listed here, and each is the type of a column', async () => {
    const { rows } = await database.owner.query<{ name: string; columns: string }>(
      `SELECT typname AS name, count(attname)::text AS columns FROM pg_type LEFT JOIN pg_attribute ON atttypid = pg_type.oid
        WHERE typtype = 'd' AND typnamespace = 'public'::regnamespace GROUP BY typname`,
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(CASES.map(([type]) => type).toSorted());
    expect(rows.filter(({ columns }) => columns === '0')).toEqual([]);
  });
});

type Columns = Readonly<Record<string, string | number | null>>;

/** What nothing is wrong with, but that it belongs to nobody: rules of a row are tried before its foreign keys are. */
const COMMON: Columns = {
  partner_id: ID,
  user_id: ID,
  quote_id: ID,
  direction: 'offramp',
  chain: 'base',
  crypto_currency: 'USDC',
  crypto_decimals: 6,
  fiat_currency: 'EUR',
  fiat_decimals: 2,
  rate: '1',
  crypto_amount: 100,
  fiat_amount: 100,
  platform_fee: 5,
  platform_fee_pct: '5',
  partner_fee: 0,
  partner_fee_pct: '0',
  payment_method_slug: 'bank',
  payment_network_slug: 'sepa',
  created_at: '2026-01-01',
};
const ROWS: Readonly<Record<string, Columns>> = {
  orders: {
    ...COMMON,
    order_id: ID,
    order_type: 'offramp',
    status: 'initiated',
    facts: '{"held": false}',
    updated_at: '2026-01-01',
  },
  quotes: { ...COMMON, anchor: 'fiat', vendor_id: ID, expires_at: '2026-01-01' },
  offers: {
    offer_id: ID,
    vendor_id: ID,
    side: 'SELL',
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fixed_price: 1,
    min_amount: 1,
    max_amount: 1,
    payment_options: '[{}]',
    countries: '{}',
    available_balance: 0,
    created_at: '2026-01-01',
  },
};
const WHO_STOPPED = { failure_code: 'CANCELLED_BY_PARTNER' };
const RECIPIENT = { recipient_id: ID, recipient_context_sealed: 'x' };
const DESTINATION = {
  ...RECIPIENT,
  recipient_version: 1,
  recipient_destination_id: ID,
  recipient_destination_version: 1,
};
const RULES: readonly [
  table: string,
  rule: string,
  refused: readonly Columns[],
  taken: readonly Columns[],
][] = [
  [
    'orders',
    'orders_one_payee',
    [{ ...RECIPIENT, payment_details_id: 1 }],
    [{ payment_details_id: 1 }, RECIPIENT],
  ],
  [
    'orders',
    'orders_recipient_snapshot',
    [{ recipient_id: ID }, { recipient_context_sealed: 'x' }],
    [RECIPIENT],
  ],
  [
    'orders',
    'orders_deposit_shortfall',
    [{ deposit_shortfall: -1 }, { deposit_shortfall: 6 }],
    [{ deposit_shortfall: 5 }],
  ],
  [
    'orders',
    'orders_failure_code',
    [{ failure_code: 'gone' }, { failure_code: 'A' }, { failure_code: '' }],
    [{ failure_code: 'GONE' }],
  ],
  [
    'orders',
    'orders_cancelled_by',
    [{ ...WHO_STOPPED, cancelled_by: 'nobody' }],
    CANCELLERS.map((cancelled_by) => ({ ...WHO_STOPPED, cancelled_by })),
  ],
  ['orders', 'orders_cancelled_with_reason', [{ cancelled_by: 'partner' }], []],
  ['orders', 'orders_hold_reason', [{ hold_reason: 'why', held_at: '2026-01-01' }], []],
  [
    'orders',
    'orders_hold',
    [{ hold_reason: 'WHY' }, { held_at: '2026-01-01' }],
    [{ hold_reason: 'WHY', held_at: '2026-01-01' }],
  ],
  [
    'orders',
    'orders_customer_wallet',
    [{ customer_wallet: '0x1' }],
    [{ customer_wallet: `0x${'a'.repeat(40)}` }],
  ],
  ['quotes', 'quotes_recipient_snapshot', [RECIPIENT, { recipient_version: 1 }], [{}, DESTINATION]],
  [
    'quotes',
    'quotes_one_payee',
    [{ ...DESTINATION, payment_details_id: 1 }],
    [{ payment_details_id: 1 }, DESTINATION],
  ],
  [
    'offers',
    'offers_max_amount',
    [{ max_amount: 0 }, { max_amount: 0.5 }, { max_amount: '1.0000001' }],
    [{ max_amount: '1.000001' }],
  ],
  [
    'offers',
    'offers_one_price',
    [{ margin_pct: 1 }, { fixed_price: null }],
    [{ fixed_price: null, margin_pct: 1 }],
  ],
];

describe('the rules of rows', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(1);
  });
  afterAll(() => database?.close());

  /** Which constraint stands in the way of this row; there always is one, as nobody owns it. */
  async function refusalOf(table: string, columns: Columns): Promise<string> {
    const row = { ...ROWS[table], ...columns };
    const places = Object.keys(row).map((_, index) => `$${index + 1}`);
    const inserting = database.owner.query(
      `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`,
      Object.values(row),
    );
    const { code, constraint, message } = await inserting.then(
      () => ({ code: 'written', constraint: undefined, message: '' }),
      (error: unknown) => error as { code: string; constraint?: string; message: string },
    );
    return `${code} ${constraint ?? message}`;
  }

  it.each(RULES)('%s refuses what %s forbids, and nothing else', async (table, rule, refused, taken) => {
    for (const columns of refused)
      expect(await refusalOf(table, columns), JSON.stringify(columns)).toBe(`23514 ${rule}`);
    for (const columns of taken)
      expect(await refusalOf(table, columns), JSON.stringify(columns)).toMatch(/^23503 /);
  });

  it('are tried whenever a column that one of them is about may change', async () => {
    const { rows } = await database.owner.query<{ table: string; source: string; columns: string[] }>(
      `SELECT tgrelid::regclass::text AS table, prosrc AS source,
              ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = tgrelid AND attnum = ANY (tgattr::int2[])) AS columns
         FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE tgname IN ('orders_checked', 'offers_checked') AND tgtype & 16 = 16 ORDER BY 1`,
    );
    expect(rows.map(({ table }) => table)).toEqual(['offers', 'orders']);
    for (const { source, columns } of rows) {
      const looked = new Set([...source.matchAll(/NEW\.(\w+)/g)].map(([, column]) => column));
      expect(columns.toSorted()).toEqual([...looked].toSorted());
    }
  });

  it('no table that an order writes has a CHECK, which every statement would plan anew', async () => {
    const { rows } = await database.owner.query(
      `SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid::regclass::text IN ('orders', 'quotes', 'offers',
         'events', 'event_stream', 'webhook_deliveries', 'intents', 'quote_claims', 'open_order_totals', 'offer_reservations',
         'vendor_events')`,
    );
    expect(rows).toEqual([]);
  });
});
