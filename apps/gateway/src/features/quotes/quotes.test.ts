import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixedMarket, startFixedMarket } from '../../../../../test/harness/fixed-market.ts';
import { until } from '../../../../../test/harness/until.ts';
import { endFinishedReservations } from './claim-quote.ts';

const ONRAMP = '/api/v1/partner/onramp';

describe('quotes', () => {
  let market: FixedMarket;
  let userId: string;
  beforeAll(async () => {
    market = await startFixedMarket();
    await market.setRates({ EUR: '0.9', GBP: '0.75', NGN: '1500' });
    userId = await market.newCustomer();
  });
  afterAll(() => market?.stop());

  const call = (path: string, body: object, options: object = {}) =>
    market.gateway.call('POST', path, { body, ...options });
  const quote = (change: object = {}, options: object = {}) =>
    call(
      `${ONRAMP}/quote`,
      { user_uuid: userId, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00', ...change },
      options,
    );
  const initiate = (quoteId: string) => call(`${ONRAMP}/initiate`, { quote_id: quoteId });
  const row = async (quoteId: string) =>
    (await market.owner.query('SELECT * FROM quotes WHERE quote_id = $1', [quoteId])).rows[0];
  const quoteCount = async () =>
    Number((await market.owner.query('SELECT count(*) FROM quotes')).rows[0].count);

  // Proves C3.3, C8 row 1, C2.9.
  it('last 60 seconds by the business clock and keep what they were matched with', async () => {
    const { gateway } = market;
    const before = gateway.deps.clock.now();
    const { body } = await quote();
    const expires = Date.parse(body.data.expires_at);
    expect(expires).toBeGreaterThanOrEqual(before + 60_000);
    expect(expires).toBeLessThanOrEqual(gateway.deps.clock.now() + 60_000);
    const stored = await row(body.data.quote_id);
    const offer = gateway.deps.offers.book().offer(stored.offer_id);
    expect(stored).toMatchObject({ vendor_id: offer?.vendorId, status: 'active', rate: body.data.rate });
  });

  // Proves C2.10 rule 5, D6.1.
  it('say whether the provider confirms the fiat by itself, and the order says the same', async () => {
    for (const [scope, notifies] of [
      ['p2p', false],
      ['direct', true],
    ] as const) {
      const { body } = await quote({ provider_scope: scope });
      expect(body.data.has_fiat_settlement_notification).toBe(notifies);
      const order = await initiate(body.data.quote_id);
      expect(order.body.data.has_fiat_settlement_notification).toBe(notifies);
    }
  });

  // Proves C4.5 row 1, C4.5 rules 4 and 9, C7 KYC_NOT_CLEARED, C7 USER_NOT_FOUND.
  it('need a cleared customer of this partner: others answer 422 with the status, those of other partners 404', async () => {
    const { gateway } = market;
    const created = await call('/api/v1/partner/users', { email: 'unverified@example.com' });
    const before = await quoteCount();
    const refused = await quote({ user_uuid: created.body.data.id });
    expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
      422,
      'KYC_NOT_CLEARED',
      { kyc_status: 'NOT_INITIATED' },
    ]);
    const foreign = await quote({ user_uuid: created.body.data.id }, { key: gateway.partners[1].apiKey });
    const unknown = await quote({ user_uuid: '00000000-0000-7000-8000-000000000000' });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'USER_NOT_FOUND']);
    expect(foreign.text).toBe(unknown.text);
    // Whatever the market says.
    const tooLittle = { fiat_amount: '0.01', user_uuid: created.body.data.id };
    expect((await quote(tooLittle)).body.error.code).toBe('KYC_NOT_CLEARED');
    const ofNobody = await quote({ ...tooLittle, user_uuid: '00000000-0000-7000-8000-000000000000' });
    expect(ofNobody.body.error.code).toBe('USER_NOT_FOUND');
    expect((await quote({}, { key: null })).status).toBe(401);
    expect(await quoteCount()).toBe(before);
  });

  // Proves C3.4, C4.5 rule 4, C7 rule 1.
  it('are for VERIFIED customers: every other status is 422 and told', async () => {
    const created = await call('/api/v1/partner/users', { email: 'statuses@example.com' });
    const customer = created.body.data.id as string;
    const statuses = [
      'IN_PROGRESS',
      'PENDING_DOCUMENTS',
      'UNDER_REVIEW',
      'REJECTED',
      'VERIFICATION_REJECTED',
    ];
    for (const status of [...statuses, 'NOT_INITIATED']) {
      const rejection_reasons = status.includes('REJECTED') ? ['DOCUMENT_EXPIRED'] : undefined;
      const set = await call(`/api/v1/sandbox/users/${customer}/kyc-status`, { status, rejection_reasons });
      expect(set.status, set.text).toBe(200);
      const { status: answered, body } = await quote({ user_uuid: customer });
      expect([answered, body.error?.code, body.error?.details]).toEqual([
        422,
        'KYC_NOT_CLEARED',
        { kyc_status: status },
      ]);
    }
    await call(`/api/v1/sandbox/users/${customer}/kyc-status`, { status: 'VERIFIED' });
    expect((await quote({ user_uuid: customer })).status).toBe(200);
  });

  // Proves D4.1.
  it('are answered once for an idempotency key, refusals included', async () => {
    const headers = { 'idempotency-key': 'one-quote' };
    const before = await quoteCount();
    const first = await quote({}, { headers });
    const again = await quote({}, { headers });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await quoteCount()).toBe(before + 1);
    expect((await quote({ fiat_amount: '101.00' }, { headers })).body.error.code).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
  });

  it('cost one round trip and estimates none', async () => {
    const { stats } = market.gateway.deps.db;
    const { key, ...anonymous } = { key: null };
    const counted = async (ask: () => Promise<{ status: number }>) => {
      const trips: number[] = [];
      for (let turn = 0; turn < 15; turn += 1) {
        const before = stats.roundTrips;
        expect((await ask()).status).toBe(200);
        trips.push(stats.roundTrips - before);
      }
      // Other parts of the process look around now and then; most requests meet none of that.
      return trips.toSorted((left, right) => left - right)[7];
    };
    const terms = { crypto_currency: 'USDC', fiat_currency: 'EUR', crypto_amount: '100' };
    const details = await call(`/api/v1/partner/users/${userId}/payment-details`, {
      rail: 'iban-sepa',
      currency: 'EUR',
      country_code: 'DE',
      details: { full_name: 'Erika Mustermann', iban: 'DE89370400440532013000' },
    });
    const own = { user_uuid: userId, payment_details_id: details.body.data.id };
    const recipient = await call('/api/v1/partner/recipients', {
      recipient_name: 'Max',
      recipient_country: 'DE',
    });
    const recipientId = recipient.body.data.recipient_id as string;
    const destination = await call(`/api/v1/partner/recipients/${recipientId}/destinations`, {
      rail: 'iban-sepa',
      currency: 'EUR',
      country_code: 'DE',
      details: { full_name: 'Max Power', iban: 'DE89370400440532013000' },
    });
    await market.owner.query(`UPDATE recipients SET screening_status = 'clear'`);
    const third = {
      sender_id: userId,
      recipient_id: recipientId,
      recipient_destination_id: destination.body.data.recipient_destination_id,
    };
    expect({
      onrampQuote: await counted(() => quote()),
      ownQuote: await counted(() => call('/api/v1/partner/offramp/quote', { ...terms, ...own })),
      thirdPartyQuote: await counted(() => call('/api/v1/partner/offramp/quote', { ...terms, ...third })),
      onrampEstimate: await counted(() => call(`${ONRAMP}/estimate`, terms, anonymous)),
      offrampEstimate: await counted(() => call('/api/v1/partner/offramp/estimate', terms, { key })),
    }).toEqual({ onrampQuote: 1, ownQuote: 2, thirdPartyQuote: 2, onrampEstimate: 0, offrampEstimate: 0 });
  });

  // Proves C4.5 rule 1.
  it('choose the best rate, and slugs, country and scope only narrow the choice', async () => {
    const rateOf = async (change: object) => Number((await quote(change)).body.data.rate);
    const best = await rateOf({});
    for (const narrowed of [
      { provider_scope: 'direct' },
      { provider_scope: 'p2p' },
      { payment_network_slug: 'iban-sepa' },
      { country_code: 'de' },
    ]) {
      expect(await rateOf(narrowed)).toBeGreaterThanOrEqual(best);
    }
    const { body } = await quote({ payment_network_slug: 'iban-sepa', payment_method_slug: 'commerzbank' });
    expect(body.data).toMatchObject({
      payment_network_slug: 'iban-sepa',
      payment_method_slug: 'commerzbank',
    });
  });

  it('that no vendor can serve are counted and logged by the reason, and the partner is told what to change', async () => {
    const { metrics } = market.gateway.deps;
    const refused = await quote({ payment_network_slug: 'ach-us' });
    expect([refused.status, refused.body.error]).toEqual([
      422,
      expect.objectContaining({
        code: 'NO_OFFERS_AVAILABLE',
        details: {
          excluded_by: [{ condition: 'rail', available: expect.arrayContaining(['iban-sepa']) }],
        },
      }),
    ]);
    expect(refused.text, 'no vendor is named').not.toMatch(/vendor|offer_id/);
    const text = await metrics.registry.metrics();
    expect(text).toContain('quotes_refused_total{direction="onramp",reason="payment_network"} 1');
  });

  it('are not made of old rates: without a current one the answer is 503', async () => {
    await market.owner.query(`UPDATE rate_book SET published_at = clock_timestamp() - interval '2 minutes'`);
    await market.owner.query('UPDATE rate_book SET legs = legs');
    await until('old rates', () => {
      const { rates } = market.gateway.deps.currencies.current();
      return !rates.requireRate('USDC', 'EUR').ok;
    });
    const refused = await quote();
    expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await market.setRates({ EUR: '0.9', GBP: '0.75', NGN: '1500' });
    expect((await quote()).status).toBe(200);
  });

  describe('at initiate', () => {
    const offerOf = async (quoteId: string) => {
      const { offer_id } = await row(quoteId);
      return market.gateway.deps.offers.book().offer(offer_id);
    };
    const balanceOf = async (offerId: string) =>
      (
        await market.owner.query(
          'SELECT trim_scale(available_balance)::text AS b FROM offers WHERE offer_id = $1',
          [offerId],
        )
      ).rows[0].b as string;
    const seen = (what: string, check: () => boolean) => until(what, check);

    // Proves C7 QUOTE_ALREADY_USED, C3.3, trap 2.
    it('keep their figures and vendor whatever the vendor’s price does, and take its crypto', async () => {
      const { body } = await quote();
      const offer = await offerOf(body.data.quote_id);
      if (offer === undefined) throw new Error('no offer');
      await market.owner.query(
        'UPDATE offers SET margin_pct = 50, min_amount = max_amount WHERE offer_id = $1',
        [offer.offerId],
      );
      await seen('the new price', () => {
        const known = market.gateway.deps.offers.book().offer(offer.offerId);
        return known?.pricing.type === 'margin' && known.pricing.percent === '50';
      });
      const before = await balanceOf(offer.offerId);
      const initiated = await initiate(body.data.quote_id);
      expect(initiated.status, initiated.text).toBe(200);
      expect(initiated.body.data.amounts).toMatchObject({
        crypto_amount: body.data.crypto_amount,
        fiat_amount: '100.00',
        rate: body.data.rate,
      });
      expect(Number(before) - Number(await balanceOf(offer.offerId))).toBeCloseTo(
        Number(body.data.crypto_amount),
        6,
      );
      expect((await row(body.data.quote_id)).vendor_id).toBe(offer.vendorId);
      const again = await initiate(body.data.quote_id);
      expect([again.status, again.body.error.code]).toEqual([409, 'QUOTE_ALREADY_USED']);
    });

    // Proves trap 3.
    it('of a vendor that has no balance left are refused, unharmed, where no other vendor trades at the rate', async () => {
      const { body } = await quote({ fiat_currency: 'GBP' });
      const offer = await offerOf(body.data.quote_id);
      if (offer === undefined) throw new Error('no offer');
      await market.owner.query('UPDATE offers SET available_balance = 1 WHERE offer_id = $1', [
        offer.offerId,
      ]);
      const refused = await initiate(body.data.quote_id);
      expect([refused.status, refused.body.error.code]).toEqual([422, 'NO_OFFERS_AVAILABLE']);
      expect((await row(body.data.quote_id)).status).toBe('active');
      await market.owner.query('UPDATE offers SET available_balance = 1000 WHERE offer_id = $1', [
        offer.offerId,
      ]);
      await seen('the balance', () => {
        return market.gateway.deps.offers.book().offer(offer.offerId)?.availableBalance === '1000';
      });
      expect((await initiate(body.data.quote_id)).status).toBe(200);
    });

    it('of a vendor that went offline are served by another at the quoted rate, if it trades there', async () => {
      const { body } = await quote({ fiat_currency: 'NGN', fiat_amount: '200000.00' });
      const offer = await offerOf(body.data.quote_id);
      if (offer === undefined) throw new Error('no offer');
      await market.owner.query('UPDATE vendors SET online = false WHERE vendor_id = $1', [offer.vendorId]);
      await seen('it is offline', () => {
        return market.gateway.deps.offers.book().vendor(offer.vendorId)?.online === false;
      });
      const refused = await initiate(body.data.quote_id);
      expect([refused.status, refused.body.error.code]).toEqual([422, 'NO_OFFERS_AVAILABLE']);
      await market.owner.query(
        `UPDATE offers SET margin_pct = -5 WHERE fiat_currency = 'NGN' AND side = 'SELL' AND crypto_currency = 'USDC'
           AND vendor_id <> $1`,
        [offer.vendorId],
      );
      await until('another vendor takes it', async () => (await initiate(body.data.quote_id)).status === 200);
      const stored = await row(body.data.quote_id);
      expect(stored.vendor_id).not.toBe(offer.vendorId);
      expect(stored).toMatchObject({ offer_id: offer.offerId, rate: body.data.rate, status: 'used' });
      expect(stored.serving_offer_id).not.toBe(offer.offerId);
      await market.owner.query('UPDATE vendors SET online = false');
      await seen('all are offline', () => {
        const pair = market.gateway.deps.offers.book().pair('SELL', 'USDC', 'NGN');
        return pair?.eligible.fixed.length === 0 && pair.eligible.margin.length === 0;
      });
      const none = await quote({ fiat_currency: 'NGN', fiat_amount: '200000.00' });
      expect([none.status, none.body.error.details]).toEqual([
        422,
        { excluded_by: [{ condition: 'no_vendor_online' }] },
      ]);
      await market.owner.query('UPDATE vendors SET online = true');
      await until('they are back', async () => (await quote()).status === 200);
    });

    // Proves trap 1, C3.3, C8 row 1.
    it('claimed many times at once become one order', async () => {
      const { body } = await quote();
      const answers = await Promise.all(Array.from({ length: 10 }, () => initiate(body.data.quote_id)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
      const { rows } = await market.owner.query(
        'SELECT crypto::text FROM offer_reservations WHERE quote_id = $1',
        [body.data.quote_id],
      );
      expect(rows).toHaveLength(1);
    });

    it('give the vendor its crypto back when the order is cancelled, once', async () => {
      const { body } = await quote();
      const { offer_id: offerId } = await row(body.data.quote_id);
      const before = await balanceOf(offerId);
      const initiated = await initiate(body.data.quote_id);
      expect(await balanceOf(offerId)).not.toBe(before);
      await endFinishedReservations(market.gateway.deps);
      expect(await balanceOf(offerId)).not.toBe(before);
      const cancelled = await market.gateway.call(
        'POST',
        `/api/v1/partner/orders/${initiated.body.data.order_id}/cancel`,
      );
      expect(cancelled.status, cancelled.text).toBe(200);
      for (const ended of [1, 0]) {
        expect(await endFinishedReservations(market.gateway.deps)).toBe(ended);
        expect(await balanceOf(offerId)).toBe(before);
      }
    });

    // Proves C7 QUOTE_NOT_FOUND, C5 rule 5, D3.1.
    it('of another partner are answered as unknown ones, in both directions', async () => {
      const { body } = await quote();
      const key = market.gateway.partners[1].apiKey;
      for (const direction of ['onramp', 'offramp']) {
        const ask = (quote_id: string) =>
          call(`/api/v1/partner/${direction}/initiate`, { quote_id }, { key });
        const foreign = await ask(body.data.quote_id);
        const unknown = await ask('00000000-0000-7000-8000-000000000000');
        expect([foreign.status, foreign.body.error.code]).toEqual([404, 'QUOTE_NOT_FOUND']);
        expect(foreign.text).toBe(unknown.text);
      }
      expect((await initiate(body.data.quote_id)).status).toBe(200);
    });

    it('and their orders belong to one partner and one customer of it, for the database too', async () => {
      const { body } = await quote();
      const { quote_id: quoteId } = body.data;
      expect((await initiate(quoteId)).status).toBe(200);
      const other = '(SELECT partner_id FROM partners WHERE partner_id <> r.partner_id LIMIT 1)';
      const copied = market.owner.query(
        `INSERT INTO quotes
         SELECT (jsonb_populate_record(r, jsonb_build_object('quote_id', gen_random_uuid(), 'partner_id', ${other}))).*
           FROM quotes r WHERE quote_id = $1`,
        [quoteId],
      );
      await expect(copied).rejects.toMatchObject({ constraint: 'quotes_customer_fkey' });
      const moved = market.owner.query(`UPDATE orders r SET partner_id = ${other} WHERE quote_id = $1`, [
        quoteId,
      ]);
      await expect(moved).rejects.toMatchObject({ constraint: 'orders_quote_fkey' });
    });

    // Proves C3.3, C8 row 1, trap 4, C7 QUOTE_EXPIRED.
    it('are refused once their 60 seconds are over', async () => {
      const { body } = await quote();
      await call('/api/v1/sandbox/clock/advance', { seconds: 61 });
      const refused = await initiate(body.data.quote_id);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'QUOTE_EXPIRED']);
    });
  });
});
