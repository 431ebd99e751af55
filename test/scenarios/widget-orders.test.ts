import { randomUUID } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from './chain-driver.ts';
import { atomic, type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { orderParties } from './orders-parties.ts';
import { type WidgetCustomer, type WidgetPeople, type Wire, widgetPeople } from './widget-customer.ts';

/** Orders that customers open in the widget with wallets of their own, on a real chain. */

const SANCTIONED = '0x098B716B8Aaf21512996dC57EB0615e2383E2f96';
const FEE = { partner_fee_pct: '1', locked: true };

const vendorOf = statement<[orderId: string], { wallet: `0x${string}`; partner: `0x${string}` | null }>(
  'test.vendor_of_widget_order',
  `SELECT v.wallet_address AS wallet, o.escrow ->> 'partner' AS partner
     FROM orders o JOIN vendors v USING (vendor_id) WHERE o.order_id = $1`,
);
const bodiesOf = statement<[orderId: string], { body: string }>(
  'test.event_bodies',
  'SELECT body FROM events WHERE subject_id = $1 ORDER BY position',
);

describe('orders of the widget', () => {
  let gateway: TestGateway;
  /** Simulated actors serve the first partner; the second is driven by events, step by step. */
  let served: WidgetPeople;
  let driven: WidgetPeople;
  let partner: OrdersDriver;
  let second: OrdersDriver;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
    served = widgetPeople(gateway, gateway.partners[0]);
    driven = widgetPeople(gateway, gateway.partners[1]);
    partner = ordersDriver(gateway);
    second = ordersDriver(gateway, gateway.partners[1]);
    await gateway.as(gateway.partners[1].apiKey).sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => gateway?.stop());

  /** Of the wallets that an order's crypto can move between. */
  async function balances(wallets: Readonly<Record<string, string>>): Promise<Record<string, bigint>> {
    const { client, settings } = gateway.deps.chains.get('base-mainnet');
    const usdc = settings.tokens.find(({ code }) => code === 'USDC')!.address;
    const read = Object.entries(wallets).map(
      async ([name, wallet]) => [name, await tokenBalance(client, usdc, wallet as `0x${string}`)] as const,
    );
    return Object.fromEntries(await Promise.all(read));
  }

  async function walletsOf(customer: WidgetCustomer, driver: OrdersDriver, orderId: string) {
    const [row] = await gateway.deps.db.query(SYSTEM, vendorOf, [orderId]);
    const { treasury } = gateway.deps.chains.get('base-mainnet').settings;
    return { customer: customer.wallet, partner: driver.wallet, treasury, vendor: row?.wallet ?? '' };
  }

  const change = (before: Record<string, bigint>, after: Record<string, bigint>) =>
    Object.fromEntries(Object.entries(after).map(([name, amount]) => [name, amount - before[name]!]));

  /** What the books say that each party gained, by the order's own movements. */
  async function booked(driver: OrdersDriver, orderId: string): Promise<Record<string, bigint>> {
    const { movements } = await driver.funds(orderId);
    const sums: Record<string, bigint> = {};
    for (const { account, amount } of movements.flatMap(({ postings }: Wire) => postings)) {
      const party = account.replace('outside:', '').split(':')[0];
      sums[party] = (sums[party] ?? 0n) + atomic(amount);
    }
    return sums;
  }

  it('on-ramp: the customer’s wallet is paid what is left, the partner its fee, in one transaction', async () => {
    const ada = await served.arrive({ ...FEE, reference_id: 'crm-7' });
    const estimated = await ada.ask('POST', '/estimates', {
      ...{ side: 'onramp', crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' },
    });
    const opened = await ada.open('onramp');
    expect(opened).toMatchObject({
      ...{ side: 'onramp', pay_amount: '100.00', pay_currency: 'EUR', receive_currency: 'USDC' },
      ...{ wallet_address: ada.wallet, chain: 'base-mainnet', reference_id: 'crm-7', phase: 'match' },
      ...{ allowed_actions: ['cancel'], payment_instructions: null, expected_seconds: expect.any(Number) },
    });
    expect(opened.receive_amount).toBe(estimated.body.data.receive_amount);
    const { order_id: id } = opened;

    const wallets = await until('the vendor', async () => {
      const known = await walletsOf(ada, partner, id);
      return known.vendor !== '' && known;
    });
    const waiting = await ada.asked(id, 'pay');
    const before = await balances(wallets);
    expect(waiting.payment_instructions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          field: 'iban',
          label: expect.stringMatching(/\S/),
          value: expect.stringMatching(/\S/),
        }),
      ]),
    );
    expect([waiting.expected_seconds, waiting.allowed_actions]).toEqual([
      null,
      ['confirm-payment-sent', 'cancel'],
    ]);
    expect(waiting.escrow_address).toMatch(/^0x/);
    expect((await ada.act(id, 'confirm-payment-sent')).body.data).toMatchObject({ phase: 'settle' });
    const done = await ada.asked(id, 'completed');

    const fees = done.fee_breakdown;
    expect(fees.partner_fee_pct).toBe(1);
    const [amount, platformFee, partnerFee] = [
      done.amounts.crypto_amount,
      fees.platform_fee,
      fees.partner_fee,
    ].map(atomic);
    expect(atomic(done.receive_amount)).toBe(amount! - platformFee! - partnerFee!);
    const moved = change(before, await balances(wallets));
    expect(moved).toEqual({
      ...{ customer: amount! - platformFee! - partnerFee!, partner: partnerFee },
      ...{ treasury: platformFee, vendor: 0n },
    });
    expect(await booked(partner, id)).toEqual({ ...moved, vendor: -amount!, escrow: 0n });
    await partner.booksBalance();

    // Its partner is told everything and asked nothing.
    const seen = await partner.read(id);
    expect(seen).toMatchObject({
      status: 'completed',
      reference_id: 'crm-7',
      allowed_actions: [],
      next_action: 'none',
    });
    const bodies = await gateway.deps.db.query(SYSTEM, bodiesOf, [id]);
    const events = bodies.map(({ body }) => JSON.parse(body).data);
    expect(events.map(({ status }) => status)).toEqual([
      ...['awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer'],
      ...['fiat_transfer_pending', 'completed'],
    ]);
    expect(new Set(events.map(({ reference_id }) => reference_id))).toEqual(new Set(['crm-7']));
    // A customer's crypto is in its own wallet: there is nothing to send out.
    expect(done.allowed_actions).toEqual([]);
  });

  it('off-ramp: approved exactly, signed once by the right wallet, confirmed by the customer', async () => {
    const ada = await driven.arrive(FEE, { usdc: 500_000_000n });
    const { order_id: id, pay_amount: pays } = await ada.open('offramp');
    const order = await ada.asked(id, 'sign');
    expect(order).toMatchObject({
      receive_amount: '100.00',
      pay_currency: 'USDC',
      payout_account: expect.stringMatching(/3000$/),
    });
    expect(order.allowed_actions).toEqual(['cancel', 'authorize-crypto-transfer']);

    const funding = (await ada.ask('GET', `/orders/${id}/funding`)).body.data;
    expect(funding).toMatchObject({
      ...{ wallet_address: ada.wallet, amount_human: pays, is_balance_sufficient: true },
      approval: {
        from: ada.wallet,
        to: funding.token_address,
        amount_atomic: `${atomic(pays)}`,
        value: '0x0',
      },
    });
    const early = await ada.ask('GET', `/orders/${id}/transfer-authorization-parameters`);
    expect([early.status, early.body.error.code]).toEqual([409, 'ALLOWANCE_TOO_LOW']);

    const wallets = await walletsOf(ada, second, id);
    const before = await balances(wallets);
    expect((await ada.pay(id)).body.data).toMatchObject({ phase: 'settle' });
    await until('the deposit', async () => (await ada.read(id)).status === 'crypto_received');
    for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
      expect((await second.event(id, event)).status).toBe(200);
    }
    const waiting = await ada.read(id);
    expect(waiting.allowed_actions).toContain('confirm-fiat-received');
    expect((await ada.act(id, 'confirm-fiat-received')).status).toBe(200);
    expect((await ada.act(id, 'confirm-fiat-received')).status).toBe(200);
    const done = await ada.asked(id, 'completed');

    const fees = done.fee_breakdown;
    const [amount, platformFee, partnerFee] = [
      done.amounts.crypto_amount,
      fees.platform_fee,
      fees.partner_fee,
    ].map(atomic);
    expect(atomic(pays)).toBe(amount! + partnerFee!);
    const moved = change(before, await balances(wallets));
    expect(moved).toEqual({
      ...{ customer: -(amount! + partnerFee!), partner: partnerFee },
      ...{ treasury: platformFee, vendor: amount! - platformFee! },
    });
    expect(await booked(second, id)).toEqual({ ...moved, escrow: 0n });
    expect(await second.escrowBalance(id)).toBe(0n);
    await second.booksBalance();
  });

  it('a refund is signed by the customer’s wallet and goes back there', async () => {
    const ada = await driven.arrive(FEE, { usdc: 500_000_000n });
    const { order_id: id } = await ada.open('offramp');
    await ada.asked(id, 'sign');
    const stranger = generatePrivateKey();
    await ada.pay(id);
    await until('the deposit', async () => (await ada.read(id)).status === 'crypto_received');
    const stopped = await ada.act(id, 'cancel', { reason: 'changed my mind' });
    expect(stopped.body.data).toMatchObject({
      ...{ status: 'cancelled', phase: 'refund', cancelled_by: 'customer', refund_tx_hash: null },
      allowed_actions: ['authorize-refund'],
    });
    const session = (await ada.ask('GET', '')).body.data;
    expect(session.orders[0]).toMatchObject({ order_id: id, is_open: true });

    const wrong = await ada.act(id, 'authorize-refund', await ada.signedPayout(id, 'refund', stranger));
    expect([wrong.status, wrong.body.error.code]).toEqual([502, 'ESCROW_SIGNER_MISMATCH']);
    expect(wrong.body.error.details.expected_signer).toBe(ada.wallet);
    const refunded = await ada.act(id, 'authorize-refund', await ada.signedPayout(id, 'refund'));
    expect(refunded.status).toBe(200);
    const done = await until('the refund', async () => {
      const order = await ada.read(id);
      return order.refund_tx_hash !== null && order;
    });
    expect(done).toMatchObject({ phase: 'stopped', allowed_actions: [], expected_seconds: null });
    expect(await balances({ customer: ada.wallet })).toEqual({ customer: 500_000_000n });
    expect(await booked(second, id)).toEqual({ customer: 0n, escrow: 0n });
    const again = await ada.act(id, 'authorize-refund', { signature: `0x${'11'.repeat(65)}` });
    expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    // The partner is told that a refund is owed, and cannot touch it.
    expect(await second.published(id)).toContain('order.refund.required');
    expect((await second.act(id, 'authorize-refund', { signature: '0x' })).body.error.code).toBe(
      'ORDER_NOT_FOUND',
    );
  });

  it('what another wallet signed pays nothing, and one signature is taken once', async () => {
    const ada = await driven.arrive(FEE, { usdc: 500_000_000n });
    const { order_id: id } = await ada.open('offramp');
    await ada.asked(id, 'sign');
    expect(await ada.approve(id)).toBe(1);
    const submit = (signed: object) => ada.act(id, 'authorize-crypto-transfer', signed);
    const foreign = await submit(await ada.signedTransfer(id, generatePrivateKey()));
    expect([foreign.status, foreign.body.error.code]).toEqual([400, 'INVALID_SIGNATURE']);
    expect(foreign.body.error.details.expected_signer).toBe(ada.wallet);
    const signed = await ada.signedTransfer(id);
    const answers = await Promise.all([submit(signed), submit(signed)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    await until('the deposit', async () => (await ada.read(id)).status === 'crypto_received');
    expect((await submit(signed)).body.error.code).toBe('INVALID_STATUS');
    // The allowance was exact, so that the next order asks for its own.
    const { order_id: next } = await ada.open('offramp', { fiat_amount: '20.00' });
    await ada.asked(next, 'sign');
    expect(await ada.approve(next)).toBe(1);
  });

  it('a token that changes no allowance but from 0 takes two approvals', async () => {
    const ada = await driven.arrive({}, { usdc: 1n });
    const usdt = { crypto_currency: 'USDT', fiat_amount: '20.00' };
    const { order_id: small } = await ada.open('offramp', usdt);
    const { order_id: large } = await ada.open('offramp', { ...usdt, fiat_amount: '30.00' });
    await Promise.all([ada.asked(small, 'sign'), ada.asked(large, 'sign')]);
    expect(await ada.approve(small)).toBe(1);
    const funding = (await ada.ask('GET', `/orders/${large}/funding`)).body.data;
    expect(funding).toMatchObject({ is_balance_sufficient: false, approval: { amount_atomic: '0' } });
    expect(await ada.approve(large)).toBe(2);
  });

  it('after a dispute decided for the customer its signature releases; the fee goes where the escrow says', async () => {
    const ada = await driven.arrive(FEE);
    const { order_id: id } = await ada.open('onramp');
    for (const event of ['vendor_accepts', 'escrow_funded'])
      expect((await second.event(id, event)).status).toBe(200);
    await ada.asked(id, 'pay');
    await ada.act(id, 'confirm-payment-sent');
    await second.event(id, 'dispute_opened');
    expect((await ada.read(id)).phase).toBe('disputed');
    const early = await ada.ask('GET', `/orders/${id}/release-authorization-parameters`);
    expect([early.status, early.body.error.code]).toEqual([409, 'INVALID_STATUS']);
    const decided = await orderParties(gateway).operate(id, 'dispute', { decision: 'for_buyer' });
    expect(decided.status).toBe(200);
    expect(await ada.asked(id, 'release')).toMatchObject({ allowed_actions: ['authorize-release'] });
    // A partner that takes another wallet now is still paid where the escrow was fixed to pay.
    const { body: listed } = await gateway.operator.partners.list();
    const { partner_id: partnerId } = listed.data.partners.find(
      ({ wallet_address }: Wire) => wallet_address === second.wallet,
    ) as Wire;
    const moveTo = (wallet_address: string) =>
      gateway.operator.partners.update(partnerId, { wallet_address, reason: 'new wallet' } as never);
    expect((await moveTo(privateKeyToAccount(generatePrivateKey()).address)).status).toBe(200);

    const wallets = await walletsOf(ada, second, id);
    const before = await balances(wallets);
    const stranger = await ada.act(
      id,
      'authorize-release',
      await ada.signedPayout(id, 'release', generatePrivateKey()),
    );
    expect(stranger.body.error.code).toBe('ESCROW_SIGNER_MISMATCH');
    expect((await ada.act(id, 'authorize-release', await ada.signedPayout(id, 'release'))).status).toBe(200);
    const done = await ada.asked(id, 'completed');
    const moved = change(before, await balances(wallets));
    expect(moved).toMatchObject({
      customer: atomic(done.receive_amount),
      partner: atomic(done.fee_breakdown.partner_fee),
    });
    expect(moved.partner).toBeGreaterThan(0n);
    await moveTo(second.wallet);
  });

  it('a held order waits, and so does the payout of a customer whose KYC is lost', async () => {
    const userId = await driven.userId();
    const ada = await driven.arrive(FEE, { userId });
    const { order_id: id } = await ada.open('onramp');
    for (const event of ['vendor_accepts', 'escrow_funded', 'hold_for_review']) await second.event(id, event);
    const held = await ada.asked(id, 'pay');
    expect(held.hold).toMatchObject({ reason: expect.any(String) });
    expect(held.allowed_actions).toEqual(['confirm-payment-sent']);
    const refused = await ada.act(id, 'cancel');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    await second.event(id, 'release_hold');
    await ada.act(id, 'confirm-payment-sent');
    await gateway.as(second.apiKey).sandbox.kycStatus(userId, { status: 'REJECTED' });
    await second.event(id, 'vendor_confirms_fiat');
    expect(await ada.read(id)).toMatchObject({
      phase: 'settle',
      hold: { reason: 'KYC_REVIEW' },
      allowed_actions: [],
    });
    const quote = await ada.ask('POST', '/quotes', {
      ...{ side: 'onramp', crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' },
    });
    expect([quote.status, quote.body.error.code]).toEqual([422, 'KYC_NOT_CLEARED']);
  });

  // Proves C4.6 rule 5 from the customer's side.
  it('another customer’s order, another partner’s and the partner’s own answer as none does', async () => {
    const userId = await driven.userId();
    const ada = await driven.arrive({}, { userId });
    const eve = await driven.arrive();
    const mallory = await served.arrive();
    const { order_id: hers } = await ada.open('onramp');
    const apiOrder = await second.onrampOrder({ user_uuid: userId });
    const body = { signature: `0x${'11'.repeat(65)}` };
    const paths = [
      ...['', '/funding', '/transfer-authorization-parameters', '/refund-authorization-parameters'].map(
        (path) => ['GET', path] as const,
      ),
      ['GET', '/release-authorization-parameters'] as const,
      ...['cancel', 'confirm-payment-sent', 'confirm-fiat-received', 'submit-payer-details'].map(
        (path) => ['POST', `/${path}`] as const,
      ),
      ...['authorize-crypto-transfer', 'authorize-refund', 'authorize-release'].map(
        (path) => ['POST', `/${path}`] as const,
      ),
    ];
    for (const [method, path] of paths) {
      for (const [who, orderId] of [
        [eve, hers],
        [mallory, hers],
        [ada, apiOrder],
      ] as const) {
        for (const given of method === 'POST' ? [undefined, body] : [undefined]) {
          const [answer, unknown] = await Promise.all([
            who.ask(method, `/orders/${orderId}${path}`, given),
            who.ask(method, `/orders/${randomUUID()}${path}`, given),
          ]);
          expect([path, answer.status, answer.text]).toEqual([path, 404, unknown.text]);
          expect(answer.body.error.code).toBe('ORDER_NOT_FOUND');
        }
      }
    }
    const listed = (await ada.ask('GET', '/orders')).body.data.orders.map(({ order_id }: Wire) => order_id);
    expect(listed).toEqual([hers]);
    // Nor can a quote be taken by another: its limits and its vendor's crypto are not touched.
    const quote = await ada.quote('onramp');
    const taken = await eve.ask('POST', '/orders', { quote_id: quote.quote_id, wallet_address: eve.wallet });
    expect([taken.status, taken.body.error.code]).toEqual([404, 'QUOTE_NOT_FOUND']);
    const open = await ada.ask('POST', '/orders', { quote_id: quote.quote_id, wallet_address: ada.wallet });
    expect(open.status).toBe(200);
    expect((await ada.act(open.body.data.order_id, 'cancel')).body.data).toMatchObject({
      ...{ phase: 'stopped', status: 'cancelled', cancelled_by: 'customer' },
    });
  });

  it('a session that does not know its customer acts in nobody’s name', async () => {
    const ada = await driven.arrive();
    const { order_id: id } = await ada.open('onramp');
    const started = await ada.ask('POST', '/sign-out');
    expect(started.status).toBe(200);
    for (const [method, path] of [
      ['GET', `/orders/${id}`],
      ['GET', '/orders'],
      ['GET', `/orders/${id}/funding`],
      ['POST', `/orders/${id}/cancel`],
      ['POST', `/orders/${id}/confirm-payment-sent`],
    ] as const) {
      const { status, body } = await ada.ask(method, path);
      expect([path, status, body.error?.code]).toEqual([path, 403, 'EMAIL_NOT_CONFIRMED']);
    }
    expect((await second.read(id)).status).toBe('awaiting_liquidity_provider');
  });

  // Proves C7 WALLET_NOT_ALLOWED.
  it('refuses wallets that cannot own a third of the escrow, by name', async () => {
    const ada = await driven.arrive();
    const { settings } = gateway.deps.chains.get('base-mainnet');
    const escrowed = await ada.open('onramp');
    await second.event(escrowed.order_id, 'vendor_accepts');
    const { escrow_address: escrow } = await until('the escrow', async () => {
      const order = await ada.read(escrowed.order_id);
      return order.escrow_address !== null && order;
    });
    const mixed = privateKeyToAccount(generatePrivateKey()).address;
    const broken = mixed.replace(/[a-f]/, (letter) => letter.toUpperCase());
    const hostile: readonly (readonly [reason: string, wallet: string])[] = [
      ['zero_address', `0x${'0'.repeat(40)}`],
      ['checksum', broken === mixed ? mixed.replace(/[A-F]/, (letter) => letter.toLowerCase()) : broken],
      ['service_address', gateway.deps.chains.service.address],
      ['service_address', settings.treasury],
      ['service_address', settings.contracts.router.toLowerCase()],
      ['service_address', settings.contracts.forwarder],
      ['service_address', settings.contracts.safeSingleton],
      ['service_address', settings.tokens[0]!.address],
      ['vendor_wallet', gateway.sandbox.vendors[0]!.walletAddress],
      ['partner_wallet', gateway.partners[0].walletAddress],
      ['escrow', escrow],
    ];
    const { quote_id } = await ada.quote('onramp');
    for (const [reason, wallet_address] of hostile) {
      const answer = await ada.ask('POST', '/orders', { quote_id, wallet_address });
      expect([wallet_address, answer.status, answer.body.error]).toEqual([
        wallet_address,
        422,
        { code: 'WALLET_NOT_ALLOWED', message: expect.stringMatching(/\.$/), details: { reason } },
      ]);
    }
    const listed = await ada.ask('POST', '/orders', { quote_id, wallet_address: SANCTIONED });
    expect([listed.status, listed.body.error.code]).toEqual([422, 'WALLET_NOT_CLEARED']);
    const { body } = await gateway.operator.screeningCases.list({ subject: SANCTIONED } as never);
    expect(JSON.stringify(body.data)).toContain(SANCTIONED.toLowerCase());
    // None of them has used the quote up.
    expect((await ada.ask('POST', '/orders', { quote_id, wallet_address: ada.wallet })).status).toBe(200);

    // A contract can be paid, but not sign.
    const contract = await chainDriver(gateway).deployToken(gateway.partners[1].walletPrivateKey, 1n);
    const { quote_id: selling } = await ada.quote('offramp');
    const refused = await ada.ask('POST', '/orders', { quote_id: selling, wallet_address: contract });
    expect(refused.body.error).toMatchObject({ code: 'WALLET_NOT_ALLOWED', details: { reason: 'contract' } });
    const { quote_id: buying } = await ada.quote('onramp');
    const paid = await ada.ask('POST', '/orders', { quote_id: buying, wallet_address: contract });
    expect(paid.status).toBe(200);
  });

  it('what the partner’s server has fixed cannot be changed, and its quotes are the session’s own', async () => {
    const userId = await driven.userId();
    const wallet = privateKeyToAccount(generatePrivateKey()).address;
    const fixed = {
      ...{ side: 'onramp', fiat_currency: 'EUR', crypto_currency: 'USDC', fiat_amount: '80.00' },
      ...{ wallet_address: wallet, reference_id: 'invoice-4', partner_fee_pct: '2' },
    };
    const ada = await driven.arrive(fixed, { userId });
    const asked = { side: 'onramp', fiat_currency: 'EUR', crypto_currency: 'USDC', fiat_amount: '80' };
    for (const [path, other] of [
      ['fiat_amount', { fiat_amount: '81.00' }],
      ['crypto_amount', { fiat_amount: undefined, crypto_amount: '10' }],
      ['crypto_currency', { crypto_currency: 'USDT' }],
      ['fiat_currency', { fiat_currency: 'GBP' }],
      ['side', { side: 'offramp' }],
    ] as const) {
      for (const what of ['/estimates', '/quotes']) {
        const { status, body } = await ada.ask('POST', what, { ...asked, ...other });
        expect([path, status, body.error.code]).toEqual([path, 400, 'VALIDATION_ERROR']);
        expect(JSON.stringify(body.error.details)).toContain(path);
      }
    }
    const { quote_id, fee_breakdown } = (await ada.ask('POST', '/quotes', asked)).body.data;
    expect(fee_breakdown.partner_fee_pct).toBe(2);
    const elsewhere = await ada.ask('POST', '/orders', { quote_id, wallet_address: ada.wallet });
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    // A quote of another session of the same person has other terms.
    const free = await driven.arrive({ locked: false }, { userId });
    const cheap = await free.quote('onramp', { fiat_amount: '90.00' });
    const smuggled = await ada.ask('POST', '/orders', { quote_id: cheap.quote_id, wallet_address: wallet });
    expect([smuggled.status, smuggled.body.error.code]).toEqual([404, 'QUOTE_NOT_FOUND']);
    const opened = await ada.ask('POST', '/orders', { quote_id, wallet_address: wallet });
    expect(opened.body.data).toMatchObject({
      pay_amount: '80.00',
      wallet_address: wallet,
      reference_id: 'invoice-4',
    });
  });
});
