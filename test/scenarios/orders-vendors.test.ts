import { createWalletClient, erc20Abi, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OperatorAction, orderParties } from './orders-parties.ts';

/** The market moves in the customer's favour: others would now sell at the quoted rate too. */
const cheapenOthers = statement<[vendorId: string]>(
  'test.cheapen_other_offers',
  `UPDATE offers SET fixed_price = 0.5, margin_pct = NULL
    WHERE side = 'SELL' AND crypto_currency = 'USDC' AND fiat_currency = 'EUR' AND vendor_id <> $1`,
);

describe('vendors and operators in their own interfaces', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    driver = ordersDriver(gateway);
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
  });
  afterAll(() => gateway?.stop());

  const vendorId = (orderId: string) => orderParties(gateway).vendorId(orderId);

  /** The vendor that has the order, in its own interface. */
  async function vendorClient(orderId: string) {
    const vendor = await orderParties(gateway).vendorOf(orderId);
    return { ...vendor, list: () => gateway.as(vendor.key).vendor.orders.list({ limit: 100 }) };
  }

  const operate = (orderId: string, what: OperatorAction, decision: string) =>
    orderParties(gateway).operate(orderId, what, { decision });

  // Proves D12.1, D7.4.
  it('a vendor sells through its API: accept with details, confirm with the release, statement', async () => {
    const orderId = await driver.onrampOrder();
    const vendor = await vendorClient(orderId);
    const listed = (await vendor.list()).body.data.orders;
    expect(listed).toContainEqual(expect.objectContaining({ order_id: orderId, direction: 'onramp' }));
    const otherVendor = gateway.sandbox.vendors.find(({ apiKey }) => apiKey !== vendor.key)!;
    const foreign = await gateway.as(otherVendor.apiKey).vendor.orders.decline(orderId);
    expect(foreign.body.error.code).toBe('ORDER_NOT_FOUND');

    const refund_signature = await vendor.sign('refund');
    expect((await vendor.post('accept', { refund_signature })).status).toBe(400);
    const wrong = await vendor.post('accept', {
      refund_signature: `0x${'11'.repeat(65)}`,
      payment_details: { full_name: 'Vendor', iban: 'DE02120300000000202051' },
    });
    expect(wrong.body.error.code).toBe('INVALID_SIGNATURE');
    const payment_details = { iban: 'DE02120300000000202051', full_name: 'Vendor' };
    const accepted = await vendor.post('accept', { refund_signature, payment_details });
    expect(accepted.body.data.status).toBe('awaiting_vendor_escrow_funding');
    await driver.event(orderId, 'escrow_funded');
    expect((await driver.read(orderId)).vendor_payment_details).toEqual(payment_details);
    await driver.act(orderId, 'confirm-payment-sent');
    const confirmed = await vendor.post('fiat-confirmed', {
      release_signature: await vendor.sign('release'),
    });
    expect(confirmed.status).toBe(200);
    await driver.reaches(orderId, 'completed');
    const statementLines = await gateway.as(vendor.key).vendor.statement();
    expect(statementLines.body.data.lines).toContainEqual(
      expect.objectContaining({
        direction: 'onramp',
        fiat_currency: 'EUR',
        orders: 1,
        fiat_amount: '100.00',
      }),
    );
  });

  // Proves D12.2.
  it('an order that is declined goes to another vendor, who can serve it', async () => {
    const orderId = await driver.onrampOrder();
    const first = await vendorId(orderId);
    await gateway.deps.db.query(SYSTEM, cheapenOthers, [first!]);
    const declined = await (await vendorClient(orderId)).post('decline');
    expect(declined.body.data.status).toBe('awaiting_liquidity_provider');
    const second = await until('another vendor', async () => (await vendorId(orderId)) ?? undefined);
    expect(second).not.toBe(first);
    const accepted = await driver.event(orderId, 'vendor_accepts');
    expect(accepted.body.data.status).toBe('awaiting_vendor_escrow_funding');
  });

  // Proves C3.2 rows 3 to 5, D12.1, D12.3, C7 PROOF_NOT_FOUND.
  it('a buyer is told where to pay, proves it, and an operator reviews; the audit says who and why', async () => {
    const orderId = await driver.offrampOrder();
    const vendor = await vendorClient(orderId);
    expect((await vendor.get('payment-instructions')).body.error.code).toBe('INVALID_STATUS');
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    // The simulated vendor signs the refund in its own time; before that it is told nothing.
    const instructions = await until('the instructions', async () => {
      const answer = await vendor.get('payment-instructions');
      return answer.status === 200 && answer;
    });
    expect(instructions.body.data.details).toMatchObject({ iban: 'DE89370400440532013000' });

    const proof = { payment_reference: 'E2E-1', release_signature: await vendor.sign('release') };
    expect((await vendor.post('payment-proof', proof)).body.data.status).toBe('fiat_payment_started');
    const reviews = await gateway.operator.proofs.list();
    const [review] = reviews.body.data.reviews.filter(
      (one: { order_id: string }) => one.order_id === orderId,
    );
    const revealed = await gateway.operator.proofs.reveal(review!.proof_id, { reason: 'ticket 7' });
    expect(revealed.body.data).toMatchObject({
      order_id: orderId,
      payment_reference: 'E2E-1',
      content: null,
    });
    const unknown = await gateway.operator.proofs.reveal(orderId, { reason: 'ticket 7' });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'PROOF_NOT_FOUND']);
    expect((await operate(orderId, 'proof-review', 'start')).body.data.status).toBe(
      'fiat_payment_review_started',
    );
    expect((await operate(orderId, 'proof-review', 'accepted')).body.data.status).toBe(
      'awaiting_fiat_received_confirmation',
    );
    const own = await vendor.post('fiat-settled');
    expect(own.body.error.code).toBe('INVALID_STATUS');
    await driver.act(orderId, 'confirm-fiat-received');
    await driver.reaches(orderId, 'completed');
    const audit = await gateway.operator.audit.list({ subject: `orders/${orderId}` });
    expect(audit.body.data.entries).toHaveLength(3);
    expect(audit.body.data.entries[0]).toMatchObject({ action: 'order.proof.accepted', reason: 'ticket 7' });
  });

  // Proves D12.4.
  it('a dispute decided for the buyer pays the buyer; for the seller it asks for the refund', async () => {
    const disputed = async () => {
      const orderId = await driver.offrampOrder();
      await driver.fund(orderId);
      await driver.reaches(orderId, 'crypto_received');
      await driver.event(orderId, 'buyer_submits_proof');
      expect((await (await vendorClient(orderId)).post('dispute')).body.data.status).toBe('dispute_started');
      return orderId;
    };
    const bought = await disputed();
    expect((await operate(bought, 'dispute', 'for_buyer')).status).toBe(200);
    await driver.reaches(bought, 'completed');
    expect(await driver.escrowBalance(bought)).toBe(0n);

    const returned = await disputed();
    expect((await operate(returned, 'hold', 'place')).status).toBe(200);
    expect((await operate(returned, 'dispute', 'for_seller')).body.error.code).toBe('OPERATION_NOT_ALLOWED');
    expect((await operate(returned, 'hold', 'release')).status).toBe(200);
    expect((await operate(returned, 'dispute', 'for_seller')).body.data.status).toBe('cancelled');
    const { key } = await vendorClient(returned);
    const shown = await gateway.as(key).vendor.orders.get(returned);
    expect(shown.body.data).toMatchObject({
      failure: { code: 'DISPUTE_DECIDED_FOR_PARTNER', retryable: true },
      cancelled_by: 'operator',
      hold: null,
      expires_at: null,
    });
    // The partner's own words stay the partner's.
    expect((await driver.read(returned)).reference_id).toBe('payout-1');
    expect(shown.text).not.toContain('payout-1');
    expect(await driver.published(returned)).toContain('order.refund.required');
    expect((await driver.refund(returned)).status).toBe(200);
    await until('the refund', async () => (await driver.escrowBooks(returned)) === 0n);
    await driver.booksBalance();
  });

  // Proves D12.3.
  it('the books and the chain are compared: equal after all this, and a stray payment stands out', async () => {
    const orderId = await driver.onrampOrder();
    await driver.event(orderId, 'vendor_accepts');
    await driver.event(orderId, 'escrow_funded');
    const reconcile = () => gateway.operator.reconciliation.get({ scope: 'all' });
    const before = (await reconcile()).body.data;
    expect(before.books).toEqual([{ asset: 'USDC@base-mainnet', sum: '0', balanced: true }]);
    expect(before.escrows).toMatchObject({ different: [], unreachable: [] });
    expect(before.escrows.checked).toBeGreaterThan(3);
    expect(before.next_cursor).toBeNull();

    const { settings, client } = gateway.deps.chains.get('base-mainnet');
    const [partner] = gateway.partners;
    const wallet = createWalletClient({
      account: privateKeyToAccount(partner.walletPrivateKey as `0x${string}`),
      transport: http(settings.rpcUrl),
    });
    const shown = (await (await vendorClient(orderId)).list()).body.data.orders;
    const escrow = shown.find(({ order_id }) => order_id === orderId)!.escrow_address as `0x${string}`;
    const hash = await wallet.writeContract({
      chain: null,
      address: settings.tokens.find(({ code }) => code === 'USDC')!.address,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [escrow, 5n],
    });
    await client.waitForTransactionReceipt({ hash });
    const after = (await reconcile()).body.data;
    expect(after.escrows.different).toEqual([
      expect.objectContaining({ order_id: orderId, escrow_state: 'funded', difference: '0.000005' }),
    ]);
  });
});
