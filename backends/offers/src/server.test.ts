import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OfferBook } from './book/index.ts';
import { readCommandLine } from './command-line.ts';
import { ReservationLedger } from './reservations/reservation-ledger.ts';
import { MAX_BODY_BYTES, type OffersServer, startOffersServer } from './server.ts';
import { anOffer, aVendor } from './testing/offer-fixtures.ts';
import { parseWireRows, toWireRows } from './wire/index.ts';

const rows = { vendors: [aVendor()], offers: [anOffer()] };
const CALL = {
  direction: 'onramp',
  crypto_currency: 'USDC',
  crypto_decimals: 6,
  fiat_currency: 'EUR',
  fiat_decimals: 2,
  fiat_amount: '100.00',
  partner_fee_pct: '1',
  platform_fee_pct: '0.5',
  rails: [
    {
      network_slug: 'iban-sepa',
      limits: { min_amount: '1.00', max_amount: null, max_per_transaction: null },
      methods: [{ method_slug: 'revolut', countries: ['DE'] }],
    },
  ],
};

let book = OfferBook.of(rows);
let broken = false;
const failures: unknown[] = [];
let server: OffersServer;
beforeAll(async () => {
  server = await startOffersServer({
    host: '127.0.0.1',
    port: 0,
    book: () => {
      if (broken) throw new Error('secret of the inside');
      return book;
    },
    onFailure: (error) => failures.push(error),
  });
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, { headers });
const post = (body: string) => fetch(`${server.url}/match`, { method: 'POST', body });
const match = async (changes: object = {}) => {
  const response = await post(JSON.stringify({ ...CALL, ...changes }));
  return { status: response.status, body: await response.json() };
};

describe('GET /snapshot', () => {
  test('sends every row, readable again', async () => {
    const response = await get('/snapshot');
    expect(response.status).toBe(200);
    expect(parseWireRows(await response.json())).toEqual(rows);
  });

  test('answers 304 to its own ETag until something changes', async () => {
    const etag = (await get('/snapshot')).headers.get('etag') ?? '';
    expect((await get('/snapshot', { 'if-none-match': etag })).status).toBe(304);
    const before = book;
    book = book.withChanged({ offers: [anOffer({ version: 2, availableBalance: '1' })] });
    const changed = await get('/snapshot', { 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    book = before;
    expect((await get('/snapshot', { 'if-none-match': etag })).status).toBe(304);
  });
});

describe('GET /health', () => {
  test('counts, and names rows that cannot be used', async () => {
    expect(await (await get('/health')).json()).toEqual({
      status: 'ok',
      vendors: 1,
      offers: 1,
      problems: [],
    });
    const before = book;
    book = book.withChanged({ offers: [anOffer({ offerId: 'bad', minAmount: '' })] });
    expect(await (await get('/health')).json()).toMatchObject({
      status: 'degraded',
      problems: [{ offer_id: 'bad', problem: 'invalid_range' }],
    });
    book = before;
  });
});

describe('POST /match', () => {
  test('answers the match with exact figures', async () => {
    expect(await match()).toEqual({
      status: 200,
      body: {
        matched: true,
        offer_id: 'offer-1',
        offer_version: 1,
        vendor_id: 'vendor-1',
        kind: 'p2p',
        rate: '1',
        crypto_amount: '100.000000',
        fiat_amount: '100.00',
        platform_fee: '0.500000',
        partner_fee: '1.000000',
        total_fee: '1.500000',
        receipt: '98.500000',
        payment_method_slug: 'revolut',
        payment_network_slug: 'iban-sepa',
        has_fiat_settlement_notification: false,
        rejected: {},
      },
    });
  });

  test('answers a refusal with its code, range and reasons', async () => {
    expect(await match({ fiat_amount: '5.00' })).toEqual({
      status: 200,
      body: {
        matched: false,
        code: 'AMOUNT_OUT_OF_RANGE',
        details: { currency: 'EUR', min_amount: '10.00', max_amount: '1000.00' },
        rejected: { amount_below_offer: 1 },
      },
    });
    expect((await match({ country_code: 'FR' })).body).toMatchObject({
      code: 'NO_OFFERS_AVAILABLE',
      details: {},
      rejected: { institution_not_live: 1 },
    });
  });

  test('answers 400 with the place to what it cannot read', async () => {
    expect(await match({ direction: 'up' })).toMatchObject({ status: 400, body: { path: '/direction' } });
    expect((await post('{')).status).toBe(400);
  });

  test('refuses a body that is too large', async () => {
    expect((await post(' '.repeat(MAX_BODY_BYTES + 1))).status).toBe(413);
  });
});

describe('reservations', () => {
  const send = async (path: string, body?: object) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  const reserve = (reservationId: string, crypto: string) =>
    send('/reservations', { reservation_id: reservationId, offer_id: 'offer-1', crypto });
  const left = async () =>
    parseWireRows(await (await get('/snapshot')).json()).offers[0]?.availableBalance ?? '';

  test('take from what an offer has left, once each, and give back or keep', async () => {
    const whole = await left();
    expect(await reserve('h1', whole)).toEqual({ status: 200, body: { reserved: true } });
    expect(await left()).toBe('0');
    expect((await reserve('h1', whole)).body).toEqual({ reserved: true });
    expect((await reserve('h2', '0.000001')).body).toEqual({ reserved: false });
    expect((await reserve('h1', '1')).status).toBe(400);
    for (let times = 0; times < 2; times++) expect((await send('/reservations/h1/release')).status).toBe(200);
    expect(await left()).toBe(whole);
    expect((await send('/reservations/h1/consume')).status).toBe(409);
    expect((await reserve('h1', whole)).body).toEqual({ reserved: false });
    expect((await reserve('h3', '1')).body).toEqual({ reserved: true });
    for (let times = 0; times < 2; times++) expect((await send('/reservations/h3/consume')).status).toBe(200);
    expect(await left()).not.toBe(whole);
    // One that was released before it arrived never reserves.
    expect((await send('/reservations/h4/release')).status).toBe(200);
    expect((await reserve('h4', '1')).body).toEqual({ reserved: false });
    expect(
      (await send('/reservations', { reservation_id: 'a b', offer_id: 'offer-1', crypto: '1' })).status,
    ).toBe(400);
    expect((await reserve('h5', '-1')).status).toBe(400);
  });

  test('are there again after a restart where a file keeps them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'reservations-'));
    const file = join(folder, 'reservations.jsonl');
    const rowsNow = OfferBook.of(rows);
    const balance = rows.offers[0]?.availableBalance ?? '';
    const first = new ReservationLedger(file);
    expect(first.reserve(rowsNow, 'a', 'offer-1', '1')).toBe(true);
    expect(first.reserve(rowsNow, 'b', 'offer-1', '2')).toBe(true);
    first.end('a', 'consumed');
    const leftNow = first.apply(rowsNow).offer('offer-1')?.availableBalance;
    first.close();
    const second = new ReservationLedger(file);
    expect(second.apply(rowsNow).offer('offer-1')?.availableBalance).toBe(leftNow);
    second.end('b', 'released');
    expect(second.end('a', 'consumed')).toBe(true);
    // A newer row says itself what is left.
    const newer = rowsNow.withChanged({ offers: [anOffer({ version: 2 })] });
    expect(second.apply(newer).offer('offer-1')?.availableBalance).toBe(balance);
    second.close();
    rmSync(folder, { recursive: true });
  });
});

test('other paths and methods are not served', async () => {
  expect((await get('/offers')).status).toBe(404);
  const wrong = await get('/match');
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
});

test('a failure inside is reported inside and says nothing outside', async () => {
  broken = true;
  const response = await get('/snapshot');
  broken = false;
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('secret');
  expect(failures).toHaveLength(1);
});

describe('the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offers-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };

  test('reads rows, anew with every load', () => {
    const path = file('rows.json', toWireRows(rows));
    const load = readCommandLine(['--rows', path])?.load;
    expect(load?.().rows()).toEqual(rows);
    file('rows.json', { vendors: [], offers: [] });
    expect(load?.().offerCount).toBe(0);
  });

  test('makes a sandbox market from a catalogue', () => {
    const path = file('catalogue.json', {
      cryptoCurrencies: ['USDC'],
      fiatCurrencies: [{ code: 'EUR', minorUnits: 2, perUsd: '0.9' }],
      rails: [
        {
          slug: 'iban-sepa',
          currencies: ['EUR'],
          countries: ['DE'],
          directions: ['onramp'],
          methods: ['n26'],
        },
      ],
    });
    expect(readCommandLine(['--catalogue', path])?.load().offerCount).toBeGreaterThan(3);
    const wrong = file('wrong.json', { cryptoCurrencies: 'USDC' });
    expect(() => readCommandLine(['--catalogue', wrong])?.load()).toThrow('not a summary');
  });

  test('says what is wrong with it', () => {
    expect(readCommandLine(['--help'])).toBeUndefined();
    expect(() => readCommandLine([])).toThrow('exactly one');
    expect(() => readCommandLine(['--rows', 'a', '--catalogue', 'b'])).toThrow('exactly one');
    expect(() => readCommandLine(['--rows', 'a', '--port', '70000'])).toThrow('--port');
  });
});
