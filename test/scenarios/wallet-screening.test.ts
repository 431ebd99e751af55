import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenKnownWallets } from '../../apps/gateway/src/features/screening/screen-wallet.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';

/** On the SDN list, as LAZARUS GROUP. */
const LISTED = '0x098B716B8Aaf21512996dC57EB0615e2383E2f96';
/** The sandbox’s test values. */
const BLOCKED = getAddress('0x000000000000000000000000000000000b10c4ed');
const REVIEW = getAddress('0x00000000000000000000000000000000000ec4ec');
const REFUSED = [422, 'WALLET_NOT_CLEARED'];
const code = ({ status, body }: Answer) => [status, body.error?.code];
const freshWallet = () => privateKeyToAddress(generatePrivateKey());

/** A gateway’s operator, as far as wallets are concerned. */
function operatorOf(gateway: TestGateway) {
  return {
    admit: (wallet_address: string) =>
      gateway.operator.vendors.create({
        name: `Vendor ${wallet_address}`,
        wallet_address,
        kind: 'p2p',
        reason: 'test',
      }),
    caseOf: async (address: string) =>
      (await gateway.operator.screeningCases.list({ subject: address })).body.data.cases[0],
    async decide(address: string, decision: string) {
      const [found] = (await gateway.operator.screeningCases.list({ subject: address })).body.data.cases;
      return gateway.operator.screeningCases.decide(found!.case_id, { decision, reason: 'ticket 5' });
    },
  };
}

describe('wallets are screened before they are used', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;
  let operator: ReturnType<typeof operatorOf>;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    driver = ordersDriver(gateway);
    parties = orderParties(gateway);
    operator = operatorOf(gateway);
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => gateway?.stop());

  const held = (orderId: string) => until('the hold', () => parties.isHeld(orderId));

  describe('registration', () => {
    // Proves C7 WALLET_NOT_CLEARED.
    it.each([
      ['a listed address', LISTED, 'blocked'],
      ['the sandbox’s blocked address', BLOCKED, 'blocked'],
      ['the sandbox’s address for review', REVIEW, 'review'],
    ])('of %s is refused, and the operator sees it', async (_what, address, status) => {
      expect(code(await operator.admit(address))).toEqual(REFUSED);
      const partner = await gateway.operator.partners.create({
        name: `Partner ${address}`,
        wallet_address: address,
        settlement_chain: 'base-mainnet',
        reason: 'test',
      });
      expect(code(partner)).toEqual(REFUSED);
      const [existing] = (await gateway.operator.partners.list()).body.data.partners;
      const changed = await gateway.operator.partners.update(existing!.partner_id, {
        wallet_address: address,
        reason: 'test',
      });
      expect(code(changed)).toEqual(REFUSED);
      const again = (await gateway.operator.partners.get(existing!.partner_id)).body.data;
      expect(again.wallet_address).toBe(existing!.wallet_address);
      const queue = await gateway.operator.screeningCases.list({ subject_kind: 'wallet', limit: 100 });
      expect(queue.body.data.cases).toContainEqual(
        expect.objectContaining({ subject: address.toLowerCase(), screening_status: status }),
      );
      expect((await gateway.operator.vendors.list({ limit: 100 })).text).not.toContain(address);
    });

    it('of a clear address works, and an operator’s word opens what a machine has refused', async () => {
      expect((await operator.admit(freshWallet())).status).toBe(200);
      await operator.admit(REVIEW);
      expect((await operator.decide(REVIEW, 'clear')).body.data.screening_status).toBe('clear');
      expect((await operator.admit(REVIEW)).status).toBe(200);
      expect(await operator.caseOf(REVIEW)).toMatchObject({
        screening_status: 'clear',
        decided_by_person: true,
      });
    });

    it('the wallets that a sandbox begins with are screened', async () => {
      const { partners, vendors } = gateway.sandbox;
      for (const { walletAddress } of [...partners, ...vendors]) {
        expect(await operator.caseOf(walletAddress)).toMatchObject({ screening_status: 'clear' });
      }
    });
  });

  describe('a send-out', () => {
    const parameters = (orderId: string, address: string) =>
      gateway.partner.orders.bridgeParameters(orderId, {
        destination_chain: 'arbitrum-one',
        destination_address: address,
      });

    async function completed(): Promise<string> {
      const orderId = await driver.onrampOrder();
      for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
      await driver.act(orderId, 'confirm-payment-sent');
      await driver.event(orderId, 'vendor_confirms_fiat');
      await driver.reaches(orderId, 'completed');
      return orderId;
    }

    it('to a listed or blocked address gets no parameters; blocked after them, it is not taken', async () => {
      const orderId = await completed();
      for (const address of [LISTED, LISTED.toLowerCase(), BLOCKED]) {
        expect(code(await parameters(orderId, address))).toEqual(REFUSED);
      }
      const destination = freshWallet();
      const signed = await driver.signedSendOut(orderId, {
        destination_chain: 'arbitrum-one',
        destination_address: destination,
      });
      await operator.decide(destination, 'block');
      expect(code(await driver.act(orderId, 'authorize-bridge', signed))).toEqual(REFUSED);
      expect(await driver.read(orderId)).toMatchObject({ status: 'completed' });
      await operator.decide(destination, 'review');
      await operator.decide(destination, 'clear');
      expect((await driver.act(orderId, 'authorize-bridge', signed)).status).toBe(200);
    });
  });

  describe('an order whose side loses its screening', () => {
    async function blocked<T>(address: string, work: () => Promise<T>): Promise<T> {
      expect((await operator.decide(address, 'block')).status).toBe(200);
      try {
        return await work();
      } finally {
        await operator.decide(address, 'review');
        await operator.decide(address, 'clear');
      }
    }

    it('the vendor’s: a funded off-ramp order is held, nothing is released, and the partner gets its refund', async () => {
      const orderId = await driver.offrampOrder();
      await driver.fund(orderId);
      await driver.reaches(orderId, 'crypto_received');
      const vendor = await parties.vendorOf(orderId);
      await blocked(vendor.wallet, async () => {
        await held(orderId);
        await parties.operate(orderId, 'hold', { decision: 'release' });
        expect(await parties.isHeld(orderId)).toBe(true);
        expect((await driver.read(orderId)).hold).toMatchObject({ reason: 'COMPLIANCE_REVIEW' });
        expect(code(await vendor.get('payment-instructions'))).toEqual([409, 'OPERATION_NOT_ALLOWED']);
        await driver.act(orderId, 'cancel');
        await parties.operate(orderId, 'hold', { decision: 'release' });
        expect((await driver.refund(orderId)).status).toBe(200);
        await until('the refund', async () => (await driver.escrowBalance(orderId)) === 0n);
      });
      await driver.booksBalance();
    });

    it('the partner’s: no new order, no funding, and no refund to it until an operator has cleared it', async () => {
      const waiting = await driver.offrampOrder();
      const orderId = await driver.offrampOrder();
      await driver.fund(orderId);
      await driver.reaches(orderId, 'crypto_received');
      const signed = await driver.signedFunding(waiting);
      const userId = await driver.user();
      const quoted = await driver.offrampQuote({
        user_uuid: userId,
        payment_details_id: await driver.ownDetails(userId),
      });
      const { quote_id } = quoted.body.data;
      await blocked(driver.wallet, async () => {
        await held(orderId);
        const initiated = await gateway.partner.offramp.initiate({ quote_id });
        expect(code(initiated)).toEqual(REFUSED);
        expect(code(await driver.act(waiting, 'authorize-crypto-transfer', signed))).toEqual(REFUSED);
        await driver.act(orderId, 'cancel');
        await parties.operate(orderId, 'hold', { decision: 'release' });
        expect(code(await gateway.partner.orders.refundParameters(orderId))).toEqual(REFUSED);
        expect(await driver.escrowBalance(orderId)).toBeGreaterThan(0n);
      });
      expect((await driver.refund(orderId)).status).toBe(200);
      await until('the refund', async () => (await driver.escrowBalance(orderId)) === 0n);
      expect((await driver.act(waiting, 'authorize-crypto-transfer', signed)).status).toBe(200);
    });

    it('the vendor’s on-ramp: its crypto is not returned to it while it is blocked, and comes back afterwards', async () => {
      const orderId = await driver.onrampOrder();
      for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
      await driver.reaches(orderId, 'awaiting_fiat_transfer');
      const vendor = await parties.vendorOf(orderId);
      await blocked(vendor.wallet, async () => {
        await held(orderId);
        expect((await driver.act(orderId, 'cancel')).status).toBe(409);
        await parties.operate(orderId, 'hold', { decision: 'release' });
        expect(code(await driver.act(orderId, 'cancel'))).toEqual(REFUSED);
        expect(await parties.isHeld(orderId)).toBe(true);
        expect(await driver.escrowBalance(orderId)).toBeGreaterThan(0n);
      });
      await parties.operate(orderId, 'hold', { decision: 'release' });
      expect((await driver.act(orderId, 'cancel')).status).toBe(200);
      await until('the return', async () => (await driver.escrowBalance(orderId)) === 0n);
      await driver.booksBalance();
    });

    it('the vendor’s before it accepts: the order is not taken', async () => {
      const orderId = await driver.onrampOrder();
      const vendor = await parties.vendorOf(orderId);
      const refund_signature = await vendor.sign('refund');
      const payment_details = { full_name: 'Vendor', iban: 'DE02120300000000202051' };
      await blocked(vendor.wallet, async () => {
        expect(code(await vendor.post('accept', { refund_signature, payment_details }))).toEqual(REFUSED);
      });
      expect((await vendor.post('accept', { refund_signature, payment_details })).status).toBe(200);
    });
  });
});

describe('a screening service behind HTTP', () => {
  let service: Server;
  let gateway: TestGateway;
  let operator: ReturnType<typeof operatorOf>;
  const asked: { path: string | undefined; token: string | undefined; body: string }[] = [];
  let answer: (address: string) => { status: number; body: string } = () => clear;
  const clear = { status: 200, body: JSON.stringify({ status: 'clear', categories: [] }) };

  beforeAll(async () => {
    service = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        asked.push({ path: request.url, token: request.headers.authorization, body });
        const { status, body: text } = answer(JSON.parse(body).address);
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      });
    });
    await new Promise<void>((ready) => service.listen(0, '127.0.0.1', ready));
    const { port } = service.address() as AddressInfo;
    gateway = await startGateway({
      worker: true,
      env: { WALLET_SCREENING_URL: `http://127.0.0.1:${port}`, WALLET_SCREENING_TOKEN: 'open-sesame' },
    });
    operator = operatorOf(gateway);
  });
  afterAll(async () => {
    await gateway?.stop();
    service?.close();
  });

  it('is asked besides the lists, with its token, and its hit refuses', async () => {
    const wallet = freshWallet();
    answer = () => ({ status: 200, body: JSON.stringify({ status: 'review', categories: ['mixer'] }) });
    expect(code(await operator.admit(wallet))).toEqual(REFUSED);
    expect(asked.at(-1)).toEqual({
      path: '/wallets',
      token: 'Bearer open-sesame',
      body: JSON.stringify({ address: wallet.toLowerCase() }),
    });
    expect(await operator.caseOf(wallet)).toMatchObject({ screening_status: 'review', listed: ['mixer'] });
    answer = () => clear;
    expect((await operator.admit(freshWallet())).status).toBe(200);
  });

  it.each([
    ['an error', { status: 500, body: '{}' }],
    ['something unreadable', { status: 200, body: '<html>' }],
    [
      'a shape that it does not have',
      { status: 200, body: JSON.stringify({ status: 'fine', categories: [] }) },
    ],
    ['too many requests', { status: 429, body: '{}' }],
  ])('that answers %s clears no wallet, and refuses a listed wallet all the same', async (_what, failing) => {
    answer = () => failing;
    const wallet = freshWallet();
    expect(code(await operator.admit(wallet))).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(await operator.caseOf(wallet)).toBeUndefined();
    expect(code(await operator.admit(LISTED))).toEqual(REFUSED);
    answer = () => clear;
    expect((await operator.admit(wallet)).status).toBe(200);
  });

  it('is asked again about wallets in use once their screening is old, and a hit then counts', async () => {
    const wallet = freshWallet();
    answer = () => clear;
    await operator.admit(wallet);
    answer = (address) =>
      address === wallet.toLowerCase()
        ? { status: 200, body: JSON.stringify({ status: 'blocked', categories: ['stolen funds'] }) }
        : clear;
    const day = gateway.deps.config.walletRescreenSeconds;
    await screenKnownWallets(gateway.deps, day);
    expect(await operator.caseOf(wallet)).toMatchObject({ screening_status: 'clear' });
    await gateway.partner.sandbox.advanceClock({ seconds: day + 1 });
    await screenKnownWallets(gateway.deps, day);
    expect(await operator.caseOf(wallet)).toMatchObject({
      screening_status: 'blocked',
      listed: ['stolen funds'],
    });
  });
});
