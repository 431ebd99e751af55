import type { Actor, OrderTrigger } from '@causeway/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localSigner } from '../../apps/gateway/src/chain/signers/keystore-signer.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { ensureEscrow } from '../../apps/gateway/src/features/orders/escrow/escrow.ts';
import { actOnOrder, readOrder } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { acceptOrder } from '../../apps/gateway/src/features/vendors/serve-order.ts';
import {
  listSimulatedVendors,
  type SimulatedVendor,
} from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import { NO_ORDER_LIMITS, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { fillOffers, type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';

/** `npm run races` is the long run. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 12);
const LONG_MS = 60_000 + ROUNDS * 4_000;
/** Rounds under way at once: each is a race of its own, and the others keep the database busy meanwhile. */
const LANES = 4;

const ordersOfQuote = statement<[quoteId: string], { order_id: string }>(
  'test.orders_of_quote',
  'SELECT order_id FROM orders WHERE quote_id = $1',
);
const payoutsOf = statement<[orderId: string], { kind: string }>(
  'test.payouts_of_order',
  `SELECT kind FROM intents WHERE payload->>'order_id' = $1::text AND kind LIKE 'escrow.%' AND kind NOT LIKE '%watch'`,
);
const relaysOf = statement<[orderId: string], { kind: string }>(
  'test.relays_of_order',
  `SELECT kind FROM intents WHERE payload->>'order_id' = $1::text AND kind = 'bridge.relay'`,
);
const vendorOf = statement<[orderId: string], { vendor_id: string }>(
  'test.races_vendor_of_order',
  'SELECT vendor_id FROM orders WHERE order_id = $1',
);

type Fact = readonly [trigger: OrderTrigger, actor: Actor];

/** Plays every round, in as many lanes as are given. */
async function rounds(play: () => Promise<void>, lanes = LANES): Promise<void> {
  let left = ROUNDS;
  const lane = async () => {
    while (left-- > 0) await play();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

// No worker runs: what would follow from a race stays an intent that can be counted.
describe(`races, ${ROUNDS} rounds each`, () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let vendors: readonly SimulatedVendor[];
  let userId: string;
  let detailsId: number;

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      worker: false,
      env: {
        RATE_LIMIT_PARTNER_PER_MINUTE: '10000000',
        // As many at once as in production.
        DATABASE_POOL_SIZE: '10',
        ...NO_ORDER_LIMITS,
      },
    });
    driver = ordersDriver(gateway);
    await fillOffers(gateway);
    vendors = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
    userId = await driver.user();
    detailsId = await driver.ownDetails(userId);
  });
  afterAll(() => gateway?.stop());

  /** Reports facts as the party that knows them would; answers whether the table took the last one. */
  async function report(orderId: string, ...facts: Fact[]): Promise<boolean> {
    for (const [trigger, actor] of facts) {
      const taken = await unitOfWork(gateway.deps, SYSTEM, (unit) =>
        actOnOrder(unit, gateway.deps.orderAdapters, orderId, trigger, actor),
      ).then(
        () => true,
        (error: { code?: string }) => {
          if (error.code === undefined) throw error;
          return false;
        },
      );
      if (!taken) return false;
    }
    return true;
  }

  /** With its escrow fixed, as it is before anybody can pay into it. */
  async function offramp(fields: Record<string, unknown> = {}): Promise<string> {
    const { deps } = gateway;
    const orderId = await driver.offrampOrder({
      user_uuid: userId,
      payment_details_id: detailsId,
      fiat_amount: '20.00',
      ...fields,
    });
    await ensureEscrow(deps, (await readOrder(deps.db, SYSTEM, orderId))!);
    return orderId;
  }
  const PROVED: readonly Fact[] = [
    ['deposit_finalized', 'chain'],
    ['proof_submitted', 'vendor'],
    ['proof_review_started', 'operator'],
    ['proof_accepted', 'operator'],
  ];

  /** Taken by its vendor, who owes the crypto now. */
  async function acceptedOnramp(): Promise<string> {
    const { deps } = gateway;
    const orderId = await driver.onrampOrder({ user_uuid: userId, fiat_amount: '20.00' });
    const [row] = await deps.db.query(SYSTEM, vendorOf, [orderId]);
    const vendor = vendors.find((one) => one.row.vendor_id === row?.vendor_id)!;
    const sign = localSigner(vendor.privateKey).signDigest;
    await unitOfWork(deps, SYSTEM, (unit) => acceptOrder(deps, unit, vendor.row, orderId, sign));
    return orderId;
  }

  const payouts = async (orderId: string) =>
    (await gateway.deps.db.query(SYSTEM, payoutsOf, [orderId])).map(({ kind }) => kind);

  // Proves trap 1, C7 QUOTE_ALREADY_USED.
  it('64 initiates of one quote make one order', { timeout: LONG_MS }, async () => {
    await rounds(async () => {
      const quote = await gateway.call('POST', '/api/v1/partner/onramp/quote', {
        body: { user_uuid: userId, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '20.00' },
      });
      expect(quote.body).toMatchObject({ success: true });
      const { quote_id } = quote.body.data;
      const answers = await Promise.all(
        Array.from({ length: 64 }, () =>
          gateway.call('POST', '/api/v1/partner/onramp/initiate', { body: { quote_id } }),
        ),
      );
      const codes = answers.map(({ status, body }) => (status === 200 ? 'made' : body.error.code));
      expect(codes.filter((code) => code === 'made')).toHaveLength(1);
      expect(codes.filter((code) => code === 'QUOTE_ALREADY_USED')).toHaveLength(63);
      expect(await gateway.deps.db.query(SYSTEM, ordersOfQuote, [quote_id])).toHaveLength(1);
    }, 1);
  });

  // Proves trap 9, D6.7.
  it('confirm-fiat-received against the provider’s confirmation: both succeed, one release', {
    timeout: LONG_MS,
  }, async () => {
    await rounds(async () => {
      const orderId = await offramp({ provider_scope: 'all', has_fiat_settlement_notification: true });
      expect(await report(orderId, ...PROVED)).toBe(true);
      const [byPartner, byProvider] = await Promise.all([
        driver.act(orderId, 'confirm-fiat-received'),
        report(orderId, ['fiat_received_confirmed_by_provider', 'provider']),
      ]);
      expect([byPartner.status, byProvider]).toEqual([200, true]);
      expect(await payouts(orderId)).toEqual(['escrow.release']);
      expect(await report(orderId, ['release_confirmed', 'chain'])).toBe(true);
      expect(await driver.escrowBooks(orderId)).toBe(0n);
    });
    await driver.booksBalance();
  });

  // Proves trap 9, D6.8.
  it('cancel against the deposit: cancelled, and the deposit is owed back exactly once', {
    timeout: LONG_MS,
  }, async () => {
    await rounds(async () => {
      const orderId = await offramp();
      const [cancelled, deposited] = await Promise.all([
        driver.act(orderId, 'cancel'),
        report(orderId, ['deposit_finalized', 'chain']),
      ]);
      expect([cancelled.status, deposited]).toEqual([200, true]);
      expect(await driver.read(orderId)).toMatchObject({
        status: 'cancelled',
        allowed_actions: ['authorize-refund'],
      });
      const published = await driver.published(orderId);
      expect(published.filter((type) => type === 'order.refund.required')).toHaveLength(1);
      expect(await driver.escrowBooks(orderId)).toBeGreaterThan(0n);
    });
    await driver.booksBalance();
  });

  // Proves trap 9.
  it('cancel against the vendor’s funding: cancelled, and its crypto goes back exactly once', {
    timeout: LONG_MS,
  }, async () => {
    await rounds(async () => {
      const orderId = await acceptedOnramp();
      const [cancelled, funded] = await Promise.all([
        driver.act(orderId, 'cancel'),
        report(orderId, ['escrow_funded', 'chain']),
      ]);
      expect([cancelled.status, funded]).toEqual([200, true]);
      expect((await driver.read(orderId)).status).toBe('cancelled');
      expect(await payouts(orderId)).toEqual(['escrow.return-to-vendor']);
      expect(await driver.escrowBooks(orderId)).toBeGreaterThan(0n);
      expect(await report(orderId, ['refund_confirmed', 'chain'])).toBe(true);
      expect(await driver.escrowBooks(orderId)).toBe(0n);
    });
    await driver.booksBalance();
  });

  // Proves trap 9, D6.8.
  it('cancel against the proof: one winner', { timeout: LONG_MS }, async () => {
    await rounds(async () => {
      const orderId = await offramp();
      await report(orderId, ['deposit_finalized', 'chain']);
      const [cancelled, proved] = await Promise.all([
        driver.act(orderId, 'cancel'),
        report(orderId, ['proof_submitted', 'vendor']),
      ]);
      expect([cancelled.status === 200, proved].filter(Boolean)).toHaveLength(1);
      expect((await driver.read(orderId)).status).toBe(proved ? 'fiat_payment_started' : 'cancelled');
    });
  });

  /** Two authorizations at once; the chain answers as soon as one of them is an intent, so that neither waits for it. */
  async function refundTwice(orderId: string): Promise<void> {
    // The loser may be refused as early as at the parameters.
    const tried = () => driver.refund(orderId).catch(() => undefined);
    const answers = Promise.all([tried(), tried()]);
    await until('a refund', async () => (await payouts(orderId)).includes('escrow.refund'));
    expect(await report(orderId, ['refund_confirmed', 'chain'])).toBe(true);
    const taken = (await answers).filter((answer) => answer?.status === 200);
    expect(taken).toHaveLength(1);
  }

  // Proves trap 9, D7.3.
  it('release against refund: the escrow pays one side, once', { timeout: LONG_MS }, async () => {
    await rounds(async () => {
      const orderId = await offramp();
      await report(orderId, ...PROVED, ['dispute_opened', 'operator']);
      const [toBuyer, toSeller] = await Promise.all([
        report(orderId, ['dispute_resolved_to_buyer', 'operator']),
        report(orderId, ['dispute_resolved_to_seller', 'operator']),
      ]);
      expect(toBuyer).not.toBe(toSeller);
      if (toSeller) await refundTwice(orderId);
      else expect(await report(orderId, ['release_confirmed', 'chain'])).toBe(true);
      expect(await payouts(orderId)).toEqual([toBuyer ? 'escrow.release' : 'escrow.refund']);
      for (const late of ['release_confirmed', 'refund_confirmed'] as const) {
        expect(await report(orderId, [late, 'chain'])).toBe(false);
      }
      expect(await driver.escrowBooks(orderId)).toBe(0n);
    });
    await driver.booksBalance();
  });

  // Proves C4.5 rule 8.
  it('authorize-bridge twice: one is taken', { timeout: LONG_MS }, async () => {
    const destination = { destination_chain: 'arbitrum-one', destination_address: `0x${'a1'.repeat(20)}` };
    // One lane: the orders share a wallet, whose next nonce is one order's at a time.
    await rounds(async () => {
      const orderId = await acceptedOnramp();
      expect(
        await report(
          orderId,
          ['escrow_funded', 'chain'],
          ['payment_sent_confirmed', 'partner'],
          ['fiat_confirmed_by_vendor', 'vendor'],
          ['release_confirmed', 'chain'],
        ),
      ).toBe(true);
      const signed = await driver.signedSendOut(orderId, destination);
      const answers = await Promise.all([
        driver.act(orderId, 'authorize-bridge', signed),
        driver.act(orderId, 'authorize-bridge', signed),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect((await driver.read(orderId)).status).toBe('send_out_pending');
      const relays = await gateway.deps.db.query(SYSTEM, relaysOf, [orderId]);
      expect(relays).toHaveLength(1);
    }, 1);
    await driver.booksBalance();
  });
});
