import type { RequestOptions } from '@causeway/sdk';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeWallet } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { PartnerPrincipal } from '../../apps/gateway/src/http/principals.ts';
import { connect } from '../harness/database.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { holdRow } from '../harness/held-row.ts';
import { untyped } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from './chain-driver.ts';
import { atomic, type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties, signSafeTransaction } from './orders-parties.ts';

type Hex = `0x${string}`;
const CHAIN = 'base-mainnet';
const DETAILS = { iban: 'DE02120300000000202051', full_name: 'Vendor' };

describe('the calls of a sandbox', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
    driver = ordersDriver(gateway);
    parties = orderParties(gateway);
    await autoAdvance(false);
  });
  afterAll(() => gateway?.stop());

  const autoAdvance = (auto_advance: boolean) => gateway.sdk().sandbox.setSettings({ auto_advance });

  /** As a death of the process after the work and before its answer: the work is written, the answer is not. */
  async function loseAnswerOf(send: () => Promise<{ status: number }>, key: string): Promise<void> {
    const owner = await connect(gateway.databaseUrl);
    await owner.query(`CREATE OR REPLACE FUNCTION lose_answer() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.running_until IS NULL THEN RAISE EXCEPTION 'lost'; END IF; RETURN NEW; END $$`);
    await owner.query(`CREATE TRIGGER lose_answer BEFORE INSERT OR UPDATE ON idempotent_responses
      FOR EACH ROW EXECUTE FUNCTION lose_answer()`);
    expect((await send()).status).toBeGreaterThanOrEqual(500);
    await owner.query('DROP TRIGGER lose_answer ON idempotent_responses');
    await owner.query(
      'UPDATE idempotent_responses SET running_until = clock_timestamp() WHERE idempotency_key = $1',
      [key],
    );
    await owner.end();
  }

  it.each([
    ['vendor_accepts', 'awaiting_vendor_escrow_funding'],
    ['hold_for_review', 'awaiting_liquidity_provider'],
  ] as const)('%s is answered when it is repeated because its answer was lost', async (event, status) => {
    const orderId = await driver.onrampOrder();
    const send = () =>
      gateway.partner.sandbox.orderEvent(orderId, { event }, { idempotencyKey: `${event} once` });
    await loseAnswerOf(send, `${event} once`);
    await driver.reaches(orderId, status);
    const answers = [await send(), await send()];
    expect(answers.map(({ status: http, body }) => [http, body.data?.status])).toEqual([
      [200, status],
      [200, status],
    ]);
    expect((await driver.event(orderId, event)).status).toBe(409);
  });

  it('wakes simulated actors of its own accord only where they may act, whoever changed the order', async () => {
    const owner = await connect(gateway.databaseUrl);
    const woken = async (orderId: string) => {
      const { rows } = await owner.query(
        `SELECT payload ->> 'asked' AS asked FROM intents WHERE kind = 'sandbox.act' AND payload ->> 'order_id' = $1`,
        [orderId],
      );
      return rows.map(({ asked }) => asked);
    };
    try {
      const orderId = await driver.onrampOrder();
      expect(await woken(orderId), 'opened by the partner').toEqual([]);
      await driver.event(orderId, 'vendor_accepts');
      await driver.reaches(orderId, 'awaiting_vendor_escrow_funding');
      expect(await woken(orderId), 'accepted by the vendor, who was asked').toEqual(['true']);
      await autoAdvance(true);
      expect(await woken(await driver.onrampOrder()), 'opened by the partner').toEqual(['false']);
    } finally {
      await autoAdvance(false);
      await owner.end();
    }
  });

  describe('an event that does not apply', () => {
    const stop = (orderId: string) => driver.act(orderId, 'cancel');

    async function refusedAtOnce(orderId: string, event: string) {
      const asked = performance.now();
      const { status, body } = await driver.event(orderId, event);
      expect([status, body.error.code]).toEqual([409, 'INVALID_STATUS']);
      expect(performance.now() - asked).toBeLessThan(15_000);
      return body.error.details;
    }

    /** All wait for the order's row, and get it in the order in which they came. */
    async function inTurn(orderId: string, ...acts: (() => Promise<Answer>)[]): Promise<Answer[]> {
      const row = await holdRow(gateway, orderId);
      const running: Promise<Answer>[] = [];
      for (const act of acts) {
        running.push(act());
        await row.waiters(running.length);
      }
      await row.letGo();
      return Promise.all(running);
    }

    const codesOf = (answers: readonly Answer[]) =>
      answers.map(({ status, body }) => [status, body.error?.code]);

    it('is refused at once: no simulated vendor pays into an order that has stopped', async () => {
      const offered = await driver.onrampOrder();
      await stop(offered);
      const accepted = await driver.onrampOrder();
      await driver.event(accepted, 'vendor_accepts');
      await stop(accepted);
      const failed = await driver.onrampOrder();
      await driver.event(failed, 'vendor_accepts');
      await driver.event(failed, 'escrow_error');
      for (const [orderId, status] of [
        [offered, 'cancelled'],
        [accepted, 'cancelled'],
        [failed, 'failed'],
      ] as const) {
        expect(await refusedAtOnce(orderId, 'escrow_funded')).toMatchObject({
          status,
          applicable_events: ['hold_for_review'],
        });
      }
    });

    it('is refused soon where the order stops before the vendor has paid', async () => {
      const orderId = await driver.onrampOrder();
      await driver.event(orderId, 'vendor_accepts');
      const asked = performance.now();
      const answers = await inTurn(
        orderId,
        () => driver.event(orderId, 'escrow_funded'),
        () => stop(orderId),
      );
      expect(codesOf(answers)).toEqual([
        [409, 'INVALID_STATUS'],
        [200, undefined],
      ]);
      expect(performance.now() - asked).toBeLessThan(15_000);
      expect(answers[0]?.body.error.details).toMatchObject({ status: 'cancelled' });
    });

    it('is refused where another one came first, and the order shows the one that was answered', async () => {
      const orderId = await driver.onrampOrder();
      for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
      await driver.act(orderId, 'confirm-payment-sent');
      const key = { idempotencyKey: 'confirmed too late' };
      const confirm = () =>
        gateway.partner.sandbox.orderEvent(orderId, { event: 'vendor_confirms_fiat' }, key);
      const answers = await inTurn(orderId, confirm, () => driver.event(orderId, 'dispute_opened'));
      expect(codesOf(answers)).toEqual([
        [409, 'INVALID_STATUS'],
        [200, undefined],
      ]);
      expect((await driver.read(orderId)).timeline.at(-1).status).toBe('dispute_started');
      expect(codesOf([await confirm()])).toEqual([[409, 'INVALID_STATUS']]);
    });
  });

  describe('the clock', () => {
    const clock = async () => (await gateway.partner.sandbox.clock()).body.data;
    const reset = () => gateway.partner.sandbox.resetClock();
    const isNow = (text: string) => Math.abs(Date.parse(text) - Date.now()) < 60_000;

    it('is moved once by a request that is repeated because its answer was lost', async () => {
      const advance = () =>
        gateway.partner.sandbox.advanceClock({ seconds: 100 }, { idempotencyKey: 'advance-once' });
      await loseAnswerOf(advance, 'advance-once');
      const answers = [await advance(), await advance()];
      expect(answers.map(({ body }) => body.data.offset_seconds)).toEqual([100, 100]);
      expect((await clock()).offset_seconds).toBe(100);
      await reset();
    });

    // Proves D13.5, D11.3.
    it('can be read, and put back; what waits keeps its time, what happened is told', async () => {
      expect((await clock()).offset_seconds).toBe(0);
      expect(isNow((await clock()).now)).toBe(true);
      const expiring = await driver.onrampOrder();
      await gateway.partner.sandbox.advanceClock({ seconds: 86_400 });
      expect((await clock()).offset_seconds).toBe(86_400);
      await driver.reaches(expiring, 'cancelled');
      const [waiting, silent] = [await driver.onrampOrder(), await driver.onrampOrder()];

      const { body } = await reset();
      expect(body.data).toMatchObject({ offset_seconds: 0, moved_back_seconds: 86_400 });
      expect(isNow(body.data.now)).toBe(true);
      expect(await clock()).toMatchObject({ offset_seconds: 0 });
      const ahead = Object.fromEntries(body.data.cannot_undo.map((one) => [one.what, one]));
      expect(Object.keys(ahead).sort()).toEqual(['events', 'orders', 'quotes']);
      expect(ahead.orders).toMatchObject({ count: expect.any(Number), message: expect.any(String) });
      expect(Date.parse(ahead.orders!.until!)).toBeGreaterThan(Date.now() + 80_000_000);
      expect((await driver.read(expiring)).status).toBe('cancelled');

      // Effects that were about to run do, and a quarter of an hour ends when it would have.
      expect((await driver.event(waiting, 'vendor_accepts')).status).toBe(200);
      expect((await driver.event(waiting, 'escrow_funded')).status).toBe(200);
      await gateway.partner.sandbox.advanceClock({ seconds: 901 });
      await driver.reaches(silent, 'cancelled');
      await gateway.partner.sandbox.advanceClock({ seconds: 2_700 });
      await driver.reaches(waiting, 'cancelled');
      expect((await gateway.as(null).sandbox.clock()).status).toBe(401);
    });

    it('that was never moved has nothing to undo', async () => {
      await reset();
      const again = await gateway.as(gateway.partners[1].apiKey).sandbox.resetClock();
      expect(again.body.data).toMatchObject({ offset_seconds: 0, moved_back_seconds: 0, cannot_undo: [] });
    });
  });

  describe('the faucet', () => {
    const wallet = () => makeWallet().address;
    const WALLET = wallet();
    const ask = (fields: object, options?: RequestOptions) =>
      gateway.partner.sandbox.faucet(
        { chain: CHAIN, token: 'USDC', address: WALLET, amount: '1', ...fields },
        options,
      );
    const etherOf = (address: Hex, chain = CHAIN) =>
      gateway.deps.chains.get(chain).client.getBalance({ address });

    // Proves D13.5.
    it('gives tokens and gas on every chain, and the balance is there when it answers', async () => {
      const address = wallet();
      const tokens = await ask({ address, amount: '250.000001' });
      expect(tokens.body).toEqual({
        success: true,
        data: { transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
      });
      expect(await driver.balance(address)).toBe(250_000_001n);
      await ask({ address: address.toLowerCase(), token: 'native', amount: '0.5', chain: 'arbitrum-one' });
      expect(await etherOf(address, 'arbitrum-one')).toBe(5n * 10n ** 17n);
      expect(await etherOf(address)).toBe(0n);
    });

    it('pays once under a key, and at the same time to many', async () => {
      const [once, ...others] = Array.from({ length: 5 }, wallet);
      const first = await ask({ address: once }, { idempotencyKey: 'faucet-1' });
      const again = await ask({ address: once }, { idempotencyKey: 'faucet-1' });
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await driver.balance(once as Hex)).toBe(1_000_000n);
      const answers = await Promise.all(others.map((address) => ask({ address })));
      expect(new Set(answers.map(({ body }) => body.data.transaction_hash)).size).toBe(others.length);
      for (const address of others) expect(await driver.balance(address)).toBe(1_000_000n);
    });

    it.each([
      ['an unknown chain', { chain: 'mars' }, 'chain', 'base-mainnet'],
      ['an unknown token', { token: 'DAI' }, 'token', 'USDT0, native'],
      ['too many decimals', { amount: '1.0000001' }, 'amount', 'more than 6 decimals'],
      ['too much', { amount: '1000000.000001' }, 'amount', 'at most 1000000'],
      ['too much gas', { token: 'native', amount: '1001' }, 'amount', 'at most 1000'],
      ['nothing', { amount: '0' }, 'amount', 'not_positive'],
      ['less than nothing', { amount: '-1' }, 'amount', 'negative'],
      ['an amount that is a number', { amount: 1 }, 'amount', 'string'],
      ['the zero address', { address: `0x${'0'.repeat(40)}` }, 'address', 'zero address'],
      ['a wrong checksum', { address: WALLET.replace(/[a-f]/, (c) => c.toUpperCase()) }, 'address', 'EIP-55'],
      ['no address', { address: undefined }, 'address', 'required'],
    ])('refuses %s', async (_what, fields, path, says) => {
      const refused = await ask(fields);
      expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(refused.body.error.details.fields).toMatchObject([{ path }]);
      expect(refused.body.error.message).toContain(says);
    });

    it('refuses contracts of the sandbox, what a contract does not take, and other keys', async () => {
      const { contracts, tokens } = gateway.deps.chains.get(CHAIN).settings;
      for (const address of [contracts.router, tokens[0]!.address]) {
        expect((await ask({ address })).body.error.message).toContain('contract of this sandbox');
      }
      const stray = await chainDriver(gateway).deployToken(gateway.partners[0].walletPrivateKey, 1n);
      const refused = await ask({ address: stray, token: 'native' });
      expect([refused.status, refused.body.error.message]).toEqual([
        400,
        expect.stringContaining('does not take it'),
      ]);
      const [vendor] = gateway.sandbox.vendors;
      const asVendor = await gateway.as(vendor!.apiKey).sandbox.faucet(untyped({}));
      expect(asVendor.status).toBe(401);
    });

    it('pays sixty times a minute and says when it goes on', async () => {
      const { apiKey: key } = gateway.partners[1];
      const { partnerId } = (await gateway.deps.principals.find(key)) as PartnerPrincipal;
      for (let used = 0; used < 60; used++) await gateway.deps.rateLimit.take(`faucet:${partnerId}`, 60);
      const body = { chain: CHAIN, token: 'USDC', address: WALLET, amount: '1' };
      const refused = await gateway.as(key).sandbox.faucet(body);
      expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
      expect([refused.headers.get('retry-after'), refused.headers.get('ratelimit-limit')]).toEqual([
        expect.stringMatching(/^\d+$/),
        '60',
      ]);
      expect((await ask({})).status).toBe(200);
    });
  });

  describe('a vendor made through the API', () => {
    /** The best price of the market, so that every order of this size comes here. */
    async function trading(fields: object, price: string) {
      const made = await gateway.operator.vendors.create({
        name: `Vendor at ${price}`,
        kind: 'p2p',
        ...fields,
      });
      expect(made.status, made.text).toBe(200);
      const { vendor, vendor_key, wallet_private_key } = made.body.data;
      const wallet = vendor.wallet_address as Hex;
      const api = gateway.as(vendor_key.key).vendor;
      const offer = await api.offers.create({
        side: 'SELL',
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        price,
        min_amount: '20.00',
        max_amount: '500',
        payment_options: [{ network_slug: 'iban-sepa' }],
        countries: ['DE'],
        available_balance: '10000',
      });
      expect(offer.status, offer.text).toBe(200);
      const { offer_id: offerId } = offer.body.data;
      await gateway.operator.offers.decideAuthorization(offerId, { authorized: true, reason: 'ticket 15' });
      await until('the offer', () => gateway.deps.offers.book().offer(offerId)?.authorized);
      return { vendor, wallet, api, key: wallet_private_key as Hex | undefined };
    }

    const served = async (vendorId: string): Promise<string> => {
      const orderId = await driver.onrampOrder({ payment_network_slug: 'iban-sepa', country_code: 'DE' });
      expect(await parties.vendorId(orderId)).toBe(vendorId);
      return orderId;
    };

    it('without a wallet gets one with tokens and gas, and serves orders like the sandbox’s own', async () => {
      const { vendor, wallet, key } = await trading({}, '0.30');
      await autoAdvance(true);
      expect(privateKeyToAccount(key!).address).toBe(vendor.wallet_address);
      const shown = (await gateway.operator.vendors.get(vendor.vendor_id)).body.data;
      expect(shown).toEqual(vendor);
      await until('its tokens', async () => (await driver.balance(wallet)) === 10n ** 13n);
      const before = await driver.balance(wallet);
      const orderId = await served(vendor.vendor_id);
      const { amounts } = await driver.reaches(orderId, 'awaiting_fiat_transfer');
      expect(before - (await driver.balance(wallet))).toBe(atomic(amounts.crypto_amount));
      expect((await driver.act(orderId, 'confirm-payment-sent')).status).toBe(200);
      await driver.reaches(orderId, 'completed');
      await autoAdvance(false);
    });

    it('that has spent its tokens is said to, and can be given more', async () => {
      const { vendor, wallet, key } = await trading({}, '0.29');
      await until('its gas and tokens', async () => (await driver.balance(wallet)) === 10n ** 13n);
      const orderId = await served(vendor.vendor_id);
      expect((await driver.event(orderId, 'vendor_accepts')).status).toBe(200);
      await chainDriver(gateway).transfer(key!, driver.wallet, 10n ** 13n);
      const refused = await driver.event(orderId, 'escrow_funded');
      expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      expect(refused.body.error.message).toContain(`${wallet} has 0 USDC and needs`);
      await chainDriver(gateway).pay(gateway.partners[0], wallet, 10n ** 12n);
      expect((await driver.event(orderId, 'escrow_funded')).body.data.status).toBe('awaiting_fiat_transfer');
    });

    it('with a wallet of its own signs itself: events of its wallet say so and how', async () => {
      const wallet = makeWallet();
      const made = await trading({ wallet_address: wallet.address }, '0.28');
      expect(made.key).toBeUndefined();
      const orderId = await served(made.vendor.vendor_id);
      const { orders } = made.api;
      const refusal = async (event: string) => {
        const { status, body } = await driver.event(orderId, event);
        expect([status, body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
        return body.error.message as string;
      };
      const sign = async (purpose: 'refund' | 'release') => {
        const asked = await orders.signingParameters(orderId, { purpose });
        return signSafeTransaction(wallet.privateKey, asked.body.data.typed_data);
      };
      expect(await refusal('vendor_accepts')).toContain(
        `/vendor/orders/${orderId}/signing-parameters?purpose=refund`,
      );
      expect((await driver.event(orderId, 'vendor_confirms_fiat')).body.error.code).toBe('INVALID_STATUS');
      const refund_signature = await sign('refund');
      const accepted = await orders.accept(orderId, { refund_signature, payment_details: DETAILS });
      expect(accepted.status, accepted.text).toBe(200);

      expect(await refusal('escrow_funded')).toContain('/api/v1/sandbox/faucet');
      expect(await driver.escrowBalance(orderId)).toBe(0n);
      const funding = (await orders.get(orderId)).body.data.funding!;
      await chainDriver(gateway).pay(gateway.partners[0], wallet.address, BigInt(funding.amount_atomic));
      await gateway.partner.sandbox.faucet({
        chain: CHAIN,
        token: 'native',
        address: wallet.address,
        amount: '1',
      });
      await chainDriver(gateway).transfer(
        wallet.privateKey,
        funding.escrow_address,
        BigInt(funding.amount_atomic),
      );
      await driver.reaches(orderId, 'awaiting_fiat_transfer');
      await driver.act(orderId, 'confirm-payment-sent');
      expect(await refusal('vendor_confirms_fiat')).toContain('fiat-confirmed');
      const release_signature = await sign('release');
      expect((await orders.confirmFiat(orderId, { release_signature })).status).toBe(200);
      await driver.reaches(orderId, 'completed');
    });
  });
});
