import { VENDOR_EVENT_TYPES } from '@causeway/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';

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
