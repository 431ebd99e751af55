import { readCursor } from '../../apps/gateway/src/chain/watcher/watch.store.ts';
import { connect } from '../harness/database.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { insertFailedEffect, insertKey } from '../harness/shell.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from '../scenarios/chain-driver.ts';
import { ownersMove } from '../scenarios/escrow-owners.ts';
import { type OrdersDriver, oneAtATime, ordersDriver } from '../scenarios/orders-driver.ts';
import { type OperatorAction, orderParties, signSafeTransaction } from '../scenarios/orders-parties.ts';
import type { CustomerIds } from './customer-steps.ts';
import type { ExampleRun } from './example-run.ts';

type Hex = `0x${string}`;
const BRIDGE_OVERDUE_SECONDS = 24 * 60 * 60;

/** Orders in every situation that an operation needs. */
export function orderSteps(
  gateway: TestGateway,
  { send }: ExampleRun,
  { user_uuid, payment_details_id }: CustomerIds,
) {
  const driver: OrdersDriver = ordersDriver(gateway);
  const parties = orderParties(gateway);
  const partnerKey = gateway.partners[0].walletPrivateKey as Hex;
  const signing = oneAtATime();
  /** The order whose bridge stays silent. */
  let sentOut = '';
  // biome-ignore lint/suspicious/noExplicitAny: typed data as the wire has it
  const signed = (parameters: any) => signSafeTransaction(partnerKey, parameters.typed_data);
  const operate = (orderId: string, what: OperatorAction, decision: string) =>
    parties.operate(orderId, what, { decision });

  /** A vendor's crypto is locked. */
  async function locked(fields: Record<string, unknown> = {}): Promise<string> {
    const orderId = await driver.onrampOrder(fields);
    await driver.event(orderId, 'vendor_accepts');
    await driver.event(orderId, 'escrow_funded');
    return orderId;
  }

  /** The partner's crypto is locked. */
  async function funded(fields: Record<string, unknown> = {}): Promise<string> {
    const orderId = await driver.offrampOrder(fields);
    await signing(async () =>
      driver.act(orderId, 'authorize-crypto-transfer', await driver.signedFunding(orderId)),
    );
    await driver.reaches(orderId, 'crypto_received');
    return orderId;
  }

  return {
    locked,
    user: () => driver.user(),

    /** From the quote to the send-out, with the vendor's own calls. */
    async onramp(): Promise<void> {
      await send('estimateOnramp');
      const { quote_id } = await send('createOnrampQuote', { body: { user_uuid } });
      const { order_id } = await send('initiateOnramp', { body: { quote_id } });
      const params = { order_id };
      const vendor = await parties.vendorOf(order_id);
      const as = { params, key: vendor.key };
      await send('listVendorOrders', { key: vendor.key });
      await send('getVendorOrder', as);
      await send('getVendorSigningParameters', as);
      await send('acceptVendorOrder', { ...as, body: { refund_signature: await vendor.sign('refund') } });
      await driver.event(order_id, 'escrow_funded');
      await send('confirmPaymentSent', { params });
      await send('confirmVendorFiat', { ...as, body: { release_signature: await vendor.sign('release') } });
      await driver.reaches(order_id, 'completed');
      await send('getOrder', { params });
      await send('getOrderFunds', { params });
      await send('listOrders', { query: { reference_id: 'purchase-1001' } });
      await send('listVendorEvents', { key: vendor.key });
      await send('getVendorStatement', { key: vendor.key });
      await send('getVendorProfile', { key: vendor.key });
      await send('searchOrders', { query: { reference_id: 'purchase-1001' } });
      await send('getOrderAuditTrail', { params });
      const destination = {
        destination_chain: 'arbitrum-one',
        destination_address: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
      };
      await signing(async () => {
        await send('getBridgeAuthorizationParameters', { params, query: destination });
        const signedOut = await driver.signedSendOut(order_id, destination);
        const { forward_request, signature } = signedOut as Record<string, unknown>;
        await send('authorizeBridge', { params, body: { forward_request, signature } });
      });
      sentOut = order_id;
    },

    /** Declined, simulated, cancelled, held, of the widget, and by payment request. */
    async otherOnramps(): Promise<void> {
      const declined = await driver.onrampOrder();
      await send('declineVendorOrder', {
        params: { order_id: declined },
        key: (await parties.vendorOf(declined)).key,
      });
      const simulated = await driver.onrampOrder();
      await send('sandboxOrderEvent', { params: { order_id: simulated } });
      await send('decideOrderHold', { params: { order_id: simulated } });
      await send('cancelOrder', { params: { order_id: await driver.onrampOrder() } });
      await send('sandboxWidgetOrder', { body: { user_uuid } });

      const requested = await locked({
        user_uuid,
        fiat_currency: 'CAD',
        payment_network_slug: 'interac-canada',
      });
      const saved = await gateway.partner.paymentDetails.create(user_uuid, {
        rail: 'interac-canada',
        currency: 'CAD',
        country_code: 'CA',
        details: { full_name: 'Emma Tremblay', email: 'emma@example.ca' },
      });
      await send('submitPayerDetails', {
        params: { order_id: requested },
        body: { payment_details_id: saved.body.data.id },
      });
    },

    /** From the quote to the confirmation, with the vendor's and the reviewer's own calls. */
    async offramp(): Promise<void> {
      await send('estimateOfframp');
      const { quote_id } = await send('createOfframpQuote', { body: { user_uuid, payment_details_id } });
      const { order_id } = await send('initiateOfframp', { body: { quote_id } });
      const params = { order_id };
      const vendor = await parties.vendorOf(order_id);
      const as = { params, key: vendor.key };
      await send('signVendorRefund', { ...as, body: { refund_signature: await vendor.sign('refund') } });
      await signing(async () => {
        await send('getTransferAuthorizationParameters', { params });
        const transfer = (await driver.signedFunding(order_id)) as Record<string, unknown>;
        await send('authorizeCryptoTransfer', { params, body: transfer });
      });
      await driver.reaches(order_id, 'crypto_received');
      await send('getVendorPaymentInstructions', as);
      await send('submitVendorProof', { ...as, body: { release_signature: await vendor.sign('release') } });
      const { reviews } = await send('listProofReviews');
      await send('revealProof', { params: { proof_id: reviews[0].proof_id } });
      await send('reviewProof', { params });
      await operate(order_id, 'proof-review', 'accepted');
      await send('confirmFiatReceived', { params });
      await driver.reaches(order_id, 'completed');
    },

    /** An automated provider says by itself that the fiat has arrived. */
    async settledByProvider(): Promise<void> {
      const order_id = await funded({ provider_scope: 'direct', has_fiat_settlement_notification: true });
      for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
        await driver.event(order_id, event);
      }
      await send('confirmVendorSettlement', {
        params: { order_id },
        key: (await parties.vendorOf(order_id)).key,
      });
    },

    /** Disputes decided either way, and refunds signed by the partner and through the operator. */
    async disputesAndRefunds(): Promise<void> {
      const [onramp, offramp, refunded, throughOperator] = await Promise.all([
        locked(),
        funded(),
        funded(),
        funded(),
      ]);
      await driver.act(onramp, 'confirm-payment-sent');
      const seller = await parties.vendorOf(onramp);
      await send('openVendorDispute', { params: { order_id: onramp }, key: seller.key });
      await send('submitDisputeStatement', { params: { order_id: onramp }, key: seller.key });
      await send('revealDisputeStatements', { params: { order_id: onramp } });
      await operate(onramp, 'dispute', 'for_buyer');
      const release = await send('getReleaseAuthorizationParameters', { params: { order_id: onramp } });
      await send('authorizeRelease', {
        params: { order_id: onramp },
        body: { signature: await signed(release) },
      });

      await send('decideOrderDispute', { params: { order_id: offramp } });
      await operate(offramp, 'dispute', 'for_buyer');
      const buyer = await parties.vendorOf(offramp);
      await send('signVendorRelease', {
        params: { order_id: offramp },
        key: buyer.key,
        body: { release_signature: await buyer.sign('release') },
      });

      for (const orderId of [refunded, throughOperator]) await driver.act(orderId, 'cancel');
      const refund = await send('getRefundAuthorizationParameters', { params: { order_id: refunded } });
      await send('authorizeRefund', {
        params: { order_id: refunded },
        body: { signature: await signed(refund) },
      });
      const asked = await send('getEscrowSigningParameters', { params: { order_id: throughOperator } });
      await send('submitEscrowSignature', {
        params: { order_id: throughOperator },
        body: { signature: await signed(asked) },
      });
    },

    /** Deposits that came too late go back, signed by the partner or through the operator. */
    async deposits(): Promise<void> {
      const ids: string[] = [];
      for (const orderId of await Promise.all([driver.offrampOrder(), driver.offrampOrder()])) {
        const escrow = await until(
          'the escrow',
          async () => (await driver.funds(orderId)).escrow ?? undefined,
        );
        await driver.act(orderId, 'cancel');
        await chainDriver(gateway).pay(gateway.partners[0], escrow.address, 1_000n);
        const [deposit] = await until('the deposit', async () => {
          const { deposits } = await driver.funds(orderId);
          return deposits.length > 0 && deposits;
        });
        ids.push(deposit.deposit_id);
      }
      const [own = '', other = ''] = ids;
      await send('listDeposits');
      for (const deposit_id of ids) await send('decideDeposit', { params: { deposit_id } });
      const asked = await send('getReturnAuthorizationParameters', { params: { deposit_id: own } });
      await send('authorizeReturn', {
        params: { deposit_id: own },
        body: { signature: await signed(asked) },
      });
      const shown = await send('getDepositSigningParameters', { params: { deposit_id: other } });
      await send('submitDepositSignature', {
        params: { deposit_id: other },
        body: { signature: await signed(shown) },
      });
    },

    /** Decisions that move much money: asked for with one key, approved and rejected with one that is not of its making. */
    async approvals(): Promise<void> {
      const owner = await connect(gateway.databaseUrl);
      const key = await insertKey(owner, 'operator', null);
      await owner.end();
      for (const operation of ['approveApproval', 'rejectApproval']) {
        const orderId = await driver.onrampOrder({ fiat_amount: undefined, crypto_amount: '12000' });
        await operate(orderId, 'hold', 'place');
        const { details } = (await operate(orderId, 'hold', 'release')).body.error;
        const params = { approval_id: details.approval_id };
        await send('getApproval', { params });
        await send(operation, { params, key });
      }
      await send('listApprovals');
    },

    /** A cancelled order whose deposit two owners of its escrow have taken out themselves. */
    async settledElsewhere(): Promise<void> {
      const order_id = await funded();
      await driver.act(order_id, 'cancel', { reason: 'changed my mind' });
      await operate(order_id, 'hold', 'place');
      const amount = await driver.escrowBalance(order_id);
      const to = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
      const call = await ownersMove(gateway, order_id, { to, amount, nonce: 0n });
      await signing(() => chainDriver(gateway).send(partnerKey, call));
      const chain = gateway.deps.chains.get('base-mainnet');
      const head = await chain.client.getBlockNumber();
      await until('the block to be read', async () => {
        const cursor = await readCursor(gateway.deps.db, chain.settings.chainId);
        return cursor !== undefined && cursor.blockNumber >= head;
      });
      await send('settleEscrowElsewhere', { params: { order_id } });
    },

    /** Effects that failed. */
    async effects(): Promise<void> {
      const owner = await connect(gateway.databaseUrl);
      const { rows: orders } = await owner.query('SELECT order_id FROM orders ORDER BY order_id LIMIT 2');
      const retried = await insertFailedEffect(owner, orders[0].order_id);
      const givenUp = await insertFailedEffect(owner, orders[1].order_id);
      // A difference that the next look does not find: the books of a sandbox agree.
      const found = await owner.query(
        `INSERT INTO reconciliation_differences (difference_id, kind, subject, asset, expected, found, difference,
           first_seen_at, last_seen_at)
         VALUES (gen_random_uuid(), 'books_unbalanced', 'books_unbalanced:USDC@base-mainnet', 'USDC@base-mainnet', '0', '1', '1',
           now(), now())
         RETURNING difference_id`,
      );
      // As if an escrow held more on chain than the books say.
      const surplus = await owner.query(
        `INSERT INTO reconciliation_differences (difference_id, kind, subject, order_id, escrow_address, asset, expected,
           found, difference, first_seen_at, last_seen_at)
         SELECT gen_random_uuid(), 'escrow_balance', 'escrow_balance:' || order_id, order_id, address, 'USDC@base-mainnet', '0',
           '1', '1', now(), now()
           FROM escrow_watches ORDER BY order_id LIMIT 1
         RETURNING difference_id`,
      );
      await owner.end();
      await send('checkReconciliationDifference', {
        params: { difference_id: found.rows[0].difference_id },
      });
      await send('searchEscrowAgain', { params: { difference_id: surplus.rows[0].difference_id } });
      await send('listStuckEffects');
      await send('retryEffect', { params: { effect_id: retried } });
      await send('giveUpEffect', { params: { effect_id: givenUp } });
    },

    /** A day later the bridge is overdue, and an operator decides. Nothing else may still wait then. */
    async overdueSendOut(): Promise<void> {
      const params = { order_id: sentOut };
      await until('the bridge’s deposit', async () => {
        const { transactions } = (await gateway.operator.orders.get(sentOut)).body.data;
        return transactions.some(
          (one: { effect: string; status: string }) =>
            one.effect.startsWith('bridge') && one.status === 'succeeded',
        );
      });
      await send('sandboxAdvanceClock');
      await gateway.partner.sandbox.advanceClock({ seconds: BRIDGE_OVERDUE_SECONDS });
      await until('the hold', () => parties.isHeld(sentOut));
      await send('decideSendOut', { params });
    },
  };
}
